#include "run/session/host_preflight.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "plan/hosts/host_list.h"
#include "run/directory/run_files.h"
#include "run/hosts/inspection_report.h"
#include "run/session/agent_links.h"
#include "run/session/failed_hosts.h"
#include "run/session/host_setup.h"
#include "run/session/live_run.h"

namespace muster {
namespace {

constexpr std::uint32_t kTryMs = 3'000;
// Number of differences that are shown; the others are in the journal, and doctor shows them.
constexpr std::size_t kShownDifferences = 12;
constexpr const char* kAnyway = "muster run --no-preflight starts anyway; muster doctor shows everything";

void Add(std::string& breaks, const std::string& text) { breaks += (breaks.empty() ? "" : "; ") + text; }

}  // namespace

HostPreflight::HostPreflight(LiveRun& run, AgentLinks& links, FailedHosts& failed, const std::vector<HostSetup>& setups)
    : run_(run), links_(links), failed_(failed), setups_(setups), hosts_(links.size()) {}

bool HostPreflight::wanted() const { return run_.elsewhere && run_.request.preflight.has_value(); }

template <class Answer>
bool HostPreflight::All(std::optional<Answer> Host::*answer) const {
  return std::all_of(hosts_.begin(), hosts_.end(), [&](const Host& host) { return (host.*answer).has_value(); });
}

bool HostPreflight::Done() {
  if (!wanted() || stage_ == Stage::kDone) return true;
  if (stage_ != Stage::kInspecting || !All(&Host::inspected)) return false;
  if (hosts_.size() < 2 || run_.request.rehearsal) {  // the stubs of a rehearsal test the paths themselves
    stage_ = Stage::kDone;
    return true;
  }
  OpenPaths();
  return false;
}

// --- the hosts -------------------------------------------------------------------------------------

void HostPreflight::Inspect(std::uint32_t host) {
  if (!wanted()) return;
  hosts_[host].asked_at = WallNowNs();
  links_.Send(host, run_.request.preflight->question);
}

void HostPreflight::OnInspected(std::uint32_t host, const Inspected& reported) {
  if (!wanted() || hosts_[host].inspected || !run_.preparing()) return;
  hosts_[host].inspected = InspectedHostOf(run_.NameOf(host), reported, hosts_[host].asked_at, WallNowNs(),
                                           HiddenValues(run_.plan, run_.binding.secrets));
  if (!All(&Host::inspected)) return;
  JudgeHosts();
  if (run_.preparing()) run_.events.BeginIfReady();
}

void HostPreflight::JudgeHosts() {
  std::vector<InspectedHost> hosts;
  for (const Host& host : hosts_) hosts.push_back(*host.inspected);
  const HostComparison found = CompareHosts(hosts, run_.request.preflight->needs, run_.request.preflight->muster);
  run_.journal.Record(HostsCompared{found.faults, found.differences});
  if (run_.request.rehearsal) return;  // a rehearsal reports it in its result
  std::string breaks;
  for (const HostFault& fault : found.faults) {
    if (!BreaksRun(fault)) {
      run_.console.Warn(HostFaultLine(hosts, fault));
      continue;
    }
    Add(breaks, HostFaultLine(hosts, fault));
    if (!fault.hint.empty()) run_.console.Warn("hint: " + fault.hint);
    for (const std::uint32_t host : fault.hosts) failed_.Blame(host, fault.text);
  }
  for (std::size_t i = 0; i < std::min(found.differences.size(), kShownDifferences); ++i) {
    run_.console.Warn(HostDifferenceLine(hosts, found.differences[i]));
  }
  if (found.differences.size() > kShownDifferences) {
    run_.console.Warn(
        fmt::format("{} more differences: muster doctor shows them", found.differences.size() - kShownDifferences));
  }
  if (breaks.empty()) return;
  run_.console.Warn(std::string("hint: ") + kAnyway);
  run_.events.Abandon(breaks);
}

// --- the paths between them ------------------------------------------------------------------------

void HostPreflight::OpenPaths() {
  stage_ = Stage::kOpening;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    muster::OpenPaths open;
    for (const ConnectionAttempt& port : PortsTried(run_.plan, host, run_.binding.ports))
      open.ports.push_back(port.number);
    links_.Send(host, std::move(open));
  }
}

void HostPreflight::OnPathsOpen(std::uint32_t host, const PathsOpen& open) {
  if (!run_.preparing()) return;
  if (stage_ == Stage::kClosing && --closings_due_ == 0) {
    stage_ = Stage::kDone;
    return run_.events.BeginIfReady();
  }
  if (stage_ != Stage::kOpening) return;
  if (!open.error.empty()) run_.console.Warn(fmt::format("{}: {}", run_.NameOf(host), open.error));
  hosts_[host].port = open.port;
  if (!All(&Host::port)) return;
  stage_ = Stage::kTrying;
  for (std::uint32_t from = 0; from < hosts_.size(); ++from) {
    // A host that does not listen cannot be reached, which was reported already.
    std::vector<ConnectionAttempt>& tries = hosts_[from].tries = TriesOf(run_.plan, from, run_.binding.ports);
    std::erase_if(tries, [this](const ConnectionAttempt& each) { return *hosts_[each.to].port == 0; });
    ProbePaths command{{}, kTryMs};
    for (const ConnectionAttempt& each : tries) {
      command.targets.push_back({setups_[each.to].Address(), each.number != 0 ? each.number : *hosts_[each.to].port});
    }
    links_.Send(from, std::move(command));
  }
}

void HostPreflight::OnPathsProbed(std::uint32_t host, const PathsProbed& tried) {
  if (stage_ != Stage::kTrying || !run_.preparing()) return;
  hosts_[host].tried = tried;
  if (!All(&Host::tried)) return;
  JudgePaths();
  if (!run_.preparing()) return;
  // All ports must be closed before the first start: otherwise a process that connects to a port still held by an agent
  // would be mistaken for a test connection.
  stage_ = Stage::kClosing;
  closings_due_ = static_cast<std::uint32_t>(hosts_.size());
  links_.SendAll(ClosePaths{});
}

void HostPreflight::JudgePaths() {
  std::vector<std::vector<ConnectionAttempt>> tries;
  std::vector<std::vector<std::string>> errors;
  PathsCompared compared;
  for (const Host& host : hosts_) {
    tries.push_back(host.tries);
    errors.push_back(host.tried->errors);
    compared.tried += static_cast<std::uint32_t>(host.tries.size());
  }
  compared.faults = FaultsOf(tries, errors);
  run_.journal.Record(compared);
  const auto names = [this](const HostSet& set) {
    std::vector<SiteHost> named;
    for (const std::uint32_t host : set) named.push_back({run_.NameOf(host), {}, {}});
    return HostListText(named);
  };
  std::string breaks;
  for (const PathFailure& fault : compared.faults) {
    // Ports of the plan are required; a firewall may block other ports.
    const std::string text = PathFaultText(fault, names);
    if (fault.port.empty()) {
      run_.console.Warn(text);
    } else {
      Add(breaks, text);
    }
  }
  if (breaks.empty()) return;
  run_.console.Warn(std::string("hint: a firewall, or an address of another network; ") + kAnyway);
  run_.events.Abandon(breaks);
}

}  // namespace muster
