// A step of an activation: what is sourced or loaded on a host, once, before anything of a job is started there. What
// it changes is part of the environment that the host's processes inherit (docs/environment.md).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster {

struct ActivationStep {
  enum class Kind : std::uint8_t {
    kSource,  // `what` is the absolute path of a file that the shell reads
    kModule,  // … the name of an environment module: module load
    kConda,   // … the name or prefix of a conda environment: conda activate
  };
  Kind kind = Kind::kSource;
  std::string what;  // no hole: nothing is bound yet when it is done

  bool operator==(const ActivationStep&) const = default;
};

// By Kind: what a recipe calls it, too.
inline constexpr std::array<std::string_view, 3> kActivationKinds = {"source", "module", "conda"};

constexpr std::string_view ActivationKindName(ActivationStep::Kind kind) {
  return kActivationKinds[static_cast<std::size_t>(kind)];
}

}  // namespace muster
