// The part of the session that gets devices and cores of its hosts, and waits for devices that others hold.
#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/shell_quote.h"
#include "run/session/session.h"

namespace muster {

void Session::AskAllotment(std::uint32_t host) {
  Agent& agent = agents_[host];
  if (agent.taking && !supervisor_.AtWork()) return;  // it is not needed any more
  DeviceTerms terms = request_.devices;
  if (agent.taking) terms.wait_ms = 0;  // what runs elsewhere does not wait with it
  agent.asked = AllotmentOf(plan_, PlaceOf(host), binding_.run_id, ::getpid(), terms);
  if (!agent.asked) return OnPrepared(host);
  const bool in_turn = terms.wait_ms > 0 && plan_.hosts.size() > 1 && !agent.asked->devices.empty();
  if (!in_turn) return Send(host, *agent.asked);
  in_turn_.push_back(host);
  AskInTurn();
}

// Two jobs that each hold what the other waits for would wait for ever: by asking all hosts in one order, by the names
// that these have for themselves, one of the two has the first host and the other none.
void Session::AskInTurn() {
  std::size_t all = 0;
  for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host) {
    all += std::any_of(plan_.processes.begin(), plan_.processes.end(),
                       [host](const Process& process) { return process.host == host && !process.devices.empty(); })
               ? 1
               : 0;
  }
  if (in_turn_.size() < all || asked_in_turn_ == all) return;
  const MonotonicNs now = clock_->Monotonic();
  if (asked_in_turn_ == 0) {
    std::sort(in_turn_.begin(), in_turn_.end(), [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(agents_[a].host_name, a) < std::pair(agents_[b].host_name, b);
    });
    waits_since_ = now;
  }
  const std::uint32_t host = in_turn_[asked_in_turn_++];
  Allot& asked = *agents_[host].asked;
  if (asked.wait_ms != kWaitForEver) {
    asked.wait_ms -= std::min(asked.wait_ms - 1, (now - waits_since_) / 1'000'000);
  }
  Send(host, asked);
}

void Session::OnDevicesAwaited(std::uint32_t host, DevicesAwaited awaited) {
  const Agent& agent = agents_[host];
  if (!agent.asked || agent.asked->wait_ms == 0 || agent.ready || supervisor_.phase() != Phase::kPreparing) return;
  awaited.host = host;
  awaited.count = static_cast<std::uint32_t>(agent.asked->devices.size());
  awaited.holders = Printable(awaited.holders);
  const std::string of_host = elsewhere_ ? " of " + NameOf(host) : std::string();
  Waits(fmt::format("{} device{}{}", awaited.count, awaited.count == 1 ? "" : "s", of_host), awaited.holders);
  Record(std::move(awaited));
}

void Session::Waits(std::string for_what, const std::string& holders) {
  if (for_what.empty() && waits_.empty()) return;
  waits_ = for_what.empty() ? std::string() : fmt::format("{}: {}", for_what, holders);
  if (!waits_.empty()) console_.Say("waiting for " + waits_);
  if (request_.on_wait) request_.on_wait(binding_.run_id, binding_.run_dir, holders);
}

void Session::OnAllotted(std::uint32_t host, const Allotted& allotted) {
  Agent& agent = agents_[host];
  if (!agent.asked || (agent.ready && !agent.taking)) return;
  const std::string& name = NameOf(host);
  Waits({}, {});
  if (!allotted.error.empty()) return CannotPrepare(host, fmt::format("{}: {}", name, allotted.error));
  const Allot& asked = *agent.asked;
  if (asked.devices.size() != allotted.devices.size() || asked.cores.size() != allotted.cores.size())
    return CannotPrepare(host, fmt::format("the agent of {} gave other devices or cores than asked", name));
  for (std::size_t i = 0; i < asked.devices.size(); ++i) {
    if (agent.devices.size() <= asked.devices[i]) agent.devices.resize(std::size_t{asked.devices[i]} + 1);
    agent.devices[asked.devices[i]] = allotted.devices[i];
  }
  for (std::size_t i = 0; i < asked.cores.size(); ++i) binding_.cores[asked.cores[i].process] = allotted.cores[i];
  for (const std::string& note : allotted.notes) console_.Warn(fmt::format("{}: {}", name, note));
  OnPrepared(host);
  AskInTurn();
}

}  // namespace muster
