#include "evaluation/resolve/resolve.h"

#include <algorithm>
#include <set>
#include <utility>

namespace muster {
namespace {

// Converts the override's value to the parameter's type.
Result<Value> ReadOverride(const Parameter& parameter, const Override& override) {
  const std::string origin = OriginText(override);
  if (override.kind == Override::Kind::kValue) {
    if (override.origin == ParameterOrigin::kSweep) {
      return CheckParameter(parameter, override.value, override.place, origin);
    }
    return CheckWrittenParameter(parameter, override.value, override.place, origin);
  }
  auto value = ReadParameterText(parameter, *override.value.AsString(), origin);
  if (!value) return value;
  return CheckParameter(parameter, *value, {}, origin);
}

class Resolver {
 public:
  Resolver(const Declared& declared, const ParameterNames& names, const std::vector<Override>& outside,
           Diagnostics& diagnostics)
      : diagnostics_(diagnostics) {
    for (const Parameter& parameter : declared.parameters) parameters_.push_back(&parameter);
    // A variant's name is a prefix of the names of its parameters, so it comes before them.
    std::stable_sort(parameters_.begin(), parameters_.end(),
                     [](const auto* a, const auto* b) { return a->name < b->name; });
    for (const Override& override : declared.values) Sort(override, names);
    for (const Override& override : outside) Sort(override, names);
    for (auto& [name, overrides] : given_) {
      std::stable_sort(overrides.begin(), overrides.end(),
                       [](const auto* a, const auto* b) { return a->origin < b->origin; });
    }
  }

  std::vector<Override> TakeUnknown() { return std::move(unknown_); }

  // All parameters, sorted by name.
  std::vector<ParameterState> Settle(const std::function<std::optional<std::string>(const std::string&)>& environment) {
    std::vector<ParameterState> states;
    for (const Parameter* parameter : parameters_) {
      ParameterState state{*parameter, std::nullopt, ParameterOrigin::kDefault};
      state.active = HoldsAt(*parameter, ParameterOrigin::kSweep);
      std::vector<Layer>& layers = layers_[parameter];
      layers.push_back({ParameterOrigin::kDefault, state});
      layers.front().state.value = parameter->default_value;
      if (parameter->type != ParameterType::kSecret) {
        if (state.active && !parameter->from_env.empty()) ReadEnvironment(*parameter, environment, layers);
        ApplyAll(parameter->name, layers);
      }
      if (state.active) state = layers.back().state;
      states.push_back(std::move(state));
    }
    return states;
  }

  // For a number of the cluster, which is no parameter of the recipe.
  void Apply(ParameterState& state) {
    std::vector<Layer> layers = {{ParameterOrigin::kDefault, state}};
    ApplyAll("cluster." + state.parameter.name, layers);
    state = layers.back().state;
  }

  // The source of a secret, which is read at start; its value is never stored.
  SecretSource SecretSourceOf(const Parameter& parameter) {
    SecretSource source;
    source.from_env = parameter.from_env;
    for (const Override* override : given_[parameter.name]) {
      if (!HoldsAt(parameter, override->origin)) continue;
      counted_.insert(override);
      if (override->kind == Override::Kind::kFile) {
        source = SecretSource{"", override->file};
      } else if (override->kind == Override::Kind::kUnset) {
        source = SecretSource{parameter.from_env, ""};
      } else {
        Diagnostics refused = ReadParameterText(parameter, "", "command line").error();
        for (Diagnostic& diagnostic : refused) diagnostic.place = override->place;
        diagnostics_.insert(diagnostics_.end(), refused.begin(), refused.end());
      }
    }
    return source;
  }

  // Warns about values for parameters of variants that are not selected.
  void WarnOfIgnored() {
    for (const auto& [name, overrides] : given_) {
      for (const Override* override : overrides) {
        if (!counted_.contains(override) && override->kind != Override::Kind::kUnset) ReportVariant(name, *override);
      }
    }
  }

 private:
  // The state after applying all values up to an origin.
  struct Layer {
    ParameterOrigin upto;
    ParameterState state;
  };

