#include "settings/schema/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>

#include "base/values/diagnostics.h"
#include "settings/schema/schema_records.h"

namespace muster {

// Parses and formats releases.

namespace {

std::optional<std::uint32_t> TakeNumber(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > 9999) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<Release> ParseRelease(std::string_view text) {
  std::array<std::uint32_t, 3> numbers{};
  std::size_t count = 0;
  while (count < numbers.size()) {
    if (count > 0) {
      if (!text.starts_with('.')) break;
      text.remove_prefix(1);
    }
    const auto number = TakeNumber(text);
    if (!number) return std::nullopt;
    numbers[count++] = *number;
  }
  if (count < 2) return std::nullopt;
  Release release{numbers[0], numbers[1], numbers[2], Release::kFinal};
  if (text.starts_with("-rc")) {
    text.remove_prefix(3);
    const auto candidate = TakeNumber(text);
    if (!candidate) return std::nullopt;
    release.candidate = *candidate;
  }
  if (!text.empty()) return std::nullopt;
  return release;
}

std::string ReleaseText(const Release& release) {
  std::string text =
      std::to_string(release.major) + '.' + std::to_string(release.minor) + '.' + std::to_string(release.patch);
  if (release.candidate != Release::kFinal) text += "-rc" + std::to_string(release.candidate);
  return text;
}

std::string GetterName(std::string_view api) { return "g" + std::string(api.substr(1)); }

std::string KeyOf(std::string_view api, std::string_view name) {
  std::string key;
  key.reserve(api.size() + 1 + name.size());
  return key.append(api).append(1, '.').append(name);
}

bool IsKeyOf(std::string_view key, std::string_view api, std::string_view name) {
  return key.size() == api.size() + 1 + name.size() && key.ends_with(name) && key.starts_with(api) &&
         key[api.size()] == '.';
}

std::string ValueKey(const Value& value) {
  const std::string* text = value.AsString();
  return text == nullptr ? ToText(value) : *text;
}

std::optional<Value> Translated(const Attribute& from, const Value& value) {
  if (from.shared_values.empty()) return value;
  const auto found = from.shared_values.find(ValueKey(value));
  return found == from.shared_values.end() ? std::nullopt : std::optional(found->second);
}

// Lookup in the schema: the attributes that a function has in a release.

namespace {

bool Overlap(const Attribute& a, const Attribute& b) {
  const bool a_ends_first = a.until && *a.until < b.since;
  const bool b_ends_first = b.until && *b.until < a.since;
  return !a_ends_first && !b_ends_first;
}

std::optional<std::string> TextField(const Value::Map& record, const std::string& key) {
  const auto found = record.find(key);
  if (found == record.end()) return std::string();
  const std::string* text = found->second.AsString();
  return text == nullptr ? std::nullopt : std::optional(*text);
}

Result<ReleaseFacts> ReleaseFromValue(const Value& value, const Place& place) {
  const Value::Map* record = value.AsMap();
  if (record == nullptr)
    return Fail(Error("schema", place, "a release record must be a table that begins with a release"));
  for (const auto& [key, unused] : *record) {
    if (key != "1" && key != "short" && key != "described" && key != "described_from" && key != "doc") {
      return Fail(Error("schema", place, "release record with the unknown field \"" + key + "\""));
    }
  }
  const auto text = TextField(*record, "1");
  const auto short_name = TextField(*record, "short");
  const auto doc = TextField(*record, "doc");
  const auto described_from = TextField(*record, "described_from");
  const auto release = text ? ParseRelease(*text) : std::nullopt;
  const auto described = record->find("described");
  const bool described_is_bool = described == record->end() || described->second.AsBool() != nullptr;
  if (!release || !short_name || !doc || !described_from || !described_is_bool) {
    return Fail(Error("schema", place, "release record without a release as text, or with fields of a wrong type"));
  }
  ReleaseFacts facts{*release, *short_name, described != record->end() && *described->second.AsBool(), *doc,
                     *described_from};
  return facts;
}

// Calls `add` for each record of a list; an empty Lua table may arrive as an empty map.
template <class Add>
Diagnostics ForEachRecord(const Value& records, const Place& place, Add add) {
  if (const Value::Map* map = records.AsMap(); map != nullptr && map->empty()) return {};
  const Value::List* list = records.AsList();
  if (list == nullptr) return {Error("schema", place, "a schema file must return a list of records")};
  Diagnostics problems;
  for (const Value& record : *list) {
    for (Diagnostic& problem : add(record)) problems.push_back(std::move(problem));
  }
  return problems;
}

// For an attribute, or a sub-key of one, that moved to a function or parameter that is not described.
void AddMovesToNowhere(const Schema& schema, const Attribute& attribute, const Place& place, Diagnostics& problems) {
  for (const Attribute& key : attribute.keys) AddMovesToNowhere(schema, key, place, problems);
  if (attribute.moved.function.empty()) return;
  const Function* function = schema.FindCall(attribute.moved.function);
  const std::string parameter = function == nullptr ? "" : ParameterOf(attribute.moved, *function);
  if (!parameter.empty() && schema.attributes(function->name).contains(parameter)) return;
  problems.push_back(Error("schema", place,
                           "attribute record \"" + attribute.name + "\" moved to no parameter of a function: " +
                               attribute.moved.function + " " + attribute.moved.parameter));
}

// Completes an attribute that has the sub-keys of another one; false if there is no such other one.
using Complete = std::function<bool(Attribute&)>;

Diagnostics AddRecords(Schema::ByName& by_name, std::string_view api, const Value& records, const Place& place,
                       const Complete& complete) {
  return ForEachRecord(records, place, [&](const Value& record) -> Diagnostics {
    auto attributes = AttributesFromValue(api, record, place);
    if (!attributes) return attributes.error();
    for (Attribute& attribute : *attributes) {
      if (!complete(attribute)) {
        return {Error("schema", place,
                      "attribute \"" + attribute.name + "\" has the sub-keys of \"" + attribute.keys_of +
                          "\", which has none in release " + ReleaseText(attribute.since))};
      }
    }
    std::vector<Attribute>& same_name = by_name[attributes->front().name];
    same_name.reserve(same_name.size() + attributes->size());
    for (Attribute& attribute : *attributes) {
      for (const Attribute& known : same_name) {
        if (Overlap(known, attribute)) {
          return {Error("schema", place,
                        "attribute \"" + attribute.name + "\" has two records for release " +
                            ReleaseText(std::max(known.since, attribute.since)))};
        }
      }
      const auto later = std::find_if(same_name.begin(), same_name.end(),
                                      [&](const Attribute& known) { return attribute.since < known.since; });
      same_name.insert(later, std::move(attribute));
    }
    return {};
  });
}

const Attribute* FindIn(const Schema::ByName& by_name, std::string_view name, const Release& release) {
  const auto found = by_name.find(name);
  if (found == by_name.end()) return nullptr;
  for (const Attribute& attribute : found->second) {
    if (attribute.ExistsIn(release)) return &attribute;
  }
  return nullptr;
}

}  // namespace

Diagnostics Schema::AddReleases(const Value& records, const Place& place) {
  return ForEachRecord(records, place, [&](const Value& record) -> Diagnostics {
    auto facts = ReleaseFromValue(record, place);
    if (!facts) return facts.error();
    for (const ReleaseFacts& known : releases_) {
      if (known.release == facts->release || (!facts->short_name.empty() && known.short_name == facts->short_name)) {
        return {Error("schema", place, "release " + ReleaseText(facts->release) + " or its short name is given twice")};
      }
    }
    releases_.push_back(std::move(*facts));
    std::sort(releases_.begin(), releases_.end(), [](auto& a, auto& b) { return a.release < b.release; });
    return {};
  });
}

Diagnostics Schema::AddRules(const Value& records, const Place& place) {
  return ForEachRecord(records, place, [&](const Value& record) -> Diagnostics {
    auto rule = RuleFromValue(record, place);
    if (!rule) return rule.error();
    const auto trouble = [&](const std::string& what) -> Diagnostics {
      return {Error("schema", place, "rule \"" + rule->name + "\" " + what)};
    };
    for (const Rule& known : rules_) {
      if (known.name == rule->name) return trouble("is given twice");
    }
    std::vector<std::string> paths = {rule->about};
    for (const auto* conditions : {&rule->when, &rule->unless}) {
      for (const auto& [path, condition] : *conditions) {
        paths.push_back(path);
        if (!condition.above_value_of.empty()) paths.push_back(condition.above_value_of);
      }
    }
    for (const std::string& path : paths) {
      const std::size_t dot = path.find('.');
      const std::string api = path.substr(0, dot);
      const std::string name = dot == std::string::npos ? "" : path.substr(dot + 1, path.find('.', dot + 1) - dot - 1);
      const bool known = api == kJobFacts || (name.empty() ? Knows(api) && path == rule->about
                                                           : attributes(api).find(name) != attributes(api).end());
      if (!known) return trouble("names \"" + path + "\", which there is not");
    }
    rules_.push_back(std::move(*rule));
    return {};
  });
}

Diagnostics Schema::Add(std::string_view api, const Value& records, const Place& place) {
  const auto complete = [&](Attribute& attribute) {
    if (attribute.keys_of.empty()) return true;
    const std::size_t dot = attribute.keys_of.find('.');
    if (dot == std::string::npos) return false;
    const Attribute* other = Find(attribute.keys_of.substr(0, dot), attribute.keys_of.substr(dot + 1), attribute.since);
    if (other == nullptr || other->keys.empty()) return false;
    attribute.keys = other->keys;
    return true;
  };
  return AddRecords(functions_.try_emplace(std::string(api)).first->second, api, records, place, complete);
}

Diagnostics Schema::AddFunctions(const Value& records, const Place& place) {
  Diagnostics problems = ForEachRecord(records, place, [&](const Value& record) -> Diagnostics {
    auto read = FunctionFromValue(record, place);
    if (!read) return read.error();
    Diagnostics found = Add(read->function.name, Value(std::move(read->parameters)), place);
    calls_.emplace(read->function.name, std::move(read->function));
    return found;
  });
  for (const auto& [api, names] : functions_) {
    for (const auto& [name, kinds] : names) {
      for (const Attribute& attribute : kinds) AddMovesToNowhere(*this, attribute, place, problems);
    }
  }
  return problems;
}

std::string ParameterOf(const Move& move, const Function& function) {
  if (!move.parameter.empty()) return move.parameter;
  if (function.parameters.empty()) return std::string(kCalled);
  return function.parameters.size() == 1 ? function.parameters.front() : "";
}

Diagnostics Schema::AddFiles(const Value& records, const Place& place) {
  const auto complete = [](const Attribute& attribute) { return attribute.keys_of.empty(); };
  Diagnostics problems = AddRecords(files_, {}, records, place, complete);
  for (const auto& [name, kinds] : files_) {
    if (!kinds.front().Is(Kind::kDict)) problems.push_back(Error("schema", place, "file \"" + name + "\" is no dict"));
  }
  return problems;
}

Result<Release> Schema::FindRelease(std::string_view text, const Place& place) const {
  std::vector<std::string> described;
  for (const ReleaseFacts& facts : releases_) {
    if (facts.described) described.push_back(facts.short_name.empty() ? ReleaseText(facts.release) : facts.short_name);
  }
  std::string known;
  for (const std::string& name : described) known += (known.empty() ? "described: " : ", ") + name;
  for (const ReleaseFacts& facts : releases_) {
    if (facts.short_name != text && ReleaseText(facts.release) != text) continue;
    if (facts.described) return facts.release;
    return Fail(Error("release", place,
                      "the context API of MindSpore " + ReleaseText(facts.release) + " is not described by this muster",
                      known));
  }
  return Fail(
      Error("release", place, "\"" + std::string(text) + "\" is no MindSpore release that muster knows", known));
}

const Attribute* Schema::Find(std::string_view api, std::string_view name, const Release& release) const {
  return FindIn(attributes(api), name, release);
}

const Attribute* Schema::FindFile(std::string_view name, const Release& release) const {
  return FindIn(files_, name, release);
}

const Attribute* Schema::FindInAnyRelease(std::string_view api, std::string_view name, const Release& release) const {
  const auto& by_name = attributes(api);
  const auto found = by_name.find(name);
  if (found == by_name.end() || found->second.empty()) return nullptr;
  for (const Attribute& attribute : found->second) {
    if (attribute.ExistsIn(release) || release < attribute.since) return &attribute;
  }
  return &found->second.back();
}

std::vector<std::string> Schema::Names(std::string_view api, const Release& release) const {
  std::vector<std::string> names;
  for (const auto& [name, unused] : attributes(api)) {
    const Attribute* attribute = Find(api, name, release);
    if (attribute != nullptr && !attribute->documented_only) names.push_back(name);
  }
  return names;
}

std::optional<std::string> Schema::OtherFunctionWith(std::string_view api, std::string_view name,
                                                     const Release& release) const {
  for (const std::string& other : Functions()) {
    const Attribute* attribute = other == api ? nullptr : Find(other, name, release);
    if (attribute != nullptr && !attribute->documented_only) return other;
  }
  return std::nullopt;
}

bool Schema::Knows(std::string_view api) const { return functions_.find(api) != functions_.end(); }

bool Schema::Knows(std::string_view api, const Release& release) const {
  const ByName& by_name = attributes(api);
  return std::any_of(by_name.begin(), by_name.end(),
                     [&](const auto& named) { return Find(api, named.first, release) != nullptr; });
}

std::optional<Release> Schema::FirstRelease(std::string_view api) const {
  std::optional<Release> first;
  for (const auto& [name, attributes_of_name] : attributes(api)) {
    for (const Attribute& attribute : attributes_of_name) {
      if (!first || attribute.since < *first) first = attribute.since;
    }
  }
  return first;
}

std::string Schema::ReservationAbout(const Release& release) const {
  for (const ReleaseFacts& facts : releases_) {
    if (facts.release == release && !facts.described_from.empty()) {
      return "MindSpore " + ReleaseText(release) + " is described from " + facts.described_from;
    }
  }
  return {};
}

std::optional<Schema::OwnName> Schema::FindOwnName(std::string_view api, std::string_view name,
                                                   const Release& release) const {
  for (const auto& [table_name, unused] : attributes(api)) {
    const Attribute* table = Find(api, table_name, release);
    if (table == nullptr) continue;
    for (const Attribute& key : table->keys) {
      if (key.own_name && key.name == name && key.ExistsIn(release)) return OwnName{table, &key};
    }
  }
  return std::nullopt;
}

std::optional<Diagnostic> Schema::MissingConstant(std::string_view name, const Release& release,
                                                  const Place& place) const {
  const Attribute* first = nullptr;
  const Value* value = nullptr;
  const std::string group = std::string(name) + ".";
  for (const auto& [api, by_name] : functions_) {
    for (const auto& [unused, attributes_of_name] : by_name) {
      for (const Attribute& attribute : attributes_of_name) {
        const auto found = attribute.constants.lower_bound(std::string(name));
        if (found == attribute.constants.end()) continue;
        const bool exact = found->first == name;
        if (!exact && !found->first.starts_with(group)) continue;
        if (attribute.ExistsIn(release)) return std::nullopt;
        if (first != nullptr && first->since < attribute.since) continue;
        first = &attribute;
        value = exact ? &found->second : nullptr;
      }
    }
  }
  if (first == nullptr) return std::nullopt;
  const bool later = release < first->since;
  return Error("release", place,
               "context." + std::string(name) + " is not in MindSpore " + ReleaseText(release) +
                   (later ? ": only from " + ReleaseText(first->since) + " on" : ": it has been removed"),
               "write the value of " + first->name + " itself" + (value == nullptr ? "" : ": " + ToText(*value)));
}

std::vector<std::string> Schema::Functions() const {
  std::vector<std::string> names;
  for (const auto& [name, unused] : functions_) {
    if (!calls_.contains(name)) names.push_back(name);
  }
  return names;
}

const Function* Schema::FindCall(std::string_view name) const {
  const auto found = calls_.find(name);
  return found == calls_.end() ? nullptr : &found->second;
}

const Schema::ByName& Schema::attributes(std::string_view api) const {
  static const ByName kNone;
  const auto found = functions_.find(api);
  return found == functions_.end() ? kNone : found->second;
}

namespace {

// The dict attribute of the function that has `name` as a sub-key, or as a sub-key of a sub-key.
std::string DictWith(const Schema& schema, const Release& release, std::string_view api, const std::string& name) {
  for (const std::string& candidate : schema.Names(api, release)) {
    const Attribute* attribute = schema.Find(api, candidate, release);
    for (const Attribute& key : attribute->keys) {
      if (attribute->Is(Kind::kDict) && key.name == name && key.ExistsIn(release)) return candidate;
    }
  }
  return {};
}

struct RemovedKey {
  std::string table;
  const Attribute* key = nullptr;
};

// The sub-key of that name that native code knew by its own name in earlier releases.
RemovedKey RemovedSubKey(const Schema& schema, const Release& release, std::string_view api, const std::string& name) {
  for (const std::string& candidate : schema.Names(api, release)) {
    for (const Attribute& key : schema.Find(api, candidate, release)->keys) {
      if (key.own_name && key.name == name && key.since < release && !key.ExistsIn(release)) return {candidate, &key};
    }
  }
  return {};
}

// The attribute that MindSpore knows as `name`.
std::string OwnNameOf(const Schema& schema, const Release& release, std::string_view api, const std::string& name) {
  for (const std::string& candidate : schema.Names(api, release)) {
    if (schema.Find(api, candidate, release)->passed_as == name) return candidate;
  }
  return {};
}

// An attribute of this release that `name` was renamed to, or that was later renamed to `name`.
std::string OtherName(const Schema& schema, const Release& release, std::string_view api, const Attribute& elsewhere) {
  if (!elsewhere.successor.empty() && schema.Find(api, elsewhere.successor, release) != nullptr) {
    return elsewhere.successor;
  }
  for (const std::string& candidate : schema.Names(api, release)) {
    if (schema.FindInAnyRelease(api, candidate, release)->successor == elsewhere.name) return candidate;
  }
  return {};
}

}  // namespace

Diagnostic UnknownKey(const Schema& schema, const Release& release, std::string_view api, const std::string& name,
                      const Place& place, std::string_view called) {
  const bool reads = !called.empty();
  const std::string function(reads ? called : api);
  const auto shown = [&](const std::string& other) { return reads ? GetterName(other) : other; };
  const std::string version = "MindSpore " + ReleaseText(release);
  if (const Attribute* named = schema.Find(api, name, release); named != nullptr && named->documented_only) {
    return Error("unknown_key", place,
                 function + " has no attribute \"" + name + "\" in " + version + ", although a document names it",
                 named->successor.empty() ? "" : "use " + named->successor);
  }
  if (const std::string own = OwnNameOf(schema, release, api, name); !own.empty()) {
    return Error("unknown_key", place, function + " has no attribute \"" + name + "\" in " + version,
                 reads ? "read " + own : "write " + own + " = …, which is passed on as " + name);
  }
  if (const auto other = schema.OtherFunctionWith(api, name, release)) {
    return Error("unknown_key", place, function + " has no attribute \"" + name + "\" in " + version,
                 name + " belongs to " + shown(*other));
  }
  if (const std::string dict = DictWith(schema, release, api, name); !dict.empty()) {
    return Error("use_nested_dict", place,
                 name + (reads ? " can not be read" : " can not be given") + " on its own in " + version,
                 reads ? "read " + dict + ", whose sub-key it is" : "write " + dict + " = { " + name + " = … }");
  }
  if (const Attribute* elsewhere = schema.FindInAnyRelease(api, name, release)) {
    const bool later = release < elsewhere->since;
    const std::string other_name = OtherName(schema, release, api, *elsewhere);
    return Error("release", place,
                 name + " is not in " + version +
                     (later ? ": only from " + ReleaseText(elsewhere->since) + " on" : ": it has been removed"),
                 !other_name.empty()                       ? "use " + other_name
                 : !later && !elsewhere->successor.empty() ? "use " + elsewhere->successor
                                                           : "");
  }
  if (const RemovedKey removed = RemovedSubKey(schema, release, api, name); removed.key != nullptr) {
    return Error("release", place, removed.table + "." + name + " is not in " + version + ": it has been removed",
                 removed.key->successor.empty() ? "" : "use " + removed.key->successor);
  }
  const std::vector<std::string> names = schema.Names(api, release);
  std::string hint;
  if (!Nearest(name, names)) {
    for (const std::string& other : schema.Functions()) {
      const auto nearest = Nearest(name, schema.Names(other, release));
      if (nearest && hint.empty()) hint = "did you mean \"" + *nearest + "\" of " + shown(other) + "?";
    }
  }
  if (hint.empty()) hint = DidYouMean(name, names);
  return Error("unknown_key", place, function + " has no attribute \"" + name + "\" in " + version, std::move(hint));
}

std::optional<Diagnostic> UnknownFunction(const Schema& schema, const Release& release, std::string_view api,
                                          std::string_view called, const Place& place) {
  if (!schema.Knows(api)) {
    std::vector<std::string> functions = schema.Functions();
    if (called.starts_with("get_")) {
      for (std::string& function : functions) function = GetterName(function);
    }
    return Error("unknown_function", place, "muster.context has no " + std::string(called),
                 DidYouMean(called, functions));
  }
  if (schema.Knows(api, release)) return std::nullopt;
  const auto first = schema.FirstRelease(api);
  const bool later = first && release < *first;
  return Error("release", place,
               std::string(called) + " is not in MindSpore " + ReleaseText(release) +
                   (later ? ": only from " + ReleaseText(*first) + " on" : ": it has been removed"));
}

}  // namespace muster
