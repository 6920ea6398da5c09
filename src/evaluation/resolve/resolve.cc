#include "evaluation/resolve/resolve.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/values/diagnostics.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

std::string_view LastPart(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

}  // namespace

ParameterNames::ParameterNames(std::span<const Parameter> parameters) {
  for (const Parameter& parameter : parameters) {
    names_.insert(parameter.name);
    if (std::string was = FormerName(parameter); !was.empty()) old_names_.emplace(std::move(was), parameter.name);
  }
}

ParameterNames::Found ParameterNames::Find(const std::string& word, bool whole) const {
  Found found;
  if (names_.contains(word)) {
    found.name = word;
    return found;
  }
  if (const auto present = old_names_.find(word); present != old_names_.end()) {
    found.name = present->second;
    found.by_old_name = true;
    return found;
  }
  for (const std::string_view name : {kClusterHosts, kClusterDevices}) {
    if (word == name || word == LastPart(name)) {
      found.name = name;
      return found;
    }
  }
  if (whole || word.empty()) return found;
  for (const std::string& name : names_) {
    if (name.size() > word.size() && name.ends_with(word) && name[name.size() - word.size() - 1] == '.') {
      found.candidates.push_back(name);
    }
  }
  if (found.candidates.size() == 1) {
    found.name = std::move(found.candidates.front());
    found.candidates.clear();
  }
  return found;
}

Diagnostic ParameterNames::Unknown(const Override& override, std::span<const std::string> derived) const {
  const std::string origin = " (from the " + OriginText(override) + ")";
  const Found found = Find(override.name, override.place.line > 0);
  if (!found.candidates.empty()) {
    std::string list;
    for (const std::string& name : found.candidates) list += (list.empty() ? "" : ", ") + name;
    return Error("ambiguous", override.place, override.name + " could mean " + list + origin, "write more of the name");
  }
  std::vector<std::string> known(names_.begin(), names_.end());
  known.insert(known.end(), derived.begin(), derived.end());
  for (const std::string_view name : {kClusterHosts, kClusterDevices}) known.emplace_back(LastPart(name));
  std::vector<std::string> last_parts;
  for (const std::string& name : known) last_parts.emplace_back(LastPart(name));
  std::string hint = DidYouMean(override.name, known);
  if (!Nearest(override.name, known)) {
    if (const auto nearest = Nearest(override.name, last_parts)) {
      const auto index = std::find(last_parts.begin(), last_parts.end(), *nearest) - last_parts.begin();
      hint = "did you mean \"" + known[static_cast<std::size_t>(index)] + "\"?";
    }
  }
  if (override.name == "env" && override.origin == ParameterOrigin::kCommandLine && !Nearest("env", known)) {
    hint = "variables of all processes: --env NAME=VALUE, or job:env { NAME = VALUE } in the recipe";
  }
  return Error("unknown_parameter", override.place, "the recipe has no parameter \"" + override.name + "\"" + origin,
               std::move(hint));
}

std::string OriginText(const Override& override) {
  std::string text(ParameterOriginText(override.origin));
  if (!override.profile.empty()) text += " " + override.profile;
  return text;
}

namespace {

// That number of each host; empty if one has none, or none has more than 0.
std::vector<std::uint32_t> NumbersOf(const std::vector<SiteHost>& hosts,
                                     std::optional<std::uint32_t> SiteHost::*number) {
  std::vector<std::uint32_t> numbers;
  for (const SiteHost& host : hosts) {
    if (!(host.*number)) return {};
    numbers.push_back(*(host.*number));
  }
  if (std::all_of(numbers.begin(), numbers.end(), [](std::uint32_t one) { return one == 0; })) numbers.clear();
  return numbers;
}

class ClusterResolver {
 public:
  ClusterResolver(const Value& cluster, const std::map<std::string, Place>& places, const Place& recipe_place,
                  const std::function<void(ParameterState&)>& apply, Diagnostics& diagnostics)
      : fields_(cluster.AsMap()),
        places_(places),
        recipe_place_(recipe_place),
        apply_(apply),
        diagnostics_(diagnostics) {}

