#include "lua/resolve.h"

#include <algorithm>
#include <numeric>

#include "base/suggest.h"
#include "plan/host_list.h"

namespace muster {
namespace {

// hosts and devices_per_host are overridden like parameters, unless the recipe has parameters of that name.
Parameter ClusterParameter(const std::string& name, double min, const Place& place) {
  Parameter parameter;
  parameter.name = name;
  parameter.type = ParameterType::kInt;
  parameter.min = min;
  parameter.max = 1'000'000;
  parameter.place = place;
  return parameter;
}

// The override's value in the parameter's type.
Result<Value> ReadOverride(const Parameter& parameter, const Override& override) {
  const std::string origin(ParameterOriginText(override.origin));
  if (override.kind == Override::Kind::kValue) return CheckParameter(parameter, override.value, {}, origin);
  auto value = ReadParameterText(parameter, *override.value.AsString(), origin);
  if (!value) return value;
  return CheckParameter(parameter, *value, {}, origin);
}

class Resolver {
 public:
  Resolver(const EvaluationRequest& request, Diagnostics& diagnostics) : request_(request), diagnostics_(diagnostics) {}

  // Overrides in order of precedence; the later of equal rank wins.
  std::vector<const Override*> For(const Parameter& parameter) {
    std::vector<const Override*> found;
    for (const Override& override : request_.overrides) {
      const bool by_old_name = !parameter.was.empty() && override.name == parameter.was;
      if (override.name != parameter.name && !by_old_name) continue;
      if (by_old_name) {
        Diagnostic renamed = Warning("renamed", {}, "parameter " + parameter.was + " is now called " + parameter.name);
        renamed.notes.push_back({"declared here", parameter.place});
        diagnostics_.push_back(std::move(renamed));
      }
      found.push_back(&override);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto* a, const auto* b) { return a->origin < b->origin; });
    return found;
  }

  void Apply(ParameterState& state) {
    for (const Override* override : For(state.parameter)) {
      if (override->kind == Override::Kind::kUnset) {
        state.value = state.parameter.default_value;
        state.origin = ParameterOrigin::kDefault;
        continue;
      }
      auto value = ReadOverride(state.parameter, *override);
      if (!value) {
        diagnostics_.insert(diagnostics_.end(), value.error().begin(), value.error().end());
        continue;
      }
      state.value = *value;
      state.origin = override->origin;
    }
  }

 private:
  const EvaluationRequest& request_;
  Diagnostics& diagnostics_;
};

// A secret's value never comes here: only where it will be read from at start.
SecretSource SecretSourceOf(const Parameter& parameter, Resolver& resolver, Diagnostics& diagnostics) {
  SecretSource source;
  source.from_env = parameter.from_env;
  for (const Override* override : resolver.For(parameter)) {
    if (override->kind == Override::Kind::kFile) {
      source = SecretSource{"", override->file};
    } else if (override->kind == Override::Kind::kUnset) {
      source = SecretSource{parameter.from_env, ""};
    } else {
      const Diagnostics refused = ReadParameterText(parameter, "", "command line").error();
      diagnostics.insert(diagnostics.end(), refused.begin(), refused.end());
    }
  }
  return source;
}

// The hosts and their devices: named on the command line, named by the recipe, or counted.
class ClusterResolver {
 public:
  // `known` are the names of the recipe's own parameters; those of the cluster are added.
  ClusterResolver(const Value& cluster, Place recipe_place, Resolver& resolver, std::vector<std::string>& known,
                  Diagnostics& diagnostics)
      : fields_(cluster.AsMap()),
        recipe_place_(std::move(recipe_place)),
        resolver_(resolver),
        known_(known),
        diagnostics_(diagnostics) {}

