#include "run/session/failed_hosts.h"

#include <algorithm>
#include <utility>

#include "run/hosts/inspection_report.h"
#include "run/session/files_elsewhere.h"
#include "run/session/live_run.h"

namespace muster {

void FailedHosts::Answered(std::uint32_t host) {
  hosts_[host].answered = true;
  if (run_.elsewhere) Judge();
}

void FailedHosts::Refused(std::uint32_t host, AgentUnreachable why) {
  Blame(host, why.why);
  hosts_[host].refused = std::move(why);
  Judge();
}

void FailedHosts::Judge() {
  const bool all = std::all_of(hosts_.begin(), hosts_.end(),
                               [](const Host& host) { return host.answered || host.refused.has_value(); });
  if (!all) return;
  files_.RemoveProbe();
  std::vector<HostRefusal> refusals;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].refused) refusals.push_back({run_.NameOf(host), *hosts_[host].refused});
  }
  if (refusals.empty()) return;
  run_.events.Abandon(RefusalsText(refusals, hosts_.size()), RefusalHints(refusals));
}

void FailedHosts::Blame(std::uint32_t host, const std::string& why) {
  // At the end of a run, agents exit because of muster's order.
  if (run_.elsewhere && run_.supervisor.phase() < Phase::kFinishing) blamed_.emplace(host, why);
}

std::optional<AgentLost> FailedHosts::TakeLost() {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host].refused) continue;
    return AgentLost{host, std::exchange(hosts_[host].refused, std::nullopt)->why, 0};
  }
  return std::nullopt;
}

void FailedHosts::Report() const {
  if (!run_.request.on_bad_hosts || blamed_.empty()) return;
  std::vector<std::pair<std::string, std::string>> bad;
  for (const auto& [host, why] : blamed_) bad.emplace_back(run_.NameOf(host), why);
  run_.request.on_bad_hosts(bad);
}

}  // namespace muster
