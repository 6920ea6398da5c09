#include "plan/environment/site_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "plan/environment/environment.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

tl::unexpected<std::string> Misses(const char* member) {
  return tl::unexpected(std::string("notify has no valid ") + member);
}

const Value* MemberOf(const Value::Map& map, const char* name) {
  const auto found = map.find(name);
  return found == map.end() || found->second.IsNull() ? nullptr : &found->second;
}

// An empty table of Lua is a list.
const Value::Map* TableOf(const Value::Map& map, const char* name) {
  static const Value::Map kEmpty;
  const Value* const member = MemberOf(map, name);
  if (member == nullptr || (member->AsList() != nullptr && member->AsList()->empty())) return &kEmpty;
  return member->AsMap();
}

template <class Take>
bool TakeTexts(const Value::Map& map, const char* name, const Take& take) {
  const Value* const member = MemberOf(map, name);
  if (member == nullptr) return true;
  if (member->AsList() == nullptr) return false;
  for (const Value& text : *member->AsList()) {
    if (text.AsString() == nullptr) return false;
    take(*text.AsString());
  }
  return true;
}

}  // namespace

tl::expected<std::vector<Notification>, std::string> NotificationsFrom(const Value& value) {
  std::vector<Notification> notifications;
  if (value.AsMap() != nullptr && value.AsMap()->empty()) return notifications;
  if (value.AsList() == nullptr) return tl::unexpected<std::string>("notify is no list");
  for (const Value& each : *value.AsList()) {
    if (each.AsMap() == nullptr) return tl::unexpected<std::string>("notify is no list of tables");
    const Value::Map& map = *each.AsMap();
    Notification made;
    made.source = TextField(map, "source");
    made.webhook = Text(TextField(map, "webhook"));
    if (!TakeTexts(map, "command", [&](const std::string& word) { made.command.emplace_back(word); }))
      return Misses("command");
    if (!TakeTexts(map, "on", [&](const std::string& event) { made.on.push_back(event); })) return Misses("on");
    const Value::Map* const env = TableOf(map, "env");
    const Value::Map* const secrets = TableOf(map, "secrets");
    if (env == nullptr) return Misses("env");
    if (secrets == nullptr) return Misses("secrets");
    for (const auto& [name, text] : *env) {
      if (text.AsString() == nullptr) return Misses("env");
      made.env.emplace(name, *text.AsString());
    }
    for (const auto& [name, source] : *secrets) {
      if (source.AsMap() == nullptr) return Misses("secrets");
      made.secrets[name] = {TextField(source, "from_env"), TextField(source, "from_file")};
    }
    notifications.push_back(std::move(made));
  }
  return notifications;
}

namespace {

constexpr std::uint32_t kMaxDevices = 4096;
constexpr std::size_t kMaxLibrary = 64;
constexpr std::size_t kMaxProblemsOfSite = 20;

constexpr std::array<std::string_view, 6> kEngines = {"flux", "gridengine", "kubernetes", "lsf", "pbs", "slurm"};

const std::vector<std::string>& Fields() {
  static const std::vector<std::string> kFields = [] {
    std::vector<std::string> fields = {"hosts",    "hostfile", "devices",   "memory", "transport", "environment",
                                       "run_root", "access",   "libraries", "rules",  "verdicts",  "notify"};
    fields.insert(fields.end(), kEngines.begin(), kEngines.end());
    return fields;
  }();
  return kFields;
}

bool IsLibraryName(const std::string& name) {
  const auto plain = [](char c) { return IsLetterOrDigit(c) || c == '_' || c == '-'; };
  return !name.empty() && name.size() <= kMaxLibrary && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), plain);
}

// Converts one file's table to facts.
class SiteReader {
 public:
  SiteReader(const SiteFile& file, const std::map<std::string, std::uint32_t>& lines) : file_(file), lines_(lines) {}

  Result<SiteFacts> Read(const Value& table) {
    const Value::Map* map = table.AsMap();
    if (map == nullptr) {
      Wrong("type", "", "muster.site expects names and values, got " + ToText(table), "hosts = \"n[01-04]:8\"");
      return Fail(std::move(problems_));
    }
    for (const auto& [name, value] : *map) {
      const std::vector<std::string>& known = Fields();
      if (std::find(known.begin(), known.end(), name) == known.end()) {
        Wrong("unknown_key", name, "a site file has no " + name, DidYouMean(name, known));
      } else {
        Take(name, value);
      }
    }
    if (map->contains("hosts") && map->contains("hostfile")) {
      Wrong("conflict", "hostfile", "hosts and hostfile both name the hosts", "leave one of them out");
    }
    if (!problems_.empty()) return Fail(std::move(problems_));
    return std::move(facts_);
  }

