#include "sweep/scheduler/host_pool.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "muster/plan.h"

namespace muster {
namespace {

std::uint32_t DevicesOf(const TrialNeeds& needs) {
  return std::accumulate(needs.begin(), needs.end(), std::uint32_t{0},
                         [](std::uint32_t sum, const HostShare& share) { return sum + share.devices; });
}

}  // namespace

TrialNeeds NeedsOf(const Plan& plan) {
  TrialNeeds needs(plan.hosts.size());
  std::vector<std::set<std::uint32_t>> devices(plan.hosts.size());
  for (const Process& process : plan.processes) {
    ++needs[process.host].processes;
    devices[process.host].insert(process.devices.begin(), process.devices.end());
  }
  for (std::size_t host = 0; host < needs.size(); ++host) {
    needs[host].devices = static_cast<std::uint32_t>(devices[host].size());
  }
  return needs;
}

HostPool::HostPool(std::vector<PoolHost> hosts, std::optional<std::uint32_t> slots,
                   std::optional<std::uint32_t> devices, std::uint32_t per_device)
    : hosts_(std::move(hosts)), slots_(slots), devices_(devices), per_device_(per_device) {
  for (const PoolHost& host : hosts_) free_.push_back({host.devices * per_device_, host.cores});
}

HostPool HostPool::OfOwnHosts(std::uint32_t devices, std::optional<std::uint32_t> most,
                              std::optional<std::uint32_t> slots, std::optional<std::uint32_t> most_devices) {
  HostPool pool({{"", devices, 1}}, slots, most_devices);
  pool.own_hosts_ = true;
  pool.most_own_hosts_ = most;
  return pool;
}

void HostPool::SetCores(std::uint32_t host, std::uint32_t cores) {
  hosts_[host].cores = std::max<std::uint32_t>(cores, 1);
  free_[host].cores = hosts_[host].cores;
}

// A share with more processes than the host has cores takes all cores, so that it can be placed at all. Counted with
// slots too, since they may be set while trials run.
std::uint32_t HostPool::CoresOf(const HostShare& share, std::uint32_t host) const {
  return share.devices > 0 ? 0 : std::min(share.processes, hosts_[host].cores);
}

bool HostPool::HasCores(const HostShare& share, std::uint32_t host, const Free& free) const {
  return slots_ || share.devices > 0 || free.cores >= CoresOf(share, host);
}

std::optional<std::vector<std::uint32_t>> HostPool::Fit(const TrialNeeds& needs, const std::vector<Free>& free,
                                                        const std::set<std::uint32_t>& avoid) const {
  if (own_hosts_) {
    const bool fits = needs.size() <= most_own_hosts_.value_or(needs.size()) &&
                      std::all_of(needs.begin(), needs.end(),
                                  [this](const HostShare& share) { return share.devices <= hosts_.front().devices; });
    if (!fits || avoid.contains(0)) return std::nullopt;  // 0 is reserved for a larger trial
    return std::vector<std::uint32_t>(needs.size(), 0);
  }
  std::vector<std::uint32_t> order(needs.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(needs[a].devices, needs[a].processes) > std::pair(needs[b].devices, needs[b].processes);
  });
  std::vector<std::uint32_t> chosen(needs.size());
  std::vector<bool> taken(free.size());
  for (const std::uint32_t part : order) {
    const HostShare& share = needs[part];
    std::optional<std::uint32_t> best;
    for (std::uint32_t host = 0; host < free.size(); ++host) {
      if (taken[host] || closed_.contains(host) || avoid.contains(host)) continue;
      if (hosts_[host].devices < share.devices)
        continue;  // one trial cannot use a device twice, even if several trials may share it
      if (free[host].devices < share.devices || !HasCores(share, host, free[host])) continue;
      const bool better = !best || (share.devices > 0 ? free[host].devices < free[*best].devices
                                                      : free[host].cores > free[*best].cores);
      if (better) best = host;
    }
    if (!best) return std::nullopt;
    chosen[part] = *best;
    taken[*best] = true;
  }
  return chosen;
}

