#include "run/session/run_binding.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "base/values/value_text.h"
#include "plan/check/named_machines.h"
#include "plan/environment/inherited_environment.h"
#include "run/directory/checkpoints.h"
#include "run/directory/runtime_directory.h"
#include "run/session/agent_links.h"
#include "run/session/live_run.h"
#include "run/start/python_copy.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// What processes inherit from the caller, and what from their own host.
CallerEnvironment SurroundingsOf(const LiveRun& run) {
  const SiteEnvironment& site = run.plan.site_environment;
  CallerEnvironment surroundings{{}, run.request.cwd, run.request.search_dirs};
  if (run.request.hosts_have_environment) {
    surroundings.environment = InheritedAtSite(site, {});
    surroundings.of_host.take = site.pass.empty() ? std::vector<std::string>{"*"} : site.pass;
    if (!site.pass.empty()) surroundings.of_host.take.emplace_back("PATH");
    surroundings.of_host.leave = site.unset;
  } else if (run.request.hosts.empty()) {
    surroundings.environment = InheritedAtSite(site, run.request.environment);
  } else {
    surroundings.environment = InheritedAtSite(site, WithoutHostVariables(run.request.environment));
    surroundings.of_host.take = HostVariablesAtSite(site);
  }
  return surroundings;
}

}  // namespace

RunBinding::RunBinding(LiveRun& run, Binding& binding, AgentLinks& links, FilesElsewhere& files)
    : run_(run), binding_(binding), links_(links), files_(files), surroundings_(SurroundingsOf(run)) {}

void RunBinding::SetSurroundings(std::uint32_t host, std::uint32_t place, const std::vector<std::string>& inherited,
                                 const std::vector<std::string>& removed) {
  if (!run_.plan.activation.empty()) {
    surroundings_.activated[place] = inherited;
    surroundings_.removed[place] = removed;
  }
  if (const auto code = surroundings_.code.find(host); code != surroundings_.code.end() && host != place)
    surroundings_.code[place] = code->second;
}

std::string RunBinding::SetPorts(std::uint32_t host, std::uint32_t place, const PortsHeld& held, PortChoice choice) {
  if (!held.error.empty()) return fmt::format("ports on {}: {}", run_.NameOf(host), held.error);
  const HoldPorts asked = PortsOfHost(run_.plan, place, choice);
  const bool fits = std::equal(asked.ports.begin(), asked.ports.end(), held.ports.begin(), held.ports.end(),
                               [](const PortRequest& a, const PortRequest& b) {
                                 return a.name == b.name && b.number != 0 && (a.number == 0 || a.number == b.number);
                               });
  if (!fits) return fmt::format("the agent of {} held other ports than requested", run_.NameOf(host));
  for (const PortRequest& port : held.ports) binding_.ports[port.name] = port.number;
  return {};
}

void RunBinding::SetCores(const AllocateResources& asked, const ResourcesAllocated& given) {
  for (std::size_t i = 0; i < asked.cores.size(); ++i) binding_.cores[asked.cores[i].process] = given.cores[i];
}

void RunBinding::SetCheckpoint(const std::string& path) {
  binding_.checkpoint = path;
  run_.journal.Record(CheckpointSeen{path, {}, CheckpointAgeMs(path)});
  const Result<void> written = ReplaceFile(run_.directory->folder(), kBindingEntry.name, BindingFile());
  if (!written) run_.console.Warn(Sentence(written.error()));
}

RunBinding::~RunBinding() {
  if (kept_) RemoveKeptFolder(binding_.run_id);
}

void RunBinding::KeepFilesFromOthers() {
  if (run_.elsewhere) return;
  const std::string folder = MakeKeptFolder(binding_.run_dir, binding_.run_id);
  if (folder.empty()) return;
  kept_ = OpenPrivate(folder);
  if (kept_) binding_.files_dir = folder;
}

Result<void> RunBinding::WriteToDirectory(const std::map<std::string, std::string>& files) {
  const int folder = run_.directory->folder();
  std::string copy;  // of the Python packages, which trials share
  if (!run_.request.shared_python.empty() && WantsPython(run_.plan)) {
    Result<std::string> shared = SharedPython(run_.request.shared_python);
    if (!shared) return Fail(std::move(shared.error()));
    copy = *std::move(shared);
  }
  // A container has only the run directory: the copy's files are hard-linked there.
  const bool contained = std::any_of(run_.plan.roles.begin(), run_.plan.roles.end(),
                                     [](const Role& role) { return !role.container.image.marked.empty(); });
  const bool linked = !copy.empty() && !contained && LinkPython(folder, run_.request.run_dir, copy);
  const std::string python = std::string(kPythonFolder) + "/";
  for (const auto& [path, bytes] : files) {
    if (!copy.empty() && path.starts_with(python)) {
      if (linked || LinkFile(folder, path, copy + "/" + path.substr(python.size()))) continue;
    }
    if (Result<void> written = WriteNewFile(folder, path, bytes); !written) return written;
  }
  return {};
}

