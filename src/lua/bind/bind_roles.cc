// Host functions for roles: placing their processes, adding roles as described by layout.lua, and the variables that
// all processes of a role have from job:env and the role. plan/hosts/placement.h computes the placement.
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/values/shell_quote.h"
#include "base/values/signal_name.h"
#include "lua/bind/bind.h"
#include "lua/host/field.h"
#include "lua/host/host.h"
#include "lua/host/variable_tables.h"
#include "lua/state/host_function.h"
#include "plan/environment/environment.h"
#include "plan/hosts/placement.h"
#include "plan/plan/policy_names.h"

namespace muster {
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

}  // namespace muster