  // `chosen` is what --devices names, of every host.
  ClusterFacts Settle(const Site& site, const std::vector<std::uint32_t>& chosen) {
    ClusterFacts facts;
    facts.named = site.hosts;
    std::string origin = "command line";
    if (facts.named.empty()) {
      facts.named = NamedByRecipe();
      origin = RecipeOrigin();
    }
    const bool named = !facts.named.empty();
    const bool every_device_named = named && std::all_of(facts.named.begin(), facts.named.end(),
                                                         [](const SiteHost& host) { return host.devices.has_value(); });
    auto count = static_cast<std::size_t>(
        Number("hosts", 1, {.named = named ? std::optional(facts.named.size()) : std::nullopt}, hosts_text_));
    std::string devices_text;
    const std::int64_t each =
        Number("devices_per_host", 0, {.site = named ? 0U : site.host_devices, .chosen = chosen.size()}, devices_text);
    if (named) {
      if (count > facts.named.size()) {
        diagnostics_.push_back(Error("hosts", {},
                                     "hosts = " + std::to_string(count) + ", but only " +
                                         std::to_string(facts.named.size()) +
                                         " are named: " + HostListText(facts.named)));
        count = facts.named.size();
      }
      facts.named.resize(count);
      facts.text = "hosts " + HostListText(facts.named) + " (" + origin + ")";
      if (!every_device_named) facts.text += " × " + devices_text;
    } else {
      facts.text = hosts_text_ + " × " + devices_text;
    }
    facts.numbers = std::move(numbers_);
    facts.devices.assign(count, static_cast<std::uint32_t>(each));
    for (std::size_t i = 0; i < facts.named.size(); ++i) {
      const auto own = facts.named[i].devices;
      facts.devices[i] = own.value_or(static_cast<std::uint32_t>(each));
      if (own && !chosen.empty() && *own != chosen.size()) {
        diagnostics_.push_back(Error("conflict", {},
                                     "host " + facts.named[i].name + " has " + std::to_string(*own) + " devices (" +
                                         origin + "), and --devices names " + std::to_string(chosen.size()),
                                     "give one of the two"));
      }
    }
    return facts;
  }

 private:
  std::string RecipeOrigin() const { return recipe_place_.file + ":" + std::to_string(recipe_place_.line); }

  const Value* Field(const std::string& name) const {
    if (fields_ == nullptr) return nullptr;
    const auto field = fields_->find(name);
    return field == fields_->end() ? nullptr : &field->second;
  }

  // host_list = { "n[01-04]:8", "n5:4" } or one text.
  std::vector<SiteHost> NamedByRecipe() {
    const Value* list = Field("host_list");
    if (list == nullptr) return {};
    if (Field("hosts") != nullptr) {
      diagnostics_.push_back(Error("conflict", recipe_place_, "cluster has both hosts and host_list",
                                   "hosts is their number, which the list has already"));
    }
    std::string text;
    const auto add = [&](const Value& value) {
      const std::string* words = value.AsString();
      if (words != nullptr) text += (text.empty() ? "" : ",") + *words;
      return words != nullptr;
    };
    bool readable = true;
    if (const Value::List* several = list->AsList()) {
      readable = !several->empty() && std::all_of(several->begin(), several->end(), add);
    } else {
      readable = add(*list);
    }
    if (!readable) {
      diagnostics_.push_back(Error("type", recipe_place_, "cluster: host_list is a list of names, got " + ToText(*list),
                                   "host_list = { \"n[01-04]:8\", \"n5:4\" }"));
      return {};
    }
    auto hosts = ParseHostList(text, "host_list");
    if (hosts) return *std::move(hosts);
    for (Diagnostic& diagnostic : hosts.error()) {
      diagnostic.place = recipe_place_;
      diagnostics_.push_back(std::move(diagnostic));
    }
    return {};
  }

  // What a number is where neither the recipe nor an override says it.
  struct Defaults {
    std::optional<std::size_t> named = std::nullopt;  // counted from a list, which outdoes the recipe's number
    std::uint32_t site = 0;                           // found on this machine; 0: nothing
    std::size_t chosen = 0;                           // by --devices, which must not be contradicted; 0: not given
  };

  std::int64_t Number(const std::string& name, double min, const Defaults& defaults, std::string& text) {
    ParameterState state{ClusterParameter(name, min, recipe_place_), Value(1), ParameterOrigin::kDefault};
    std::string origin = "default";
    if (defaults.site > 0) {
      state.value = Value(static_cast<std::int64_t>(defaults.site));
      origin = "site";
    }
    if (defaults.named) {
      state.value = Value(static_cast<std::int64_t>(*defaults.named));
    } else if (const Value* field = Field(name)) {
      auto value = CheckParameter(state.parameter, *field, recipe_place_, "default");
      if (value) {
        state.value = *value;
        origin = RecipeOrigin();
      } else {
        diagnostics_.insert(diagnostics_.end(), value.error().begin(), value.error().end());
      }
    }
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) {
      resolver_.Apply(state);
      if (state.origin != ParameterOrigin::kDefault) origin = ParameterOriginText(state.origin);
      known_.push_back(name);
    }
    if (defaults.chosen > 0) {
      const std::int64_t otherwise = *state.value->AsInt();
      state.value = Value(static_cast<std::int64_t>(defaults.chosen));
      if (state.origin != ParameterOrigin::kDefault && otherwise != *state.value->AsInt()) {
        diagnostics_.push_back(Error(
            "conflict", {},
            name + " = " + std::to_string(otherwise) + " (" + origin + "), and --devices names " + ToText(*state.value),
            "give one of the two"));
      }
      origin = "--devices";
    }
    text = name + " " + ToText(*state.value) + " (" + origin + ")";
    numbers_.push_back({name, *state.value->AsInt(), origin});
    return *state.value->AsInt();
  }