  void Sort(const Override& override, const ParameterNames& names) {
    const bool of_recipe = override.place.line > 0;
    const ParameterNames::Found found = names.Find(override.name, of_recipe);
    if (found.name.empty()) {
      if (of_recipe) {
        diagnostics_.push_back(names.Unknown(override, {}));
      } else {
        unknown_.push_back(override);
      }
      return;
    }
    if (found.by_old_name) {
      Diagnostic renamed =
          Warning("renamed", override.place, "parameter " + override.name + " is now called " + found.name);
      const auto declared = std::find_if(parameters_.begin(), parameters_.end(),
                                         [&](const auto* parameter) { return parameter->name == found.name; });
      renamed.notes.push_back({"declared here", (*declared)->place});
      diagnostics_.push_back(std::move(renamed));
    }
    given_[found.name].push_back(&override);
  }

  const ParameterState* StateAt(const Parameter* parameter, ParameterOrigin upto) const {
    const auto layers = layers_.find(parameter);
    if (layers == layers_.end()) return nullptr;
    const ParameterState* state = nullptr;
    for (const Layer& layer : layers->second) {
      if (layer.upto <= upto) state = &layer.state;
    }
    return state;
  }

  // The variant parameter of the condition: if several have that name, the one in the same variant as `parameter`.
  const Parameter* ChooserOf(const Parameter& parameter, const std::string& name) const {
    for (const Parameter* candidate : parameters_) {
      if (candidate->name != name || !candidate->variant) continue;
      const bool same_side = std::all_of(candidate->when.begin(), candidate->when.end(), [&](const auto& condition) {
        const auto own = parameter.when.find(condition.first);
        return own != parameter.when.end() && own->second == condition.second;
      });
      if (same_side) return candidate;
    }
    return nullptr;
  }

  // The first variant that excludes the parameter, considering values up to that origin; null: none.
  const std::pair<const std::string, std::string>* HeldBackBy(const Parameter& parameter, ParameterOrigin upto) const {
    for (const auto& condition : parameter.when) {
      const ParameterState* state = StateAt(ChooserOf(parameter, condition.first), upto);
      const std::string* chosen = state == nullptr || !state->value ? nullptr : state->value->AsString();
      if (chosen == nullptr || *chosen != condition.second) return &condition;
    }
    return nullptr;
  }

  bool HoldsAt(const Parameter& parameter, ParameterOrigin upto) const {
    return HeldBackBy(parameter, upto) == nullptr;
  }

  void ReadEnvironment(const Parameter& parameter,
                       const std::function<std::optional<std::string>(const std::string&)>& environment,
                       std::vector<Layer>& layers) {
    const auto text = environment(parameter.from_env);
    if (!text) return;
    Override from_environment;
    from_environment.value = Value(*text);
    from_environment.origin = ParameterOrigin::kEnvironment;
    auto value = ReadOverride(parameter, from_environment);
    if (value) {
      layers.push_back({ParameterOrigin::kEnvironment, layers.back().state});
      layers.back().state.value = *std::move(value);
      layers.back().state.origin = ParameterOrigin::kEnvironment;
      return;
    }
    for (Diagnostic& diagnostic : value.error()) {
      diagnostic.notes.push_back({"read from the variable " + parameter.from_env, {}});
      diagnostics_.push_back(std::move(diagnostic));
    }
  }

