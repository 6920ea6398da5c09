#include "transport/validation/dump_expectations.h"

#include <string>

namespace muster {

void DumpExpectations::Note(const TakeDump& command) {
  // Results of the previous dump may still be on their way.
  std::erase_if(dumps_, [&](std::uint32_t dump) { return dump + 1 < command.dump; });
  std::erase_if(dumped_, [&](const Dumped& one) { return one.dump + 1 < command.dump; });
  dumps_.insert(command.dump);
  for (const DumpTarget& one : command.processes) dumped_.insert({command.dump, one.process, one.attempt});
}

MessageVerdict DumpExpectations::On(const ProcessDumped& message) {
  if (dumped_.erase({message.dump, message.process, message.attempt}) > 0) return {};
  return MessageVerdict::OfAttempt(message.process, message.attempt, "dump " + std::to_string(message.dump));
}

MessageVerdict DumpExpectations::On(const HostDumped& message) {
  return MessageVerdict::If(dumps_.erase(message.dump) > 0, "dump " + std::to_string(message.dump));
}

}  // namespace muster
