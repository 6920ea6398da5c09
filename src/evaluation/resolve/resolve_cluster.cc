#include "evaluation/resolve/resolve_cluster.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "plan/hosts/host_list.h"

namespace muster {
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

}  // namespace muster
