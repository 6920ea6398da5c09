// A step of an activation (environment setup): a file to source or a module to load on a host, once, before any process
// of a job starts there. Its changes are inherited by the host's processes (docs/environment.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

struct ActivationStep {
  enum class Kind : std::uint8_t {
    kSource,  // `what` is the absolute path of a file for the shell to source
    kModule,  // … the name of an environment module, for module load
    kConda,   // … the name or prefix of a conda environment, for conda activate
  };
  Kind kind = Kind::kSource;
  std::string what;  // without placeholders: nothing is bound yet at this time

  bool operator==(const ActivationStep&) const = default;
};

// By Kind: also the names in recipes.
inline constexpr std::array<std::string_view, 3> kActivationKinds = {"source", "module", "conda"};

constexpr std::string_view ActivationKindName(ActivationStep::Kind kind) {
  return kActivationKinds[static_cast<std::size_t>(kind)];
}

}  // namespace muster
