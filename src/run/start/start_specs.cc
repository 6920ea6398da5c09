#include "run/start/start_specs.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_list.h"
#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"
#include "plan/environment/environment.h"
#include "plan/environment/python_path.h"
#include "plan/text/plan_json.h"
#include "plan/text/shell_text.h"
#include "run/directory/json_text.h"
#include "run/directory/log_path.h"
#include "run/directory/private_files.h"
#include "run/start/container_call.h"
#include "run/start/embedded_python.h"

namespace muster {
namespace {

constexpr std::size_t kMaxSecretBytes = 1U << 20;

// Whether a value shared by the role differs between attempts: then it cannot be part of a block that is sent once.
bool ChangesByAttempt(const Text& text) {
  static const std::array<std::string, 3> kPlaceholders = {
      PlaceholderText({Placeholder::Kind::kAttempt, {}, 0}), PlaceholderText({Placeholder::Kind::kCheckpoint, {}, 0}),
      PlaceholderText({Placeholder::Kind::kNewestCheckpoint, {}, 0})};
  return std::any_of(kPlaceholders.begin(), kPlaceholders.end(),
                     [&](const std::string& hole) { return text.marked.find(hole) != std::string::npos; });
}

// Above the descriptors that shells and programs use by number, and below any limit.
constexpr std::int32_t kFirstSecretDescriptor = 100;
constexpr std::int32_t kFirstInContainer = 3;

// The name of the secret if the value is one.
std::optional<std::string> SecretIn(const Value& value) {
  const std::string* text = value.AsString();
  if (text == nullptr || !text->starts_with(kPlaceholderOpen)) return std::nullopt;
  const auto pieces = Pieces(*text);
  if (!pieces || pieces->size() != 1 || !pieces->front().hole) return std::nullopt;
  const Placeholder& hole = *pieces->front().hole;
  return hole.kind == Placeholder::Kind::kSecret ? std::optional(hole.name) : std::nullopt;
}

// The value with the placeholders of all its strings filled.
Result<Value> Filled(const Value& value, const Binding& binding, std::uint32_t attempt) {
  if (const std::string* text = value.AsString()) {
    Result<std::string> filled = FillPlaceholders(Text(*text), binding, attempt);
    if (!filled) return Fail(std::move(filled.error()));
    return Value(std::move(*filled));
  }
  if (const Value::List* list = value.AsList()) {
    Value::List filled;
    for (const Value& element : *list) {
      Result<Value> one = Filled(element, binding, attempt);
      if (!one) return one;
      filled.push_back(std::move(*one));
    }
    return Value(std::move(filled));
  }
  if (const Value::Map* map = value.AsMap()) {
    Value::Map filled;
    for (const auto& [key, mapped] : *map) {
      Result<Value> one = Filled(mapped, binding, attempt);
      if (!one) return one;
      filled.emplace(key, std::move(*one));
    }
    return Value(std::move(filled));
  }
  return value;
}

// The value of an attribute with its placeholders filled. A value that is only a port becomes a number, as MindSpore
// requires.
Result<Value> FilledAttribute(const Value& value, const Binding& binding) {
  if (const std::string* text = value.AsString()) {
    const auto pieces = Pieces(Text(*text));
    if (pieces && pieces->size() == 1 && pieces->front().hole &&
        pieces->front().hole->kind == Placeholder::Kind::kPort) {
      return Value(std::int64_t{binding.ports.at(pieces->front().hole->name)});
    }
  }
  return Filled(value, binding, 0);
}

}  // namespace

HoldPorts PortsOfHost(const Plan& plan, std::uint32_t host, PortChoice choice) {
  HoldPorts hold;
  for (const auto& [name, port] : plan.ports) {
    if (port.host != host || (choice == PortChoice::kAuto && port.number != 0)) continue;
    hold.ports.push_back({name, port.number});
  }
  return hold;
}

namespace {

CoreRequest WishOf(const CoreUse& use) {
  CoreRequest wish;
  wish.kind = use.kind == CoreUse::Kind::kCount  ? CoreRequest::Kind::kCount
              : use.kind == CoreUse::Kind::kList ? CoreRequest::Kind::kList
                                                 : CoreRequest::Kind::kAuto;
  wish.count = use.count;
  wish.list = use.list;
  return wish;
}

}  // namespace

std::optional<AllocateResources> AllocationRequestOf(const Plan& plan, std::uint32_t host, const std::string& run_id,
                                                     std::int32_t pid, const DeviceTerms& terms) {
  AllocateResources allot;
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    if (process.host != host) continue;
    allot.devices.insert(allot.devices.end(), process.devices.begin(), process.devices.end());
    const Role& role = plan.roles[process.role];
    if (role.cores.kind == CoreUse::Kind::kAny) continue;
    CoreRequest wish = WishOf(role.cores);
    wish.process = id;
    wish.role = role.name;
    wish.devices = process.devices;
    allot.cores.push_back(std::move(wish));
  }
  if (allot.devices.empty() && allot.cores.empty()) return std::nullopt;
  std::sort(allot.devices.begin(), allot.devices.end());
  allot.host_devices = plan.hosts[host].devices;
  allot.any = plan.device_use.any;
  allot.given = plan.device_use.given;
  allot.shared = plan.device_use.shared;
  allot.kind = plan.device_use.kind;
  const std::string of_sweep = terms.sweep.empty() ? "" : " of sweep " + terms.sweep;
  allot.whose = fmt::format("run {} ({}){}, pid {}", run_id, Printable(plan.name), of_sweep, pid);
  allot.wait_ms = terms.wait_ms;
  allot.per_device = terms.per_device;
  allot.party = terms.sweep.empty() ? "run:" + run_id : "sweep:" + terms.sweep;
  allot.job = run_id;
  return allot;
}