  // Applies the values that are given under the name, in order of increasing precedence.
  void ApplyAll(const std::string& name, std::vector<Layer>& layers) {
    const auto given = given_.find(name);
    if (given == given_.end()) return;
    const Parameter parameter = layers.front().state.parameter;
    const bool holds = HoldsAt(parameter, ParameterOrigin::kSweep);
    for (const Override* override : given->second) {
      if (!HoldsAt(parameter, override->origin)) continue;
      counted_.insert(override);
      ParameterState state = layers.back().state;
      if (override->kind == Override::Kind::kUnset) {
        // The recipe's own values.
        for (const Layer& layer : layers) {
          if (layer.upto <= ParameterOrigin::kExtension) state = layer.state;
        }
      } else {
        auto value = ReadOverride(parameter, *override);
        if (!value) {
          if (holds) diagnostics_.insert(diagnostics_.end(), value.error().begin(), value.error().end());
          continue;
        }
        state.value = *std::move(value);
        state.origin = override->origin;
        state.profile = override->profile;
        state.place = override->place;
      }
      Layer layer{override->origin, std::move(state)};
      // The environment was applied before all of these, and an extension has lower precedence.
      const auto stronger =
          std::find_if(layers.begin(), layers.end(), [&](const Layer& other) { return other.upto > override->origin; });
      layers.insert(stronger, std::move(layer));
    }
  }

  void ReportVariant(const std::string& name, const Override& override) {
    std::string choices;
    std::string hint;
    std::string chooser;
    const ParameterState* state = nullptr;
    for (const Parameter* parameter : parameters_) {
      const auto* condition = parameter->name == name ? HeldBackBy(*parameter, override.origin) : nullptr;
      if (condition == nullptr || (!chooser.empty() && chooser != condition->first)) continue;
      chooser = condition->first;
      state = StateAt(ChooserOf(*parameter, chooser), override.origin);
      choices += (choices.empty() ? "" : " or ") + ToText(Value(condition->second));
      if (hint.empty()) hint = chooser + "=" + condition->second + " chooses it";
    }
    std::string message = name + " is a parameter of " + chooser + " = " + choices;
    if (state != nullptr && state->value) {
      message +=
          ", and " + chooser + " is " + ToText(*state->value) + " (" + std::string(ParameterOriginText(state->origin));
      message += (state->profile.empty() ? "" : " " + state->profile) + ")";
    }
    diagnostics_.push_back(
        Error("variant", override.place, message + " (from the " + OriginText(override) + ")", std::move(hint)));
  }

  Diagnostics& diagnostics_;
  std::vector<const Parameter*> parameters_;                   // by name
  std::map<std::string, std::vector<const Override*>> given_;  // by full name, in order of increasing precedence
  std::set<const Override*> counted_;
  std::vector<Override> unknown_;
  std::map<const Parameter*, std::vector<Layer>> layers_;
};

}  // namespace

Resolved ResolveParameters(const Declared& declared, const ParameterNames& names, const std::vector<Override>& outside,
                           const Site& site, const DeviceUse& devices, bool need_all,
                           const std::function<std::optional<std::string>(const std::string&)>& environment,
                           Diagnostics& diagnostics) {
  Resolved resolved;
  Resolver resolver(declared, names, outside, diagnostics);
  resolved.parameters = resolver.Settle(environment);
  for (ParameterState& state : resolved.parameters) {
    const Parameter& parameter = state.parameter;
    if (!state.active) continue;
    const bool secret = parameter.type == ParameterType::kSecret;
    if (secret) {
      const SecretSource source = resolver.SecretSourceOf(parameter);
      if (!source.from_env.empty() || !source.from_file.empty()) {
        state.value = Value(PlaceholderText({Placeholder::Kind::kSecret, parameter.name, 0}));
        state.origin = source.from_file.empty() ? ParameterOrigin::kEnvironment : ParameterOrigin::kCommandLine;
        resolved.secrets[parameter.name] = source;
      }
    }
    if (need_all && !state.value) {
      diagnostics.push_back(Error("parameter_missing", parameter.place, "parameter " + parameter.name + " has no value",
                                  secret ? "give it as " + parameter.name + "@=FILE"
                                         : "give it on the command line: " + parameter.name + "=…"));
    }
  }
  resolved.cluster = SettleCluster(
      declared.cluster, declared.cluster_places, declared.place, site, devices.given.size(),
      [&](ParameterState& state) { resolver.Apply(state); }, diagnostics);
  resolver.WarnOfIgnored();
  resolved.unknown = resolver.TakeUnknown();
  return resolved;
}

}  // namespace muster
