#include "transport/validation/host_expectations.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/system/host_name.h"
#include "base/values/plain_text.h"
#include "wire/protocol/protocol_bounds.h"

namespace muster {
namespace {

// Whether the list is valid: not empty, ascending, within the range of core numbers.
bool AreCores(const std::vector<std::uint32_t>& cores) {
  return !cores.empty() && cores.back() < protocol_bounds::kCores &&
         std::adjacent_find(cores.begin(), cores.end(), std::greater_equal<>()) == cores.end();
}

}  // namespace

void HostExpectations::Note(const AllocateResources& command) {
  allocates_ = true;
  awaits_ = command.wait_ms > 0 && !command.devices.empty();
}

MessageVerdict HostExpectations::On(const AgentReady& message) {
  if (!std::exchange(greeted_, false)) return MessageVerdict::If(false, "a greeting");
  ready_ = true;
  if (message.version != kProtocolVersion) return {};  // the host is refused in any case
  if (!IsHostOrAddress(message.host_name)) return MessageVerdict::Unfit("the name of its host is invalid");
  if (!message.address.empty() && !IsHostOrAddress(message.address)) {
    return MessageVerdict::Unfit("the address of its host is invalid");
  }
  return {};
}

MessageVerdict HostExpectations::On(const AgentFailed&) {
  return MessageVerdict::If(!std::exchange(failed_, true), "a second refusal");
}

MessageVerdict HostExpectations::On(const AgentSignalled& message) {
  return MessageVerdict::If(message.signal == SIGTERM && !std::exchange(signalled_, true), "a signal to itself");
}

MessageVerdict HostExpectations::On(const ResourcesAllocated& message) {
  if (!std::exchange(allocates_, false)) return MessageVerdict::If(false, "devices and cores");
  awaits_ = false;
  if (!message.error.empty()) return {};
  for (const std::string& device : message.devices) {
    if (device.empty() || !IsPlain(device)) {
      return MessageVerdict::Unfit("a device that it allocated has an invalid name");
    }
  }
  if (std::all_of(message.cores.begin(), message.cores.end(), AreCores)) return {};
  return MessageVerdict::Unfit("the cores that it allocated are invalid");
}

MessageVerdict HostExpectations::On(const DevicesAwaited&) {
  return MessageVerdict::If(std::exchange(awaits_, false), "a wait for devices");
}

MessageVerdict HostExpectations::On(const HostActivated&) {
  return MessageVerdict::If(std::exchange(activates_, false), "an activation");
}

MessageVerdict HostExpectations::On(const Inspected&) {
  return MessageVerdict::If(std::exchange(inspects_, false), "facts about its host");
}

MessageVerdict HostExpectations::On(const PathsOpen&) {
  return MessageVerdict::If(TakeOne(openings_), "open network paths");
}

MessageVerdict HostExpectations::On(const PathsProbed& message) {
  const auto tries = std::exchange(tries_, std::nullopt);
  if (!tries) return MessageVerdict::If(false, "checked network paths");
  if (message.errors.size() == *tries) return {};
  return MessageVerdict::Unfit("it checked other paths than requested");
}

MessageVerdict HostExpectations::On(const FromAgent& message) const {
  if (agents_.contains(message.number)) return {};
  return MessageVerdict::Stray("agent " + std::to_string(message.number) + " below it");
}

MessageVerdict HostExpectations::On(const AgentExited& message) {
  if (agents_.erase(message.number) > 0) return {};
  return MessageVerdict::Stray("the end of agent " + std::to_string(message.number) + " below it");
}

}  // namespace muster