 private:
  Place PlaceOf(const std::string& field) const {
    // The nearest path with a known line: for contents of a computed table, the table's line.
    for (std::string path = field; !path.empty();
         path.resize(path.rfind('.') == std::string::npos ? 0 : path.rfind('.'))) {
      if (const auto line = lines_.find(path); line != lines_.end()) return {file_.shown, line->second};
    }
    return {file_.shown, 0};
  }

  void Wrong(const char* kind, const std::string& field, std::string message, std::string hint = {}) {
    if (problems_.size() >= kMaxProblemsOfSite) return;
    problems_.push_back(Error(kind, PlaceOf(field), std::move(message), std::move(hint)));
  }

  void RecordSource(const std::string& field) {
    const Place place = PlaceOf(field);
    facts_.places[field] = place;
    facts_.sources[field] =
        place.file + (place.line > 0 ? ":" + std::to_string(place.line) : "") + " (" + SiteLevelText(file_.level) + ")";
  }

  // Requires a non-empty text.
  const std::string* TextOf(const std::string& field, const Value& value, const std::string& what,
                            const std::string& hint) {
    const std::string* text = value.AsString();
    if (text != nullptr && !text->empty() && IsUtf8(*text) && text->find('\0') == std::string::npos) return text;
    Wrong("type", field, field + " must be " + what + ", got " + ToText(value), hint);
    return nullptr;
  }

  std::optional<std::string> PathOf(const std::string& field, const Value& value, const std::string& hint) {
    const std::string* text = TextOf(field, value, "a path", hint);
    if (text == nullptr) return std::nullopt;
    if (text->starts_with('/')) return *text;
    if (!text->starts_with("~/")) return file_.folder + "/" + *text;
    if (!file_.home.empty()) return file_.home + text->substr(1);
    Wrong("format", field, field + " is below ~, and it is not known where that is", "HOME is not set");
    return std::nullopt;
  }

  // Requires one of two words.
  template <class E>
  void Word(const std::string& field, const Value& value, std::array<std::pair<const char*, E>, 2> words, E& out) {
    for (const auto& [word, member] : words) {
      if (value.AsString() != nullptr && *value.AsString() == word) {
        out = member;
        return RecordSource(field);
      }
    }
    const std::vector<std::string> known = {words[0].first, words[1].first};
    Wrong("enum", field, field + " must be \"" + known[0] + "\" or \"" + known[1] + "\", got " + ToText(value),
          value.AsString() == nullptr ? "" : DidYouMean(*value.AsString(), known));
  }

  void Take(const std::string& name, const Value& value) {
    if (name == "hosts") return Hosts(value);
    if (name == "devices") return Devices(value);
    if (name == "memory") return Memory(value);
    if (name == "environment") return Environment(value);
    if (name == "libraries") return Libraries(value);
    if (name == "notify") return Notify(value);
    if (std::find(kEngines.begin(), kEngines.end(), name) != kEngines.end()) return Engine(name, value);
    if (name == "transport") {
      return Word<SiteTransport>(name, value, {{{"local", SiteTransport::kLocal}, {"ssh", SiteTransport::kSsh}}},
                                 facts_.transport);
    }
    if (name == "access") {
      return Word<SiteAccess>(name, value, {{{"user", SiteAccess::kUser}, {"group", SiteAccess::kGroup}}},
                              facts_.access);
    }
    if (name == "hostfile") return TakePath(name, value, "hostfile = \"hosts.txt\"", facts_.hostfile);
    if (name == "run_root") return TakePath(name, value, "run_root = \"/scratch/runs\"", facts_.run_root);
    if (name == "verdicts") return TakePath(name, value, "verdicts = \"verdicts.json\"", facts_.verdicts);
    TakePath(name, value, "rules = \"policy.lua\"", facts_.rules);
  }

  void TakePath(const std::string& field, const Value& value, const std::string& hint, std::string& out) {
    auto path = PathOf(field, value, hint);
    if (!path) return;
    out = *std::move(path);
    RecordSource(field);
  }

