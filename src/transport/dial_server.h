// The head's side of agents that dial back, for all hosts of a transport: its settings, one listening socket with the
// handshakes of those that connect to it, one dial file, and one run of the start command for all hosts that are to
// be connected in one turn of the loop. Every program that reaches the port can connect, so a connection is only a
// visitor until its proof holds. Knows no agent protocol.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "base/system/sockets.h"
#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "spawn/start/launcher.h"
#include "spawn/start/limited_command.h"
#include "spawn/start/watched_fd.h"
#include "transport/watched_command.h"
#include "wire/connection/dial.h"

namespace muster {

// The settings of the dial-back transport: which command starts the agents, and where they look for their head.

// The agents that one command is to start.
struct AgentsToStart {
  std::string agent;               // path of muster-agent on the nodes
  std::string dial_file;           // its argument there: `muster-agent --dial FILE`
  std::vector<std::string> nodes;  // one agent on each; the names of the hosts that are to be connected, in their order
};

// A command that starts them, and that ends when they end, or before.
struct AgentStart {
  std::vector<std::string> argv;  // argv[0] is looked up on PATH
  // Changes to the environment of this process: "NAME=value" sets a variable, "NAME" removes it.
  std::vector<std::string> environment = {};
};

// How to find out whether the nodes are paused: a command, and what to say by its output; empty: they are not.
struct PauseQuestion {
  AgentStart command;
  std::function<std::string(const CommandOutput& answer)> phrase;
};

struct DialSettings {
  // Pure words; called once for all hosts whose connections are opened in one turn of the loop.
  std::function<AgentStart(const AgentsToStart& agents)> start = {};
  std::string agent = {};  // path of muster-agent on the nodes; empty: the one beside this program
  // Where the dial file goes: an absolute path that the nodes see too. Made with mode 0700 if it is not there.
  std::string folder = {};
  // The variable that holds the node's name in the environment of an agent (SLURMD_NODENAME); empty: the host name.
  std::string node_variable = {};
  // At which this machine is reached, to be tried in this order; empty: all of its addresses.
  std::vector<std::string> addresses = {};
  std::optional<PauseQuestion> paused = {};  // asked when agents are silent
  // For an agent to connect after the command has been started, …
  std::chrono::milliseconds connect_time{60'000};
  // … and after it has ended.
  std::chrono::milliseconds exit_time{2'000};
};

// One run of the command that starts agents which dial back. Its exit code says nothing about the agents: it is
// reported only for agents that never connected.
class StartCommand : public std::enable_shared_from_this<StartCommand> {
 public:
  // How long a command whose agents are gone may take to end by itself, and then on SIGTERM, before it is killed. An
  // engine that is ended earlier may kill agents that are still cleaning up.
  static constexpr std::chrono::milliseconds kPartingTime{2'000};
  static constexpr std::chrono::milliseconds kTermTime{2'000};

  // Calls `ended` once, from the loop, but not after EndNow(). The error is a phrase.
  static tl::expected<std::shared_ptr<StartCommand>, std::string> Run(boost::asio::io_context& io, Launcher& launcher,
                                                                      const AgentStart& start,
                                                                      std::function<void()> ended);
  ~StartCommand() { EndNow(); }
  StartCommand(const StartCommand&) = delete;
  StartCommand& operator=(const StartCommand&) = delete;

  bool over() const { return command_->end().has_value(); }
  // Blocks until it ends, for that time at most.
  void AwaitEnd(std::chrono::nanoseconds time) const {
    if (!over() && time.count() > 0) command_->EndsWithin(time);
  }
  // "`srun` exited with code 1: srun: error: …": how it ended, if it has, and the last line that it wrote.
  std::string EndPhrase() const;
  // The last line that it wrote, safe for a terminal; empty if there is none.
  std::string LastWords() const;

  // The latest that it wrote before it was signalled from here; untrusted.
  std::string Words() const { return heard_ ? *heard_ : command_->Words(); }

  // None of its agents is needed any more: sees to its end in the background.
  void EndSoon();
  // The same, and waits for it.
  void EndNow();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  StartCommand(boost::asio::io_context& io, std::string name) : name_(std::move(name)), timer_(io.get_executor()) {}

  void Signal(int signal);
  void SignalAfter(std::chrono::milliseconds time, int signal);

  const std::string name_;
  std::shared_ptr<WatchedCommand> command_;
  Timer timer_;
  bool ending_ = false;
  std::optional<std::string> heard_;  // before it was signalled
};

// Where agents dial back to: a listening socket, and the handshakes of those that connect to it.
//
// Depends on the loop and on the handshake's messages (wire/connection/dial.h); knows no channel and no command.
// Every program that reaches the port can connect, so a connection is only a visitor until its proof holds: each has a
// time limit, their number is bounded, and one that fails is closed and counted, without any effect on the others.

// Connections that came to nothing.
struct DialCounts {
  std::uint32_t accepted = 0;
  std::uint32_t unproven = 0;  // no greeting of this session, or a wrong proof
  std::uint32_t slow = 0;      // not through with the handshake in time, or closed to make room
  std::uint32_t left = 0;      // closed by the other side: an agent that has come through at another address does that
  std::uint32_t unknown = 0;   // proven, for a node that is not awaited
  std::uint32_t twice = 0;     // proven, for a node that is connected

  bool operator==(const DialCounts&) const = default;
};

// Of unproven connections.
struct DialLimits {
  std::chrono::milliseconds handshake_time{5'000};  // for a whole handshake
  // At most so many at a time, shared out by base/system/sockets.h; if there are more, the oldest is closed
  // once it has had the crowded time, and newcomers wait.
  std::size_t most = 256;
  std::chrono::milliseconds crowded_time{1'000};
};

class DialListener : public std::enable_shared_from_this<DialListener> {
 public:
  struct Events {
    // Of a node that has proven to know the token; asked right before the answer.
    std::function<DialVerdict(const std::string& node)> judge;
    // The verdict was kAccepted and has been sent; what follows on the connection is the agent protocol.
    std::function<void(const std::string& node, UniqueFd connection)> accepted;
  };

  // Listens at a port of the kernel's choice, on all addresses. `io` must outlive it. Kind "hosts" if that fails.
  static Result<std::shared_ptr<DialListener>> Open(boost::asio::io_context& io, std::string session, std::string token,
                                                    Events events, DialLimits limits = {});

  std::uint16_t port() const { return port_; }
  const DialCounts& counts() const { return counts_; }
  // Stops listening and closes all unproven connections: no further events.
  void Close();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;
  struct Visitor;
  using Visitors = std::list<std::shared_ptr<Visitor>>;  // in the order of arrival

  DialListener(boost::asio::io_context& io, std::string session, std::string token, Events events, DialLimits limits);

  void AwaitConnection();
  void TakeConnections();
  // False: it has to give way.
  bool FindPlace(const UniqueFd& connection, const std::shared_ptr<Visitor>& visitor);
  void AwaitBytes(const std::shared_ptr<Visitor>& visitor);
  void Read(const std::shared_ptr<Visitor>& visitor);
  void OnMessage(const std::shared_ptr<Visitor>& visitor);
  void Judge(const std::shared_ptr<Visitor>& visitor);
  static bool Write(Visitor& visitor, std::string_view bytes);
  // Closes the connection; `count` is incremented.
  void Drop(const std::shared_ptr<Visitor>& visitor, std::uint32_t& count);
  void Forget(const std::shared_ptr<Visitor>& visitor);
  void AwaitOldest();
  Clock::time_point DueAt(const Visitor& visitor) const;

  boost::asio::io_context& io_;
  const std::string session_;
  const std::string token_;
  const Events events_;
  const DialLimits limits_;
  WatchedFd socket_;
  Timer oldest_;
  Timer pause_;  // after the system had no descriptor for a connection
  std::uint16_t port_ = 0;
  bool accepting_ = false;  // that there is a connection is awaited
  Visitors visitors_;
  ConnectionPlaces places_;
  DialCounts counts_;
};

// The head's side of agents that dial back, for all hosts of a transport: one listener, one dial file, and one start
// command for all hosts that are to be connected in one turn of the loop.
//
// Depends on the loop, the system and the caller's start command; knows no agent protocol. It is owned by the
// channels, since its timers must end before their loop, and ends with the last of them: the dial file is removed, and
// a start command that still runs is ended.
class DialServer : public std::enable_shared_from_this<DialServer> {
 public:
  // Called from the loop; at most one of both, once. They may call Leave().
  struct Node {
    std::function<void(UniqueFd connection)> connected;
    std::function<void(const std::string& why, const std::string& hint)> failed;
  };

  // Listens. `io` must outlive the object. Kind "hosts" if that fails, or if the settings name no start command.
  static Result<std::shared_ptr<DialServer>> Open(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher,
                                                  DialSettings settings);
  ~DialServer();
  DialServer(const DialServer&) = delete;
  DialServer& operator=(const DialServer&) = delete;

  // Between Await() and Leave().
  bool Knows(const std::string& name) const { return nodes_.contains(name); }
  // Starts the node's agent, with those of all other nodes of this turn of the loop, and awaits it. It must not be
  // known yet.
  void Await(const std::string& name, Node node);
  // Starts the agents of the nodes awaited in this turn of the loop now. Calls no node's functions.
  void StartGathered();
  // The node's agent is not needed any more, or has ended. Calls `then`, if given, once the start command has ended if
  // no other node needs it, which takes a few seconds at most; else at once.
  void Leave(const std::string& name, std::function<void()> then = nullptr);

  // AgentCarrier::AskWhetherPaused. One command answers all that ask meanwhile.
  void AskWhetherPaused(std::function<void(const std::string& phrase)> answer);

  const DialCounts& counts() const { return listener_->counts(); }
  // Transport::StartWords; without what they wrote after the server had ended them.
  std::string StartWords(std::chrono::milliseconds within) const;

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  // The nodes of one start command.
  struct Batch;
  struct Known {
    Node node;
    bool connected = false;
    const Batch* batch = nullptr;  // null before its command is started
  };

  DialServer(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, DialSettings settings);

  void AwaitTime(const std::shared_ptr<Batch>& batch, std::chrono::milliseconds time);
  void OnEnd(const std::shared_ptr<Batch>& batch);
  void OnTime(const std::shared_ptr<Batch>& batch);
  // Fails the nodes of the batch that are still awaited, in the next turn of the loop.
  void FailLater(const std::shared_ptr<Batch>& batch, std::string why);
  // Fails them now.
  void Fail(const Batch* batch, const std::string& why, const std::string& hint);
  bool Awaits(const Batch* batch) const;
  void AnswerPause(bool ended);
  // Whether its command is to end now, and has not yet.
  bool EndIfUnneeded(const Batch* batch);
  std::shared_ptr<Batch> Find(const Batch* batch) const;

  std::string Meant(const std::string& name) const;
  DialVerdict Judge(const std::string& name) const;
  void OnConnection(const std::string& name, UniqueFd connection);

  // Empty, or an error.
  std::string WriteFile();
  void RemoveFile();

  boost::asio::io_context& io_;
  const std::shared_ptr<Launcher> launcher_;
  const DialSettings settings_;
  DialFile file_;
  std::string path_;
  bool written_ = false;
  std::shared_ptr<DialListener> listener_;
  std::map<std::string, Known> nodes_;
  std::vector<std::string> gathered_;  // whose command is to be started
  std::list<std::shared_ptr<Batch>> batches_;
  std::string ended_words_;                         // of start commands that have ended
  std::unique_ptr<CapturedCommand> pause_command_;  // whether the nodes are paused: is being asked
  std::unique_ptr<WatchedFd> pause_ended_;
  Timer pause_time_;
  std::vector<std::function<void(const std::string&)>> pause_answers_;
};

}  // namespace muster
