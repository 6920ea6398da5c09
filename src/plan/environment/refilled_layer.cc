#include "plan/environment/refilled_layer.h"

#include <algorithm>

namespace muster {

void RefilledLayer::Begin() {
  next_ = 0;
  as_before_ = true;
}

LayerVariable& RefilledLayer::At(std::string_view name) {
  LayerVariables& variables = layer_.variables;
  if (as_before_) {
    if (next_ < order_.size()) {
      const auto expected = variables.nth(order_[next_]);
      if (expected->first == name) {
        ++next_;
        return expected->second;
      }
    }
    as_before_ = false;
    arrived_.clear();
    for (std::size_t i = 0; i < next_; ++i) arrived_.push_back(variables.nth(order_[i])->first);
  }
  return variables[arrived_.emplace_back(name)];
}

std::string& RefilledLayer::TextAt(std::string_view name) {
  LayerVariable& variable = At(name);
  if (!variable.value) variable.value.emplace();
  return variable.value->marked;
}

void RefilledLayer::End() {
  if (as_before_ && next_ == order_.size()) return;
  LayerVariables& variables = layer_.variables;
  if (as_before_) {
    arrived_.clear();
    for (std::size_t i = 0; i < next_; ++i) arrived_.push_back(variables.nth(order_[i])->first);
  }
  std::vector<std::string_view> names(arrived_.begin(), arrived_.end());
  std::sort(names.begin(), names.end());
  auto kept = variables.extract_sequence();
  const auto gone = std::remove_if(kept.begin(), kept.end(), [&](const auto& entry) {
    return !std::binary_search(names.begin(), names.end(), entry.first);
  });
  kept.erase(gone, kept.end());
  variables.adopt_sequence(boost::container::ordered_unique_range, std::move(kept));
  order_.clear();
  for (const std::string& name : arrived_) {
    order_.push_back(static_cast<std::size_t>(variables.find(name) - variables.begin()));
  }
}

}  // namespace muster
