// The head's side of agents that dial back, for all hosts of a transport: one listener, one dial file, and one start
// command for all hosts that are to be connected in one turn of the loop.
//
// Depends on the loop, the system and the caller's start command; knows no agent protocol. It is owned by the
// channels, since its timers must end before their loop, and ends with the last of them: the dial file is removed, and
// a start command that still runs is ended.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "spawn/start/launcher.h"
#include "spawn/start/limited_command.h"
#include "spawn/start/watched_fd.h"
#include "transport/dial_listener.h"
#include "transport/dial_settings.h"
#include "transport/start_command.h"
#include "wire/dial/dial_file.h"

namespace muster {

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
