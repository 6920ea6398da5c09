// The hosts of a sweep and what of them is free: trials are gangs, which get all the places that they need or none.
// Numbers only; knows no agents and no plans' insides.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace muster {

struct Plan;

// What a trial takes of one host.
struct HostShare {
  std::uint32_t devices = 0;
  std::uint32_t processes = 0;  // counted where there are no devices: each has a core to itself

  bool operator==(const HostShare&) const = default;
};

// Of each host of its plan; they are different hosts of the pool.
using TrialNeeds = std::vector<HostShare>;

TrialNeeds NeedsOf(const Plan& plan);

struct PoolHost {
  std::string name;  // empty: this machine
  std::uint32_t devices = 0;
  std::uint32_t cores = 1;
};

class HostPool {
 public:
  // At most `slots` trials at once, in whose place cores are not counted then; at most `devices` in use at once, and
  // `per_device` trials at once on each.
  HostPool(std::vector<PoolHost> hosts, std::optional<std::uint32_t> slots, std::optional<std::uint32_t> devices,
           std::uint32_t per_device = 1);

  // By share the host: where the devices left over are fewest, so that large trials find hosts that are whole; without
  // devices, where most cores are free. Hosts of `avoid` are left out, and for a trial with devices those on which one
  // awaits devices. Nothing if not all find their place.
  std::optional<std::vector<std::uint32_t>> Place(const TrialNeeds& needs,
                                                  const std::set<std::uint32_t>& avoid = {}) const;
  // The hosts that would be free first for it, once they are empty. Nothing if even empty hosts would not do.
  std::optional<std::vector<std::uint32_t>> PlaceWhenEmpty(const TrialNeeds& needs) const;
  // Why not even empty hosts would do; empty if they would.
  std::string WhyNever(const TrialNeeds& needs) const;

  void Take(const TrialNeeds& needs, const std::vector<std::uint32_t>& hosts);
  void Give(const TrialNeeds& needs, const std::vector<std::uint32_t>& hosts);

  // A trial on these hosts waits for devices that others hold: one more would only wait behind it. Or does so no more.
  void Await(const std::vector<std::uint32_t>& hosts);
  void AwaitNoMore(const std::vector<std::uint32_t>& hosts);

  // A closed host takes no more trials; those on it go on.
  void Close(std::uint32_t host) { closed_.insert(host); }
  void Open(std::uint32_t host) { closed_.erase(host); }
  bool closed(std::uint32_t host) const { return closed_.contains(host); }
  // Before anything was taken of the host.
  void SetCores(std::uint32_t host, std::uint32_t cores);
  const std::vector<PoolHost>& hosts() const { return hosts_; }
  std::uint32_t running() const { return running_; }
  std::uint32_t devices_in_use() const { return devices_in_use_; }
  std::uint32_t per_device() const { return per_device_; }

 private:
  struct Free {
    std::uint32_t devices = 0;
    std::uint32_t cores = 0;
  };
  std::optional<std::vector<std::uint32_t>> Fit(const TrialNeeds& needs, const std::vector<Free>& free,
                                                const std::set<std::uint32_t>& avoid) const;
  std::uint32_t CoresOf(const HostShare& share, std::uint32_t host) const;

  std::vector<PoolHost> hosts_;
  std::optional<std::uint32_t> slots_;
  std::optional<std::uint32_t> devices_;
  std::uint32_t per_device_ = 1;
  std::vector<Free> free_;
  std::set<std::uint32_t> closed_;
  std::multiset<std::uint32_t> awaited_;  // a host once for each trial that waits there
  std::uint32_t running_ = 0;
  std::uint32_t devices_in_use_ = 0;
};

}  // namespace muster
