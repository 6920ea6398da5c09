#include "run/start/start_specs.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/system/private_files.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_text.h"
#include "plan/environment/environment.h"
#include "plan/environment/inherited_environment.h"
#include "plan/text/plan_json.h"
#include "run/start/python_copy.h"
#include "run/start/start_commands.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

// Characters at which a path may end within a text, and the next one begin.
constexpr std::string_view kBetween = " \t\n'\":;,()<>|&=$`\\{}[]";

bool BeginsThere(std::string_view text, std::size_t at) {
  return at == 0 || kBetween.find(text[at - 1]) != std::string_view::npos;
}

}  // namespace

bool ShippedPaths::IsShipped(std::string_view below) const {
  // Tests ever shorter prefixes: a path may be followed by other characters of the text.
  for (std::size_t end = below.size();; --end) {
    if (end == below.size() || kBetween.find(below[end]) != std::string_view::npos) {
      std::string path(below.substr(0, end));
      while (path.ends_with('/')) path.pop_back();
      const std::size_t slash = path.rfind('/');
      if (tree_->Has(path) || tree_->Has(slash == std::string::npos ? std::string() : path.substr(0, slash)))
        return true;
    }
    if (end == 0) return false;
  }
}

std::string ShippedPaths::Led(std::string_view text) const {
  if (!tree_) return std::string(text);
  std::string led = LedFrom(tree_->folder, text);
  return tree_->also_named.empty() ? led : LedFrom(tree_->also_named, led);
}

std::string ShippedPaths::LedFrom(const std::string& root, std::string_view text) const {
  std::string led;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t found = text.find(root, at);
    if (found == std::string_view::npos) {
      led += text.substr(at);
      break;
    }
    led += text.substr(at, found - at);
    at = found + root.size();
    const bool ends = at == text.size() || kBetween.find(text[at]) != std::string_view::npos;
    const bool below = at < text.size() && text[at] == '/';
    const bool named = BeginsThere(text, found) && (ends || (below && IsShipped(text.substr(at + 1))));
    led += named ? folder_ : root;
  }
  return led;
}

