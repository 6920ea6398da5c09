#include "run/session/host_setup.h"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "run/directory/run_files.h"
#include "run/session/agent_links.h"
#include "run/session/code_delivery.h"
#include "run/session/device_queue.h"
#include "run/session/live_run.h"
#include "run/session/run_binding.h"
#include "run/start/start_specs.h"

namespace muster {

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
  devices_.SetWaiting(fmt::format("{} device{}{}", awaited.count, awaited.count == 1 ? "" : "s", of_host),
                      awaited.holders);
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

}  // namespace muster
