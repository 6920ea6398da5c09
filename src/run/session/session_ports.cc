// The part of the session that binds the plan to hosts, as their activation leaves them, and to ports;
// when a stranger has a port, to other ports, and when a host was lost, to a spare.
#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/diagnostic_text.h"
#include "run/directory/json_text.h"
#include "run/directory/private_files.h"
#include "run/session/session.h"
#include "run/start/activation.h"

namespace muster {

void Session::OnActivated(std::uint32_t host, HostActivated told) {
  told.host = host;
  told = WithoutOwnVariables(std::move(told));
  Record(Shown(told, HiddenValues(plan_, binding_.secrets)));
  if (supervisor_.phase() != Phase::kPreparing) return;
  if (!told.error.empty()) return Unready(ActivationFailure(plan_, agents_[host].host_name, told));
  agents_[host].inherited = ActivatedEnvironment(surroundings_.environment, told);
  OnUsable(host);
}

void Session::OnUsable(std::uint32_t host) {
  if (host < plan_.hosts.size()) {
    TakeSurroundings(host, host);
    return HoldPortsOf(host);
  }
  agents_[host].ready = true;  // a spare: that much is known of it
  BeginIfReady();
}

void Session::TakeSurroundings(std::uint32_t host, std::uint32_t place) {
  if (!plan_.activation.empty()) surroundings_.activated[place] = agents_[host].inherited;
  if (const auto code = surroundings_.code.find(host); code != surroundings_.code.end() && host != place)
    surroundings_.code[place] = code->second;
}

std::uint32_t Session::PlaceOf(std::uint32_t host) const {
  return agents_[host].taking ? agents_[host].taking->host : host;
}

void Session::HoldPortsOf(std::uint32_t host) {
  HoldPorts ports = PortsOfHost(plan_, PlaceOf(host));
  if (!ports.ports.empty()) return Send(host, std::move(ports));
  AskAllotment(host);
}

void Session::OnPortsHeld(std::uint32_t host, const PortsHeld& held) {
  if (before_) {
    if (!supervisor_.slots().host(host)) return;  // it was not asked
    const std::string error = TakePorts(host, held, PortChoice::kAuto);
    if (rebinding_error_.empty()) rebinding_error_ = error;
    if (--answers_due_ > 0) return;
    if (rebinding_error_.empty()) {
      if (const Result<void> rebound = Rebind(*before_); !rebound) rebinding_error_ = Sentence(rebound.error());
    }
    before_.reset();
    return Happened(PlanRebound{binding_.ports, std::exchange(rebinding_error_, {})});
  }
  if (PlaceOf(host) >= plan_.hosts.size()) return;  // nor was a spare
  if (const std::string error = TakePorts(host, held, PortChoice::kAll); !error.empty()) {
    return CannotPrepare(host, error);
  }
  AskAllotment(host);
}

void Session::OnPrepared(std::uint32_t host) {
  Agent& agent = agents_[host];
  agent.ready = true;
  if (!agent.taking) return BeginIfReady();
  const Agent::Taking taking = *std::exchange(agent.taking, std::nullopt);
  const std::string& lost = taking.before.hosts[taking.host].name;
  binding_.hosts[taking.host] = BindingOf(host);
  TakeSurroundings(host, taking.host);
  HostReplaced replaced{taking.host, host, {}, {}, {}, {}, {}, {}};
  if (const Result<void> rebound = Rebind(taking.before); !rebound) {
    replaced.error = Sentence(rebound.error());
    return Replaced(lost, std::move(replaced));
  }
  const HostBinding& bound = binding_.hosts[taking.host];
  replaced.name = bound.name;
  replaced.address = bound.address;
  replaced.devices = bound.devices;
  replaced.ports = binding_.ports;
  replaced.cores = CoreTexts(plan_, binding_);
  Replaced(lost, std::move(replaced));
}

void Session::CannotPrepare(std::uint32_t host, const std::string& why) {
  if (!agents_[host].taking) return Unready(why);
  const Agent::Taking taking = *std::exchange(agents_[host].taking, std::nullopt);
  Replaced(taking.before.hosts[taking.host].name, {taking.host, host, {}, {}, {}, {}, {}, why});
}

std::string Session::TakePorts(std::uint32_t host, const PortsHeld& held, PortChoice choice) {
  if (!held.error.empty()) return fmt::format("ports on {}: {}", NameOf(host), held.error);
  const HoldPorts asked = PortsOfHost(plan_, PlaceOf(host), choice);
  const bool fits = std::equal(asked.ports.begin(), asked.ports.end(), held.ports.begin(), held.ports.end(),
                               [](const PortRequest& a, const PortRequest& b) {
                                 return a.name == b.name && b.number != 0 && (a.number == 0 || a.number == b.number);
                               });
  if (!fits) return fmt::format("the agent of {} held other ports than asked", NameOf(host));
  for (const PortRequest& port : held.ports) binding_.ports[port.name] = port.number;
  return {};
}

std::string Session::AddressOf(std::uint32_t host) const {
  const SiteHost* const named = NamedBy(host);
  if (named != nullptr && !named->address.empty()) return named->address;
  return named == nullptr || agents_[host].address.empty() ? "127.0.0.1" : agents_[host].address;
}

HostBinding Session::BindingOf(std::uint32_t host) const {
  HostBinding bound{agents_[host].host_name, AddressOf(host), agents_[host].devices};
  // As the host itself is called; whom one logs in as is nobody else's affair.
  if (const SiteHost* const named = NamedBy(host)) bound.name = named->name.substr(named->name.find('@') + 1);
  return bound;
}

Result<void> Session::Bind() {
  for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host) binding_.hosts.push_back(BindingOf(host));
  Record(PlanBound{binding_.run_dir, binding_.hosts, binding_.ports, CoreTexts(plan_, binding_)});
  if (!binding_.checkpoint.empty()) Record(CheckpointSeen{binding_.checkpoint, request_.resumed});
  Result<std::map<std::string, std::string>> files = GeneratedFiles(plan_, binding_);
  if (!files) return Fail(std::move(files.error()));
  files->emplace(
      "binding.json",
      JsonText(BindingValue(plan_, binding_, {request_.code ? request_.code->hash : "", request_.resumed})) + "\n");
  for (const auto& [path, bytes] : *files) {
    if (Result<void> written = WriteNewFile(directory_->folder(), path, bytes); !written) return written;
  }
  PutFiles(*files);
  return DefineEnvironments();
}