  ClusterFacts Settle(const Site& site, std::size_t chosen) {
    ClusterFacts facts;
    const auto of_site = [&](const std::string& field) {
      const auto source = site.sources.find(field);
      return source == site.sources.end() ? std::string() : source->second;
    };
    facts.named = site.hosts;
    std::string origin = "command line";
    bool by_site = !of_site("hosts").empty();
    if (facts.named.empty() || (by_site && Field("host_list") != nullptr)) {
      facts.named = NamedByRecipe();
      origin = RecipeOrigin("host_list");
      by_site = false;
    } else if (by_site) {
      origin = of_site("hosts");
    }
    const bool named = !facts.named.empty();
    const bool every_device_named = named && std::all_of(facts.named.begin(), facts.named.end(),
                                                         [](const SiteHost& host) { return host.devices.has_value(); });
    auto count =
        static_cast<std::size_t>(Number("hosts",
                                        {.named = named && !by_site ? std::optional(facts.named.size()) : std::nullopt,
                                         .site = by_site ? std::optional(facts.named.size()) : std::nullopt,
                                         .site_text = origin},
                                        hosts_text_));
    std::string devices_text;
    const bool devices_said = site.devices_per_host.has_value();
    const bool own_counted = !named && site.host_devices > 0;
    const std::int64_t each = Number("devices_per_host",
                                     {.site = devices_said  ? std::optional<std::size_t>(*site.devices_per_host)
                                              : own_counted ? std::optional<std::size_t>(site.host_devices)
                                                            : std::nullopt,
                                      .site_text = devices_said ? of_site("devices") : "site",
                                      .chosen = chosen},
                                     devices_text);
    if (named) {
      if (count > facts.named.size()) {
        diagnostics_.push_back(
            Error("hosts", {},
                  "hosts = " + std::to_string(count) + ", but only " + std::to_string(facts.named.size()) +
                      " are named: " + HostListText(facts.named) + (by_site ? " (" + origin + ")" : "")));
        count = facts.named.size();
      }
      facts.named.resize(count);
      facts.text = "hosts " + HostListText(facts.named) + " (" + origin + ")";
      if (!every_device_named) facts.text += " × " + devices_text;
    } else {
      facts.text = hosts_text_ + " × " + devices_text;
    }
    // A site file sets the devices of a host; the number that the job uses may come from elsewhere.
    const std::string each_origin = numbers_.back().origin;
    const bool taken = by_site && each_origin != "default" && each_origin != of_site("devices");
    facts.slots = NumbersOf(facts.named, &SiteHost::slots);
    facts.slots_are_tasks = !facts.slots.empty();
    if (facts.slots.empty() && !taken) facts.slots = NumbersOf(facts.named, &SiteHost::devices);
    if (facts.slots.empty()) facts.room = NumbersOf(facts.named, &SiteHost::room);
    facts.numbers = std::move(numbers_);
    facts.devices.assign(count, static_cast<std::uint32_t>(each));
    for (std::size_t i = 0; i < facts.named.size(); ++i) {
      const auto own = facts.named[i].devices;
      facts.devices[i] = taken ? static_cast<std::uint32_t>(each) : own.value_or(static_cast<std::uint32_t>(each));
      if (own && taken && each > std::int64_t{*own}) {
        diagnostics_.push_back(Error("conflict", {},
                                     devices_text + ", and host " + facts.named[i].name + " has " +
                                         std::to_string(*own) + " devices (" + origin + ")",
                                     "take fewer, or leave the host out: --exclude " + facts.named[i].name));
      }
      if (own && !taken && chosen != 0 && *own != chosen) {
        diagnostics_.push_back(Error("conflict", {},
                                     "host " + facts.named[i].name + " has " + std::to_string(*own) + " devices (" +
                                         origin + "), and --devices names " + std::to_string(chosen),
                                     "give one of the two"));
      }
    }
    return facts;
  }

