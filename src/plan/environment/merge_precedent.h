// Caches decisions when the environments of one role's processes are merged one after the other. Which layer decides a
// variable depends on the names in the layers, and processes of a role differ in values but rarely in names. So the
// decisions of one merge are stored and reused for the next one with the same names.
//
// Contains no merging rules: those are MergeEnvironment's, whose results are cached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/environment/environment.h"

namespace muster {

class MergePrecedent {
 public:
  // Like MergeEnvironment without sources; time grows with the number of variables. Between two calls `shared` may lose
  // names, but must not change otherwise.
  Result<MergedEnvironment> Merge(std::span<const EnvironmentLayer* const> layers, const Variables& shared);

 private:
  // What a layer does with one name, without the value.
  struct Use {
    std::string name;
    bool set = false;
    bool override = false;
    bool prepend = false;
  };
  struct LayerShape {
    Layer layer = Layer::kInherited;
    bool settled = false;
    std::vector<Use> uses;
  };
  // A variable of a layer: index of the layer, and position among its sorted names.
  struct Spot {
    std::uint32_t layer = 0;
    std::uint32_t position = 0;
  };
  struct Decision {
    std::string name;
    Spot winner;
    std::optional<Text> joined;  // instead of the winner's value, if several layers contribute to it
    bool shared = false;         // whether `shared` has the name
  };
  // A value that a joined text was made of.
  struct Part {
    Spot spot;
    Text value;
  };

  static const LayerVariable& At(std::span<const EnvironmentLayer* const> layers, const Spot& spot) {
    return layers[spot.layer]->variables.nth(spot.position)->second;
  }
  bool Holds(std::span<const EnvironmentLayer* const> layers, const Variables& shared) const;
  // Nothing if a value is invalid in an environment: then the full merge reports the error.
  std::optional<MergedEnvironment> Follow(std::span<const EnvironmentLayer* const> layers,
                                          const Variables& shared) const;
  void Keep(std::span<const EnvironmentLayer* const> layers, const Variables& shared, const MergedEnvironment& merged);
  bool KeepDecision(std::span<const EnvironmentLayer* const> layers, const std::string& name, const Text& value,
                    Layer decider, bool shared);

  bool kept_ = false;
  std::vector<LayerShape> shapes_;
  std::size_t shared_names_ = 0;
  std::vector<Decision> decisions_;  // by name
  std::vector<Part> parts_;
  std::vector<std::string> unset_;
  std::size_t expected_ = 0;  // number of variables that are not shared
  // If the names change all the time, storing decisions has no benefit.
  std::uint32_t followed_ = 0;
  std::uint32_t kept_in_vain_ = 0;
};

}  // namespace muster
