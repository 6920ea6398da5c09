#include "plan/sample_plan.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "plan/hosts/placement.h"
#include "plan/plan/roles.h"

namespace muster {
namespace {

std::size_t Below(std::mt19937& random, std::size_t limit) { return random() % limit; }
bool Coin(std::mt19937& random) { return Below(random, 2) == 0; }

// Texts that would break careless formatting.
const char* const kTexts[] = {"",
                              "plain",
                              "two words",
                              "quote\"d",
                              "back\\slash",
                              "line\nbreak",
                              "tab\there",
                              "ünïcode",
                              "a=b",
                              "'single'",
                              "\x01\x1b[31m",
                              "${muster:run_dir}/x",
                              "${muster:port:p0}",
                              "${muster:literal}",
                              "${muster:devices:0:3,0,15}",
                              "-",
                              "#",
                              "日本",
                              "${muster:host_address:0}:${muster:attempt}"};

Text RandomText(std::mt19937& random) { return kTexts[Below(random, std::size(kTexts))]; }

Value RandomValue(std::mt19937& random, int depth = 0) {
  switch (Below(random, depth < 2 ? 7 : 5)) {
    case 0:
      return Value(Coin(random));
    case 1:
      return Value(static_cast<std::int64_t>(random()) - 2'000'000'000);
    case 2:
      return Value(static_cast<double>(random()) / 7.0);
    case 3:
      return Value(RandomText(random).marked);
    case 4:
      return Value();
    case 5: {
      Value::List list;
      for (std::size_t i = Below(random, 4); i > 0; --i) list.push_back(RandomValue(random, depth + 1));
      return Value(std::move(list));
    }
    default: {
      Value::Map map;
      for (std::size_t i = Below(random, 4); i > 0; --i)
        map["key " + std::to_string(i)] = RandomValue(random, depth + 1);
      return Value(std::move(map));
    }
  }
}

Variables RandomVariables(std::mt19937& random) {
  Variables variables;
  for (std::size_t i = Below(random, 6); i > 0; --i)
    variables["NAME_" + std::to_string(Below(random, 8))] = RandomText(random);
  if (Coin(random)) variables["SEARCH"] = "/m${muster:inherited_path:SEARCH}";
  if (Coin(random)) variables["SECRET"] = "${muster:secret:key}";
  return variables;
}

ContextValues RandomContext(std::mt19937& random) {
  ContextValues context;
  for (std::size_t i = Below(random, 4); i > 0; --i)
    context["set_context.a" + std::to_string(Below(random, 5))] = RandomValue(random);
  return context;
}

std::vector<Text> RandomCommand(std::mt19937& random) {
  std::vector<Text> command{"program"};
  for (std::size_t i = Below(random, 4); i > 0; --i) command.push_back(RandomText(random));
  return command;
}

void RandomPolicies(std::mt19937& random, Role& role) {
  if (Coin(random)) {
    role.ready.kind = static_cast<Readiness::Kind>(Below(random, 6));
    role.ready.what = RandomText(random);
    if (role.ready.kind == Readiness::Kind::kCommand) role.ready.command = RandomCommand(random);
    role.ready.timeout_ms = static_cast<std::uint32_t>(random() >> 8);
  }
  if (Coin(random)) {
    role.restart.max = 1 + static_cast<std::uint32_t>(Below(random, 9));
    role.restart.within_ms = random() >> 8;
    role.restart.scope = static_cast<RestartPolicy::Scope>(Below(random, 3));
    role.restart.any_failure = Coin(random);
    role.restart.success = Coin(random);
    if (Coin(random)) role.restart.codes = {75, 3};
    if (Coin(random)) role.restart.signals = {"KILL", "SEGV"};
    role.restart.backoff_ms = static_cast<std::uint32_t>(random() >> 16);
    role.restart.verdict = role.restart.backoff_ms % 2 == 1;
  }
  if (Coin(random)) role.limits = {random() >> 8, random() >> 8, Coin(random) ? 0 : kMinLogBytes + random()};
}

void RandomCores(std::mt19937& random, CoreUse& cores) {
  cores.kind = static_cast<CoreUse::Kind>(Below(random, 4));
  if (cores.kind == CoreUse::Kind::kCount) cores.count = 1 + static_cast<std::uint32_t>(Below(random, 9));
  if (cores.kind == CoreUse::Kind::kList) cores.list = {0, 1, 2, 7};
}

void RandomDeviceUse(std::mt19937& random, Plan& plan) {
  DeviceUse& use = plan.device_use;
  use.any = Coin(random);
  if (!use.any && Coin(random)) {
    for (std::uint32_t i = 0; i < plan.hosts.front().devices; ++i) use.given.push_back(i * 2);
  }
  use.shared = Coin(random);
  if (Coin(random)) use.kind = "cuda";
}

void AddProcesses(Plan& plan, const std::vector<RoleLayout>& layouts) {
  const auto placed = PlaceProcesses(layouts, plan.hosts);
  ASSERT_TRUE(placed) << placed.error().front().message;
  for (const Placed& each : *placed) {
    Process process;
    process.role = each.role;
    process.index = each.index;
    process.rank = each.rank;
    process.world_size = each.world_size;
    process.local_rank = each.local_rank;
    process.local_size = each.local_size;
    process.host = each.host;
    process.devices = each.devices;
    process.rank_in_stage = each.rank.value_or(0);
    plan.processes.push_back(std::move(process));
  }
}

RoleLayout Layout(const Role& role, std::uint64_t count, std::uint32_t devices = 0) {
  RoleLayout layout;
  layout.name = role.name;
  layout.plays = role.plays;
  layout.world = role.world;
  layout.count = count;
  layout.devices = devices;
  return layout;
}

}  // namespace

Plan ParameterServerPlan() {
  Plan plan;
  plan.name = "parameter-server";
  plan.framework = "mindspore-ps";
  plan.mindspore = "1.6.2";
  plan.doc = "Digits";
  plan.hosts = {{"host0", 4}};
  for (const char* name : {"scheduler", "server", "worker"}) {
    Role role;
    role.name = name;
    role.plays = name;
    if (role.name == "worker") role.world = "worker";
    role.ending = role.name == "worker" ? Ending::kAll : Ending::kNever;
    role.command = {"ps_digits"};
    role.unset = {"OMPI_*", "RANK_TABLE_FILE"};
    role.env = {{"MS_WORKER_NUM", "4"}, {"MS_SCHED_PORT", "${muster:port:scheduler}"}};
    role.context = {{"set_ps_context.enable_ps", true}, {"set_context.device_target", "CPU"}};
    plan.roles.push_back(std::move(role));
  }
  plan.roles[2].command = {"ps_digits", "--epochs", "20"};
  AddProcesses(plan, {Layout(plan.roles[0], 1), Layout(plan.roles[1], 2), Layout(plan.roles[2], 4)});
  for (Process& process : plan.processes) {
    if (process.rank) process.env["RANK_ID"] = std::to_string(*process.rank);
  }
  plan.ports["scheduler"] = {0, 0, "scheduler.0"};
  plan.params = {{"workers", 4}, {"lr", 0.5}};
  Fold(plan);
  return plan;
}

Plan RandomPlan(std::mt19937& random) {
  Plan plan;
  plan.name = Coin(random) ? "" : "gpt-2." + std::to_string(Below(random, 5));
  plan.framework = "none";
  plan.accept_release = Coin(random);
  plan.doc = "doc";
  plan.time_limit_ms = Coin(random) ? 0 : random() >> 24;
  plan.start_limit_ms = Coin(random) ? 0 : random() >> 24;
  plan.silent_limit_ms = Coin(random) ? 0 : random() >> 24;
  for (std::size_t i = 0, n = 1 + Below(random, 4); i < n; ++i) plan.hosts.push_back({"host" + std::to_string(i), 16});
  RandomDeviceUse(random, plan);
  plan.ports["p0"] = {0, 0, ""};
  plan.secrets["key"] = {"KEY", ""};
  if (Coin(random)) {
    plan.site_environment = {{{"A", "a b"}, {"B", ""}}, {"OMPI_*"}, {"HOME", "LC_*"}};
    plan.activation = {{ActivationStep::Kind::kSource, "/opt/set \"env\".sh"},
                       {ActivationStep::Kind::kModule, "größe\n/12"},
                       {ActivationStep::Kind::kConda, "train"}};
  }
  if (Coin(random)) {
    plan.contract = {{"A_RANK", {"worker", "other"}, ContractVariable::Meaning::kRank, "", {}, true},
                     {"A_ROLE", {}, ContractVariable::Meaning::kRole, "", {{"worker", "größe"}}},
                     {"A_AT", {}, ContractVariable::Meaning::kEndpoint, "worker"}};
  }
  if (Coin(random)) plan.files["files/a/b.txt"] = {RandomText(random)};
  plan.params["p"] = RandomValue(random);
  plan.derived["d"] = RandomValue(random);
  plan.pinned["d"] = RandomValue(random);
  plan.profiles = {"smoke", "x y"};
  std::vector<RoleLayout> layouts;
  for (std::size_t i = 0, n = 1 + Below(random, 3); i < n; ++i) {
    Role role;
    role.name = "role" + std::to_string(i);
    role.plays = "other";
    if (Coin(random)) role.world = "world" + std::to_string(Below(random, 2));
    role.ending = static_cast<Ending>(Below(random, 3));
    RandomPolicies(random, role);
    RandomCores(random, role.cores);
    if (!plan.roles.empty() && Coin(random)) {
      role.after = {static_cast<std::uint32_t>(Below(random, plan.roles.size()))};
    }
    role.command = RandomCommand(random);
    role.cwd = RandomText(random);
    role.env = RandomVariables(random);
    role.context = RandomContext(random);
    if (Coin(random)) role.unset = {"ZED", "ABC_*", "ZED"};
    layouts.push_back(Layout(role, Below(random, 6), static_cast<std::uint32_t>(Below(random, 2))));
    plan.roles.push_back(std::move(role));
  }
  AddProcesses(plan, layouts);
  for (Process& process : plan.processes) {
    if (Coin(random)) process.command = RandomCommand(random);
    if (Coin(random)) process.cwd = RandomText(random);
    if (Coin(random)) process.env = RandomVariables(random);
    if (Coin(random)) process.context = RandomContext(random);
  }
  return plan;
}

Plan Unfolded(const Plan& plan, std::mt19937& random) {
  Plan other = plan;
  for (std::size_t r = 0; r < other.roles.size(); ++r) {
    Role& role = other.roles[r];
    const bool move_command = Coin(random);
    const bool move_env = Coin(random);
    const bool move_context = Coin(random);
    for (Process& process : other.processes) {
      if (process.role != r) continue;
      if (move_command) {
        process.command = EffectiveCommand(plan, process);
        process.cwd = EffectiveCwd(plan, process);
      }
      if (move_env) process.env = EffectiveEnv(plan, process);
      if (move_context) process.context = EffectiveContext(plan, process);
    }
    // Every process overrides the role's value, so that one may be anything.
    if (move_command) role.command = {"unused"};
    if (move_command) role.cwd = "unused";
    if (move_env) role.env.clear();
    if (move_context) role.context.clear();
    std::shuffle(role.unset.begin(), role.unset.end(), random);
  }
  return other;
}

}  // namespace muster
