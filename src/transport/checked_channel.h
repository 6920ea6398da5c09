// The only place where the head decides which messages of an agent it accepts: a pure state machine that compares the
// messages of one agent with the commands given to it, by subject, and the channel that applies it. An agent is
// trusted only about itself. A stray is dropped and reported; too many of them, or an invalid answer, close the
// connection.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "transport/transport.h"
#include "wire/files/run_layout.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Whether a message of an agent matches the commands that it was given.

struct MessageVerdict {
  enum class Kind : std::uint8_t {
    kBelongs,
    kStray,  // about something that the agent was not given, or an unexpected answer: to be ignored
    kUnfit   // an answer with an invalid text: the host cannot be used
  };
  Kind kind = Kind::kBelongs;
  std::string why;  // a phrase; empty if the message is accepted

  static MessageVerdict Stray(std::string why);
  static MessageVerdict Unfit(std::string why);
  // A stray about an attempt of a process.
  static MessageVerdict OfAttempt(std::uint32_t process, std::uint32_t attempt, std::string_view what);
  // Accepted if it was requested, else a stray.
  static MessageVerdict If(bool requested, std::string_view what);
};

// Takes one from a count, if there is one left.
bool TakeOne(std::uint32_t& count);

// What an agent may report about the processes that it was given, and about the ports that it holds for them.
class ProcessExpectations {
 public:
  void Note(const Hello& command) { samples_ = command.usage_ms > 0; }
  void Note(const HoldPorts&) { ++holds_; }
  void Note(const StartProcess& command);
  void Note(const StopProcesses& command);
  void Note(const Finish& command);
  void Note(const RequestOutput&) { ++outputs_; }

  MessageVerdict On(const PortsHeld& message);
  MessageVerdict On(const ProcessStarted& message);
  MessageVerdict On(const SpawnFailed& message);
  MessageVerdict On(const ProcessExited& message);
  MessageVerdict On(const SignalSent& message);
  MessageVerdict On(const ProcessReady& message);
  MessageVerdict On(const OutputSeen& message);
  MessageVerdict On(const FirstOutput& message);
  MessageVerdict On(const EndEvidence& message);
  MessageVerdict On(const PortTaken& message);
  MessageVerdict On(const UsageSampled& message) const;

 private:
  // An attempt of a process: how many messages of a kind are still allowed.
  struct Attempt {
    std::uint32_t number = 0;
    std::uint32_t starts = 1;  // ProcessStarted or SpawnFailed
    std::uint32_t ends = 0;
    std::uint32_t ready = 0;
    std::uint32_t output = 1;  // FirstOutput
    std::uint32_t evidence = 0;
    std::uint32_t ports = 0;  // about a foreign process
    std::uint32_t signals = 0;
  };

  // Finds the attempt if it is the latest one of a process that the agent was given.
  template <class Message>
  Attempt* Of(const Message& message);
  // Takes one from the attempt's count; a stray if none is left.
  template <class Message>
  MessageVerdict Counted(const Message& message, std::uint32_t Attempt::*count, std::string_view what);

  bool samples_ = false;                                     // UsageSampled messages are allowed
  std::uint32_t holds_ = 0;                                  // PortsHeld messages that are expected
  std::uint32_t outputs_ = 0;                                // OutputSeen messages that are expected
  std::map<std::string, std::uint16_t, std::less<>> ports_;  // ports that the agent holds or held
  std::map<ProcessId, Attempt> attempts_;
};

// What an agent may send for the terminals of processes, and how many bytes.
class TerminalExpectations {
 public:
  void Note(const StartProcess& command);
  void Note(const PtyBytes& command);
  void Note(const PtyTaken& command);

  MessageVerdict On(const PtyOpened& message);
  MessageVerdict On(const PtyClosed& message);
  MessageVerdict On(const PtyBytes& message);
  MessageVerdict On(const PtyTaken& message);

 private:
  struct Terminal {
    std::uint32_t attempt = 0;
    std::uint32_t opens = 1;   // PtyOpened and …
    std::uint32_t closes = 1;  // … PtyClosed messages that are still allowed
    std::size_t written = 0;   // bytes of output that are still allowed
    std::size_t typed = 0;     // typed bytes that the agent has not acknowledged
  };

  // Null if the latest attempt of the process is another one or has no terminal.
  template <class Message>
  Terminal* Of(const Message& message);

  std::map<ProcessId, Terminal> terminals_;
};

// Which files of its run directory an agent may send: if head and host do not share it, those of what it was given.
class FileExpectations {
 public:
  void Note(const Hello& command) { run_dir_ = command.run_dir; }
  void Note(const Activate& command) { files_.AddFile(Below(command.log_path)); }
  void Note(const StartProcess& command) { files_.AddAttempt(Below(command.log_path)); }
  void Note(const TakeDump& command);
  void Note(const Finish&) { finishing_ = true; }

