#include "sweep/head/sweep_hosts.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/values/quoting.h"
#include "sweep/head/trial_place.h"

namespace muster {

std::vector<std::string> NamesOf(const std::vector<SiteHost>& hosts) {
  std::vector<std::string> names;
  for (const SiteHost& host : hosts) names.push_back(host.name);
  if (names.empty()) names.emplace_back();
  return names;
}

HostPool PoolOf(const SweepRequest& request) {
  const BudgetChoice& budget = request.description.budget;
  if (request.allocator != nullptr) {
    return HostPool::OfOwnHosts(request.devices, request.allocator->most_hosts(), budget.slots, budget.devices);
  }
  std::vector<PoolHost> pool;
  for (const SiteHost& host : request.hosts) pool.push_back({host.name, host.devices.value_or(request.devices), 1});
  if (pool.empty()) pool.push_back({"", request.devices, 1});
  return {std::move(pool), budget.slots, budget.devices, budget.per_device.value_or(1)};
}

SweepHosts::SweepHosts(boost::asio::io_context& io, Transport& transport, std::vector<std::string> names,
                       const std::string& id, TrialScheduler& course, Calls calls)
    : io_(io),
      course_(course),
      calls_(std::move(calls)),
      agents_(io, transport, std::move(names), id,
              {.ready = [this](std::uint32_t host, const AgentReady& ready) { OnReady(host, ready); },
               .refused = [this](std::uint32_t host, const AgentUnreachable& why) { OnNone(host, why.why); },
               .lost = [this](std::uint32_t host, const AgentLost& lost) { OnLost(host, lost.why); }}) {}

bool SweepHosts::settled() const {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    if (!agents_.ready(host) && !course_.pool().closed(host)) return false;
  }
  return true;
}

void SweepHosts::Finish(std::function<void()> done) {
  finishing_ = true;
  agents_.Finish(std::move(done));
}

void SweepHosts::OnReady(std::uint32_t host, const AgentReady& ready) {
  if (counted_.insert(host).second) course_.hosts().pool().SetCores(host, ready.cores);
  if (connecting_again_.erase(host) > 0) course_.hosts().Open(host);
  calls_.changed();
}

// A host that was connected is tried again: an agent may have been killed, or a connection cut.
void SweepHosts::OnLost(std::uint32_t host, const std::string& why) {
  if (finishing_) return;
  if (course_.stopping() || ++losses_[host] > kMostLosses) return OnNone(host, why);
  course_.hosts().Close(host);
  connecting_again_.insert(host);
  const std::string& name = course_.pool().hosts()[host].name;
  calls_.say(fmt::format("the agent of {} is lost ({}); another one is started",
                         name.empty() ? "this machine" : Printable(name), Printable(why)));
  boost::asio::post(io_, [this, host] {
    if (!finishing_) agents_.Connect(host);
  });
}

void SweepHosts::OnNone(std::uint32_t host, const std::string& why) {
  if (finishing_) return;
  connecting_again_.erase(host);
  const auto& hosts = course_.pool().hosts();
  if (hosts[host].name.empty()) {
    calls_.none_left("there is no agent: " + why);
  } else {
    course_.hosts().Quarantine(hosts[host].name, why);
    bool any = !connecting_again_.empty();
    for (std::uint32_t other = 0; other < hosts.size(); ++other) any = any || !course_.pool().closed(other);
    if (!any) calls_.none_left("no host is left; the last one: " + why);
  }
  calls_.changed();
}

}  // namespace muster