Result<void> RunBinding::Bind(std::vector<HostBinding> hosts) {
  KeepFilesFromOthers();
  binding_.hosts = std::move(hosts);
  std::vector<KnownHost> known;
  for (const HostBinding& host : binding_.hosts) known.push_back({host.name, host.address});
  const Diagnostics found = CheckNamedMachines(run_.plan, known, {}, surroundings_.environment);
  if (HasErrors(found)) return Fail(found);
  for (const Diagnostic& warning : found) run_.console.Warn(warning.message + ": " + warning.hint);
  run_.journal.Record(PlanBound{binding_.run_dir, binding_.hosts, binding_.ports, CoreTexts(run_.plan, binding_)});
  if (const std::string& from = binding_.checkpoint; !from.empty()) {
    run_.journal.Record(CheckpointSeen{from, run_.request.resumed, CheckpointAgeMs(from)});
  }
  Result<std::map<std::string, std::string>> files = GeneratedFiles(run_.plan, binding_);
  if (!files) return Fail(std::move(files.error()));
  for (const auto& [path, bytes] : *files) {
    if (!kept_) break;
    if (Result<void> written = WriteNewFile(kept_.get(), path, bytes); !written) return written;
  }
  files->emplace(kBindingEntry.name, BindingFile());
  if (Result<void> written = WriteToDirectory(*files); !written) return written;
  files_.Send(*files);
  return DefineEnvironments();
}

Result<void> RunBinding::Rebind(const Binding& before) {
  const Result<std::map<std::string, std::string>> made = GeneratedFiles(run_.plan, before);
  Result<std::map<std::string, std::string>> files = GeneratedFiles(run_.plan, binding_);
  if (!made) return Fail(made.error());
  if (!files) return Fail(files.error());
  files->emplace(kBindingEntry.name, BindingFile());
  for (auto file = files->begin(); file != files->end();) {
    const auto old = made->find(file->first);
    if (old != made->end() && old->second == file->second) {
      file = files->erase(file);
      continue;
    }
    if (Result<void> written = ReplaceFile(run_.directory->folder(), file->first, file->second); !written) {
      return written;
    }
    if (kept_ && file->first != kBindingEntry.name) {
      if (Result<void> written = ReplaceFile(kept_.get(), file->first, file->second); !written) return written;
    }
    ++file;
  }
  files_.Send(*files);
  return DefineEnvironments();
}

std::string RunBinding::BindingFile() const {
  const BoundBesides besides{run_.request.code ? run_.request.code->hash : std::string(), run_.request.resumed};
  return JsonText(BindingValue(run_.plan, binding_, besides)) + "\n";
}

Result<void> RunBinding::DefineEnvironments() {
  for (std::uint32_t place = 0; place < run_.plan.hosts.size(); ++place) {
    Result<std::vector<DefineEnvironment>> blocks = EnvironmentBlocks(run_.plan, binding_, surroundings_, place);
    if (!blocks) return Fail(std::move(blocks.error()));
    for (DefineEnvironment& block : *blocks) links_.Send(run_.supervisor.slots().machine(place), std::move(block));
  }
  return {};
}

void PortReplacement::Begin() {
  before_ = run_.binding;
  for (std::uint32_t place = 0; place < run_.plan.hosts.size(); ++place) {
    HoldPorts ports = PortsOfHost(run_.plan, place, PortChoice::kAuto);
    if (ports.ports.empty()) continue;
    ++answers_due_;
    links_.Send(run_.supervisor.slots().machine(place), std::move(ports));
  }
}

void PortReplacement::OnPortsHeld(std::uint32_t host, const PortsHeld& held) {
  const std::optional<std::uint32_t> place = run_.supervisor.slots().host(host);
  if (!place) return;  // no request was sent to it
  const std::string error = bound_.SetPorts(host, *place, held, PortChoice::kAuto);
  if (error_.empty()) error_ = error;
  if (--answers_due_ > 0) return;
  if (error_.empty()) {
    if (const Result<void> rebound = bound_.Rebind(*before_); !rebound) error_ = Sentence(rebound.error());
  }
  before_.reset();
  run_.events.HandleEvent(PlanRebound{run_.binding.ports, std::exchange(error_, {})});
}

}  // namespace muster