std::optional<std::vector<std::uint32_t>> HostPool::Place(const TrialNeeds& needs,
                                                          const std::set<std::uint32_t>& avoid) const {
  if (slots_ && running_ >= *slots_) return std::nullopt;
  const std::uint32_t devices = DevicesOf(needs);
  if (devices_ && devices_in_use_ + devices > *devices_) return std::nullopt;
  if (own_hosts_ || devices == 0 || awaited_.empty()) return Fit(needs, free_, avoid);
  std::set<std::uint32_t> left_out = avoid;
  left_out.insert(awaited_.begin(), awaited_.end());
  return Fit(needs, free_, left_out);
}

std::optional<std::vector<std::uint32_t>> HostPool::PlaceWhenEmpty(const TrialNeeds& needs) const {
  if (devices_ && DevicesOf(needs) > *devices_) return std::nullopt;
  if (own_hosts_) return Fit(needs, {}, {});
  std::vector<Free> empty;
  for (const PoolHost& host : hosts_) empty.push_back({host.devices * per_device_, host.cores});
  std::set<std::uint32_t> avoid;
  std::vector<std::uint32_t> busiest(hosts_.size());
  std::iota(busiest.begin(), busiest.end(), 0);
  std::stable_sort(busiest.begin(), busiest.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(free_[a].devices, free_[a].cores) < std::pair(free_[b].devices, free_[b].cores);
  });
  auto found = Fit(needs, empty, avoid);
  if (!found) return std::nullopt;
  for (const std::uint32_t host : busiest) {  // skip the busiest ones if the others suffice
    avoid.insert(host);
    if (auto without = Fit(needs, empty, avoid)) {
      found = std::move(without);
    } else {
      avoid.erase(host);
    }
  }
  return found;
}

std::string HostPool::WhyNever(const TrialNeeds& needs) const {
  if (PlaceWhenEmpty(needs)) return {};
  const std::uint32_t devices = DevicesOf(needs);
  if (devices_ && devices > *devices_) {
    return fmt::format("it needs {} devices, and the budget has {}", devices, *devices_);
  }
  const std::size_t open = own_hosts_ ? most_own_hosts_.value_or(needs.size()) : hosts_.size() - closed_.size();
  if (needs.size() > open) {
    return fmt::format("it needs {} hosts, and {} has {}", needs.size(), own_hosts_ ? "its allocation" : "the sweep",
                       open);
  }
  const auto largest = std::max_element(needs.begin(), needs.end(),
                                        [](const HostShare& a, const HostShare& b) { return a.devices < b.devices; });
  std::uint32_t most = 0;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (!closed_.contains(host)) most = std::max(most, hosts_[host].devices);
  }
  if (largest->devices > most) {
    return fmt::format("it needs {} devices of a host, and no host of the sweep has more than {}", largest->devices,
                       most);
  }
  return fmt::format("it needs {} hosts with {} devices each, more than the sweep has", needs.size(), largest->devices);
}

void HostPool::Take(const TrialNeeds& needs, const std::vector<std::uint32_t>& hosts) {
  ++running_;
  devices_in_use_ += DevicesOf(needs);
  if (own_hosts_) return;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    free_[hosts[i]].devices -= needs[i].devices;
    free_[hosts[i]].cores -= CoresOf(needs[i], hosts[i]);
  }
}

void HostPool::Give(const TrialNeeds& needs, const std::vector<std::uint32_t>& hosts) {
  --running_;
  devices_in_use_ -= DevicesOf(needs);
  if (own_hosts_) return;
  for (std::size_t i = 0; i < needs.size(); ++i) {
    free_[hosts[i]].devices += needs[i].devices;
    free_[hosts[i]].cores += CoresOf(needs[i], hosts[i]);
  }
}

void HostPool::Await(const std::vector<std::uint32_t>& hosts) { awaited_.insert(hosts.begin(), hosts.end()); }

void HostPool::AwaitNoMore(const std::vector<std::uint32_t>& hosts) {
  for (const std::uint32_t host : hosts) awaited_.erase(awaited_.find(host));
}

}  // namespace muster
