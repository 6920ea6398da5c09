// Roles of a plan: the names of their policies, whether the framework ranks their processes, the values that all of
// their processes share and which are stored once, and what depends on facts of a host. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "muster/plan.h"

namespace muster {

// Names of a role's policies in recipes, in the plan's text and in its JSON: one table each, for writing and reading.
// Independent of what the policies do.

// In the order of the enumerators.
inline constexpr std::array<std::string_view, 3> kEndingNames = {"all", "any", "never"};
inline constexpr std::array<std::string_view, 6> kReadinessNames = {"started", "port",    "file",
                                                                    "line",    "command", "done"};
inline constexpr std::array<std::string_view, 3> kRestartScopeNames = {"process", "role", "job"};

std::string_view ReadinessName(Readiness::Kind kind);
std::string_view RestartScopeName(RestartPolicy::Scope scope);

std::optional<Ending> EndingNamed(std::string_view name);
std::optional<Readiness::Kind> ReadinessNamed(std::string_view name);
std::optional<RestartPolicy::Scope> RestartScopeNamed(std::string_view name);

// Whether the plan or the framework ranks the processes of a role.

// Whether the framework ranks the role's workers when they register, instead of the plan.
inline bool RanksAreAssigned(const Role& role) { return role.world.empty() && role.plays == "worker"; }

// Folding: stores values that all processes of a role share once, in the role.

// Converts the plan to its canonical form: two plans whose processes have equal effective commands, folders,
// environments and contexts become equal values, however they were built. A key (or command, or cwd) is in the role if
// every process of the role has it with the same value, else in each process that has it. Unset patterns are sorted,
// without duplicates. A role without processes keeps no command, environment or context. Idempotent; time grows with
// the number of values.
void Fold(Plan& plan);

// Finds the parts of a plan that use host facts known only from the binding: a host's name, its address, names of its
// devices, its port numbers. Pure.

// Whether the process uses such facts in its command, folder, environment or context, or in its readiness condition.
bool RefersToHost(const Plan& plan, const Process& process, std::uint32_t host);

// Whether a file of the plan, which any process may read, uses such facts.
bool FilesMentionHost(const Plan& plan, std::uint32_t host);

}  // namespace muster
