// Checks the messages of one agent against the commands given to it: the only place where the head decides which
// messages it accepts. An agent is trusted only about itself.
//
// A pure state machine: it is given the commands to the agent and the messages from it, in order.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/channel.h"
#include "wire/files/collected_files.h"
#include "wire/protocol/protocol.h"

namespace muster {

class AgentMessageValidator {
 public:
  struct Verdict {
    enum class Kind : std::uint8_t {
      kBelongs,
      kStray,  // about something that the agent was not given, or an unexpected answer: to be ignored
      kUnfit   // an answer with an invalid text: the host cannot be used
    };
    Kind kind = Kind::kBelongs;
    std::string why;  // a phrase; empty if the message is accepted
  };

  void Gave(const AgentCommand& command);
  // Counts the message as received: if only one is expected, the second one is a stray.
  Verdict Judge(const ChannelMessage& message);

 private:
  // An attempt of a process, and the messages about it that are still expected.
  struct Attempt {
    std::uint32_t number = 0;
    bool starts = true;   // ProcessStarted or SpawnFailed is expected
    bool ends = false;    // ProcessExited is expected
    bool ready = false;   // ProcessReady may come, …
    bool output = false;  // … FirstOutput, …
    bool opens = false;   // … PtyOpened, …
    bool closes = false;  // … and PtyClosed
    std::uint32_t evidence = 0;
    std::uint32_t ports = 0;    // ports for which a foreign process may be reported
    std::uint32_t signals = 0;  // SignalSent messages that are still allowed
    std::size_t written = 0;    // bytes of terminal output that are still allowed
    std::size_t typed = 0;      // … typed bytes that the agent has not acknowledged
    bool terminal = false;
  };

  struct Dumped {
    std::uint32_t dump = 0;
    ProcessId process = 0;
    std::uint32_t attempt = 0;

    auto operator<=>(const Dumped&) const = default;
  };

  void Note(const Hello& command);
  void Note(const HoldPorts& command);
  void Note(const AllocateResources& command);
  void Note(const Activate& command);
  void Note(const StartProcess& command);
  void Note(const StopProcesses& command);
  void Note(const Finish& command);
  void Note(const RequestOutput& command);
  void Note(const TakeDump& command);
  void Note(const PtyBytes& command);
  void Note(const PtyTaken& command);
  void Note(const Inspect& command);
  void Note(const OpenPaths& command);
  void Note(const ProbePaths& command);
  void Note(const ClosePaths& command);
  void Note(const OfferCode& command);
  void Note(const OpenAgent& command);
  // Commands without an answer.
  void Note(const DefineEnvironment&) {}
  void Note(const HeadHeartbeat&) {}
  void Note(const PlaceFile&) {}
  void Note(const PtyResized&) {}
  void Note(const CodeBytes&) {}
  void Note(const FilesStored&) {}
  void Note(const ToAgent&) {}
  void Note(const CloseAgent&) {}

  Verdict On(const AgentReady& message);
  Verdict On(const PortsHeld& message);
  Verdict On(const AgentFailed& message);
  Verdict On(const ProcessStarted& message);
  Verdict On(const SpawnFailed& message);
  Verdict On(const ProcessExited& message);
  Verdict On(const SignalSent& message);
  Verdict On(const ProcessReady& message);
  Verdict On(const OutputSeen& message);
  Verdict On(const FirstOutput& message);
  Verdict On(const EndEvidence& message);
  Verdict On(const PortTaken& message);
  Verdict On(const ProcessDumped& message);
  Verdict On(const HostDumped& message);
  Verdict On(const PtyOpened& message);
  Verdict On(const PtyClosed& message);
  Verdict On(const PtyBytes& message);
  Verdict On(const PtyTaken& message);
  Verdict On(const ResourcesAllocated& message);
  Verdict On(const DevicesAwaited& message);
  Verdict On(const HostActivated& message);
  Verdict On(const FileBytes& message);
  Verdict On(const FilesSent& message);
  Verdict On(const Inspected& message);
  Verdict On(const PathsOpen& message);
  Verdict On(const PathsProbed& message);
  Verdict On(const CodeMissing& message);
  Verdict On(const CodeReceived& message) const;
  Verdict On(const CodeReady& message);
  Verdict On(const FromAgent& message) const;
  Verdict On(const AgentExited& message);
  // Messages that the channel creates itself; the caller decides what an end means.
  Verdict On(const AgentEmpty&) { return {}; }
  Verdict On(const AgentLost&) { return {}; }
  Verdict On(const AgentUnreachable&) { return {}; }
  Verdict On(const ClockCompared&) { return {}; }
  Verdict On(const StrayMessage&) { return {}; }

  // Finds the attempt if it is the latest one of a process that the agent was given.
  template <class Message>
  Attempt* Of(const Message& message);
  // Clears the flag; returns a stray if it is not set.
  template <class Message>
  Verdict Once(const Message& message, bool Attempt::*flag, std::string_view what);
  template <class Message>
  Verdict Counted(const Message& message, std::uint32_t Attempt::*count, std::string_view what);
  // The path relative to the run directory; empty if it is not below it.
  std::string_view Below(std::string_view path) const;

  std::string run_dir_;
  bool greeted_ = false;  // AgentReady is expected
  bool ready_ = false;
  bool failed_ = false;
  bool shares_files_ = true;
  bool finishing_ = false;
  bool files_sent_ = false;
  bool activates_ = false;
  bool inspects_ = false;
  std::uint32_t openings_ = 0;                               // PathsOpen messages that are expected
  std::optional<std::size_t> tries_;                         // number of entries that PathsProbed must have
  std::uint32_t outputs_ = 0;                                // OutputSeen messages that are expected
  std::vector<HoldPorts> holds_;                             // PortsHeld messages that are expected, in order
  std::map<std::string, std::uint16_t, std::less<>> ports_;  // ports that the agent holds or held
  std::optional<AllocateResources> allots_;
  bool awaits_ = false;           // DevicesAwaited is allowed
  std::uint32_t code_lists_ = 0;  // CodeMissing messages that are allowed
  bool code_ready_ = false;       // CodeReady is expected
  std::map<ProcessId, Attempt> attempts_;
  std::set<std::uint32_t> dumps_;   // HostDumped messages that are allowed
  std::set<Dumped> dumped_;         // ProcessDumped messages that are allowed
  std::set<std::uint32_t> agents_;  // agents below it
  CollectedFiles files_;
};

}  // namespace muster
