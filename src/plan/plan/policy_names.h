// Names of a role's policies in recipes, in the plan's text and in its JSON: one table each, for writing and reading.
// Independent of what the policies do.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "muster/plan.h"

namespace muster {

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

}  // namespace muster