  void Hosts(const Value& value) {
    std::string text;
    const auto add = [&](const Value& one) {
      if (one.AsString() != nullptr) text += (text.empty() ? "" : ",") + *one.AsString();
      return one.AsString() != nullptr;
    };
    const Value::List* several = value.AsList();
    if (several != nullptr ? several->empty() || !std::all_of(several->begin(), several->end(), add) : !add(value)) {
      return Wrong("type", "hosts", "hosts must be names, got " + ToText(value),
                   "hosts = { \"n[01-04]:8\", \"n5:4\" }");
    }
    auto hosts = ParseHostList(text, "hosts");
    if (!hosts) {
      for (Diagnostic& problem : hosts.error()) {
        problem.place = PlaceOf("hosts");
        problems_.push_back(std::move(problem));
      }
      return;
    }
    facts_.hosts = *std::move(hosts);
    RecordSource("hosts");
  }

  void Devices(const Value& value) {
    const std::int64_t* count = value.AsInt();
    if (count == nullptr || *count < 0 || *count > std::int64_t{kMaxDevices}) {
      return Wrong("range", "devices",
                   "devices must be the number of a host's devices, 0 to 4096, got " + ToText(value), "devices = 8");
    }
    facts_.devices = static_cast<std::uint32_t>(*count);
    RecordSource("devices");
  }

  void Memory(const Value& value) {
    std::optional<std::int64_t> bytes;
    if (value.AsInt() != nullptr) bytes = *value.AsInt();
    if (value.AsString() != nullptr) bytes = ParseBytes(*value.AsString());
    if (!bytes || *bytes < 1) {
      return Wrong("range", "memory", "memory must be the size of a host's memory, got " + ToText(value),
                   "memory = \"512GiB\"");
    }
    facts_.memory = static_cast<std::uint64_t>(*bytes);
    RecordSource("memory");
  }

  void Environment(const Value& value) {
    const std::vector<std::string> known = {"set", "unset", "pass"};
    const Value::Map* map = value.AsMap();
    if (map == nullptr) {
      return Wrong("type", "environment", "environment must be a table, got " + ToText(value),
                   "environment = { set = { NAME = \"value\" }, unset = { \"NAME\", \"PREFIX_*\" } }");
    }
    for (const auto& [name, part] : *map) {
      const std::string field = "environment." + name;
      if (name == "set") {
        Set(part);
      } else if (name == "unset" || name == "pass") {
        Patterns(field, part, name == "unset" ? facts_.environment.unset : facts_.environment.pass);
      } else {
        Wrong("unknown_key", field, "environment of a site file has no " + name, DidYouMean(name, known));
      }
    }
  }

  void Set(const Value& value) {
    const Value::Map* map = value.AsMap();
    if (map == nullptr) {
      return Wrong("type", "environment.set", "environment.set must be a table of variables, got " + ToText(value),
                   "set = { NCCL_SOCKET_IFNAME = \"ib0\" }");
    }
    for (const auto& [name, variable] : *map) {
      const std::string field = "environment.set." + name;
      std::string text;
      if (variable.AsString() != nullptr) {
        text = *variable.AsString();
      } else if (variable.IsNumber()) {
        text = ToText(variable);
      } else {
        Wrong("type", field, "the variable " + name + " must be a text or a number, got " + ToText(variable));
        continue;
      }
      const auto own = StandardVariableNames();
      if (!IsVariableName(name) || !IsVariableValue(text) || text.find(kPlaceholderOpen) != std::string::npos) {
        Wrong("variable", field, "no variable can be " + name + " = " + ToText(variable),
              "UTF-8 without NUL, and no '=' in the name");
      } else if (std::find(own.begin(), own.end(), name) != own.end()) {
        Wrong("variable", field, "the variable " + name + " is muster's own", "muster sets it for every process");
      } else {
        facts_.environment.set[name] = text;
        RecordSource(field);
      }
    }
  }

  void Patterns(const std::string& field, const Value& value, std::vector<std::string>& out) {
    const Value::List* list = value.AsList();
    bool readable = list != nullptr && !list->empty();
    for (std::size_t i = 0; readable && i < list->size(); ++i) {
      const std::string* pattern = (*list)[i].AsString();
      readable = pattern != nullptr && IsVariableName(*pattern) && pattern->find('*') >= pattern->size() - 1;
      if (readable) out.push_back(*pattern);
    }
    if (readable) return RecordSource(field);
    out.clear();
    Wrong("variable", field, field + " must be a list of variables, NAME or PREFIX*, got " + ToText(value),
          "{ \"LD_PRELOAD\", \"OMPI_*\" }");
  }

