#include "lua/resolve.h"

#include <algorithm>

#include "base/suggest.h"

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

}  // namespace

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

  const auto settle = [&](const std::string& name, double min, std::optional<std::int64_t> site,
                          std::size_t devices_named = 0) {
    ParameterState state{ClusterParameter(name, min, recipe_place), Value(1), ParameterOrigin::kDefault};
    std::string origin = "default";
    if (site) {
      state.value = Value(*site);
      origin = "site";
    }
    if (const Value::Map* fields = cluster.AsMap()) {
      if (const auto field = fields->find(name); field != fields->end()) {
        auto value = CheckParameter(state.parameter, field->second, recipe_place, "default");
        if (value) {
          state.value = *value;
          origin = recipe_place.file + ":" + std::to_string(recipe_place.line);
        } else {
          diagnostics.insert(diagnostics.end(), value.error().begin(), value.error().end());
        }
      }
    }
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      resolver.Apply(state);
      if (state.origin != ParameterOrigin::kDefault) origin = ParameterOriginText(state.origin);
      known.push_back(name);
    }
    if (devices_named > 0) {
      const std::int64_t overridden = *state.value->AsInt();
      state.value = Value(static_cast<std::int64_t>(devices_named));
      if (state.origin != ParameterOrigin::kDefault && overridden != *state.value->AsInt()) {
        diagnostics.push_back(Error("conflict", {},
                                    name + " = " + std::to_string(overridden) + " (" + origin +
                                        "), and --devices names " + ToText(*state.value),
                                    "give one of the two"));
      }
      origin = "--devices";
    }
    resolved.cluster.text +=
        (resolved.cluster.text.empty() ? "" : " × ") + name + " " + ToText(*state.value) + " (" + origin + ")";
    return *state.value->AsInt();
  };
  const auto& hosts = request.site.hosts;
  resolved.cluster.hosts =
      settle("hosts", 1, hosts.empty() ? std::nullopt : std::optional(static_cast<std::int64_t>(hosts.size())));
  std::optional<std::int64_t> counted;
  if (!hosts.empty() && hosts.front().devices) counted = *hosts.front().devices;
  if (hosts.empty() && request.site.host_devices > 0) counted = request.site.host_devices;
  resolved.cluster.devices_per_host = settle("devices_per_host", 0, counted, request.devices.given.size());

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
