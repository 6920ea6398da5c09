// An environment layer that is filled anew for every process of a role. Its names come again and again, in the same
// order: so each is looked for behind the last one, and values are written over the old ones.
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
  // The variable of that name, as it was left the last time or empty, until At or End is called again.
  LayerVariable& At(std::string_view name);
  // Its text alone, of a variable that is set and says nothing else.
  std::string& TextAt(std::string_view name);
  // Names that were not given since Begin() go.
  void End();

 private:
  EnvironmentLayer layer_;
  std::vector<std::size_t> order_;  // positions in the layer, as the names came the last time
  std::size_t next_ = 0;            // into order_, while they come in this order again
  bool as_before_ = true;
  std::vector<std::string> arrived_;  // names, once they do not
};

}  // namespace muster
