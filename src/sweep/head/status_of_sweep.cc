#include "sweep/head/status_of_sweep.h"

#include "base/system/clock.h"
#include "base/values/number_text.h"

namespace muster {

SweepStatus StatusOf(const SweepDescription& sweep, const TrialScheduler& course, std::uint64_t began_ns,
                     std::uint64_t over_at_begin) {
  const HostPool& pool = course.pool();
  SweepStatus status;
  status.account = &course.account();
  status.sweep = &sweep;
  status.waiting = course.running().waiting();
  status.running = course.running().size() - status.waiting;
  status.devices_in_use = pool.devices_in_use() - course.running().devices_awaited();
  if (pool.own_hosts()) {
    status.awaited = "hosts";
  } else {
    for (const PoolHost& host : pool.hosts()) status.devices += host.devices * pool.per_device();
  }
  status.seconds = InSeconds(MonotonicNowNs() - began_ns);
  status.over_at_begin = over_at_begin;
  return status;
}

}  // namespace muster
