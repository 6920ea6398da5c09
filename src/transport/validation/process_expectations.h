// What an agent may report about the processes that it was given, and about the ports that it holds for them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "transport/validation/message_verdict.h"
#include "wire/protocol/protocol.h"

namespace muster {

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

}  // namespace muster
