// The part of the session that looks at several hosts before the first process: what is wrong with them, in what they
// differ, and whether they reach each other. It goes on beside everything else that comes before the first process.
#include <algorithm>

#include <fmt/format.h>

#include "base/system/clock.h"
#include "plan/hosts/host_list.h"
#include "run/directory/environment_record.h"
#include "run/directory/hidden_values.h"
#include "run/hosts/inspection_report.h"
#include "run/session/session.h"

namespace muster {
namespace {

constexpr std::uint32_t kTryMs = 3'000;
// Differences that are shown; the rest is in the journal, and doctor tells it.
constexpr std::size_t kShownDifferences = 12;
constexpr const char* kAnyway = "muster run --no-preflight starts all the same; muster doctor shows everything";

}  // namespace

bool Session::All(bool (*has)(const Agent&)) const { return std::all_of(agents_.begin(), agents_.end(), has); }

void Session::Look(std::uint32_t host) {
  agents_[host].inspect_sent_at = WallNowNs();
  Send(host, request_.preflight->question);
}

void Session::OnInspected(std::uint32_t host, const Inspected& told) {
  if (!looks_first() || agents_[host].inspected || supervisor_.phase() != Phase::kPreparing) return;
  agents_[host].inspected = InspectedHostOf(NameOf(host), told, agents_[host].inspect_sent_at, WallNowNs(),
                                            HiddenValues(plan_, binding_.secrets));
  if (!All([](const Agent& agent) { return agent.inspected.has_value(); })) return;
  JudgeHosts();
  if (supervisor_.phase() == Phase::kPreparing) BeginIfReady();
}

void Session::JudgeHosts() {
  std::vector<InspectedHost> hosts;
  for (const Agent& agent : agents_) hosts.push_back(*agent.inspected);
  const HostComparison found = CompareHosts(hosts, request_.preflight->needs, request_.preflight->muster);
  Record(HostsCompared{found.faults, found.differences});
  std::string breaks;
  for (const HostFault& fault : found.faults) {
    if (request_.rehearsal) continue;  // it is part of what a rehearsal tells
    if (!BreaksRun(fault)) {
      console_.Warn(HostFaultLine(hosts, fault));
      continue;
    }
    breaks += (breaks.empty() ? "" : "; ") + HostFaultLine(hosts, fault);
    if (!fault.hint.empty()) console_.Warn("hint: " + fault.hint);
    for (const std::uint32_t host : fault.hosts) Blame(host, fault.text);
  }
  if (request_.rehearsal) return;
  for (std::size_t i = 0; i < std::min(found.differences.size(), kShownDifferences); ++i) {
    console_.Warn(HostDifferenceLine(hosts, found.differences[i]));
  }
  if (found.differences.size() > kShownDifferences) {
    console_.Warn(
        fmt::format("{} more differences: muster doctor shows them", found.differences.size() - kShownDifferences));
  }
  if (breaks.empty()) return;
  console_.Warn(std::string("hint: ") + kAnyway);
  Unready(breaks);
}

// --- the ways between them -------------------------------------------------------------------------

void Session::OpenWays() {
  if (preflighting_ != Preflighting::kLooking || !All([](const Agent& agent) { return agent.inspected.has_value(); }))
    return;
  if (agents_.size() < 2 || request_.rehearsal) {  // stubs try the ways themselves
    preflighting_ = Preflighting::kDone;
    return BeginIfReady();
  }
  preflighting_ = Preflighting::kOpening;
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    OpenPaths open;
    for (const PathTry& port : PortsTried(plan_, host, binding_.ports)) open.ports.push_back(port.number);
    Send(host, std::move(open));
  }
}

void Session::OnPathsOpen(std::uint32_t host, const PathsOpen& open) {
  if (supervisor_.phase() != Phase::kPreparing) return;
  if (preflighting_ == Preflighting::kClosing && --closings_due_ == 0) {
    preflighting_ = Preflighting::kDone;
    return BeginIfReady();
  }
  if (preflighting_ != Preflighting::kOpening) return;
  if (!open.error.empty()) console_.Warn(fmt::format("{}: {}", NameOf(host), open.error));
  agents_[host].path_port = open.port;
  if (!All([](const Agent& agent) { return agent.path_port.has_value(); })) return;
  preflighting_ = Preflighting::kTrying;
  for (std::uint32_t from = 0; from < agents_.size(); ++from) {
    // Who does not listen cannot be reached, and that was told.
    std::vector<PathTry> tries = TriesOf(plan_, from, binding_.ports);
    std::erase_if(tries, [this](const PathTry& each) { return *agents_[each.to].path_port == 0; });
    TryPaths command{{}, kTryMs};
    for (const PathTry& each : tries) {
      command.targets.push_back({AddressOf(each.to), each.number != 0 ? each.number : *agents_[each.to].path_port});
    }
    tries_.push_back(std::move(tries));
    Send(from, std::move(command));
  }
}

void Session::OnPathsTried(std::uint32_t host, const PathsTried& tried) {
  if (preflighting_ != Preflighting::kTrying || supervisor_.phase() != Phase::kPreparing) return;
  agents_[host].paths_tried = tried;
  if (!All([](const Agent& agent) { return agent.paths_tried.has_value(); })) return;
  JudgeWays();
  if (supervisor_.phase() != Phase::kPreparing) return;
  // All have to be closed before the first start: a process that connects to a port before the agent there has let go
  // of it would be taken for one that tries.
  preflighting_ = Preflighting::kClosing;
  closings_due_ = static_cast<std::uint32_t>(agents_.size());
  for (std::uint32_t each = 0; each < agents_.size(); ++each) Send(each, ClosePaths{});
}

void Session::JudgeWays() {
  std::vector<std::vector<std::string>> errors;
  PathsCompared compared;
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    errors.push_back(agents_[host].paths_tried->errors);
    compared.tried += static_cast<std::uint32_t>(tries_[host].size());
  }
  compared.faults = FaultsOf(tries_, errors);
  Record(compared);
  const auto names = [this](const HostSet& set) {
    std::vector<SiteHost> named;
    for (const std::uint32_t host : set) named.push_back({NameOf(host), {}, {}});
    return HostListText(named);
  };
  std::string breaks;
  for (const PathFault& fault : compared.faults) {
    // What the plan names is needed; of other ports a firewall may think what it likes.
    const std::string text = PathFaultText(fault, names);
    if (fault.port.empty()) {
      console_.Warn(text);
    } else {
      breaks += (breaks.empty() ? "" : "; ") + text;
    }
  }
  if (breaks.empty()) return;
  console_.Warn(std::string("hint: a firewall, or an address that is another network's; ") + kAnyway);
  Unready(breaks);
}

}  // namespace muster
