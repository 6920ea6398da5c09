#include "sweep/head/sweep_control.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace muster {

Result<std::unique_ptr<ControlServer>> ListenForSweep(boost::asio::io_context& io, int folder,
                                                      SweepControlCalls calls) {
  const auto shared = std::make_shared<SweepControlCalls>(std::move(calls));
  const auto status = [shared] {
    const SweepProgress& account = shared->account;
    RunStatus now;
    now.run = account.sweep_id();
    now.name = account.name();
    now.pid = ::getpid();
    now.phase = shared->stopping() ? "stopping" : "running";
    now.records = shared->records();
    now.stops = shared->stops();
    now.waits = shared->waits();
    RoleStatus trials;
    trials.name = "trial";
    trials.running = static_cast<std::uint32_t>(shared->running());
    trials.ended = static_cast<std::uint32_t>(account.over().size());
    const std::uint64_t possible = account.trials() - account.impossible().size();
    trials.waiting =
        static_cast<std::uint32_t>(possible - std::min<std::uint64_t>(possible, trials.ended + trials.running));
    now.roles.push_back(std::move(trials));
    return now;
  };
  return ControlServer::Listen(
      io, folder,
      {.status = status,
       .stop = [shared](bool now, bool) { return shared->stop(now); },
       .dump = [] { return tl::make_unexpected(std::string("a sweep has no processes of its own: name a trial")); },
       .dumping = [] { return 0U; },
       .processes = [] { return ProcessStatuses{}; },
       .open = [shared](TrialNumber trial) -> tl::expected<void, std::string> {
         if (shared->open(trial)) return {};
         return tl::make_unexpected(fmt::format("trial {} is not running", trial));
       },
       .steer =
           [shared](std::optional<std::uint32_t> slots, std::uint64_t add_trials) {
             return shared->steer({slots, add_trials});
           }});
}

}  // namespace muster
