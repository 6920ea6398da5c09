// The hosts of a sweep and their free resources. A trial is gang-scheduled: it gets all the places that it needs or
// none. Numbers only; independent of agents and plans.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace muster {

struct Plan;

// What a trial uses of one host.
struct HostShare {
  std::uint32_t devices = 0;
  std::uint32_t processes = 0;  // used without devices only: one core per process

  bool operator==(const HostShare&) const = default;
};

// One share per host of its plan; each is placed on a different host of the pool.
using TrialNeeds = std::vector<HostShare>;

TrialNeeds NeedsOf(const Plan& plan);

struct PoolHost {
  std::string name;  // empty: this machine
  std::uint32_t devices = 0;
  std::uint32_t cores = 1;
};

class HostPool {
 public:
  // At most `slots` trials at a time, which replaces the counting of cores; at most `devices` in use at a time, and
  // `per_device` trials at a time on each.
  HostPool(std::vector<PoolHost> hosts, std::optional<std::uint32_t> slots, std::optional<std::uint32_t> devices,
           std::uint32_t per_device = 1);

  // A pool for trials that get hosts of their own when they start: at most `slots` at a time, each on at most `most`
  // hosts of `devices` devices (nothing: on as many as it needs). All these hosts have the number 0, and no host is
  // ever short of anything.
  static HostPool OfOwnHosts(std::uint32_t devices, std::optional<std::uint32_t> most,
                             std::optional<std::uint32_t> slots, std::optional<std::uint32_t> most_devices);
  bool own_hosts() const { return own_hosts_; }

  // The host for each share: the one with the fewest devices left over, so that large trials find whole hosts; without
  // devices, the one with most free cores. Hosts of `avoid` are excluded, and for a trial with devices also hosts on
  // which a trial awaits devices. Nothing if not all shares can be placed.
  std::optional<std::vector<std::uint32_t>> Place(const TrialNeeds& needs,
                                                  const std::set<std::uint32_t>& avoid = {}) const;
  // The hosts that would be free first, once they are empty. Nothing if the trial would not even fit on empty hosts.
  std::optional<std::vector<std::uint32_t>> PlaceWhenEmpty(const TrialNeeds& needs) const;
  // Why the trial would not even fit on empty hosts; empty if it would.
  std::string WhyNever(const TrialNeeds& needs) const;

  void Take(const TrialNeeds& needs, const std::vector<std::uint32_t>& hosts);
  void Give(const TrialNeeds& needs, const std::vector<std::uint32_t>& hosts);

  // Marks hosts on which a trial waits for devices of other jobs, so that no other waits behind it; or unmarks them.
  void Await(const std::vector<std::uint32_t>& hosts);
  void AwaitNoMore(const std::vector<std::uint32_t>& hosts);

  // A closed host gets no more trials; those on it continue.
  void Close(std::uint32_t host) { closed_.insert(host); }
  void Open(std::uint32_t host) { closed_.erase(host); }
  bool closed(std::uint32_t host) const { return closed_.contains(host); }
  // Must be called before anything on the host is in use.
  void SetCores(std::uint32_t host, std::uint32_t cores);
  // Running trials continue, also if they are more than the slots.
  void SetSlots(std::optional<std::uint32_t> slots) { slots_ = slots; }
  const std::vector<PoolHost>& hosts() const { return hosts_; }
  std::uint32_t running() const { return running_; }
  std::uint32_t devices_in_use() const { return devices_in_use_; }
  std::uint32_t per_device() const { return per_device_; }
  const std::optional<std::uint32_t>& slots() const { return slots_; }

 private:
  struct Free {
    std::uint32_t devices = 0;
    std::int64_t cores = 0;  // negative if slots let more trials run than there are cores
  };
  std::optional<std::vector<std::uint32_t>> Fit(const TrialNeeds& needs, const std::vector<Free>& free,
                                                const std::set<std::uint32_t>& avoid) const;
  bool HasCores(const HostShare& share, std::uint32_t host, const Free& free) const;
  std::uint32_t CoresOf(const HostShare& share, std::uint32_t host) const;

  std::vector<PoolHost> hosts_;
  bool own_hosts_ = false;
  std::optional<std::uint32_t> most_own_hosts_;  // of a trial
  std::optional<std::uint32_t> slots_;
  std::optional<std::uint32_t> devices_;
  std::uint32_t per_device_ = 1;
  std::vector<Free> free_;
  std::set<std::uint32_t> closed_;
  std::multiset<std::uint32_t> awaited_;  // once per host for each trial that waits there
  std::uint32_t running_ = 0;
  std::uint32_t devices_in_use_ = 0;
};

}  // namespace muster