namespace {

void LeadVariables(const CallerEnvironment& surroundings, std::uint32_t host, Variables& variables) {
  for (auto& [name, value] : variables) value = Text(surroundings.Led(host, value.marked));
}

// The role with its variables and its container adapted to the host's paths of shipped code.
Role RoleOn(const CallerEnvironment& surroundings, std::uint32_t host, Role role) {
  if (!surroundings.code.contains(host)) return role;
  LeadVariables(surroundings, host, role.env);
  const auto lead = [&](Text& text) { text = Text(surroundings.Led(host, text.marked)); };
  lead(role.container.image);
  for (Text& option : role.container.options) lead(option);
  for (ContainerMount& mount : role.container.mounts) lead(mount.source), lead(mount.target);
  return role;
}

}  // namespace

Result<std::vector<DefineEnvironment>> EnvironmentBlocks(const Plan& plan, const Binding& binding,
                                                         const CallerEnvironment& surroundings, std::uint32_t host) {
  std::set<std::uint32_t> roles;
  for (const Process& process : plan.processes) {
    if (process.host == host) roles.insert(process.role);
  }
  std::vector<DefineEnvironment> blocks;
  for (const std::uint32_t role : roles) {
    Result<std::vector<std::string>> variables = ComposeRoleEnvironment(
        surroundings.Inherited(host), RoleOutside(RoleOn(surroundings, host, plan.roles[role])), binding, 0);
    if (!variables) return Fail(std::move(variables.error()));
    blocks.push_back({role, std::move(*variables)});
  }
  return blocks;
}

Starts::Starts(const Plan& plan, const Binding& binding, const CallerEnvironment& surroundings)
    : plan_(plan), binding_(binding), surroundings_(surroundings) {
  std::map<std::uint32_t, ProcessId> first;                            // the first process of each host
  std::map<std::pair<std::uint32_t, std::string>, ProcessId> by_name;  // of hosts that hold ports
  std::set<std::uint32_t> holding;
  for (const auto& [name, port] : plan.ports) holding.insert(port.host);
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    const Process& process = plan.processes[id];
    if (holding.count(process.host) == 0) continue;
    first.emplace(process.host, id);
    by_name.emplace(std::pair{process.host, ProcessName(plan, process)}, id);
  }
  for (const auto& [name, port] : plan.ports) {
    if (const auto owner = by_name.find({port.host, port.owner}); owner != by_name.end()) {
      ports_[owner->second].released.push_back(name);
      ports_[owner->second].own.push_back(name);
    } else if (const auto any = first.find(port.host); any != first.end()) {
      ports_[any->second].released.push_back(name);
    }
  }
}

