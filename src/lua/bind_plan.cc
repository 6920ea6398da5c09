// Host functions that make the plan out of what layout.lua describes: placement, roles, processes, ports and
// files. Merging of environments and placing are plan/'s; here tables become values.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/signal_name.h"
#include "lua/host.h"
#include "lua/host_function.h"
#include "lua/stack.h"
#include "plan/environment.h"
#include "plan/placement.h"
#include "plan/policy_names.h"
#include "plan/python_path.h"

namespace muster {
namespace {

// A field of the table at `table` while this object lives on the stack.
class Field {
 public:
  Field(lua_State* lua, int table, const char* key) : lua_(lua) {
    lua_getfield(lua, table, key);
    index_ = lua_gettop(lua);
  }
  Field(lua_State* lua, int table, int position) : lua_(lua) {
    lua_rawgeti(lua, table, position);
    index_ = lua_gettop(lua);
  }
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;
  ~Field() { lua_pop(lua_, 1); }

  bool given() const { return !lua_isnil(lua_, index_); }
  bool is_table() const { return lua_istable(lua_, index_); }
  int index() const { return index_; }
  std::string text() const {
    std::string text;
    ToExactText(lua_, index_, text);
    return text;
  }
  double number() const { return lua_tonumber(lua_, index_); }
  bool truth() const { return lua_toboolean(lua_, index_) != 0; }

 private:
  lua_State* lua_;
  int index_ = 0;
};

std::string TextField(lua_State* lua, int table, const char* key) { return Field(lua, table, key).text(); }

std::uint32_t CountField(lua_State* lua, int table, const char* key) {
  return static_cast<std::uint32_t>(Field(lua, table, key).number());
}

Place PlaceField(lua_State* lua, int table, const char* key) {
  return Host::Of(lua).PlaceOf(static_cast<int>(Field(lua, table, key).number()));
}

std::vector<std::string> TextList(lua_State* lua, int table) {
  std::vector<std::string> texts;
  const auto count = static_cast<int>(lua_objlen(lua, table));
  texts.reserve(static_cast<std::size_t>(count));
  for (int i = 1; i <= count; ++i) texts.push_back(Field(lua, table, i).text());
  return texts;
}

// --- placement -------------------------------------------------------------------------------------

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
      const Field hosts(lua, table, "hosts");
      const auto named = hosts.is_table() ? static_cast<int>(lua_objlen(lua, hosts.index())) : 0;
      for (int h = 1; h <= named; ++h) {
        layout.hosts.push_back(static_cast<std::uint32_t>(Field(lua, hosts.index(), h).number()));
      }
    }
    layouts.push_back(std::move(layout));
  }
  auto placed = PlaceProcesses(layouts, host.plan.hosts);
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

// --- environments ----------------------------------------------------------------------------------

// The text at `index`, empty if it is none, over what `text` was.
void TextAt(lua_State* lua, int index, std::string& text) {
  if (!ToExactText(lua, index, text)) text.clear();
}

// The name of a variable at `index`, valid while it is on the stack or until `buffer` changes; a key that lua_next gave
// must not be converted in place.
std::string_view NameAt(lua_State* lua, int index, std::string& buffer) {
  if (lua_type(lua, index) != LUA_TSTRING) {
    ToExactText(lua, index, buffer);
    return buffer;
  }
  std::size_t size = 0;
  const char* name = lua_tolstring(lua, index, &size);
  return {name, size};
}

// The variables of the table at `table`: { [name] = { text = …, unset = …, override = …, place = … } }. `variable_of`
// gives the variable of a name.
template <class VariableOf>
void ReadVariables(lua_State* lua, int table, const std::string& what, const VariableOf& variable_of) {
  std::string buffer;
  lua_pushnil(lua);
  while (lua_next(lua, table) != 0) {
    const std::string_view name = NameAt(lua, -2, buffer);
    const int variable = lua_gettop(lua);
    LayerVariable& read = variable_of(name);
    read.place = PlaceField(lua, variable, "place");
    read.override = Field(lua, variable, "override").truth();
    if (Field(lua, variable, "unset").truth()) {
      read.value.reset();
    } else {
      if (!read.value) read.value.emplace();
      TextAt(lua, Field(lua, variable, "text").index(), read.value->marked);
      if (NeedsCheck(read.value->marked)) {
        CheckPlanText(Host::Of(lua), read.value->marked, what + ": " + std::string(name), read.place, true);
      }
    }
    lua_pop(lua, 1);
  }
}

