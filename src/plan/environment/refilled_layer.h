// An environment layer that is refilled for every process of a role. The names usually arrive in the same order, so
// each search begins after the last match, and values overwrite the previous ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plan/environment/environment.h"

namespace muster {

class RefilledLayer {
 public:
  RefilledLayer() = default;
  explicit RefilledLayer(Layer layer, std::string owner = {}) : layer_{layer, std::move(owner), {}, false} {}

  const EnvironmentLayer& layer() const { return layer_; }

  void Begin();
  // The variable of that name, with its previous content or empty; valid until At or End is called again.
  LayerVariable& At(std::string_view name);
  // The text alone, of a variable that is set and has no other properties.
  std::string& TextAt(std::string_view name);
  // Removes names that were not used since Begin().
  void End();

 private:
  EnvironmentLayer layer_;
  std::vector<std::size_t> order_;  // positions in the layer, in the order of the previous process
  std::size_t next_ = 0;            // into order_, while names arrive in the same order
  bool as_before_ = true;
  std::vector<std::string> arrived_;  // names, once the order differs
};

}  // namespace muster