 private:
  Place PlaceOf(const std::string& field) const {
    const auto place = places_.find(field);
    return place == places_.end() ? recipe_place_ : place->second;
  }
  std::string RecipeOrigin(const std::string& field) const {
    const Place place = PlaceOf(field);
    return place.file + ":" + std::to_string(place.line);
  }

  const Value* Field(const std::string& name) const {
    if (fields_ == nullptr) return nullptr;
    const auto field = fields_->find(name);
    return field == fields_->end() ? nullptr : &field->second;
  }

  // host_list = { "n[01-04]:8", "n5:4" } or a single text.
  std::vector<SiteHost> NamedByRecipe() {
    const Value* list = Field("host_list");
    if (list == nullptr) return {};
    if (Field("hosts") != nullptr) {
      diagnostics_.push_back(Error("conflict", PlaceOf("host_list"), "cluster has both hosts and host_list",
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
      diagnostics_.push_back(Error("type", PlaceOf("host_list"),
                                   "cluster: host_list must be a list of names, got " + ToText(*list),
                                   "host_list = { \"n[01-04]:8\", \"n5:4\" }"));
      return {};
    }
    auto hosts = ParseHostList(text, "host_list");
    if (hosts) return *std::move(hosts);
    for (Diagnostic& diagnostic : hosts.error()) {
      diagnostic.place = PlaceOf("host_list");
      diagnostics_.push_back(std::move(diagnostic));
    }
    return {};
  }

  // The value of a number that neither the recipe nor an override sets.
  struct Defaults {
    std::optional<std::size_t> named = std::nullopt;  // from a host list, which overrides the recipe
    std::optional<std::size_t> site = std::nullopt;   // from a site file, or found on this machine
    std::string site_text = {};                       // which of the two, for messages
    std::size_t chosen = 0;                           // by --devices, which must not be contradicted; 0: not given
  };

  std::int64_t Number(const std::string& name, const Defaults& defaults, std::string& text) {
    ParameterState state{ClusterParameter(name, PlaceOf(name)), Value(1), ParameterOrigin::kDefault};
    std::string origin = "default";
    if (defaults.site) {
      state.value = Value(static_cast<std::int64_t>(*defaults.site));
      origin = defaults.site_text;
    }
    if (defaults.named) {
      state.value = Value(static_cast<std::int64_t>(*defaults.named));
    } else if (const Value* field = Field(name)) {
      auto value = CheckParameter(state.parameter, *field, PlaceOf(name), "default");
      if (value) {
        state.value = *value;
        origin = RecipeOrigin(name);
      } else {
        diagnostics_.insert(diagnostics_.end(), value.error().begin(), value.error().end());
      }
    }
    apply_(state);
    if (state.origin != ParameterOrigin::kDefault) {
      origin = ParameterOriginText(state.origin);
      if (!state.profile.empty()) origin += " " + state.profile;
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
  const std::map<std::string, Place>& places_;
  const Place& recipe_place_;
  const std::function<void(ParameterState&)>& apply_;
  Diagnostics& diagnostics_;
  std::string hosts_text_;
  std::vector<ClusterNumber> numbers_;
};

}  // namespace

Parameter ClusterParameter(std::string_view name, const Place& place) {
  Parameter parameter;
  parameter.name = name;
  parameter.type = ParameterType::kInt;
  parameter.min = name == "hosts" ? 1 : 0;
  parameter.max = 1'000'000;
  if (name == "hosts") parameter.doc = "number of hosts; host_list has names";
  parameter.place = place;
  return parameter;
}

std::int64_t ClusterFacts::all_devices() const {
  return std::accumulate(devices.begin(), devices.end(), std::int64_t{0});
}

std::int64_t ClusterFacts::least_devices() const {
  return devices.empty() ? 0 : *std::min_element(devices.begin(), devices.end());
}

ClusterFacts SettleCluster(const Value& cluster, const std::map<std::string, Place>& places, const Place& recipe_place,
                           const Site& site, std::size_t chosen, const std::function<void(ParameterState&)>& apply,
                           Diagnostics& diagnostics) {
  return ClusterResolver(cluster, places, recipe_place, apply, diagnostics).Settle(site, chosen);
}

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