  void Libraries(const Value& value) {
    const Value::Map* map = value.AsMap();
    if (map == nullptr) {
      return Wrong("type", "libraries", "libraries must be folders by name, got " + ToText(value),
                   "libraries = { acme = \"libraries/acme\" }");
    }
    for (const auto& [key, folder] : *map) {
      const std::string field = "libraries." + key;
      const std::string name = key.starts_with('@') ? key.substr(1) : key;
      if (!IsLibraryName(name) || name == "rules" || name == "site") {
        Wrong("format", field, "no library can be called " + ToText(Value(name)),
              name == "rules" || name == "site" ? "this name is muster's own" : "letters, digits, '_' and '-'");
        continue;
      }
      auto path = PathOf(field, folder, name + " = \"libraries/acme\"");
      if (!path) continue;
      facts_.libraries[name] = *std::move(path);
      RecordSource(field);
      if (name != key) {
        facts_.places["libraries." + name] = PlaceOf(field);
        facts_.sources["libraries." + name] = facts_.sources[field];
      }
    }
  }

  void Notify(const Value& value) {
    auto notifications = NotificationsFrom(value);
    if (!notifications) return Wrong("type", "notify", notifications.error());
    facts_.notifications = *std::move(notifications);
    RecordSource("notify");
  }

  // Checked against the engine's page where it is used.
  void Engine(const std::string& engine, const Value& value) {
    if (value.AsList() != nullptr && value.AsList()->empty()) return;
    if (value.AsMap() == nullptr) {
      return Wrong("type", engine, engine + " is a table of options, got " + ToText(value),
                   engine == "slurm" ? "slurm = { partition = \"gpu\", account = \"physics\" }" : "");
    }
    for (const auto& [name, option] : *value.AsMap()) {
      facts_.engines[engine][name] = option;
      RecordSource(engine + "." + name);
    }
  }

  const SiteFile& file_;
  const std::map<std::string, std::uint32_t>& lines_;
  SiteFacts facts_;
  Diagnostics problems_;
};

}  // namespace

std::span<const std::string_view> EnginesOfSiteFiles() { return kEngines; }

std::string SiteLevelText(SiteLevel level) {
  switch (level) {
    case SiteLevel::kProject:
      return "project site file";
    case SiteLevel::kUser:
      return "user site file";
    case SiteLevel::kSystem:
      return "system site file";
    case SiteLevel::kGiven:
      break;
  }
  return "site file";
}

Result<SiteFacts> ReadSiteFacts(const SiteFile& file, const Value& table,
                                const std::map<std::string, std::uint32_t>& lines) {
  return SiteReader(file, lines).Read(table);
}

SiteFacts MergedSiteFacts(std::span<const SiteFacts> nearest_first) {
  SiteFacts merged;
  for (const SiteFacts& facts : nearest_first) {
    const auto take_source = [&](const std::string& field) {
      if (const auto place = facts.places.find(field); place != facts.places.end())
        merged.places[field] = place->second;
      if (const auto text = facts.sources.find(field); text != facts.sources.end())
        merged.sources[field] = text->second;
    };
    const auto take = [&](const char* field, auto& out, const auto& said) {
      if (merged.sources.contains(field) || !facts.sources.contains(field)) return;
      out = said;
      take_source(field);
    };
    // Both fields define the hosts, so the nearest file with either of them overrides both in farther files.
    if (!merged.sources.contains("hosts") && !merged.sources.contains("hostfile")) {
      take("hosts", merged.hosts, facts.hosts);
      take("hostfile", merged.hostfile, facts.hostfile);
    }
    take("devices", merged.devices, facts.devices);
    take("memory", merged.memory, facts.memory);
    take("transport", merged.transport, facts.transport);
    take("run_root", merged.run_root, facts.run_root);
    take("access", merged.access, facts.access);
    take("rules", merged.rules, facts.rules);
    take("verdicts", merged.verdicts, facts.verdicts);
    merged.notifications.insert(merged.notifications.end(), facts.notifications.begin(), facts.notifications.end());
    if (!merged.sources.contains("notify")) take_source("notify");
    take("environment.unset", merged.environment.unset, facts.environment.unset);
    take("environment.pass", merged.environment.pass, facts.environment.pass);
    for (const auto& [name, value] : facts.environment.set) {
      if (merged.environment.set.emplace(name, value).second) take_source("environment.set." + name);
    }
    for (const auto& [engine, options] : facts.engines) {
      for (const auto& [name, value] : options) {
        if (merged.engines[engine].emplace(name, value).second) take_source(engine + "." + name);
      }
    }
    for (const auto& [name, folder] : facts.libraries) {
      if (merged.libraries.emplace(name, folder).second) take_source("libraries." + name);
    }
  }
  return merged;
}

}  // namespace muster
