// Tests that the descriptions of a plan's fields are complete, and their archives.
#include "plan/plan/plan_fields.h"

#include <set>
#include <type_traits>

#include <gtest/gtest.h>

#include "plan/plan/roles.h"
#include "plan/sample_plan.h"

namespace muster {
namespace {

// The addresses of the fields that a description names or lists.
struct Described {
  template <std::size_t N, class T>
  void operator()(const char (&)[N], T&& field) {
    Add(field);
  }
  template <class... T>
  void operator()(T&&... each) {
    (Add(each), ...);
  }
  template <class T>
  void Add(T& field) {
    // A form of a field has it in a member of this name; a runtime has words under it.
    if constexpr (requires { field.value; } && !std::is_same_v<T, ContainerRuntime>) {
      Add(field.value);
    } else if constexpr (requires { field.field; }) {
      Add(field.field);
    } else {
      EXPECT_TRUE(fields.insert(&field).second) << "described twice";
    }
  }

  static constexpr bool kReading = false;
  std::set<const void*> fields = {};
};

template <class T, class... Members>
void ExpectDescribed(T& value, Members&... members) {
  Described described;
  Fields(described, value);
  EXPECT_EQ(described.fields, (std::set<const void*>{&members...}));
}

// A structured binding must name all members of its struct: after adding a member this does not compile until it is
// named here, and fails until it is described.
TEST(PlanFields, DescribesEveryMember) {
  Plan plan;
  auto& [name, framework, mindspore, accept_release, hosts, device_use, roles, processes, ports, files, secrets,
         checkpoints, site_environment, activation, time_limit, start_limit, silent_limit, contract, metrics,
         notifications, doc, profiles, params, derived, pinned] = plan;
  ExpectDescribed(plan, name, framework, mindspore, accept_release, hosts, device_use, roles, processes, ports, files,
                  secrets, checkpoints, site_environment, activation, time_limit, start_limit, silent_limit, contract,
                  metrics, notifications, doc, profiles, params, derived, pinned);
}

TEST(PlanFields, DescribesEveryMemberOfARole) {
  Role role;
  auto& [name, plays, world, ending, linger, stop, after, ready, restart, limits, cores, container, command, shell, cwd,
         env, unset, context] = role;
  ExpectDescribed(role, name, plays, world, ending, linger, stop, after, ready, restart, limits, cores, container,
                  command, shell, cwd, env, unset, context);
  {
    auto& [image, mounts, options, runtime] = container;
    ExpectDescribed(container, image, mounts, options, runtime);
    auto& [name_of, run, script, mount, variable, prefix, value, own, devices, descriptors, output, terminal, remove,
           codes_of] = runtime;
    ExpectDescribed(runtime, name_of, run, script, mount, variable, prefix, value, own, devices, descriptors, output,
                    terminal, remove, codes_of);
    ContainerMount one;
    auto& [source, target, read_only] = one;
    ExpectDescribed(one, source, target, read_only);
  }
  {
    auto& [signal, grace, checkpoint_signal, checkpoint_ms] = stop;
    ExpectDescribed(stop, signal, grace, checkpoint_signal, checkpoint_ms);
  }
  {
    auto& [kind, what, asked, every, timeout] = ready;
    ExpectDescribed(ready, kind, what, asked, every, timeout);
  }
  {
    auto& [max, within, scope, any_failure, success, codes, signals, backoff, verdict] = restart;
    ExpectDescribed(restart, max, within, scope, any_failure, success, codes, signals, backoff, verdict);
  }
  {
    auto& [time, silent, log_bytes] = limits;
    ExpectDescribed(limits, time, silent, log_bytes);
  }
  {
    auto& [kind, count, list] = cores;
    ExpectDescribed(cores, kind, count, list);
  }
}

TEST(PlanFields, DescribesEveryMemberOfAProcess) {
  Process process;
  auto& [role, index, rank, world_size, local_rank, local_size, host, devices, stage, rank_in_stage, command, cwd,
         ready_what, env, context] = process;
  ExpectDescribed(process, role, index, rank, world_size, local_rank, local_size, host, devices, stage, rank_in_stage,
                  command, cwd, ready_what, env, context);
}

TEST(PlanFields, DescribesEveryMemberOfTheOtherParts) {
  PlanHost plan_host;
  auto& [label, host_devices, host_name] = plan_host;
  ExpectDescribed(plan_host, label, host_devices, host_name);
  DeviceUse use;
  auto& [any, given, shared, kind] = use;
  ExpectDescribed(use, any, given, shared, kind);
  PlanPort port;
  auto& [host, number, owner] = port;
  ExpectDescribed(port, host, number, owner);
  PlanFile plan_file;
  auto& [content] = plan_file;
  ExpectDescribed(plan_file, content);
  SecretSource secret;
  auto& [from_env, from_file] = secret;
  ExpectDescribed(secret, from_env, from_file);
  CheckpointPlace place;
  auto& [dir, latest, file, complete] = place;
  ExpectDescribed(place, dir, latest, file, complete);
  SiteEnvironment environment;
  auto& [set, unset, pass] = environment;
  ExpectDescribed(environment, set, unset, pass);
  ContractVariable variable;
  auto& [variable_name, of_roles, is, of, words, optional] = variable;
  ExpectDescribed(variable, variable_name, of_roles, is, of, words, optional);
  ActivationStep step;
  auto& [step_kind, what] = step;
  ExpectDescribed(step, step_kind, what);
}

TEST(PlanArchive, RoundTrips) {
  std::mt19937 random(31);
  for (int round = 0; round < 300; ++round) {
    Plan plan = RandomPlan(random);
    if (round % 2 == 0) Fold(plan);
    const auto back = Unarchived<Plan>(Archived(plan));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, plan);
  }
}

TEST(PlanArchive, RefusesEveryTruncationAndTrailingByte) {
  const std::string bytes = Archived(ParameterServerPlan());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Unarchived<Plan>(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(Unarchived<Plan>(bytes + '\0'));
}

TEST(PlanArchive, SurvivesFlippedBytes) {
  const std::string bytes = Archived(ParameterServerPlan());
  std::mt19937 random(32);
  std::size_t refused = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 3; ++i) damaged[random() % damaged.size()] = static_cast<char>(random());
    refused += Unarchived<Plan>(damaged) ? 0 : 1;
  }
  EXPECT_GT(refused, 0U);
}

TEST(PlanArchive, RefusesAnUnknownEnding) {
  Plan plan = ParameterServerPlan();
  plan.roles[0].ending = static_cast<Ending>(7);
  EXPECT_FALSE(Unarchived<Plan>(Archived(plan)));
}

}  // namespace
}  // namespace muster
