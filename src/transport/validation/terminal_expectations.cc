#include "transport/validation/terminal_expectations.h"

namespace muster {

template <class Message>
TerminalExpectations::Terminal* TerminalExpectations::Of(const Message& message) {
  const auto found = terminals_.find(message.process);
  return found == terminals_.end() || found->second.attempt != message.attempt ? nullptr : &found->second;
}

void TerminalExpectations::Note(const StartProcess& command) {
  terminals_.erase(command.process);
  if (!command.pty) return;
  terminals_[command.process] = {.attempt = command.attempt, .written = kPtyWindow + kMaxPtyRest};
}

void TerminalExpectations::Note(const PtyBytes& command) {
  if (Terminal* const terminal = Of(command)) terminal->typed += command.bytes.size();
}

void TerminalExpectations::Note(const PtyTaken& command) {
  if (Terminal* const terminal = Of(command)) terminal->written += command.count;
}

MessageVerdict TerminalExpectations::On(const PtyOpened& message) {
  Terminal* const terminal = Of(message);
  if (terminal != nullptr && TakeOne(terminal->opens)) return {};
  return MessageVerdict::OfAttempt(message.process, message.attempt, "its terminal");
}

MessageVerdict TerminalExpectations::On(const PtyClosed& message) {
  Terminal* const terminal = Of(message);
  if (terminal != nullptr && TakeOne(terminal->closes)) return {};
  return MessageVerdict::OfAttempt(message.process, message.attempt, "the end of its terminal");
}

MessageVerdict TerminalExpectations::On(const PtyBytes& message) {
  Terminal* const terminal = Of(message);
  if (terminal == nullptr || terminal->written < message.bytes.size()) {
    return MessageVerdict::OfAttempt(message.process, message.attempt, "output to its terminal");
  }
  terminal->written -= message.bytes.size();
  return {};
}

MessageVerdict TerminalExpectations::On(const PtyTaken& message) {
  Terminal* const terminal = Of(message);
  if (terminal == nullptr || terminal->typed < message.count) {
    return MessageVerdict::OfAttempt(message.process, message.attempt, "input from its terminal");
  }
  terminal->typed -= message.count;
  return {};
}

}  // namespace muster
