#include "run/session/device_queue.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "run/session/agent_links.h"
#include "run/session/live_run.h"

namespace muster {

void DeviceQueue::Add(std::uint32_t host, const std::string& host_name, const AllocateResources& asked) {
  requests_.push_back({host, host_name, asked});
  AskNext();
}

void DeviceQueue::AskNext() {
  std::set<std::uint32_t> with_devices;
  for (const Process& process : run_.plan.processes) {
    if (!process.devices.empty()) with_devices.insert(process.host);
  }
  if (requests_.size() < with_devices.size() || sent_ == with_devices.size()) return;
  const MonotonicNs now = run_.clock->Monotonic();
  if (sent_ == 0) {
    std::sort(requests_.begin(), requests_.end(), [](const Request& a, const Request& b) {
      return std::tie(a.host_name, a.host) < std::tie(b.host_name, b.host);
    });
    since_ = now;
  }
  Request& next = requests_[sent_++];
  if (next.asked.wait_ms != kWaitForEver) {
    next.asked.wait_ms -= std::min(next.asked.wait_ms - 1, (now - since_) / 1'000'000);
  }
  links_.Send(next.host, next.asked);
}

void DeviceQueue::SetWaiting(const std::string& for_what, const std::string& holders) {
  waiting_ = fmt::format("{}: {}", for_what, holders);
  run_.console.Print("waiting for " + waiting_);
  if (run_.request.on_wait) run_.request.on_wait(run_.binding.run_id, run_.binding.run_dir, holders);
}

void DeviceQueue::StopWaiting() {
  if (waiting_.empty()) return;
  waiting_.clear();
  if (run_.request.on_wait) run_.request.on_wait(run_.binding.run_id, run_.binding.run_dir, {});
}

}  // namespace muster