// The texts of the table at the field `key` of the table at 1, if there is one. `text_of` gives the place for a name's.
template <class TextOf>
void ReadTexts(lua_State* lua, const char* key, const TextOf& text_of) {
  const Field texts(lua, 1, key);
  if (!texts.is_table()) return;
  std::string buffer;
  lua_pushnil(lua);
  while (lua_next(lua, texts.index()) != 0) {
    TextAt(lua, -1, text_of(NameAt(lua, -2, buffer)));
    lua_pop(lua, 1);
  }
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

// after, ready, restart, time_ms, silent_ms and log_bytes of the role's table at 1, as policy.lua checked them.
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

// role { name, plays, world, done, linger_ms, signal, grace_ms, cwd, clear, env, env_of, place, contract,
//        contract_defaults, contract_env, and what ReadPolicies takes }
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
  ReadPolicies(lua, PlaceField(lua, 1, "place"), role);
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
  environment.contract_defaults.layer = Layer::kDefaults;
  ReadTexts(lua, "contract_defaults", InLayer(environment.contract_defaults));
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

// What the recipe can contradict: Python's output would arrive late and its crashes without a stack, and a variable
// from which a secret is taken is for those only to whom the recipe passes it on.
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

// How far muster's Python side reaches into a process. `wanted`: "apply", "offer" or nothing; `surely`: also where
// the command does not look like Python.
PythonUse PythonUseFor(const Plan& plan, const std::vector<Text>& command, std::string_view wanted, bool surely) {
  if (wanted.empty() || plan.mindspore.empty() || !(surely || RunsPython(command))) return PythonUse::kNone;
  return wanted == "apply" ? PythonUse::kApplied : PythonUse::kOffered;
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

// Keeps for the role what its first process has, and for each other only what is different: Fold() finishes that. With
// thousands of processes the copies would be most of the work.
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

// What the contract says of the process at 1, with what it may see.
void ReadContract(lua_State* lua, RefilledLayer& contract) {
  contract.Begin();
  ReadTexts(lua, "contract_env", [&](std::string_view name) -> std::string& { return contract.TextAt(name); });
  if (const std::string variable = TextField(lua, 1, "visible_name"); !variable.empty()) {
    contract.TextAt(variable) = TextField(lua, 1, "visible");
  }
  contract.End();
}

// process { role, index, placed, stage, rank_in_stage, command, wrap, cwd, env, contract_env, visible_name, visible,
//           visible_count, ready_what, python, python_surely, place }
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
  if (const Field count(lua, 1, "visible_count"); count.given()) {
    host.visible_devices[name] = static_cast<std::uint32_t>(count.number());
  }
  shared.musters.Begin();
  GiveStandardVariables(host.plan, process, [&](std::string_view variable, std::string_view text) {
    shared.musters.TextAt(variable) = text;
  });
  const PythonUse python =
      PythonUseFor(host.plan, *process.command, TextField(lua, 1, "python"), Field(lua, 1, "python_surely").truth());
  if (python != PythonUse::kNone) {
    LayerVariable& path = shared.musters.At("PYTHONPATH");
    path.value = PythonPath(python);
    path.prepend = true;
  }
  shared.musters.End();

  // What is cleared holds for the role as a whole, so the first process settles it for all; what `each` says must
  // agree.
  std::vector<const EnvironmentLayer*> layers = {&shared.contract_defaults,
                                                 &defaults,
                                                 &host.job_env,
                                                 &shared.role,
                                                 &shared.each.layer(),
                                                 &shared.contract_common,
                                                 &shared.contract.layer(),
                                                 &shared.musters.layer()};
  if (process.index == 0) {
    layers.push_back(&shared.contract_clear);
  } else if (!shared.each.layer().variables.empty()) {
    layers.push_back(&shared.contract_cleared);
  }
  auto merged = process.index == 0 ? MergeEnvironment(layers) : shared.precedent.Merge(layers, role.env);
  if (!merged) {
    host.Report(merged.error());
    return 0;
  }
  if (process.index == 0) {
    host.plan.roles[process.role].unset = merged->unset;
    host.provenance[role.name] = std::move(merged->sources);
  }
  if (process.index > 0 && host.request->explain == name) {
    // As if it were the first, so that it is told who removes what.
    layers.push_back(&shared.contract_clear);
    if (auto whole = MergeEnvironment(layers)) host.provenance[role.name] = std::move(whole->sources);
  }
  // Last: what runs, and so its environment, is decided by the command that is wrapped.
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
  KeepDifferences(host.plan, process, *std::move(merged));
  host.plan.processes.push_back(std::move(process));
  return 0;
}

// enter_process(name, each), leave_process(): whose `each` is running
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

// --- the rest --------------------------------------------------------------------------------------

// port(name, { number, host, owner })
int AddPort(lua_State* lua) {
  std::string name;
  ToExactText(lua, 1, name);
  PlanPort port;
  port.number = static_cast<std::uint16_t>(CountField(lua, 2, "number"));
  port.host = CountField(lua, 2, "host");
  port.owner = TextField(lua, 2, "owner");
  Host::Of(lua).plan.ports[name] = std::move(port);
  return 0;
}

// activate(kind, what): of job:activate
int AddActivation(lua_State* lua) {
  std::string kind;
  ToExactText(lua, 1, kind);
  const auto known = std::find(kActivationKinds.begin(), kActivationKinds.end(), kind);
  ActivationStep step;
  step.kind = static_cast<ActivationStep::Kind>(known - kActivationKinds.begin());
  ToExactText(lua, 2, step.what);
  Host::Of(lua).plan.activation.push_back(std::move(step));
  return 0;
}

// derived(name, value)
int AddDerived(lua_State* lua) {
  Host& host = Host::Of(lua);
  std::string name;
  std::string why;
  ToExactText(lua, 1, name);
  Value value;
  // What is no plain value was reported where it was given.
  if (ToValue(lua, 2, value, why)) host.plan.derived[name] = std::move(value);
  return 0;
}

int IsSignal(lua_State* lua) {
  std::string name;
  ToExactText(lua, 1, name);
  lua_pushboolean(lua, SignalNumber(name) ? 1 : 0);
  return 1;
}

constexpr HostFunction kFunctions[] = {
    {"place_roles", Guarded<PlaceRoles>},
    {"begin_processes", Guarded<BeginProcesses>},
    {"role", Guarded<AddRole>},
    {"process", Guarded<AddProcess>},
    {"enter_process", Guarded<EnterProcess>},
    {"leave_process", Guarded<LeaveProcess>},
    {"port", Guarded<AddPort>},
    {"activate", Guarded<AddActivation>},
    {"derived", Guarded<AddDerived>},
    {"is_signal", Guarded<IsSignal>},
};

}  // namespace

void BindPlan(lua_State* lua, Host& host) { AddFunctions(lua, host, kFunctions, std::size(kFunctions)); }

}  // namespace muster