  const Value::Map* fields_;
  Place recipe_place_;
  Resolver& resolver_;
  std::vector<std::string>& known_;
  Diagnostics& diagnostics_;
  std::string hosts_text_;
  std::vector<ClusterNumber> numbers_;
};

}  // namespace

std::int64_t ClusterFacts::all_devices() const {
  return std::accumulate(devices.begin(), devices.end(), std::int64_t{0});
}

std::int64_t ClusterFacts::least_devices() const {
  return devices.empty() ? 0 : *std::min_element(devices.begin(), devices.end());
}

Resolved ResolveParameters(const std::vector<Parameter>& parameters, const Value& cluster, const Place& recipe_place,
                           const EvaluationRequest& request, bool need_all,
                           const std::function<std::optional<std::string>(const std::string&)>& environment,
                           Diagnostics& diagnostics) {
  Resolved resolved;
  Resolver resolver(request, diagnostics);
  std::vector<std::string> known;
  std::vector<std::string> old_names;
  for (const Parameter& parameter : parameters) {
    known.push_back(parameter.name);
    if (!parameter.was.empty()) old_names.push_back(parameter.was);
  }

  for (const Parameter& parameter : parameters) {
    ParameterState state{parameter, parameter.default_value, ParameterOrigin::kDefault};
    if (parameter.type == ParameterType::kSecret) {
      const SecretSource source = SecretSourceOf(parameter, resolver, diagnostics);
      if (!source.from_env.empty() || !source.from_file.empty()) {
        state.value = Value(HoleText({Hole::Kind::kSecret, parameter.name, 0}));
        state.origin = source.from_file.empty() ? ParameterOrigin::kEnvironment : ParameterOrigin::kCommandLine;
        resolved.secrets[parameter.name] = source;
      }
    } else {
      if (!parameter.from_env.empty()) {
        if (const auto text = environment(parameter.from_env)) {
          Override from_environment;
          from_environment.name = parameter.name;
          from_environment.value = Value(*text);
          from_environment.origin = ParameterOrigin::kEnvironment;
          auto value = ReadOverride(parameter, from_environment);
          if (value) {
            state.value = *value;
            state.origin = ParameterOrigin::kEnvironment;
          } else {
            for (Diagnostic& diagnostic : value.error()) {
              diagnostic.notes.push_back({"read from the variable " + parameter.from_env, {}});
              diagnostics.push_back(std::move(diagnostic));
            }
          }
        }
      }
      resolver.Apply(state);
    }
    if (need_all && !state.value) {
      const bool secret = parameter.type == ParameterType::kSecret;
      diagnostics.push_back(Error("parameter_missing", parameter.place, "parameter " + parameter.name + " has no value",
                                  secret ? "give it as " + parameter.name + "@=FILE"
                                         : "give it on the command line: " + parameter.name + "=…"));
    }
    resolved.parameters.push_back(std::move(state));
  }

  resolved.cluster =
      ClusterResolver(cluster, recipe_place, resolver, known, diagnostics).Settle(request.site, request.devices.given);

  for (const Override& override : request.overrides) {
    if (std::find(known.begin(), known.end(), override.name) != known.end()) continue;
    if (std::find(old_names.begin(), old_names.end(), override.name) != old_names.end()) continue;
    diagnostics.push_back(Error("unknown_parameter", {},
                                "the recipe has no parameter \"" + override.name + "\" (from the " +
                                    std::string(ParameterOriginText(override.origin)) + ")",
                                DidYouMean(override.name, known)));
  }
  return resolved;
}

}  // namespace muster
