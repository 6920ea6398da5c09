// Merging the environments of one role's processes, one after the other. Who decides a variable depends on the names
// that the layers hold, and the processes of a role differ in values, hardly ever in names: so what one merge decided
// is kept, and holds for the next one with the same names.
//
// Knows no rule of merging: those are MergeEnvironment's, and what it says is what is kept.
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
  // As MergeEnvironment without sources; time grows with the number of variables. Between two calls `shared` may lose
  // names, and is otherwise the same.
  Result<MergedEnvironment> Merge(std::span<const EnvironmentLayer* const> layers, const Variables& shared);

 private:
  // What a layer says of one name, its value apart.
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
  // A variable of one of the layers, by their order and by the order of its names.
  struct Spot {
    std::uint32_t layer = 0;
    std::uint32_t position = 0;
  };
  struct Decision {
    std::string name;
    Spot winner;
    std::optional<Text> joined;  // instead of the winner's value, where several layers make one
    bool shared = false;         // whether `shared` has the name
  };
  // The value that a joined text was made of.
  struct Part {
    Spot spot;
    Text value;
  };

  static const LayerVariable& At(std::span<const EnvironmentLayer* const> layers, const Spot& spot) {
    return layers[spot.layer]->variables.nth(spot.position)->second;
  }
  bool Holds(std::span<const EnvironmentLayer* const> layers, const Variables& shared) const;
  // Nothing where a value can be in no environment: the merge itself says what is wrong.
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
  std::size_t expected_ = 0;  // variables that are not shared
  // Where names change all the time, keeping what was decided is in vain.
  std::uint32_t followed_ = 0;
  std::uint32_t kept_in_vain_ = 0;
};

}  // namespace muster
