#include "plan/plan/policy_names.h"

#include <array>
#include <cstddef>

namespace muster {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kEndings = {"all", "any", "never"};
constexpr std::array<std::string_view, 6> kReadiness = {"started", "port", "file", "line", "command", "done"};
constexpr std::array<std::string_view, 3> kScopes = {"process", "role", "job"};

template <class E, std::size_t N>
std::optional<E> Named(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view EndingName(Ending ending) { return kEndings[static_cast<std::size_t>(ending)]; }
std::string_view ReadinessName(Readiness::Kind kind) { return kReadiness[static_cast<std::size_t>(kind)]; }
std::string_view RestartScopeName(RestartPolicy::Scope scope) { return kScopes[static_cast<std::size_t>(scope)]; }

std::optional<Ending> EndingNamed(std::string_view name) { return Named<Ending>(kEndings, name); }
std::optional<Readiness::Kind> ReadinessNamed(std::string_view name) {
  return Named<Readiness::Kind>(kReadiness, name);
}
std::optional<RestartPolicy::Scope> RestartScopeNamed(std::string_view name) {
  return Named<RestartPolicy::Scope>(kScopes, name);
}

}  // namespace muster