namespace {

constexpr std::size_t kMaxSecret = 1U << 20;

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

CoreRequest RequestOf(const CoreUse& use) {
  CoreRequest request;
  request.kind = use.kind == CoreUse::Kind::kCount  ? CoreRequest::Kind::kCount
                 : use.kind == CoreUse::Kind::kList ? CoreRequest::Kind::kList
                                                    : CoreRequest::Kind::kAuto;
  request.count = use.count;
  request.list = use.list;
  return request;
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
    CoreRequest request = RequestOf(role.cores);
    request.process = id;
    request.role = role.name;
    request.devices = process.devices;
    allot.cores.push_back(std::move(request));
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
  allot.owner = terms.sweep.empty() ? "run:" + run_id : "sweep:" + terms.sweep;
  allot.job = run_id;
  return allot;
}

HostVariables CallerEnvironment::OfHost(std::uint32_t host, const std::vector<std::string>& unset) const {
  HostVariables variables = of_host;
  if (variables.take.empty()) return variables;
  variables.leave.insert(variables.leave.end(), unset.begin(), unset.end());
  if (const auto found = removed.find(host); found != removed.end()) {
    variables.leave.insert(variables.leave.end(), found->second.begin(), found->second.end());
  }
  return variables;
}

Result<std::vector<DefineEnvironment>> EnvironmentBlocks(const Plan& plan, const Binding& binding,
                                                         const CallerEnvironment& surroundings, std::uint32_t host) {
  std::set<std::uint32_t> roles;
  for (const Process& process : plan.processes) {
    if (process.host == host) roles.insert(process.role);
  }
  std::vector<DefineEnvironment> blocks;
  for (const std::uint32_t role : roles) {
    const Role outside = RoleOutside(RoleOn(surroundings, host, plan.roles[role]));
    Result<std::vector<std::string>> variables =
        ComposeRoleEnvironment(surroundings.Inherited(host), outside, binding, 0);
    if (!variables) return Fail(std::move(variables.error()));
    blocks.push_back({role, std::move(*variables), surroundings.OfHost(host, outside.unset)});
  }
  return blocks;
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

std::string BindingSchema() {
  using namespace schema;
  const std::string host = Object({{"name", String()}, {"address", String()}, {"devices", List(String())}});
  return Object({{"format", Only(1)},
                 {"run", String()},
                 {"run_dir", String()},
                 {"hosts", List(host)},
                 {"ports", Map(Count())},
                 {"cores", Map(String())},
                 {"code", String(), false},
                 {"checkpoint", String(), false},
                 {"resumed", String(), false}});
}

std::string ContextFileSchema() {
  using namespace schema;
  return Object({{"format", Only(1)},
                 {"mindspore", String()},
                 {"role", String()},
                 {"index", Count()},
                 {"context", Map(Map(Anything()))},
                 {"accept_release", Truth(), false}});
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
      Result<std::string> content = ReadWholeFile(source.from_file, kMaxSecret);
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

Role RoleOn(const CallerEnvironment& surroundings, std::uint32_t host, Role role) {
  if (!surroundings.code.contains(host)) return role;
  surroundings.Lead(host, role.env);
  const auto lead = [&](Text& text) { text = Text(surroundings.Led(host, text.marked)); };
  lead(role.container.image);
  for (Text& option : role.container.options) lead(option);
  for (ContainerMount& mount : role.container.mounts) lead(mount.source), lead(mount.target);
  return role;
}

namespace {

std::string_view NameIn(std::string_view entry) { return entry.substr(0, entry.find('=')); }

// Numbers of spares follow those of the plan's hosts.
std::string LabelOf(const Plan& plan, std::uint32_t host) {
  return host < plan.hosts.size() ? plan.hosts[host].label : fmt::format("host{}", host);
}

bool IsOwn(std::string_view name) {
  const auto names = StandardVariableNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string ActivationLogPath(const Plan& plan, std::uint32_t host) {
  return fmt::format("logs/activation.{}.log", LabelOf(plan, host));
}

std::vector<std::string> BeginningEnvironment(const Plan& plan, const std::vector<std::string>& inherited) {
  std::vector<std::string> environment;
  for (const std::string& entry : inherited) {
    const std::string_view name = NameIn(entry);
    const bool secret = std::any_of(plan.secrets.begin(), plan.secrets.end(),
                                    [&](const auto& each) { return each.second.from_env == name; });
    const bool variable = !name.empty() && name.size() < entry.size();
    if (variable && !secret && !IsOwn(name)) environment.push_back(entry);
  }
  return environment;
}

Activate ActivateHost(const Plan& plan, const Binding& binding, const CallerEnvironment& surroundings,
                      std::uint32_t host) {
  Activate command;
  command.steps = plan.activation;
  for (ActivationStep& step : command.steps) step.what = surroundings.Led(host, step.what);
  command.cwd = surroundings.Led(host, surroundings.cwd);
  command.log_path = fmt::format("{}/{}", binding.run_dir, ActivationLogPath(plan, host));
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  command.within_ms =
      plan.start_limit_ms == 0 ? kActivationMs : static_cast<std::uint32_t>(std::min(plan.start_limit_ms, kMax));
  command.environment = BeginningEnvironment(plan, surroundings.environment);
  command.of_host = surroundings.of_host;
  for (const auto& [name, secret] : plan.secrets) {
    if (!secret.from_env.empty() && !command.of_host.take.empty()) command.of_host.leave.push_back(secret.from_env);
  }
  command.environment.push_back("MUSTER_RUN_ID=" + binding.run_id);
  command.environment.push_back("MUSTER_RUN_DIR=" + binding.run_dir);
  command.environment.push_back(fmt::format("MUSTER_PROCESS={}/activation.{}", binding.run_id, LabelOf(plan, host)));
  return command;
}

std::string ActivationStepText(const Plan& plan, std::uint32_t step) {
  if (step == 0 || step > plan.activation.size()) return "the shell";
  const ActivationStep& failed = plan.activation[step - 1];
  return fmt::format("step {} ({} {})", step, ActivationKindName(failed.kind), Printable(failed.what));
}

std::string ActivationFailure(const Plan& plan, const std::string& host_name, const HostActivated& reported) {
  return fmt::format("the activation of {} failed in {}: {}", Printable(host_name),
                     ActivationStepText(plan, reported.failed_step), Printable(reported.error));
}

HostActivated WithoutOwnVariables(HostActivated reported) {
  std::erase_if(reported.set, [](const auto& entry) { return IsOwn(entry.first); });
  std::erase_if(reported.unset, [](const std::string& name) { return IsOwn(name); });
  return reported;
}

HostActivated Shown(HostActivated reported, const HiddenValues& hidden) {
  for (auto& [name, value] : reported.set) value = hidden.Shown(name, value);
  return reported;
}

std::vector<std::string> ActivatedEnvironment(const std::vector<std::string>& inherited,
                                              const HostActivated& reported) {
  const std::set<std::string_view> unset(reported.unset.begin(), reported.unset.end());
  std::vector<std::string> environment;
  environment.reserve(inherited.size() + reported.set.size());
  for (const auto& [name, value] : reported.set) environment.push_back(fmt::format("{}={}", name, value));
  for (const std::string& entry : inherited) {
    const std::string name(NameIn(entry));
    if (!reported.set.contains(name) && !unset.contains(name)) environment.push_back(entry);
  }
  return environment;
}

}  // namespace muster
