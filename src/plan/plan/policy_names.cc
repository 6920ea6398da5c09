#include "plan/plan/policy_names.h"

#include <cstddef>

namespace muster {
namespace {

template <class E, std::size_t N>
std::optional<E> MemberNamed(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view ReadinessName(Readiness::Kind kind) { return kReadinessNames[static_cast<std::size_t>(kind)]; }
std::string_view RestartScopeName(RestartPolicy::Scope scope) {
  return kRestartScopeNames[static_cast<std::size_t>(scope)];
}

std::optional<Ending> EndingNamed(std::string_view name) { return MemberNamed<Ending>(kEndingNames, name); }
std::optional<Readiness::Kind> ReadinessNamed(std::string_view name) {
  return MemberNamed<Readiness::Kind>(kReadinessNames, name);
}
std::optional<RestartPolicy::Scope> RestartScopeNamed(std::string_view name) {
  return MemberNamed<RestartPolicy::Scope>(kRestartScopeNames, name);
}

}  // namespace muster