Result<StartProcess> Starts::Of(ProcessId id, std::uint32_t attempt, bool terminal) const {
  const Process& process = plan_.processes[id];
  const Role& role = plan_.roles[process.role];
  StartProcess start;
  start.process = id;
  start.attempt = attempt;
  start.environment = process.role;
  start.search_dirs = surroundings_.search_dirs;
  start.log_path = fmt::format("{}/{}", binding_.run_dir, LogPath(plan_, id, attempt));
  start.log_limit = role.limits.log_bytes;

  std::vector<Text> words;
  if (role.shell) words = {"/bin/sh", "-c"};
  for (const Text& word : EffectiveCommand(plan_, process)) {
    words.emplace_back(surroundings_.Led(process.host, word.marked));
  }
  for (std::size_t word = 0; word < words.size(); ++word) {
    Result<std::string> filled = FillWord(words, word, binding_, attempt);
    if (!filled) return Fail(std::move(filled.error()));
    start.argv.push_back(std::move(*filled));
  }
  Result<std::string> cwd = Filled(process, EffectiveCwd(plan_, process), attempt);
  if (!cwd) return Fail(std::move(cwd.error()));
  if (cwd->starts_with('/')) {
    start.cwd = std::move(*cwd);
  } else {
    start.cwd = surroundings_.Led(process.host,
                                  cwd->empty() ? surroundings_.cwd : fmt::format("{}/{}", surroundings_.cwd, *cwd));
  }

  Process own = process;
  if (attempt > 0) {
    for (const auto& [name, value] : role.env) {
      if (ChangesByAttempt(value)) own.env.emplace(name, value);  // the block contains the value of the first attempt
    }
  }
  if (surroundings_.code.contains(process.host)) LeadVariables(surroundings_, process.host, own.env);
  for (const std::string& name : role.container.runtime.own) own.env.erase(name);
  Result<std::vector<std::string>> env =
      ComposeOwnEnvironment(surroundings_.Inherited(process.host), role, own, binding_, attempt);
  if (!env) return Fail(std::move(env.error()));
  start.env = std::move(*env);

  for (const auto& [name, number] : SecretDescriptors(plan_, process)) {
    const auto secret = binding_.secrets.find(name);
    if (secret == binding_.secrets.end()) {
      return Fail(Error("binding", {},
                        fmt::format("the context of {} has no secret {}", ProcessName(plan_, process), Quoted(name))));
    }
    start.passed.push_back({number, secret->second});
  }
  if (!role.container.image.marked.empty()) {
    const Role inside = RoleOn(surroundings_, process.host, role);
    Process led = process;
    if (surroundings_.code.contains(process.host)) LeadVariables(surroundings_, process.host, led.env);
    const auto code = surroundings_.code.find(process.host);
    const std::string folder = code == surroundings_.code.end() ? std::string() : code->second.folder();
    Result<void> put = PutIntoContainer(
        {plan_, led, inside, binding_, attempt, surroundings_.Inherited(process.host), folder, terminal}, start);
    if (!put) return Fail(std::move(put.error()));
  }

  if (const auto cores = binding_.cores.find(id); cores != binding_.cores.end()) start.cores = cores->second;

  Result<ReadyWhen> ready = ReadyOf(process, attempt);
  if (!ready) return Fail(std::move(ready.error()));
  start.ready = std::move(*ready);

  if (const auto ports = ports_.find(id); ports != ports_.end()) {
    start.release_ports = ports->second.released;
    start.own_ports = ports->second.own;
  }
  return start;
}

Result<std::string> Starts::Filled(const Process& process, const Text& text, std::uint32_t attempt) const {
  return FillPlaceholders(Text(surroundings_.Led(process.host, text.marked)), binding_, attempt);
}

Result<ReadyWhen> Starts::ReadyOf(const Process& process, std::uint32_t attempt) const {
  const Readiness& readiness = plan_.roles[process.role].ready;
  ReadyWhen when;
  Result<std::string> what = Filled(process, EffectiveReadyWhat(plan_, process), attempt);
  if (!what) return Fail(std::move(what.error()));
  switch (readiness.kind) {
    case Readiness::Kind::kStarted:
    case Readiness::Kind::kDone:
      return when;
    case Readiness::Kind::kPort: {
      when.kind = ReadyWhen::Kind::kPort;
      when.port = ParseNumber<std::uint16_t>(*what).value_or(0);
      if (when.port == 0) return Fail(Error("ready", {}, fmt::format("{} is not a port to wait for", Quoted(*what))));
      return when;
    }
    case Readiness::Kind::kFile:
      when.kind = ReadyWhen::Kind::kFile;
      when.text = std::move(*what);
      return when;
    case Readiness::Kind::kLine:
      when.kind = ReadyWhen::Kind::kLine;
      when.text = std::move(*what);
      return when;
    case Readiness::Kind::kCommand:
      when.kind = ReadyWhen::Kind::kCommand;
      when.every_ms = readiness.every_ms;
      for (const Text& word : readiness.command) {
        Result<std::string> filled = Filled(process, word, attempt);
        if (!filled) return Fail(std::move(filled.error()));
        when.argv.push_back(std::move(*filled));
      }
      return when;
  }
  return when;
}

std::map<std::string, std::int32_t> SecretDescriptors(const Plan& plan, const Process& process) {
  std::map<std::string, std::int32_t> descriptors;
  for (const auto& [key, value] : EffectiveContext(plan, process)) {
    if (const auto secret = SecretIn(value)) descriptors.emplace(*secret, 0);
  }
  const bool inside = !plan.roles[process.role].container.image.marked.empty();
  std::int32_t next = inside ? kFirstInContainer : kFirstSecretDescriptor;
  for (auto& [name, number] : descriptors) number = next++;
  return descriptors;
}

