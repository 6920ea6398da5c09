// The words for a role's policies in recipes, in the plan's text and in its JSON: one table each, for writing and
// for reading. Knows no policy's effect.
#pragma once

#include <optional>
#include <string_view>

#include "muster/plan.h"

namespace muster {

std::string_view EndingName(Ending ending);                     // "all", "any", "never"
std::string_view ReadinessName(Readiness::Kind kind);           // "started", "port", "file", …
std::string_view RestartScopeName(RestartPolicy::Scope scope);  // "process", "role", "job"

std::optional<Ending> EndingNamed(std::string_view name);
std::optional<Readiness::Kind> ReadinessNamed(std::string_view name);
std::optional<RestartPolicy::Scope> RestartScopeNamed(std::string_view name);

}  // namespace muster
