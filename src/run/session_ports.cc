// The part of the session that binds the plan to hosts, as their activation leaves them, to ports, devices and cores;
// when a stranger has a port, to other ports.
#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "run/activation.h"
#include "run/host_word.h"
#include "run/json_text.h"
#include "run/live_session.h"
#include "run/private_files.h"

namespace muster {

void Session::OnActivated(std::uint32_t host, HostActivated told) {
  told.host = host;
  told = WithoutOwnVariables(std::move(told));
  Record(Shown(told, HiddenValues(plan_, binding_.secrets)));
  if (supervisor_.phase() != Phase::kPreparing) return;
  if (!told.error.empty()) return Unready(ActivationFailure(plan_, agents_[host].host_name, told));
  surroundings_.activated[host] = ActivatedEnvironment(surroundings_.environment, told);
  HoldPortsOf(host);
}

void Session::HoldPortsOf(std::uint32_t host) {
  HoldPorts ports = PortsOfHost(plan_, host);
  if (!ports.ports.empty()) return Send(host, std::move(ports));
  AskAllotment(host);
}

void Session::OnPortsHeld(std::uint32_t host, const PortsHeld& held) {
  if (before_) {
    const std::string error = TakePorts(host, held, PortChoice::kAuto);
    if (rebinding_error_.empty()) rebinding_error_ = error;
    if (--answers_due_ > 0) return;
    if (rebinding_error_.empty()) {
      if (const Result<void> rebound = Rebind(); !rebound) rebinding_error_ = Sentence(rebound.error());
    }
    before_.reset();
    return Happened(PlanRebound{binding_.ports, std::exchange(rebinding_error_, {})});
  }
  if (const std::string error = TakePorts(host, held, PortChoice::kAll); !error.empty()) return Unready(error);
  AskAllotment(host);
}

void Session::AskAllotment(std::uint32_t host) {
  agents_[host].asked = AllotmentOf(plan_, host, binding_.run_id, ::getpid());
  if (agents_[host].asked) return Send(host, *agents_[host].asked);
  agents_[host].ready = true;
  BeginIfReady();
}

void Session::OnAllotted(std::uint32_t host, const Allotted& allotted) {
  Agent& agent = agents_[host];
  if (!agent.asked || agent.ready) return;
  const std::string& name = HostWord(plan_, host);
  if (!allotted.error.empty()) return Unready(fmt::format("{}: {}", name, allotted.error));
  const Allot& asked = *agent.asked;
  if (asked.devices.size() != allotted.devices.size() || asked.cores.size() != allotted.cores.size())
    return Unready(fmt::format("the agent of {} gave other devices or cores than asked", name));
  for (std::size_t i = 0; i < asked.devices.size(); ++i) {
    if (agent.devices.size() <= asked.devices[i]) agent.devices.resize(std::size_t{asked.devices[i]} + 1);
    agent.devices[asked.devices[i]] = allotted.devices[i];
  }
  for (std::size_t i = 0; i < asked.cores.size(); ++i) binding_.cores[asked.cores[i].process] = allotted.cores[i];
  for (const std::string& note : allotted.notes) console_.Warn(fmt::format("{}: {}", name, note));
  agent.ready = true;
  BeginIfReady();
}

std::string Session::TakePorts(std::uint32_t host, const PortsHeld& held, PortChoice choice) {
  if (!held.error.empty()) return fmt::format("ports on {}: {}", HostWord(plan_, host), held.error);
  const HoldPorts asked = PortsOfHost(plan_, host, choice);
  const bool fits =
      std::equal(asked.ports.begin(), asked.ports.end(), held.ports.begin(), held.ports.end(),
                 [](const PortRequest& a, const PortRequest& b) { return a.name == b.name && b.number != 0; });
  if (!fits) return fmt::format("the agent of {} held other ports than asked", HostWord(plan_, host));
  for (const PortRequest& port : held.ports) binding_.ports[port.name] = port.number;
  return {};
}

std::string Session::AddressOf(std::uint32_t host) const {
  if (request_.hosts.empty()) return "127.0.0.1";
  if (!request_.hosts[host].address.empty()) return request_.hosts[host].address;
  return agents_[host].address.empty() ? "127.0.0.1" : agents_[host].address;
}

Result<void> Session::Bind() {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    HostBinding bound{agents_[host].host_name, AddressOf(host), agents_[host].devices};
    if (!request_.hosts.empty()) {
      // As the host itself is called; whom one logs in as is nobody else's affair.
      bound.name = request_.hosts[host].name.substr(request_.hosts[host].name.find('@') + 1);
    }
    binding_.hosts.push_back(std::move(bound));
  }
  Record(PlanBound{binding_.run_dir, binding_.hosts, binding_.ports, CoreTexts(plan_, binding_)});
  Result<std::map<std::string, std::string>> files = GeneratedFiles(plan_, binding_);
  if (!files) return Fail(std::move(files.error()));
  files->emplace("binding.json",
                 JsonText(BindingValue(plan_, binding_, request_.code ? request_.code->hash : std::string())) + "\n");
  for (const auto& [path, bytes] : *files) {
    if (Result<void> written = WriteNewFile(directory_->folder(), path, bytes); !written) return written;
  }
  PutFiles(*files);
  return DefineEnvironments();
}

Result<void> Session::DefineEnvironments() {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    Result<std::vector<DefineEnvironment>> blocks = EnvironmentBlocks(plan_, binding_, surroundings_, host);
    if (!blocks) return Fail(std::move(blocks.error()));
    for (DefineEnvironment& block : *blocks) Send(host, std::move(block));
  }
  return {};
}

void Session::OrderRebinding() {
  before_ = binding_;
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    HoldPorts ports = PortsOfHost(plan_, host, PortChoice::kAuto);
    if (ports.ports.empty()) continue;
    ++answers_due_;
    Send(host, std::move(ports));
  }
}

// What was made with the ports before is made anew, where they stand in it.
Result<void> Session::Rebind() {
  const Result<std::map<std::string, std::string>> made = GeneratedFiles(plan_, *before_);
  Result<std::map<std::string, std::string>> files = GeneratedFiles(plan_, binding_);
  if (!made) return Fail(made.error());
  if (!files) return Fail(files.error());
  files->emplace("binding.json",
                 JsonText(BindingValue(plan_, binding_, request_.code ? request_.code->hash : std::string())) + "\n");
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