Result<void> Session::DefineEnvironments() {
  for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host) {
    Result<std::vector<DefineEnvironment>> blocks = EnvironmentBlocks(plan_, binding_, surroundings_, host);
    if (!blocks) return Fail(std::move(blocks.error()));
    for (DefineEnvironment& block : *blocks) Send(supervisor_.slots().machine(host), std::move(block));
  }
  return {};
}

void Session::OrderRebinding() {
  before_ = binding_;
  for (std::uint32_t host = 0; host < plan_.hosts.size(); ++host) {
    HoldPorts ports = PortsOfHost(plan_, host, PortChoice::kAuto);
    if (ports.ports.empty()) continue;
    ++answers_due_;
    Send(supervisor_.slots().machine(host), std::move(ports));
  }
}

Result<void> Session::Rebind(const Binding& earlier) {
  const Result<std::map<std::string, std::string>> made = GeneratedFiles(plan_, earlier);
  Result<std::map<std::string, std::string>> files = GeneratedFiles(plan_, binding_);
  if (!made) return Fail(made.error());
  if (!files) return Fail(files.error());
  files->emplace(
      "binding.json",
      JsonText(BindingValue(plan_, binding_, {request_.code ? request_.code->hash : "", request_.resumed})) + "\n");
  for (auto file = files->begin(); file != files->end();) {
    const auto before = made->find(file->first);
    if (before != made->end() && before->second == file->second) {
      file = files->erase(file);
      continue;
    }
    if (Result<void> written = ReplaceFile(directory_->folder(), file->first, file->second); !written) return written;
    ++file;
  }
  PutFiles(*files);
  return DefineEnvironments();
}

}  // namespace muster
