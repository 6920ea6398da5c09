// Allocates resources of this host to a job: devices, leased among all muster processes of the host, and cores.
//
// Combines requests with what the host has; core_shares.h computes the shares of cores.
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
    std::function<void(const ResourcesAllocated& given)> given;  // called once, directly or from the loop
    std::function<void(const DevicesAwaited& awaited)> awaited;  // called at most once, before `given`, if it waits for
                                                                 // devices
  };
  ResourceAllocation(boost::asio::io_context& io, Calls calls);

  // Must be called once. After an error nothing is held.
  void Give(const AllocateResources& asked);
  // Stops waiting: nothing further is allocated.
  void StopWaiting();
  // Releases everything; called when the last process has been reaped.
  void GiveUp();
  // Number of descriptors that it has open.
  std::size_t held() const { return leases_ ? leases_->held() : 0; }

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void Take();
  // With `any`: removes devices from the candidates that processes outside of muster have open; returns which, and by
  // whom.
  std::string LeaveOutUsed();
  void GiveDevices(const DeviceLeases::Taken& taken);
  void GiveCores();
  void Refuse(std::string why);

  Calls calls_;
  LeaseWatch watch_;
  Timer patience_;
  AllocateResources asked_;
  ResourcesAllocated given_;
  VisibleDevices sight_;
  std::vector<std::size_t> candidates_;  // positions in sight_
  std::optional<DeviceLeases> leases_;
  DeviceLeases::Wish wish_;
  std::vector<std::optional<std::uint32_t>> node_of_device_;  // by the plan's number
  bool awaiting_ = false;
  bool patient_ = false;  // whether it may wait for devices
};

}  // namespace muster