namespace {

// The settled context of a process, as written to its file: {"set_context": {"mode": 0}}.
Result<Value> FilledContext(const Plan& plan, const Process& process, const Binding& binding) {
  const std::map<std::string, std::int32_t> descriptors = SecretDescriptors(plan, process);
  ContextValues filled;
  for (const auto& [key, value] : EffectiveContext(plan, process)) {
    if (const auto secret = SecretIn(value)) {
      filled.emplace(key, Value::Map{{"secret_fd", std::int64_t{descriptors.at(*secret)}}});
      continue;
    }
    Result<Value> one = FilledAttribute(value, binding);
    if (!one) return one;
    filled.emplace(key, std::move(*one));
  }
  return NestedContext(filled);
}

}  // namespace

Result<std::map<std::string, std::string>> GeneratedFiles(const Plan& plan, const Binding& binding) {
  std::map<std::string, std::string> files;
  for (const Process& process : plan.processes) {
    const ContextValues context = EffectiveContext(plan, process);
    if (context.empty() && plan.mindspore.empty()) continue;  // with a release, $MUSTER_CONTEXT names the file
    Result<Value> filled = FilledContext(plan, process, binding);
    if (!filled) return Fail(std::move(filled.error()));
    Value::Map file{{"format", 1},
                    {"mindspore", plan.mindspore},
                    {"role", plan.roles[process.role].name},
                    {"index", std::int64_t{process.index}},
                    {"context", std::move(*filled)}};
    if (plan.accept_release) file.emplace("accept_release", true);
    files.emplace(fmt::format("context/{}.json", ProcessName(plan, process)), JsonText(Value(std::move(file))) + "\n");
  }
  for (const auto& [path, file] : plan.files) {
    Result<std::string> content = FillPlaceholders(file.content, binding, 0);
    if (!content) return Fail(std::move(content.error()));
    files.emplace(path, std::move(*content));
  }
  if (WantsPython(plan)) {
    for (const EmbeddedFile& file : EmbeddedPython()) {
      files.emplace(fmt::format("{}/{}", kPythonFolder, file.path), file.text);
    }
  }
  return files;
}

std::map<std::string, std::string> CoreTexts(const Plan& plan, const Binding& binding) {
  std::map<std::string, std::string> texts;
  for (const auto& [id, cores] : binding.cores) {
    texts.emplace(ProcessName(plan, plan.processes[id]), NumberListText(cores));
  }
  return texts;
}

Value BindingValue(const Plan& plan, const Binding& binding, const BoundBesides& besides) {
  Value::List hosts;
  for (const HostBinding& host : binding.hosts) {
    Value::List devices(host.devices.begin(), host.devices.end());
    hosts.emplace_back(Value::Map{{"name", host.name}, {"address", host.address}, {"devices", std::move(devices)}});
  }
  Value::Map cores;
  for (const auto& [name, list] : CoreTexts(plan, binding)) cores.emplace(name, list);
  Value::Map ports;
  for (const auto& [name, number] : binding.ports) ports.emplace(name, std::int64_t{number});
  Value::Map value{{"format", 1},
                   {"run", binding.run_id},
                   {"run_dir", binding.run_dir},
                   {"hosts", std::move(hosts)},
                   {"ports", std::move(ports)},
                   {"cores", std::move(cores)}};
  if (!besides.code.empty()) value.emplace("code", besides.code);
  if (!binding.checkpoint.empty()) value.emplace("checkpoint", binding.checkpoint);
  if (!besides.resumed.empty()) value.emplace("resumed", besides.resumed);
  return Value(std::move(value));
}

Result<std::map<std::string, std::string>> ResolveSecrets(const Plan& plan,
                                                          const std::vector<std::string>& environment) {
  std::map<std::string, std::string> values;
  Diagnostics missing;
  for (const auto& [name, source] : plan.secrets) {
    std::optional<std::string> value;
    std::string why;
    if (!source.from_env.empty()) {
      const std::string prefix = source.from_env + "=";
      for (const std::string& variable : environment) {
        if (!value && variable.starts_with(prefix)) value = variable.substr(prefix.size());
      }
      why = fmt::format("the variable {} is not set", source.from_env);
    } else {
      Result<std::string> content = ReadWholeFile(source.from_file, kMaxSecretBytes);
      if (content) {
        value = std::move(*content);
        if (value->ends_with('\n')) value->pop_back();
      } else {
        why = content.error().front().message;
      }
    }
    if (value && !IsVariableValue(*value)) {
      value.reset();
      why = "its value is not text";
    }
    if (value) {
      values.emplace(name, std::move(*value));
    } else {
      missing.push_back(Error("secret", {}, fmt::format("the secret {} is not available: {}", Quoted(name), why)));
    }
  }
  if (!missing.empty()) return Fail(std::move(missing));
  return values;
}

}  // namespace muster
