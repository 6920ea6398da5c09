// What of this host a job is given: devices, leased among all musters of the host, and processor cores.
//
// Knows what was asked for and who finds out what there is; the arithmetic is in core_shares.h.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/devices/device_leases.h"
#include "agent/devices/lease_watch.h"
#include "base/system/visible_devices.h"
#include "wire/protocol/device_messages.h"

namespace muster {

class ResourceAllocation {
 public:
  struct Calls {
    std::function<void(const ResourcesAllocated& given)> given;  // once, at once or from the loop
    std::function<void(const DevicesAwaited& awaited)> awaited;  // once, before it, if devices are waited for
  };
  ResourceAllocation(boost::asio::io_context& io, Calls calls);

  // Once. With an error nothing is held.
  void Give(const AllocateResources& asked);
  // Nothing is given any more that was not given yet.
  void StopWaiting();
  // The last process has been reaped.
  void GiveUp();
  // Descriptors that are open for it.
  std::size_t held() const { return leases_ ? leases_->held() : 0; }

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void Take();
  void GiveDevices(const DeviceLeases::Taken& taken);
  void GiveCores();
  void Refuse(std::string why);

  Calls calls_;
  LeaseWatch watch_;
  Timer patience_;
  AllocateResources asked_;
  ResourcesAllocated given_;
  VisibleDevices sight_;
  std::vector<std::size_t> candidates_;  // positions in sight
  std::optional<DeviceLeases> leases_;
  DeviceLeases::Wish wish_;
  std::vector<std::optional<std::uint32_t>> node_of_device_;  // by the plan's number
  bool awaiting_ = false;
  bool patient_ = false;  // it is waited for longer, if it has to be
};

}  // namespace muster
