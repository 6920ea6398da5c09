#include "transport/validation/process_expectations.h"

#include <optional>

namespace muster {
namespace {

constexpr std::uint32_t kMostEvidence = 4;   // per exit: a core dump, memory, a full disk
constexpr std::uint32_t kSignalsOfStop = 2;  // the ordered signal, and SIGKILL after it

}  // namespace

template <class Message>
ProcessExpectations::Attempt* ProcessExpectations::Of(const Message& message) {
  const auto found = attempts_.find(message.process);
  return found == attempts_.end() || found->second.number != message.attempt ? nullptr : &found->second;
}

template <class Message>
MessageVerdict ProcessExpectations::Counted(const Message& message, std::uint32_t Attempt::*count,
                                            std::string_view what) {
  Attempt* const attempt = Of(message);
  if (attempt != nullptr && TakeOne(attempt->*count)) return {};
  return MessageVerdict::OfAttempt(message.process, message.attempt, what);
}

void ProcessExpectations::Note(const StartProcess& command) {
  Attempt attempt;
  attempt.number = command.attempt;
  attempt.ready = command.ready.kind == ReadyWhen::Kind::kNothing ? 0 : 1;
  attempt.evidence = kMostEvidence;
  attempt.ports = static_cast<std::uint32_t>(ports_.size() + 1);
  attempts_.insert_or_assign(command.process, attempt);
}

void ProcessExpectations::Note(const StopProcesses& command) {
  for (const ProcessAttempt& one : command.processes) {
    if (Attempt* const attempt = Of(one)) attempt->signals += kSignalsOfStop;
  }
}

void ProcessExpectations::Note(const Finish&) {
  for (auto& [process, attempt] : attempts_) ++attempt.signals;
}

MessageVerdict ProcessExpectations::On(const PortsHeld& message) {
  if (!TakeOne(holds_)) return MessageVerdict::If(false, "ports that are held");
  if (!message.error.empty()) return {};
  for (const PortRequest& port : message.ports) ports_.insert_or_assign(port.name, port.number);
  return {};
}

MessageVerdict ProcessExpectations::On(const ProcessStarted& message) {
  const MessageVerdict verdict = Counted(message, &Attempt::starts, "its start");
  if (verdict.why.empty()) attempts_.at(message.process).ends = 1;
  return verdict;
}

MessageVerdict ProcessExpectations::On(const SpawnFailed& message) {
  return Counted(message, &Attempt::starts, "a start that failed");
}

MessageVerdict ProcessExpectations::On(const ProcessExited& message) {
  return Counted(message, &Attempt::ends, "its end");
}

MessageVerdict ProcessExpectations::On(const SignalSent& message) {
  return Counted(message, &Attempt::signals, "a signal");
}

MessageVerdict ProcessExpectations::On(const ProcessReady& message) {
  return Counted(message, &Attempt::ready, "its readiness");
}

MessageVerdict ProcessExpectations::On(const OutputSeen& message) {
  if (!TakeOne(outputs_)) return MessageVerdict::If(false, "sizes of logs");
  if (message.bytes.size() != message.processes.size()) {
    return MessageVerdict::Stray("sizes of logs that are not one for each");
  }
  for (const ProcessId process : message.processes) {
    if (!attempts_.contains(process)) return MessageVerdict::Stray("the log of process " + std::to_string(process));
  }
  return {};
}

MessageVerdict ProcessExpectations::On(const FirstOutput& message) {
  return Counted(message, &Attempt::output, "its first output");
}

MessageVerdict ProcessExpectations::On(const EndEvidence& message) {
  return Counted(message, &Attempt::evidence, "evidence about its end");
}

MessageVerdict ProcessExpectations::On(const PortTaken& message) {
  const auto port = ports_.find(message.port);
  if (port == ports_.end() || port->second != message.number) {
    return MessageVerdict::OfAttempt(message.process, message.attempt, "port " + std::to_string(message.number));
  }
  return Counted(message, &Attempt::ports, "a port that is taken");
}

// An attempt may have been replaced while the sample was on its way.
MessageVerdict ProcessExpectations::On(const UsageSampled& message) const {
  if (!samples_) return MessageVerdict::If(false, "a sample of resource usage");
  std::optional<ProcessId> previous;
  for (const ProcessUsage& usage : message.processes) {
    const auto found = attempts_.find(usage.process);
    if (found == attempts_.end() || usage.attempt > found->second.number) {
      return MessageVerdict::OfAttempt(usage.process, usage.attempt, "its resource usage");
    }
    if (previous && usage.process <= *previous) return MessageVerdict::Stray("resource usage that is not in order");
    previous = usage.process;
  }
  return {};
}

}  // namespace muster
