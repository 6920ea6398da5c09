#include "plan/environment/merge_precedent.h"

#include <algorithm>

namespace muster {
namespace {

constexpr std::uint32_t kPatience = 8;

}  // namespace

Result<MergedEnvironment> MergePrecedent::Merge(std::span<const EnvironmentLayer* const> layers,
                                                const Variables& shared) {
  if (Holds(layers, shared)) {
    if (auto followed = Follow(layers, shared)) {
      ++followed_;
      expected_ = std::max(expected_, followed->set.size());
      return *std::move(followed);
    }
  }
  const bool keeping = kept_in_vain_ < followed_ + kPatience;
  auto merged = MergeEnvironment(layers, keeping, shared);
  if (!merged || !keeping) return merged;
  Keep(layers, shared, *merged);
  ++kept_in_vain_;
  merged->sources.clear();
  return merged;
}

bool MergePrecedent::Holds(std::span<const EnvironmentLayer* const> layers, const Variables& shared) const {
  if (!kept_ || shared.size() != shared_names_ || layers.size() != shapes_.size()) return false;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerShape& shape = shapes_[i];
    const EnvironmentLayer& layer = *layers[i];
    if (layer.layer != shape.layer || layer.settled != shape.settled) return false;
    const bool same = std::equal(shape.uses.begin(), shape.uses.end(), layer.variables.begin(), layer.variables.end(),
                                 [](const Use& use, const LayerVariables::value_type& entry) {
                                   const LayerVariable& variable = entry.second;
                                   return use.set == variable.value.has_value() && use.override == variable.override &&
                                          use.prepend == variable.prepend && use.name == entry.first;
                                 });
    if (!same) return false;
  }
  return std::all_of(parts_.begin(), parts_.end(),
                     [&](const Part& part) { return At(layers, part.spot).value == part.value; });
}

std::optional<MergedEnvironment> MergePrecedent::Follow(std::span<const EnvironmentLayer* const> layers,
                                                        const Variables& shared) const {
  MergedEnvironment merged;
  merged.set.reserve(expected_);
  auto common = shared.begin();
  for (const Decision& decision : decisions_) {
    const Text& value = decision.joined ? *decision.joined : *At(layers, decision.winner).value;
    if (decision.shared && (common++)->second == value) continue;
    const bool of_muster = layers[decision.winner.layer]->layer == Layer::kMuster;
    if (!of_muster && !IsVariableValue(value.marked)) return std::nullopt;
    merged.set.emplace_hint(merged.set.end(), decision.name, value);
  }
  merged.unset = unset_;
  return merged;
}

void MergePrecedent::Keep(std::span<const EnvironmentLayer* const> layers, const Variables& shared,
                          const MergedEnvironment& merged) {
  kept_ = false;
  if (!merged.absent.empty()) return;
  shapes_.clear();
  for (const EnvironmentLayer* layer : layers) {
    LayerShape& shape = shapes_.emplace_back(LayerShape{layer->layer, layer->settled, {}});
    shape.uses.reserve(layer->variables.size());
    for (const auto& [name, variable] : layer->variables) {
      shape.uses.push_back({name, variable.value.has_value(), variable.override, variable.prepend});
    }
  }
  shared_names_ = shared.size();
  unset_ = merged.unset;
  expected_ = merged.set.size();
  decisions_.clear();
  parts_.clear();
  // Every variable that is set is shared, or set for this process, or both.
  auto own = merged.set.begin();
  auto common = shared.begin();
  while (own != merged.set.end() || common != shared.end()) {
    const bool from_own = common == shared.end() || (own != merged.set.end() && own->first <= common->first);
    const bool is_shared = common != shared.end() && (!from_own || common->first == own->first);
    const auto& [name, value] = from_own ? *own : *common;
    const auto source = merged.sources.find(name);
    if (source == merged.sources.end()) return;
    if (!KeepDecision(layers, name, value, source->second.layer, is_shared)) return;
    if (from_own) ++own;
    if (is_shared) ++common;
  }
  kept_ = true;
}

bool MergePrecedent::KeepDecision(std::span<const EnvironmentLayer* const> layers, const std::string& name,
                                  const Text& value, Layer decider, bool shared) {
  Decision decision{name, {}, std::nullopt, shared};
  std::vector<Part> parts;
  bool found = false;
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    const auto variable = layers[i]->variables.find(name);
    if (layers[i]->settled || variable == layers[i]->variables.end() || !variable->second.value) continue;
    const Spot spot{i, static_cast<std::uint32_t>(variable - layers[i]->variables.begin())};
    parts.push_back({spot, *variable->second.value});
    if (layers[i]->layer != decider) continue;
    found = true;  // of two layers of one rank, the later one decides
    decision.winner = spot;
    decision.joined = variable->second.prepend ? std::optional(value) : std::nullopt;
  }
  if (!found) return false;
  if (decision.joined) std::move(parts.begin(), parts.end(), std::back_inserter(parts_));
  decisions_.push_back(std::move(decision));
  return true;
}

}  // namespace muster