  MessageVerdict On(const AgentReady& message);
  MessageVerdict On(const FileBytes& message);
  MessageVerdict On(const FilesSent& message);

 private:
  // The path relative to the run directory; empty if it is not below it.
  std::string_view Below(std::string_view path) const;

  std::string run_dir_;
  bool shares_files_ = true;
  bool finishing_ = false;
  bool files_sent_ = false;
  CollectedFiles files_;
};

// What an agent may report about shipped code.
class CodeExpectations {
 public:
  void Note(const OfferCode& command);

  MessageVerdict On(const CodeMissing& message);
  MessageVerdict On(const CodeReceived& message) const;
  MessageVerdict On(const CodeReady& message);

 private:
  std::uint32_t lists_ = 0;  // CodeMissing messages that are allowed
  bool awaited_ = false;     // CodeReady is expected
};

// What an agent may report about dumps of its processes.
class DumpExpectations {
 public:
  void Note(const TakeDump& command);

  MessageVerdict On(const ProcessDumped& message);
  MessageVerdict On(const HostDumped& message);

 private:
  struct Dumped {
    std::uint32_t dump = 0;
    ProcessId process = 0;
    std::uint32_t attempt = 0;

    auto operator<=>(const Dumped&) const = default;
  };

  std::set<std::uint32_t> dumps_;  // HostDumped messages that are allowed
  std::set<Dumped> dumped_;        // ProcessDumped messages that are allowed
};

// What an agent may report about its host: its greeting, resources, activation, facts, network paths, agents below it.
class HostExpectations {
 public:
  // The agent has sent its greeting.
  bool ready() const { return ready_; }

  void Note(const Hello&) { greeted_ = true; }
  void Note(const AllocateResources& command);
  void Note(const Activate&) { activates_ = true; }
  void Note(const Inspect&) { inspects_ = true; }
  void Note(const OpenPaths&) { ++openings_; }
  void Note(const ProbePaths& command) { tries_ = command.targets.size(); }
  void Note(const ClosePaths&) { ++openings_; }
  void Note(const OpenAgent& command) { agents_.insert(command.number); }
  void Note(const FillDisk&) { ++fillings_; }

  MessageVerdict On(const AgentReady& message);
  MessageVerdict On(const AgentFailed& message);
  MessageVerdict On(const AgentSignalled& message);
  MessageVerdict On(const ResourcesAllocated& message);
  MessageVerdict On(const DevicesAwaited& message);
  MessageVerdict On(const HostActivated& message);
  MessageVerdict On(const Inspected& message);
  MessageVerdict On(const PathsOpen& message);
  MessageVerdict On(const PathsProbed& message);
  MessageVerdict On(const FromAgent& message) const;
  MessageVerdict On(const AgentExited& message);
  MessageVerdict On(const DiskFilled& message);

 private:
  bool greeted_ = false;  // AgentReady is expected
  bool ready_ = false;
  bool failed_ = false;
  bool signalled_ = false;
  bool allocates_ = false;  // ResourcesAllocated is expected
  bool awaits_ = false;     // DevicesAwaited is allowed
  bool activates_ = false;
  bool inspects_ = false;
  std::uint32_t openings_ = 0;        // PathsOpen messages that are expected
  std::optional<std::size_t> tries_;  // number of entries that PathsProbed must have
  std::set<std::uint32_t> agents_;    // agents below it
  std::uint32_t fillings_ = 0;        // DiskFilled messages that are expected
};

// Checks the messages of one agent against the commands given to it: the only place where the head decides which
// messages it accepts. An agent is trusted only about itself.
//
// A pure state machine: it is given the commands to the agent and the messages from it, in order. Each part keeps what
// commands of its subject allow.
class AgentMessageValidator {
 public:
  void Gave(const AgentCommand& command);
  // Counts the message as received: if only one is expected, the second one is a stray.
  MessageVerdict Judge(const ChannelMessage& message);

 private:
  // In the order in which they judge a message; the first objection counts, and later parts do not see the message.
  std::tuple<HostExpectations, ProcessExpectations, TerminalExpectations, DumpExpectations, FileExpectations,
             CodeExpectations>
      parts_;
};

// A channel that delivers only those messages of an agent that match the commands sent through it.
//
// It applies AgentMessageValidator: a stray is dropped and reported; too many of
// them, or an invalid answer, close the connection.
class CheckedChannel final : public Channel {
 public:
  // Number of strays that are tolerated from one agent.
  static constexpr std::uint32_t kMaxStrays = 8;

  explicit CheckedChannel(std::unique_ptr<UncheckedChannel> below);
  ~CheckedChannel() override;

  void Send(const AgentCommand& command) override;
  void SetReceiver(Receiver receiver) override;
  void ExpectAnswer(bool at_once) override;
  bool Hold(bool held) override;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace muster
