// Host functions for roles and their processes: the devices of the plan, placing the processes of a role, its
// variables, and adding each process as described by layout.lua, stored as its differences to the role's first
// process. plan/hosts/placement.h computes the placement, plan/environment/environment.h merges.
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/system/host_devices.h"
#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "lua/state/stack.h"
#include "lua/state/state.h"
#include "plan/environment/environment.h"
#include "plan/environment/inherited_environment.h"
#include "plan/hosts/placement.h"
#include "plan/plan/roles.h"

namespace muster {

// Host functions for devices and cores: the choice on the command line, the devices of this machine, and the plan's
// device use. Placement decides which process gets which devices.

namespace {

void PushNumbers(lua_State* lua, const std::vector<std::uint32_t>& numbers) {
  lua_createtable(lua, static_cast<int>(numbers.size()), 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    lua_pushnumber(lua, numbers[i]);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
}

// The list at that index.
std::vector<std::uint32_t> Numbers(lua_State* lua, int list) {
  std::vector<std::uint32_t> numbers;
  for (int i = 1; i <= static_cast<int>(lua_objlen(lua, list)); ++i) {
    lua_rawgeti(lua, list, i);
    numbers.push_back(static_cast<std::uint32_t>(lua_tonumber(lua, -1)));
    lua_pop(lua, 1);
  }
  return numbers;
}

// devices_asked() -> whether the command line chooses the devices of the job
int DevicesAsked(lua_State* lua) {
  const DeviceUse& devices = Host::Of(lua).request->devices;
  lua_pushboolean(lua, devices.any || !devices.given.empty() ? 1 : 0);
  return 1;
}

// devices_given() -> the numbers on the command line, or nil; whether any free devices are requested
int DevicesGiven(lua_State* lua) {
  const DeviceUse& devices = Host::Of(lua).request->devices;
  if (devices.given.empty()) {
    lua_pushnil(lua);
  } else {
    PushNumbers(lua, devices.given);
  }
  lua_pushboolean(lua, devices.any ? 1 : 0);
  return 2;
}

// site_device_kind() -> the kind of this machine's devices, or nil
int SiteDeviceKind(lua_State* lua) {
  const std::string& kind = Host::Of(lua).request->site.device_kind;
  if (kind.empty()) return 0;
  PushText(lua, kind);
  return 1;
}

// device_variable(kind) -> the variable that sets a process's visible devices, or nil if there is no such kind
int DeviceVariable(lua_State* lua) {
  std::string name;
  if (lua_type(lua, 1) != LUA_TSTRING || !ToExactText(lua, 1, name)) return 0;
  const DeviceKind* const kind = DeviceKindNamed(name);
  if (kind == nullptr) return 0;
  PushText(lua, kind->variable);
  return 1;
}

// device_kinds() -> the names of all kinds
int DeviceKinds(lua_State* lua) {
  lua_createtable(lua, static_cast<int>(kDeviceKinds.size()), 0);
  int position = 0;
  for (const DeviceKind& kind : kDeviceKinds) {
    PushText(lua, kind.name);
    lua_rawseti(lua, -2, ++position);
  }
  return 1;
}

// use_devices(kind or nil, shared, numbers or nil): for all processes of the plan; the numbers are those of every host,
// ascending
int UseDevices(lua_State* lua) {
  DeviceUse& use = Host::Of(lua).plan.device_use;
  if (lua_type(lua, 1) == LUA_TSTRING) ToExactText(lua, 1, use.kind);
  use.shared = use.shared || lua_toboolean(lua, 2) != 0;
  if (lua_istable(lua, 3)) use.given = Numbers(lua, 3);
  return 0;
}

// role_cores(index, kind, count or list): for a role of the plan, as checked by job.lua
int RoleCores(lua_State* lua) {
  const auto index = static_cast<std::size_t>(lua_tonumber(lua, 1));
  CoreUse& cores = Host::Of(lua).plan.roles.at(index).cores;
  std::string kind;
  ToExactText(lua, 2, kind);
  cores.kind = kind == "count" ? CoreUse::Kind::kCount : kind == "list" ? CoreUse::Kind::kList : CoreUse::Kind::kAuto;
  if (lua_type(lua, 3) == LUA_TNUMBER) cores.count = static_cast<std::uint32_t>(lua_tonumber(lua, 3));
  if (lua_istable(lua, 3)) cores.list = Numbers(lua, 3);
  return 0;
}

// number_list(text) -> the numbers of "0-3,7", ascending, or nil
int NumberList(lua_State* lua) {
  std::string text;
  if (lua_type(lua, 1) != LUA_TSTRING || !ToExactText(lua, 1, text)) return 0;
  const auto numbers = ParseNumberList(text);
  if (!numbers) return 0;
  PushNumbers(lua, *numbers);
  return 1;
}

constexpr HostFunction kDevicesFunctions[] = {
    {"devices_asked", Guarded<DevicesAsked>},     {"site_device_kind", Guarded<SiteDeviceKind>},
    {"device_variable", Guarded<DeviceVariable>}, {"device_kinds", Guarded<DeviceKinds>},
    {"use_devices", Guarded<UseDevices>},         {"role_cores", Guarded<RoleCores>},
    {"number_list", Guarded<NumberList>},         {"devices_given", Guarded<DevicesGiven>},
};

}  // namespace

void BindDevices(lua_State* lua, Host& host) {
  AddFunctions(lua, host, kDevicesFunctions, std::size(kDevicesFunctions));
}

// Host functions for roles: placing their processes, adding roles as described by layout.lua, and the variables that
// all processes of a role have from job:env and the role. plan/hosts/placement.h computes the placement.

namespace {

void PushPlaced(lua_State* lua, const Placed& placed) {
  lua_createtable(lua, 0, 6);
  const auto number = [&](const char* key, std::uint32_t value) {
    lua_pushnumber(lua, value);
    lua_setfield(lua, -2, key);
  };
  if (placed.rank) number("rank", *placed.rank);
  number("world_size", placed.world_size);
  number("local_rank", placed.local_rank);
  number("local_size", placed.local_size);
  number("host", placed.host);
  lua_createtable(lua, static_cast<int>(placed.devices.size()), 0);
  for (std::size_t i = 0; i < placed.devices.size(); ++i) {
    lua_pushnumber(lua, placed.devices[i]);
    lua_rawseti(lua, -2, static_cast<int>(i) + 1);
  }
  lua_setfield(lua, -2, "devices");
}

// place_roles(roles, cluster): gives every role its list `placed`
int PlaceRoles(lua_State* lua) {
  Host& host = Host::Of(lua);
  std::vector<RoleLayout> layouts;
  const auto count = static_cast<int>(lua_objlen(lua, 1));
  for (int i = 1; i <= count; ++i) {
    const Field role(lua, 1, i);
    const int table = role.index();
    RoleLayout layout;
    layout.name = TextField(lua, table, "name");
    layout.plays = TextField(lua, table, "plays");
    layout.world = TextField(lua, table, "world");
    layout.place = PlaceField(lua, table, "place");
    layout.devices = CountField(lua, table, "devices");
    {
      const Field total(lua, table, "count");
      if (total.given()) layout.count = static_cast<std::uint64_t>(total.number());
    }
    {
      const Field per_host(lua, table, "per_host");
      if (per_host.given()) layout.per_host = static_cast<std::uint64_t>(per_host.number());
    }
    const std::string spread = TextField(lua, table, "spread");
    layout.spread = spread == "pack" ? Spread::kPack : spread == "deal" ? Spread::kDeal : Spread::kDefault;
    {
      const Field hosts(lua, table, "on_hosts");
      const auto named = hosts.is_table() ? static_cast<int>(lua_objlen(lua, hosts.index())) : 0;
      for (int h = 1; h <= named; ++h) {
        layout.hosts.push_back(static_cast<std::uint32_t>(Field(lua, hosts.index(), h).number()));
      }
    }
    layouts.push_back(std::move(layout));
  }
  const auto numbers = [lua](const char* field) {
    std::vector<std::uint32_t> of_hosts;
    const Field list(lua, 2, field);
    for (int h = 1; list.is_table() && h <= static_cast<int>(lua_objlen(lua, list.index())); ++h)
      of_hosts.push_back(static_cast<std::uint32_t>(Field(lua, list.index(), h).number()));
    return of_hosts;
  };
  auto placed = PlaceProcesses(layouts, host.plan.hosts, numbers("slots_of"), numbers("room_of"));
  if (!placed) {
    host.Report(placed.error());
    return 0;
  }
  std::size_t next = 0;
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(lua, 1, i);
    lua_newtable(lua);
    for (int position = 0; next < placed->size() && (*placed)[next].role == static_cast<std::uint32_t>(i) - 1; ++next) {
      PushPlaced(lua, (*placed)[next]);
      lua_rawseti(lua, -2, ++position);
    }
    lua_setfield(lua, -2, "placed");
    lua_pop(lua, 1);
  }
  return 0;
}

auto InLayer(EnvironmentLayer& layer) {
  return [&layer](std::string_view name) -> std::string& {
    return layer.variables[std::string(name)].value.emplace().marked;
  };
}

// begin_processes(variables of job:env)
int BeginProcesses(lua_State* lua) {
  Host& host = Host::Of(lua);
  host.job_env.layer = Layer::kJob;
  ReadVariables(lua, 1, "job:env",
                [&](std::string_view name) -> LayerVariable& { return host.job_env.variables[std::string(name)]; });
  return 0;
}

// Reads after, ready, restart, time_ms, silent_ms and log_bytes of the role's table at 1, as checked by policy.lua.
void ReadPolicies(lua_State* lua, const Place& place, Role& role) {
  const Field after(lua, 1, "after");
  for (int i = 1; after.is_table() && i <= static_cast<int>(lua_objlen(lua, after.index())); ++i) {
    role.after.push_back(static_cast<std::uint32_t>(Field(lua, after.index(), i).number()) - 1);
  }
  role.limits.time_ms = static_cast<std::uint64_t>(Field(lua, 1, "time_ms").number());
  role.limits.silent_ms = static_cast<std::uint64_t>(Field(lua, 1, "silent_ms").number());
  role.limits.log_bytes = static_cast<std::uint64_t>(Field(lua, 1, "log_bytes").number());
  if (const Field ready(lua, 1, "ready"); ready.is_table()) {
    role.ready.kind = ReadinessNamed(TextField(lua, ready.index(), "kind")).value_or(Readiness::Kind::kStarted);
    const std::string what = "the readiness of " + role.name;
    role.ready.what = TextField(lua, ready.index(), "what");
    CheckPlanText(Host::Of(lua), role.ready.what.marked, what, place, false);
    role.ready.every_ms = CountField(lua, ready.index(), "every_ms");
    role.ready.timeout_ms = CountField(lua, ready.index(), "timeout_ms");
    const Field command(lua, ready.index(), "command");
    if (command.is_table()) {
      for (std::string& word : TextList(lua, command.index())) {
        CheckPlanText(Host::Of(lua), word, what, place, false);
        role.ready.command.emplace_back(std::move(word));
      }
    }
  }
  if (const Field restart(lua, 1, "restart"); restart.is_table()) {
    RestartPolicy& policy = role.restart;
    policy.max = CountField(lua, restart.index(), "max");
    policy.within_ms = static_cast<std::uint64_t>(Field(lua, restart.index(), "within_ms").number());
    policy.scope = RestartScopeNamed(TextField(lua, restart.index(), "scope")).value_or(RestartPolicy::Scope::kProcess);
    policy.any_failure = Field(lua, restart.index(), "any_failure").truth();
    policy.success = Field(lua, restart.index(), "success").truth();
    policy.verdict = Field(lua, restart.index(), "verdict").truth();
    const Field codes(lua, restart.index(), "codes");
    for (int i = 1; i <= static_cast<int>(lua_objlen(lua, codes.index())); ++i) {
      policy.codes.push_back(static_cast<std::int32_t>(Field(lua, codes.index(), i).number()));
    }
    const Field signals(lua, restart.index(), "signals");
    policy.signals = TextList(lua, signals.index());
    const Field backoff(lua, restart.index(), "backoff_ms");
    if (backoff.given()) policy.backoff_ms = static_cast<std::uint32_t>(backoff.number());
  }
}

// A list of texts in a table; empty if it has none.
std::vector<std::string> WordsOf(lua_State* lua, int page, const char* key) {
  const Field field(lua, page, key);
  return field.is_table() ? TextList(lua, field.index()) : std::vector<std::string>();
}

ContainerRuntime ReadRuntime(lua_State* lua, int page) {
  ContainerRuntime runtime;
  runtime.name = TextField(lua, page, "name");
  runtime.run = WordsOf(lua, page, "run");
  runtime.script = TextField(lua, page, "script");
  runtime.mount = WordsOf(lua, page, "mount");
  runtime.variable = WordsOf(lua, page, "variable");
  runtime.variable_prefix = TextField(lua, page, "variable_prefix");
  runtime.value = WordsOf(lua, page, "value");
  runtime.own = WordsOf(lua, page, "own");
  runtime.devices = WordsOf(lua, page, "devices");
  runtime.descriptors = WordsOf(lua, page, "descriptors");
  runtime.output = WordsOf(lua, page, "output");
  runtime.terminal = WordsOf(lua, page, "terminal");
  runtime.remove = WordsOf(lua, page, "remove");
  if (const Field codes(lua, page, "exit_codes"); codes.is_table()) {
    for (lua_pushnil(lua); lua_next(lua, codes.index()) != 0; lua_pop(lua, 1)) {
      std::string code;
      std::string meaning;
      TextAt(lua, -2, code);
      TextAt(lua, -1, meaning);
      runtime.exit_codes.emplace(std::move(code), std::move(meaning));
    }
  }
  return runtime;
}

// The container of the role's table at 1, as checked by container.lua.
Container ReadContainer(lua_State* lua, const Place& place, const std::string& role) {
  Container container;
  const Field given(lua, 1, "container");
  if (!given.is_table()) return container;
  const std::string what = "the container of " + role;
  const auto text = [&](std::string content) {
    CheckPlanText(Host::Of(lua), content, what, place, false);
    return Text(std::move(content));
  };
  container.image = text(TextField(lua, given.index(), "image"));
  if (const Field mounts(lua, given.index(), "mounts"); mounts.is_table()) {
    for (int i = 1; i <= static_cast<int>(lua_objlen(lua, mounts.index())); ++i) {
      const Field mount(lua, mounts.index(), i);
      container.mounts.push_back({text(TextField(lua, mount.index(), "source")),
                                  text(TextField(lua, mount.index(), "target")),
                                  Field(lua, mount.index(), "read_only").truth()});
    }
  }
  for (std::string& word : WordsOf(lua, given.index(), "options")) container.options.push_back(text(std::move(word)));
  const Field runtime(lua, given.index(), "runtime");
  container.runtime = ReadRuntime(lua, runtime.index());
  return container;
}

// The contract's defaults: each holds only where the process inherits no value of its own.
EnvironmentLayer InheritedFirst(lua_State* lua, Host& host, const std::string& owner) {
  EnvironmentLayer layer;
  layer.layer = Layer::kDefaults;
  layer.owner = owner;
  ReadTexts(lua, "contract_defaults", InLayer(layer));
  for (auto& [name, variable] : layer.variables) {
    const std::string hole = PlaceholderText({Placeholder::Kind::kInherited, name, 0, variable.value->marked});
    const auto pieces = Pieces(Text(hole));
    if (pieces && pieces->size() == 1) {
      variable.value->marked = hole;
    } else {
      host.Report(Error("contract", PlaceField(lua, 1, "place"),
                        owner + ": its default " + name + " must be plain text without '}', got " +
                            Quoted(variable.value->marked.substr(0, 100)),
                        "let common or env set it"));
    }
  }
  return layer;
}

// role { name, plays, world, done, linger_ms, signal, grace_ms, checkpoint_signal, checkpoint_ms, cwd, clear, env,
// env_of, place, contract,
//        contract_defaults, contract_env, container, and what ReadPolicies takes }
int AddRole(lua_State* lua) {
  Host& host = Host::Of(lua);
  Role role;
  role.name = TextField(lua, 1, "name");
  role.plays = TextField(lua, 1, "plays");
  role.world = TextField(lua, 1, "world");
  role.ending = EndingNamed(TextField(lua, 1, "done")).value_or(Ending::kAll);
  role.linger_ms = CountField(lua, 1, "linger_ms");
  if (host.context) role.context = host.context->Settled();
  const std::string signal = TextField(lua, 1, "signal");
  if (!signal.empty()) role.stop.signal = signal.starts_with("SIG") ? signal.substr(3) : signal;
  {
    const Field grace(lua, 1, "grace_ms");
    if (grace.given()) role.stop.grace_ms = static_cast<std::uint32_t>(grace.number());
  }
  role.stop.checkpoint_signal = TextField(lua, 1, "checkpoint_signal");
  role.stop.checkpoint_ms = CountField(lua, 1, "checkpoint_ms");
  host.origins.roles[role.name] = PlaceField(lua, 1, "place");
  ReadPolicies(lua, PlaceField(lua, 1, "place"), role);
  role.container = ReadContainer(lua, PlaceField(lua, 1, "place"), role.name);
  Host::RoleEnvironment environment;
  environment.contract_clear.layer = Layer::kContract;
  environment.contract_clear.owner = "contract " + TextField(lua, 1, "contract");
  {
    const Field clear(lua, 1, "clear");
    for (const std::string& pattern : TextList(lua, clear.index())) {
      environment.contract_clear.variables[pattern] = LayerVariable{};
    }
  }
  environment.contract_cleared = environment.contract_clear;
  environment.contract_cleared.settled = true;
  environment.contract = RefilledLayer(Layer::kContract, environment.contract_clear.owner);
  environment.contract_common.layer = Layer::kContract;
  environment.contract_common.owner = environment.contract_clear.owner;
  ReadTexts(lua, "contract_env", InLayer(environment.contract_common));
  environment.contract_defaults = InheritedFirst(lua, host, environment.contract_clear.owner);
  environment.role.layer = Layer::kRole;
  environment.role.owner = "role " + TextField(lua, 1, "env_of");
  {
    const Field env(lua, 1, "env");
    ReadVariables(lua, env.index(), "env of role " + role.name, [&](std::string_view name) -> LayerVariable& {
      return environment.role.variables[std::string(name)];
    });
  }
  host.role_environments.push_back(std::move(environment));
  host.plan.roles.push_back(std::move(role));
  return 0;
}

int IsSignal(lua_State* lua) {
  std::string name;
  ToExactText(lua, 1, name);
  lua_pushboolean(lua, SignalNumber(name) ? 1 : 0);
  return 1;
}

constexpr HostFunction kRolesFunctions[] = {
    {"place_roles", Guarded<PlaceRoles>},
    {"begin_processes", Guarded<BeginProcesses>},
    {"role", Guarded<AddRole>},
    {"is_signal", Guarded<IsSignal>},
};

}  // namespace

void BindRoles(lua_State* lua, Host& host) { AddFunctions(lua, host, kRolesFunctions, std::size(kRolesFunctions)); }

// Host functions for processes: adds a process of a role as described by layout.lua, merges its environment and stores
// only the differences to the role's first process. The order of merging is in plan/environment/environment.h.

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
  const auto* plan = std::get_if<PlanTask>(&host.request->task);
  if (process.index > 0 && plan != nullptr && !plan->explain.empty() &&
      plan->explain == role.name + ":" + std::to_string(process.rank.value_or(process.index))) {
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
