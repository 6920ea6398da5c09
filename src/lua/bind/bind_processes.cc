// Host functions for processes: adds a process of a role as described by layout.lua, merges its environment and stores
// only the differences to the role's first process. The order of merging is in plan/environment/environment.h.
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lua/bind/bind.h"
#include "lua/host/field.h"
#include "lua/host/host.h"
#include "lua/host/variable_tables.h"
#include "lua/state/host_function.h"
#include "plan/environment/environment.h"
#include "plan/environment/python_path.h"

namespace muster {
namespace {

// Defaults that the recipe can override: unbuffered output and stacks of crashes for Python; and a variable that
// provides a secret is removed unless the recipe passes it on.
EnvironmentLayer Defaults(const Plan& plan, const std::vector<Text>& command) {
  EnvironmentLayer layer;
  layer.layer = Layer::kDefaults;
  for (const auto& [name, secret] : plan.secrets) {
    if (!secret.from_env.empty()) layer.variables[secret.from_env] = LayerVariable{};
  }
  if (RunsPython(command)) {
    layer.variables["PYTHONUNBUFFERED"].value = Text("1");
    layer.variables["PYTHONFAULTHANDLER"].value = Text("1");
  }
  return layer;
}

// How a process can use muster's Python modules. `wanted`: "apply", "offer" or empty; `surely`: also if the command
// does not look like Python.
PythonUse PythonUseFor(const Plan& plan, const std::vector<Text>& command, std::string_view wanted, bool surely) {
  const bool apply = wanted == "apply" && !plan.mindspore.empty();
  if (wanted.empty() || !(surely || (apply ? RunsPython(command) : MentionsPython(command)))) return PythonUse::kNone;
  return apply ? PythonUse::kApplied : PythonUse::kOffered;
}

void ReadPlaced(lua_State* lua, int table, Process& process) {
  {
    const Field rank(lua, table, "rank");
    if (rank.given()) process.rank = static_cast<std::uint32_t>(rank.number());
  }
  process.world_size = CountField(lua, table, "world_size");
  process.local_rank = CountField(lua, table, "local_rank");
  process.local_size = CountField(lua, table, "local_size");
  process.host = CountField(lua, table, "host");
  const Field devices(lua, table, "devices");
  const auto count = static_cast<int>(lua_objlen(lua, devices.index()));
  for (int i = 1; i <= count; ++i) {
    process.devices.push_back(static_cast<std::uint32_t>(Field(lua, devices.index(), i).number()));
  }
}

// Stores the first process's values in the role, and for each other process only the differences, which Fold()
// completes. With thousands of processes copies would take most of the time.
void KeepDifferences(Plan& plan, Process& process, MergedEnvironment merged) {
  Role& role = plan.roles[process.role];
  if (process.index == 0) {
    role.command = *std::exchange(process.command, std::nullopt);
    role.cwd = *std::exchange(process.cwd, std::nullopt);
    role.env = std::move(merged.set);
    return;
  }
  if (*process.command == role.command) process.command.reset();
  if (*process.cwd == role.cwd) process.cwd.reset();
  process.env = std::move(merged.set);
  for (const std::string& name : merged.absent) {
    const auto shared = role.env.find(name);
    for (Process& other : plan.processes) {
      if (other.role == process.role) other.env.try_emplace(name, shared->second);
    }
    role.env.erase(shared);
  }
}

// Reads what the contract sets for the process at 1, including the visible devices.
void ReadContract(lua_State* lua, RefilledLayer& contract) {
  contract.Begin();
  ReadTexts(lua, "contract_env", [&](std::string_view name) -> std::string& { return contract.TextAt(name); });
  if (const std::string variable = TextField(lua, 1, "visible_name"); !variable.empty()) {
    contract.TextAt(variable) = TextField(lua, 1, "visible");
  }
  contract.End();
}

// Records where `each` set the own values of the process at 1.
void KeepOrigins(lua_State* lua, Host& host, const std::string& role, const std::string& process) {
  host.origins.commands.erase(role);
  if (const Place place = PlaceField(lua, 1, "command_place"); place.line > 0) host.origins.commands[role] = place;
  std::map<std::string, SettingSource>& sources = host.origins.each_context[role];
  sources.clear();
  const auto overlay = host.overlay_of.find(process);
  if (overlay == host.overlay_of.end()) return;
  for (const auto& [key, setting] : overlay->second->own()) sources[key] = setting.source;
}

// A secret must not get into words that others can read, and some runtimes pass no descriptor, where the secrets of a
// context are.
void RefuseSecretsInContainer(Host& host, const Role& role, const Variables& variables, const ContextValues& context,
                              const Place& place) {
  const ContainerRuntime& runtime = role.container.runtime;
  constexpr std::string_view kSecret = "${muster:secret:";
  for (const std::string& name : runtime.variable_prefix.empty() ? runtime.own : std::vector<std::string>()) {
    const auto found = variables.find(name);
    if (found == variables.end() || found->second.marked.find(kSecret) == std::string::npos) continue;
    host.Report(Error("container", place,
                      name + " of role " + role.name + " is a secret, and " + runtime.name +
                          " can set it in a container by its command line only, which others can read",
                      "pass the secret in another variable"));
  }
  for (const auto& [key, value] : context) {
    const std::string* text = value.AsString();
    if (!runtime.descriptors.empty() || text == nullptr || !text->starts_with(kSecret)) continue;
    host.Report(Error("container", place,
                      key + " of role " + role.name + " is a secret, and " + runtime.name +
                          " passes no descriptors into a container, from which the process would read it",
                      "runtime = \"podman\" does"));
  }
}

// process { role, index, placed, stage, rank_in_stage, command, command_place, wrap, cwd, env, contract_env,
// visible_name, visible,
//           visible_count, device_id, ready_what, python, python_surely, place }
int AddProcess(lua_State* lua) {
  Host& host = Host::Of(lua);
  Process process;
  process.role = CountField(lua, 1, "role");
  process.index = CountField(lua, 1, "index");
  process.stage = CountField(lua, 1, "stage");
  process.rank_in_stage = CountField(lua, 1, "rank_in_stage");
  const Place place = PlaceField(lua, 1, "place");
  const Role& role = host.plan.roles[process.role];
  Host::RoleEnvironment& shared = host.role_environments[process.role];
  const std::string name = role.name + "." + std::to_string(process.index);
  {
    const Field placed(lua, 1, "placed");
    ReadPlaced(lua, placed.index(), process);
  }
  {
    const Field command(lua, 1, "command");
    std::vector<Text> words;
    for (std::string& word : TextList(lua, command.index())) {
      CheckPlanText(Host::Of(lua), word, "the command of " + role.name, place, false);
      words.emplace_back(std::move(word));
    }
    process.command = std::move(words);
  }
  if (std::string what = TextField(lua, 1, "ready_what"); !what.empty()) process.ready_what = Text(std::move(what));
  {
    const Field cwd(lua, 1, "cwd");
    process.cwd = Text(cwd.text());
    CheckPlanText(Host::Of(lua), process.cwd->marked, "cwd of " + role.name, place, false);
  }

  const EnvironmentLayer defaults = Defaults(host.plan, *process.command);
  shared.each.Begin();
  {
    const Field env(lua, 1, "env");
    ReadVariables(lua, env.index(), "process.env of role " + role.name,
                  [&](std::string_view variable) -> LayerVariable& { return shared.each.At(variable); });
  }
  shared.each.End();
  ReadContract(lua, shared.contract);
  if (const Field id(lua, 1, "device_id"); id.given()) host.device_ids[name] = static_cast<std::uint32_t>(id.number());
  if (const Field count(lua, 1, "visible_count"); count.given()) {
    host.visible_devices[name] = static_cast<std::uint32_t>(count.number());
  }
  shared.muster_layer.Begin();
  GiveStandardVariables(host.plan, process, [&](std::string_view variable, std::string_view text) {
    shared.muster_layer.TextAt(variable) = text;
  });
  const PythonUse python =
      PythonUseFor(host.plan, *process.command, TextField(lua, 1, "python"), Field(lua, 1, "python_surely").truth());
  if (python != PythonUse::kNone) {
    LayerVariable& path = shared.muster_layer.At("PYTHONPATH");
    path.value = PythonPath(python);
    path.prepend = true;
  }
  shared.muster_layer.End();

  // Cleared variables are the same for the whole role, so the first process settles them; variables set by `each` are
  // checked against them.
  std::vector<const EnvironmentLayer*> layers = {&shared.contract_defaults,
                                                 &defaults,
                                                 &host.job_env,
                                                 &shared.role,
                                                 &shared.each.layer(),
                                                 &host.command_line_env,
                                                 &shared.contract_common,
                                                 &shared.contract.layer(),
                                                 &shared.muster_layer.layer()};
  if (process.index == 0) {
    layers.push_back(&shared.contract_clear);
  } else if (!shared.each.layer().variables.empty()) {
    layers.push_back(&shared.contract_cleared);
  }
  auto merged = process.index == 0 ? MergeEnvironment(layers) : shared.precedent.Merge(layers, role.env);
  if (!merged) {
    host.Report(merged.error());
    merged = MergedEnvironment();  // there is no plan, but the process counts for the checks of others
  }
  if (process.index == 0) {
    host.plan.roles[process.role].unset = merged->unset;
    host.provenance[role.name] = std::move(merged->sources);
    KeepOrigins(lua, host, role.name, name);
  }
  const std::string& explained = host.request->explain;
  if (process.index > 0 && !explained.empty() &&
      explained == role.name + ":" + std::to_string(process.rank.value_or(process.index))) {
    // As for the first process, to record the source of removals.
    layers.push_back(&shared.contract_clear);
    if (auto whole = MergeEnvironment(layers)) host.provenance[role.name] = std::move(whole->sources);
    KeepOrigins(lua, host, role.name, name);
  }
  // Last: the wrapped command determines what runs, and so the environment.
  if (const Field wrap(lua, 1, "wrap"); wrap.is_table()) {
    std::vector<Text> words;
    for (std::string& word : TextList(lua, wrap.index())) {
      CheckPlanText(host, word, "the wrap of " + role.name, place, false);
      words.emplace_back(std::move(word));
    }
    process.command->insert(process.command->begin(), words.begin(), words.end());
  }
  if (const auto overlay = host.overlay_of.find(name); overlay != host.overlay_of.end()) {
    process.context = overlay->second->Settled();
  }
  if (!role.container.image.marked.empty()) {
    RefuseSecretsInContainer(host, role, merged->set, process.context.empty() ? role.context : process.context, place);
  }
  KeepDifferences(host.plan, process, *std::move(merged));
  host.plan.processes.push_back(std::move(process));
  return 0;
}

// enter_process(name, each), leave_process(): the process whose `each` is running
int EnterProcess(lua_State* lua) {
  Host& host = Host::Of(lua);
  ToExactText(lua, 1, host.current_process);
  if (const Place each = PlaceOfFunction(lua, 2); each.line > 0) host.fallback = each;
  return 0;
}

int LeaveProcess(lua_State* lua) {
  Host::Of(lua).current_process.clear();
  return 0;
}

constexpr HostFunction kProcessesFunctions[] = {
    {"process", Guarded<AddProcess>},
    {"enter_process", Guarded<EnterProcess>},
    {"leave_process", Guarded<LeaveProcess>},
};

}  // namespace

void BindProcesses(lua_State* lua, Host& host) {
  AddFunctions(lua, host, kProcessesFunctions, std::size(kProcessesFunctions));
}

}  // namespace muster
