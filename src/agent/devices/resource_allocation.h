// Allocates resources of this host to a job: devices, leased among all muster processes of the host, and cores.
//
// Combines requests with what the host has; agent/devices/host_cores.h computes the shares of cores. A job that takes
// any free devices gets none that programs outside of muster use; while it waits, it looks at these again.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/devices/device_leases.h"
#include "base/system/host_devices.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Who uses devices, by the name or number of the device: "pid 4711 (python3) of uid 1000".
using DeviceUserTexts = std::map<std::string, std::string, std::less<>>;

class ResourceAllocation {
 public:
  struct Calls {
    // Calls its argument with the users of all devices of that kind, once, directly or from the loop; it is not called
    // again before.
    std::function<void(const std::string& kind, std::function<void(DeviceUserTexts)>)> ask_users;
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

  // Jobs that share devices expect other processes there, and a list of devices is the user's own choice.
  bool LooksAtUsers() const { return asked_.any && asked_.given.empty() && !asked_.shared && asked_.per_device <= 1; }
  void LookAtUsers();
  void OnUsers(const DeviceUserTexts& users);
  // Takes devices, or, if the users were looked at too long ago, looks at them first.
  void TryAgain();
  void Take();
  void Await(std::string why);
  void GiveDevices(const DeviceLeases::Taken& taken);
  void GiveCores();
  void Refuse(std::string why);

  Calls calls_;
  LeaseWatch watch_;
  Timer patience_;
  Timer again_;  // for devices that programs outside of muster use
  AllocateResources asked_;
  ResourcesAllocated given_;
  VisibleDevices sight_;
  std::vector<std::size_t> possible_;    // positions in sight_
  std::vector<std::size_t> candidates_;  // those that are not used by others
  std::string in_use_;                   // which are, and by whom
  std::chrono::steady_clock::time_point looked_at_{};
  bool looking_ = false;
  // For answers that come after the end of the wait.
  std::shared_ptr<bool> serving_ = std::make_shared<bool>(true);
  std::optional<DeviceLeases> leases_;
  DeviceLeases::Request request_;
  std::vector<std::optional<std::uint32_t>> node_of_device_;  // by the plan's number
  bool awaiting_ = false;
  bool patient_ = false;  // whether it may wait for devices
};

}  // namespace muster
