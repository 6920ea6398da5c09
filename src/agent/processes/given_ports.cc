#include "agent/processes/given_ports.h"

#include <algorithm>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/unique_fd.h"

namespace muster {
namespace {

// The end of a process's log, which may explain why it could not bind.
std::string EndOf(const std::string& log) {
  constexpr off_t kMaxBytes = 16 << 10;
  const UniqueFd file(::open(log.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return {};
  const off_t size = std::min(status.st_size, kMaxBytes);
  return BytesAt(file.get(), static_cast<std::uint64_t>(status.st_size - size), static_cast<std::size_t>(size));
}

bool SpeaksOfAnAddressInUse(std::string_view words) {
  for (const std::string_view phrase : {"ddress already in use", "EADDRINUSE", "ddress in use"}) {
    if (words.find(phrase) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

bool GivenPorts::IsForeign(const PortHolder& holder) const {
  if (holder.kind != PortHolder::Kind::kForeign) return false;
  return holder.pid != 0 || holder.user != ::geteuid() || shut_in_;
}

PortTaken GivenPorts::Taken(const Key& key, const std::string& name, std::uint16_t number, std::string holder) {
  PortTaken taken;
  taken.process = key.first;
  taken.attempt = key.second;
  taken.port = name;
  taken.number = number;
  taken.holder = std::move(holder);
  taken.at = MonotonicNowNs();
  return taken;
}

PortsHeld GivenPorts::Hold(HoldPorts command) {
  PortsHeld answer;
  std::map<std::string, HeldPort> held;
  for (PortRequest& request : command.ports) {
    auto port = request.number == 0 ? HoldAnyPort(chosen_) : HoldPort(request.number);
    if (!port) {
      answer.error = request.name + ": " + port.error();
      return answer;
    }
    request.number = port->number;
    chosen_.insert(port->number);
    held.insert_or_assign(request.name, std::move(*port));
  }
  answer.ports = std::move(command.ports);
  for (auto& [name, port] : held) {
    given_[name] = Given{port.number, std::nullopt, false};
    held_.insert_or_assign(name, std::move(port));
  }
  return answer;
}

void GivenPorts::Release(const StartProcess& command) {
  for (const std::string& name : command.release_ports) {
    held_.erase(name);
    if (const auto given = given_.find(name); given != given_.end()) given->second.ours = false;
  }
  for (const std::string& name : command.own_ports) {
    if (const auto given = given_.find(name); given != given_.end()) {
      given->second.owner = Key(command.process, command.attempt);
    }
  }
}

void GivenPorts::Started(const ProcessStarted& event) {
  if (!given_.empty()) attempts_[{event.process, event.attempt}].pid = event.pid;
}

void GivenPorts::Stopped(const Key& key) {
  if (const auto attempt = attempts_.find(key); attempt != attempts_.end()) attempt->second.stopped = true;
}

bool GivenPorts::IsOurs(const Key& key, std::uint16_t number, std::optional<PortTaken>& taken) {
  const auto attempt = attempts_.find(key);
  const auto given = std::find_if(given_.begin(), given_.end(), [&](const auto& entry) {
    return entry.second.number == number && !held_.contains(entry.first);
  });
  if (given == given_.end() || given->second.ours || attempt == attempts_.end()) return true;
  if (HasSocket(attempt->second.pid, Listeners()[number], proc_)) return given->second.ours = true;
  const PortHolder holder = FindPortHolders({number}, self_, proc_).at(number);
  if (holder.kind == PortHolder::Kind::kOurs) return given->second.ours = true;
  if (!IsForeign(holder) || !holder.listening) return true;
  if (!std::exchange(attempt->second.reported, true)) {
    taken = Taken(key, given->first, number, PortHolderText(holder));
    taken->running = true;
  }
  return false;
}

std::vector<PortTaken> GivenPorts::Ended(const ProcessExited& event, const std::string& log) {
  std::vector<PortTaken> taken;
  const Key key(event.process, event.attempt);
  const auto attempt = attempts_.find(key);
  if (attempt == attempts_.end()) return taken;
  const bool looks = (event.signalled || event.code != 0) && !attempt->second.stopped;
  attempts_.erase(attempt);

  std::set<std::string> refused;     // own ports that cannot be held again
  std::set<std::uint16_t> doubtful;  // port numbers
  const bool unsure = looks && std::any_of(given_.begin(), given_.end(), [&](const auto& entry) {
                        return !entry.second.ours && !held_.contains(entry.first);
                      });
  std::map<std::uint16_t, std::set<std::uint64_t>> listeners;
  if (unsure) listeners = Listeners();
  for (auto& [name, given] : given_) {
    if (held_.contains(name)) continue;
    const bool own = given.owner == key;
    // If the port's owner listens on it, the exit has another cause.
    if (looks && !given.ours) {
      const auto owner = given.owner ? attempts_.find(*given.owner) : attempts_.end();
      const auto listening = listeners.find(given.number);
      if (listening != listeners.end() && owner != attempts_.end()) {
        given.ours = HasSocket(owner->second.pid, listening->second, proc_);
      }
      if (!given.ours && (own || listening != listeners.end())) doubtful.insert(given.number);
    }
    if (!own) continue;
    given.owner.reset();
    if (auto held = TryHoldPort(given.number)) {
      held_.insert_or_assign(name, std::move(*held));
      doubtful.erase(given.number);
    } else {
      refused.insert(name);
    }
  }
  if (doubtful.empty()) return taken;

  std::optional<bool> said;
  const std::map<std::uint16_t, PortHolder> holders = FindPortHolders(doubtful, self_, proc_);
  for (auto& [name, given] : given_) {
    if (held_.contains(name) || !doubtful.contains(given.number)) continue;
    const PortHolder& holder = holders.at(given.number);
    if (holder.kind == PortHolder::Kind::kOurs) {
      given.ours = given.ours || holder.listening;
    } else if (IsForeign(holder) && (holder.listening || refused.contains(name))) {
      taken.push_back(Taken(key, name, given.number, PortHolderText(holder)));
    } else if (refused.contains(name)) {
      // A socket that is only bound is in no table: a refused port and an error text in the log are required instead.
      if (!said) said = SpeaksOfAnAddressInUse(EndOf(log));
      if (*said) taken.push_back(Taken(key, name, given.number, PortHolderText(holder)));
    }
  }
  return taken;
}

void GivenPorts::Clear() {
  held_.clear();
  given_.clear();
  attempts_.clear();
}

}  // namespace muster
