// Device leases among all muster processes of a host: the rule by which waiting jobs get devices, one locked file per
// leased device and one file per waiting job, in a folder that all users may write, and the watch on that folder that
// says when to retry. Independent of plans and device vendors.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/watched_fd.h"

namespace muster {

// The rule by which waiting jobs get devices of a host, as a function of values.
//
// Uses requests and holders; opens no file, takes no lock and has no clock (device_leases.h does that).

struct DeviceRequest {
  // Names of leases in order of preference; letters, digits and hyphens.
  std::vector<std::string> candidates = {};
  std::size_t count = 0;         // number required: all are taken at once, or none
  bool shared = false;           // other jobs may hold them too, if they also share
  std::uint32_t per_device = 0;  // with `shared`: maximum number of jobs on a device, including this one; 0: unlimited
};

struct WaitingJob {
  DeviceRequest request;
  // Jobs of one owner (the trials of a sweep) count together: the owner that holds fewer devices is served first.
  std::string owner;
  std::uint64_t arrival = 0;    // smaller is earlier
  std::uint32_t overtaken = 0;  // how often another job took a device that this one could have used while its own
                                // request did not fit
};

// The holders of a device: none, one owner, or the owners of the jobs that share it, one entry per job.
struct DeviceHolders {
  std::vector<std::string> owners;
  bool shared = false;
};

struct DeviceGrant {
  std::size_t job = 0;                 // position in `waiting`
  std::vector<std::size_t> positions;  // in its candidates, ascending
  std::vector<std::size_t> passes;     // jobs ahead of it that do not fit and could use one of these devices

  bool operator==(const DeviceGrant&) const = default;
};

// After it was overtaken this often, free devices that a job can use are reserved for it until there are enough.
inline constexpr std::uint32_t kMaxDeviceOvertakes = 8;

// Which waiting jobs get which devices now, in the order of service: first jobs that were overtaken too often, then
// those whose owner holds the fewest devices, then the earliest. A job that does not fit may be overtaken. A job that
// shares gets the devices with the fewest jobs.
std::vector<DeviceGrant> ServeInTurn(const std::vector<WaitingJob>& waiting,
                                     std::map<std::string, DeviceHolders> devices);

// Device leases among all muster processes of a host: one file per device, locked as long as the lease is held, and one
// file per waiting job.
//
// Handles files and locks; independent of plans and device vendors. The order of jobs is decided by the grants below. A
// lock belongs to this process alone and ends with it in every case, so nothing needs cleaning up and a remaining file
// has no meaning. All users may use the folder: leases are cooperative, not enforced (docs/devices.md).

// `given` ($MUSTER_LEASES) if it is not empty; else muster-leases in /run/lock or /tmp, the first that is a folder
// writable by all users, so that all users of a host get the same one.
std::string LeaseFolder(std::string_view given);

class DeviceLeases {
 public:
  struct Request {
    DeviceRequest devices;
    std::string whose;  // description for other users: one line
    std::string owner;  // WaitingJob::owner; without blanks
    std::string job;    // which job of the owner; without blanks
  };
  struct Shortage {
    std::string why;      // one sentence that names the holders
    bool passes = false;  // whether the same request may succeed later
  };
  using Taken = std::vector<std::size_t>;  // positions in the candidates, ascending

  explicit DeviceLeases(std::string folder) : folder_(std::move(folder)) {}

  // Takes all required devices, or none. Devices reserved for waiting jobs are not available.
  // Processes choose one after the other; fails if the lock for choosing is not free within
  // `patience_ms`.
  tl::expected<Taken, Shortage> Take(const Request& request, std::uint32_t patience_ms = 5'000);
  // The same, but if there are too few devices, this job waits in line from now on, and the caller has to call again
  // after changes, always with the same request.
  tl::expected<Taken, Shortage> TakeInTurn(const Request& request, std::uint32_t patience_ms = 5'000);
  // Stops waiting. Keeps held devices.
  void Withdraw();
  // Whether a job holds the device, this one or another.
  bool IsLeased(const std::string& device);

  void GiveUp();
  // Number of descriptors that it has open.
  std::size_t held() const { return held_.size() + (open_folder_ ? 1 : 0) + (ticket_ ? 1 : 0); }
  const std::string& folder() const { return folder_; }

 private:
  class Choice;  // device_leases.cc

  tl::expected<void, std::string> OpenFolder();
  tl::expected<void, std::string> Hold(const Request& request, const std::string& device);
  void LeaveTicket(const Request& request, std::uint64_t arrival);
  tl::expected<Taken, Shortage> Choose(const Request& request, bool waits, std::uint32_t patience_ms);

  std::string folder_;
  UniqueFd open_folder_;
  std::vector<UniqueFd> held_;
  UniqueFd ticket_;  // the locked file of the waiting job
  std::string ticket_name_;
};

// Decides when to retry taking a lease: as soon as a lock file of the folder has been closed.
//
// Handles files and time; independent of leases. inotify(7) reports that a file was closed; if its holder was killed,
// shortly before the lock is released. So each change is followed by further retries at growing intervals. Without
// inotify there are only those.
class LeaseWatch {
 public:
  explicit LeaseWatch(boost::asio::io_context& io);
  LeaseWatch(const LeaseWatch&) = delete;
  LeaseWatch& operator=(const LeaseWatch&) = delete;

  // Calls `look` from the loop, first after a short pause, until Stop(), which it may call.
  void Start(const std::string& folder, std::function<void()> look);
  void Stop();
  bool started() const { return look_ != nullptr; }

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  static constexpr std::chrono::milliseconds kFirstPause{10};
  static constexpr std::chrono::milliseconds kMaxPause{1'000};
  static constexpr std::chrono::milliseconds kPauseUntold{50};  // without inotify

  void AwaitChanges();
  void Arm();

  WatchedFd changes_;
  Timer pause_;
  std::chrono::milliseconds next_pause_{0};
  std::function<void()> look_;
};

}  // namespace muster
