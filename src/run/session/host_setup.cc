#include "run/session/host_setup.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "plan/hosts/host_list.h"
#include "run/directory/run_files.h"
#include "run/hosts/inspection_report.h"
#include "run/session/agent_links.h"
#include "run/session/live_run.h"
#include "run/session/run_binding.h"
#include "run/start/start_specs.h"

namespace muster {

bool CodeDelivery::Begin(std::uint32_t host) {
  if (!run_.elsewhere || !run_.request.code) return false;
  const auto send = [this, host](const AgentCommand& command) { links_.Send(host, command); };
  shipments_.insert_or_assign(host, CodeShipment(run_.request.code, send)).first->second.Offer();
  return true;
}

void CodeDelivery::OnMissing(std::uint32_t host, const CodeMissing& wanted) {
  if (const auto found = shipments_.find(host); found != shipments_.end()) Check(host, found->second.Wanted(wanted));
}

void CodeDelivery::OnTaken(std::uint32_t host, const CodeReceived& taken) {
  if (const auto found = shipments_.find(host); found != shipments_.end()) Check(host, found->second.Taken(taken));
}

bool CodeDelivery::OnReady(std::uint32_t host, const CodeReady& ready) {
  const auto found = shipments_.find(host);
  if (found == shipments_.end()) return false;
  if (!ready.error.empty()) {
    Check(host, ready.error);
    return false;
  }
  const CodeTree& tree = *run_.request.code;
  run_.journal.Record(CodeShipped{host, tree.hash, tree.folder, ready.folder,
                                  static_cast<std::uint32_t>(tree.entries.size()), tree.bytes, found->second.sent()});
  shipments_.erase(found);
  bound_.SetCode(host, ShippedPaths(run_.request.code, ready.folder));
  return true;
}

void CodeDelivery::Check(std::uint32_t host, const std::string& error) {
  if (error.empty() || !run_.preparing()) return;
  run_.events.Abandon(fmt::format("the code cannot be shipped to {}: {}", run_.NameOf(host), error));
}

std::string CodeDelivery::Text() const {
  std::uint64_t sent = 0;
  std::uint64_t wanted = 0;
  for (const auto& [host, shipment] : shipments_) {
    sent += shipment.sent();
    wanted += shipment.wanted();
  }
  if (wanted == 0) return {};
  return fmt::format("{} of {} MB of code sent", sent / 1'000'000, (wanted + 999'999) / 1'000'000);
}

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

void HostSetup::Connected(const AgentReady& ready) {
  host_name_ = ready.host_name;
  if (run_.elsewhere) address_ = ready.address;
}

void HostSetup::Begin() {
  state_ = State::kShipping;
  if (!code_.Begin(host_)) Activate();
}

void HostSetup::OnCodeReady(const CodeReady& ready) {
  if (state_ == State::kShipping && code_.OnReady(host_, ready) && run_.preparing()) Activate();
}

// --- activation ------------------------------------------------------------------------------------

void HostSetup::Activate() {
  state_ = State::kActivating;
  if (run_.plan.activation.empty()) return LeaveActivation();
  links_.Send(host_, ActivateHost(run_.plan, run_.binding, bound_.surroundings(), host_));
}

void HostSetup::OnActivated(HostActivated reported) {
  reported.host = host_;
  reported = WithoutOwnVariables(std::move(reported));
  run_.journal.Record(Shown(reported, HiddenValues(run_.plan, run_.binding.secrets)));
  if (state_ != State::kActivating || !run_.preparing()) return;
  if (!reported.error.empty()) return run_.events.Abandon(ActivationFailure(run_.plan, host_name_, reported));
  inherited_ = ActivatedEnvironment(bound_.surroundings().environment, reported);
  removed_ = std::move(reported.unset);
  LeaveActivation();
}

void HostSetup::LeaveActivation() {
  if (host_ < run_.plan.hosts.size()) {
    bound_.SetSurroundings(host_, host_, inherited_, removed_);
    return RequestPorts();
  }
  state_ = State::kStandby;
  run_.events.BeginIfReady();
}

// --- ports -----------------------------------------------------------------------------------------

void HostSetup::TakePlace(std::uint32_t place) {
  taking_ = Taking{place, run_.binding};
  RequestPorts();
}

void HostSetup::RequestPorts() {
  state_ = State::kPorts;
  HoldPorts ports = PortsOfHost(run_.plan, place());
  if (!ports.ports.empty()) return links_.Send(host_, std::move(ports));
  RequestDevices();
}

void HostSetup::OnPortsHeld(const PortsHeld& held) {
  if (state_ != State::kPorts) return;
  if (const std::string error = bound_.SetPorts(host_, place(), held, PortChoice::kAll); !error.empty()) {
    return GiveUp(error);
  }
  RequestDevices();
}

// --- devices and cores -----------------------------------------------------------------------------

void HostSetup::RequestDevices() {
  state_ = State::kDevices;
  if (taking_ && !run_.supervisor.AtWork()) return;  // it is no longer needed
  DeviceTerms terms = run_.request.devices;
  if (taking_) terms.wait_ms = 0;  // the run continues on other hosts and must not wait for devices
  asked_ = AllocationRequestOf(run_.plan, place(), run_.binding.run_id, ::getpid(), terms);
  if (!asked_) return Finish();
  const bool in_turn = terms.wait_ms > 0 && run_.plan.hosts.size() > 1 && !asked_->devices.empty();
  if (!in_turn) return links_.Send(host_, *asked_);
  devices_.Add(host_, host_name_, *asked_);
}

void HostSetup::OnDevicesAwaited(DevicesAwaited awaited) {
  if (state_ != State::kDevices || !asked_ || asked_->wait_ms == 0 || !run_.preparing()) return;
  awaited.host = host_;
  awaited.count = static_cast<std::uint32_t>(asked_->devices.size());
  awaited.holders = Printable(awaited.holders);
  const std::string of_host = run_.elsewhere ? " of " + run_.NameOf(host_) : std::string();
  devices_.SetWaiting(Counted(awaited.count, "device") + of_host, awaited.holders);
  run_.journal.Record(std::move(awaited));
}

void HostSetup::OnResourcesAllocated(const ResourcesAllocated& allotted) {
  if (state_ != State::kDevices || !asked_) return;
  const std::string& name = run_.NameOf(host_);
  devices_.StopWaiting();
  if (!allotted.error.empty()) return GiveUp(fmt::format("{}: {}", name, allotted.error));
  if (asked_->devices.size() != allotted.devices.size() || asked_->cores.size() != allotted.cores.size())
    return GiveUp(fmt::format("the agent of {} gave other devices or cores than requested", name));
  for (std::size_t i = 0; i < asked_->devices.size(); ++i) {
    const std::size_t number = asked_->devices[i];
    if (device_names_.size() <= number) device_names_.resize(number + 1);
    device_names_[number] = allotted.devices[i];
  }
  bound_.SetCores(*asked_, allotted);
  for (const std::string& note : allotted.notes) run_.console.Warn(fmt::format("{}: {}", name, note));
  Finish();
  devices_.AskNext();
}

// --- the end ---------------------------------------------------------------------------------------

void HostSetup::Finish() {
  state_ = State::kReady;
  if (!taking_) return run_.events.BeginIfReady();
  const Taking taking = *std::exchange(taking_, std::nullopt);
  const std::string& lost = taking.before.hosts[taking.place].name;
  bound_.SetHost(taking.place, Bound());
  bound_.SetSurroundings(host_, taking.place, inherited_, removed_);
  HostReplaced replaced{taking.place, host_, {}, {}, {}, {}, {}, {}};
  if (const Result<void> rebound = bound_.Rebind(taking.before); !rebound) {
    replaced.error = Sentence(rebound.error());
    return ReportTaken(lost, replaced);
  }
  const HostBinding& bound = run_.binding.hosts[taking.place];
  replaced.name = bound.name;
  replaced.address = bound.address;
  replaced.devices = bound.devices;
  replaced.ports = run_.binding.ports;
  replaced.cores = CoreTexts(run_.plan, run_.binding);
  ReportTaken(lost, replaced);
}

void HostSetup::GiveUp(const std::string& why) {
  if (!taking_) return run_.events.Abandon(why);
  const Taking taking = *std::exchange(taking_, std::nullopt);
  state_ = State::kStandby;
  ReportTaken(taking.before.hosts[taking.place].name, {taking.place, host_, {}, {}, {}, {}, {}, why});
}

void HostSetup::ReportTaken(const std::string& lost, const HostReplaced& replaced) {
  const std::string& name = run_.NameOf(host_);
  if (replaced.error.empty()) {
    run_.console.Print(fmt::format("{} has replaced {}", name, lost));
  } else {
    run_.console.Warn(fmt::format("{} cannot replace {}: {}", name, lost, replaced.error));
  }
  run_.events.HandleEvent(replaced);
}

std::string HostSetup::Address() const {
  const SiteHost* const named = run_.NamedBy(host_);
  if (named != nullptr && !named->address.empty()) return named->address;
  return named == nullptr || address_.empty() ? "127.0.0.1" : address_;
}

HostBinding HostSetup::Bound() const {
  HostBinding bound{host_name_, Address(), device_names_};
  // The host's name without a login name, which must not be published.
  if (const SiteHost* const named = run_.NamedBy(host_)) bound.name = named->name.substr(named->name.find('@') + 1);
  return bound;
}

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
