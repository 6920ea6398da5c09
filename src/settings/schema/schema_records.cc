#include "settings/schema/schema_records.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/values/diagnostics.h"
#include "muster/value.h"
#include "wire/archive/value_archive.h"

// Reads fields of schema records: values of the types that records consist of. Independent of particular fields.

namespace muster::record {

// What is wrong with a field, as the end of a sentence ("must be text"); empty if it is valid.
using Trouble = std::string;

Trouble Read(const Value& value, bool& out);
Trouble Read(const Value& value, std::string& out);
Trouble Read(const Value& value, std::optional<bool>& out);
Trouble Read(const Value& value, std::optional<double>& out);
Trouble Read(const Value& value, Value& out);
Trouble Read(const Value& value, std::map<std::string, Value>& out);
Trouble Read(const Value& value, Release& out);
// A last release: "1.9" means every 1.9.
Trouble Read(const Value& value, std::optional<Release>& out);
// { document = "API page of 1.6", behaviour = "fails when …" }; at least one of the two.
Trouble Read(const Value& value, RuleSource& out);
Trouble Read(const Value& value, std::map<std::string, RuleSource>& out);

template <class T>
Trouble Read(const Value& value, std::vector<T>& out) {
  // An empty Lua table may be a list or a map.
  if (const Value::Map* map = value.AsMap(); map != nullptr && map->empty()) return out.clear(), "";
  const Value::List* list = value.AsList();
  if (list == nullptr) return "must be a list";
  out.clear();
  for (const Value& element : *list) {
    if (Trouble trouble = Read(element, out.emplace_back()); !trouble.empty())
      return "holds an element that " + trouble;
  }
  return "";
}

}  // namespace muster::record

namespace muster::record {

Trouble Read(const Value& value, bool& out) {
  if (const bool* held = value.AsBool()) return out = *held, "";
  return "must be true or false";
}

Trouble Read(const Value& value, std::string& out) {
  if (const std::string* held = value.AsString()) return out = *held, "";
  return "must be text";
}

Trouble Read(const Value& value, std::optional<bool>& out) {
  bool held = false;
  const Trouble trouble = Read(value, held);
  if (trouble.empty()) out = held;
  return trouble;
}

Trouble Read(const Value& value, std::optional<double>& out) {
  if (!value.IsNumber()) return "must be a number";
  out = value.Number();
  return "";
}

Trouble Read(const Value& value, Value& out) {
  out = value;
  return "";
}

Trouble Read(const Value& value, std::map<std::string, Value>& out) {
  const Value::Map* map = value.AsMap();
  if (map == nullptr) return "must be a table with names";
  out = *map;
  return "";
}

Trouble Read(const Value& value, Release& out) {
  const std::string* text = value.AsString();
  const auto release = text == nullptr ? std::nullopt : ParseRelease(*text);
  if (!release) return "must be a release as text, such as \"1.6.2\"";
  out = *release;
  return "";
}

Trouble Read(const Value& value, std::optional<Release>& out) {
  Release release;
  if (Trouble trouble = Read(value, release); !trouble.empty()) return trouble;
  const std::string& text = *value.AsString();
  if (std::count(text.begin(), text.end(), '.') == 1) release.patch = std::numeric_limits<std::uint32_t>::max();
  out = release;
  return "";
}

Trouble Read(const Value& value, RuleSource& out) {
  const Value::Map* map = value.AsMap();
  if (map == nullptr || map->empty()) return "must name its document or MindSpore's behaviour";
  out = {};
  for (const auto& [key, text] : *map) {
    if (key != "document" && key != "behaviour") return "has a source with the unknown field \"" + key + "\"";
    if (Trouble trouble = Read(text, key == "document" ? out.document : out.behaviour); !trouble.empty()) {
      return "has a source whose " + key + " " + trouble;
    }
  }
  return "";
}

Trouble Read(const Value& value, std::map<std::string, RuleSource>& out) {
  const Value::Map* map = value.AsMap();
  if (map == nullptr) return "must be a table with names";
  out.clear();
  for (const auto& [name, source] : *map) {
    if (Trouble trouble = Read(source, out[name]); !trouble.empty()) return "holds \"" + name + "\", which " + trouble;
  }
  return "";
}

}  // namespace muster::record

namespace muster {

// The fields of an attribute, described once for records and archives. What values a field may have is checked where
// records are read.

template <class T>
struct AttributeField {
  std::string_view name;  // in a record
  T Attribute::*member;
};
template <class T>
AttributeField(std::string_view, T Attribute::*) -> AttributeField<T>;

// All members but `api`, which no record holds.
inline constexpr auto kAttributeFields = std::tuple{AttributeField{"1", &Attribute::name},
                                                    AttributeField{"kind", &Attribute::kinds},
                                                    AttributeField{"min", &Attribute::min},
                                                    AttributeField{"max", &Attribute::max},
                                                    AttributeField{"above", &Attribute::above},
                                                    AttributeField{"documented_max", &Attribute::documented_max},
                                                    AttributeField{"no_effect_up_to", &Attribute::no_effect_up_to},
                                                    AttributeField{"also", &Attribute::also},
                                                    AttributeField{"whole", &Attribute::whole},
                                                    AttributeField{"ascending", &Attribute::ascending},
                                                    AttributeField{"not_empty", &Attribute::not_empty},
                                                    AttributeField{"null", &Attribute::null},
                                                    AttributeField{"choices", &Attribute::choices},
                                                    AttributeField{"aliases", &Attribute::aliases},
                                                    AttributeField{"constants", &Attribute::constants},
                                                    AttributeField{"keys", &Attribute::keys},
                                                    AttributeField{"keys_of", &Attribute::keys_of},
                                                    AttributeField{"required", &Attribute::required},
                                                    AttributeField{"always", &Attribute::always},
                                                    AttributeField{"when", &Attribute::when},
                                                    AttributeField{"needs", &Attribute::needs},
                                                    AttributeField{"fits", &Attribute::fits},
                                                    AttributeField{"adds_up", &Attribute::adds_up},
                                                    AttributeField{"default", &Attribute::default_value},
                                                    AttributeField{"default_on", &Attribute::default_on},
                                                    AttributeField{"default_text", &Attribute::default_text},
                                                    AttributeField{"reads", &Attribute::reads},
                                                    AttributeField{"read_values", &Attribute::read_values},
                                                    AttributeField{"read_keys", &Attribute::read_keys},
                                                    AttributeField{"own_name", &Attribute::own_name},
                                                    AttributeField{"same_as", &Attribute::same_as},
                                                    AttributeField{"replaces", &Attribute::replaces},
                                                    AttributeField{"passed_as", &Attribute::passed_as},
                                                    AttributeField{"tells_if_set", &Attribute::tells_if_set},
                                                    AttributeField{"since", &Attribute::since},
                                                    AttributeField{"until", &Attribute::until},
                                                    AttributeField{"devices", &Attribute::devices},
                                                    AttributeField{"enforced", &Attribute::enforced},
                                                    AttributeField{"pynative", &Attribute::pynative},
                                                    AttributeField{"carried_modes", &Attribute::carried_modes},
                                                    AttributeField{"needs_pynative", &Attribute::needs_pynative},
                                                    AttributeField{"graph_with", &Attribute::graph_with},
                                                    AttributeField{"graph_env", &Attribute::graph_env},
                                                    AttributeField{"modes", &Attribute::modes},
                                                    AttributeField{"modes_documented", &Attribute::modes_documented},
                                                    AttributeField{"divides", &Attribute::divides},
                                                    AttributeField{"below", &Attribute::below},
                                                    AttributeField{"shares", &Attribute::shares},
                                                    AttributeField{"shared_values", &Attribute::shared_values},
                                                    AttributeField{"file", &Attribute::file},
                                                    AttributeField{"auto_port", &Attribute::auto_port},
                                                    AttributeField{"writes", &Attribute::writes},
                                                    AttributeField{"written_if", &Attribute::written_if},
                                                    AttributeField{"rank_from", &Attribute::rank_from},
                                                    AttributeField{"absolute", &Attribute::absolute},
                                                    AttributeField{"characters", &Attribute::characters},
                                                    AttributeField{"name_max", &Attribute::name_max},
                                                    AttributeField{"suffix", &Attribute::suffix},
                                                    AttributeField{"only_warns", &Attribute::only_warns},
                                                    AttributeField{"ignores_unknown", &Attribute::ignores_unknown},
                                                    AttributeField{"flags", &Attribute::flags},
                                                    AttributeField{"sources", &Attribute::sources},
                                                    AttributeField{"freezes", &Attribute::freezes},
                                                    AttributeField{"reset_first", &Attribute::reset_first},
                                                    AttributeField{"per_process", &Attribute::per_process},
                                                    AttributeField{"secret", &Attribute::secret},
                                                    AttributeField{"undocumented", &Attribute::undocumented},
                                                    AttributeField{"documented_only", &Attribute::documented_only},
                                                    AttributeField{"deprecated", &Attribute::deprecated},
                                                    AttributeField{"withdrawn", &Attribute::withdrawn},
                                                    AttributeField{"moved", &Attribute::moved},
                                                    AttributeField{"successor", &Attribute::successor},
                                                    AttributeField{"kept_on_reset", &Attribute::kept_on_reset},
                                                    AttributeField{"group", &Attribute::group},
                                                    AttributeField{"area", &Attribute::area},
                                                    AttributeField{"doc", &Attribute::doc},
                                                    AttributeField{"rule", &Attribute::rule}};

inline constexpr auto kAttributePlaces = std::make_index_sequence<std::tuple_size_v<decltype(kAttributeFields)>>();

// Parses records into attributes: a table of fields defines what a record may contain. Independent of the meaning of
// attributes.

namespace {

using record::Read;
using record::Trouble;

constexpr int kMaxNesting = 8;

Trouble Read(const Value& value, std::vector<Kind>& out) {
  const std::string* text = value.AsString();
  if (text == nullptr) return "must be text";
  out.clear();
  std::string_view rest = *text;
  while (true) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    const auto* known =
        std::find_if(std::begin(kKindNames), std::end(kKindNames), [&](auto& names) { return names.name == word; });
    if (known == std::end(kKindNames)) return "names no kind: \"" + std::string(word) + "\"";
    out.push_back(known->kind);
    if (word.size() == rest.size()) return "";
    rest.remove_prefix(word.size() + 1);
  }
}

template <class Enum, std::size_t kCount>
Trouble ReadWord(const Value& value, const std::pair<std::string_view, Enum> (&words)[kCount], Enum& out) {
  const std::string* text = value.AsString();
  std::string all;
  for (const auto& [word, meaning] : words) {
    if (text != nullptr && *text == word) return out = meaning, "";
    all += (all.empty() ? "\"" : ", \"") + std::string(word) + "\"";
  }
  return "must be one of " + all;
}

Trouble Read(const Value& value, ReadBack& out) {
  static constexpr std::pair<std::string_view, ReadBack> kWords[] = {
      {"as_stored", ReadBack::kAsStored}, {"gigabytes", ReadBack::kGigabytes}, {"byte_product", ReadBack::kByteProduct},
      {"text", ReadBack::kText},          {"json", ReadBack::kJson},           {"default", ReadBack::kDefault},
      {"never", ReadBack::kNever},
  };
  return ReadWord(value, kWords, out);
}

Trouble Read(const Value& value, Freeze& out) {
  static constexpr std::pair<std::string_view, Freeze> kWords[] = {
      {"never", Freeze::kNever}, {"set", Freeze::kOnceSet}, {"read", Freeze::kOnceRead}};
  return ReadWord(value, kWords, out);
}

// true, or the name of the successor.
template <bool Attribute::*kFlag>
Trouble ReadEnd(const Value& value, Attribute& attribute) {
  if (Read(value, attribute.*kFlag).empty()) return "";
  if (!Read(value, attribute.successor).empty()) return "must be true or the name of the successor";
  attribute.*kFlag = true;
  return "";
}

// { function, parameter, values = …, … }, which names the successor as well.
Trouble ReadMove(const Value& value, Attribute& attribute) {
  Value::Map fields;
  if (const Value::List* list = value.AsList()) {  // a Lua table without names
    for (std::size_t i = 0; i < list->size(); ++i) fields.emplace(std::to_string(i + 1), (*list)[i]);
  } else if (const Value::Map* map = value.AsMap()) {
    fields = *map;
  }
  Move move;
  for (const auto& [key, field] : fields) {
    const Trouble trouble = key == "1"          ? Read(field, move.function)
                            : key == "2"        ? Read(field, move.parameter)
                            : key == "values"   ? Read(field, move.values)
                            : key == "literals" ? Read(field, move.literals)
                            : key == "pynative" ? Read(field, move.pynative)
                            : key == "differs"  ? Read(field, move.differs)
                                                : "is not known";
    if (!trouble.empty()) return "has a bad field: " + key + " " + trouble;
  }
  if (move.function.empty()) return "must begin with the name of a function";
  attribute.successor = "mindspore." + move.function + "()";
  if (!move.parameter.empty()) attribute.successor += " with " + move.parameter;
  attribute.moved = std::move(move);
  return "";
}

Trouble ReadKeys(const Value& value, Attribute& attribute, int depth);

// Of the field in this place of the table.
template <std::size_t kPlace>
Trouble ReadField(const Value& value, Attribute& attribute, int depth) {
  constexpr auto kMember = std::get<kPlace>(kAttributeFields).member;
  using Member = std::remove_reference_t<decltype(attribute.*kMember)>;
  if constexpr (std::is_same_v<Member, std::vector<Attribute>>) {
    return ReadKeys(value, attribute, depth);
  } else if constexpr (std::is_same_v<Member, Move>) {
    return ReadMove(value, attribute);
  } else if constexpr (std::is_same_v<Member, bool>) {
    constexpr bool kEnds = kMember == &Attribute::deprecated || kMember == &Attribute::withdrawn;
    if constexpr (kEnds) return ReadEnd<kMember>(value, attribute);
    return Read(value, attribute.*kMember);
  } else {
    return Read(value, attribute.*kMember);
  }
}

struct Field {
  std::string_view name;
  Trouble (*read)(const Value&, Attribute&, int depth);
};

template <std::size_t... kPlace>
constexpr auto ReadersOf(std::index_sequence<kPlace...>) {
  return std::array{Field{std::get<kPlace>(kAttributeFields).name, ReadField<kPlace>}...};
}
constexpr auto kFields = ReadersOf(kAttributePlaces);

const Field* FieldNamed(std::string_view name) {
  if (name.empty()) return nullptr;
  for (const Field& field : kFields) {
    if (field.name.front() == name.front() && field.name == name) return &field;
  }
  return nullptr;
}

std::vector<std::string> FieldNames() {
  std::vector<std::string> names;
  for (const Field& field : kFields) names.emplace_back(field.name);
  names.emplace_back("changed");
  return names;
}

// Combinations of fields that no attribute can have.
Trouble Contradiction(const Attribute& attribute) {
  if (attribute.name.empty()) return "has no name: its first element must be one";
  if (attribute.kinds.empty()) return "has no kind";
  if ((attribute.Is(Kind::kEnum) || attribute.Is(Kind::kWords)) && attribute.choices.empty()) {
    return "is an enum without choices";
  }
  const bool has_keys = !attribute.keys.empty() || !attribute.keys_of.empty();
  const bool takes_keys = attribute.Is(Kind::kDict) || attribute.Is(Kind::kLayouts);
  if (has_keys && !takes_keys) return "has sub-keys but is no dict";
  if (takes_keys && !has_keys) return "is a dict without sub-keys";
  if (!attribute.keys.empty() && !attribute.keys_of.empty()) return "has sub-keys of its own and those of another one";
  if (attribute.always && attribute.default_value.IsNull()) return "is always settled, but has no default";
  if (attribute.min && attribute.max && *attribute.min > *attribute.max) return "has a min above its max";
  if (attribute.until && *attribute.until < attribute.since) return "ends before it begins";
  if (attribute.withdrawn && attribute.deprecated) return "is both withdrawn and deprecated";
  if (attribute.shares == attribute.name) return "shares its value with itself";
  if (!attribute.writes.empty() && attribute.writes != "folder" && attribute.writes != "file")
    return "writes neither a folder nor a file";
  if (attribute.writes.empty() && !(attribute.rank_from + attribute.written_if).empty())
    return "says how it is written, but not what";
  if (!attribute.flags.empty() && !attribute.Is(Kind::kString)) return "has flags but is no string";
  return "";
}

Diagnostic RecordError(const Place& place, const std::string& name, const Trouble& trouble, std::string hint = {}) {
  return Error("schema", place, "attribute record \"" + name + "\" " + trouble, std::move(hint));
}

std::string NameOf(const Value::Map& record) {
  const auto found = record.find("1");
  const std::string* name = found == record.end() ? nullptr : found->second.AsString();
  return name == nullptr ? "?" : *name;
}

// The previous release number: releases are integers, so there is always one.
Release Before(Release release) {
  constexpr std::uint32_t kLast = std::numeric_limits<std::uint32_t>::max();
  if (release.candidate > 0) return {release.major, release.minor, release.patch, release.candidate - 1};
  if (release.patch > 0) return {release.major, release.minor, release.patch - 1, kLast};
  if (release.minor > 0) return {release.major, release.minor - 1, kLast, kLast};
  return {release.major - 1, kLast, kLast, kLast};
}

// Reads the fields of `record` into `attribute`, on top of its present content.
Diagnostics ReadFields(const Value::Map& record, const std::string& name, const Place& place, int depth,
                       Attribute& attribute) {
  Diagnostics problems;
  for (const auto& [key, value] : record) {
    if (key == "changed") continue;
    const Field* field = FieldNamed(key);
    if (field == nullptr) {
      problems.push_back(
          RecordError(place, name, "has the unknown field \"" + key + "\"", DidYouMean(key, FieldNames())));
    } else if (const Trouble trouble = field->read(value, attribute, depth); !trouble.empty()) {
      problems.push_back(RecordError(place, name, "has a bad field: " + key + " " + trouble));
    }
  }
  // An empty Lua table arrives as a map.
  const bool is_list = attribute.Is(Kind::kListInt) || attribute.Is(Kind::kTuple) || attribute.Is(Kind::kLayouts);
  if (is_list && attribute.default_value == Value(Value::Map{})) attribute.default_value = Value(Value::List{});
  if (problems.empty()) {
    if (const Trouble trouble = Contradiction(attribute); !trouble.empty()) {
      problems.push_back(RecordError(place, name, trouble));
    }
  }
  return problems;
}

Result<std::vector<Attribute>> ReadRecord(std::string_view api, const Value& value, const Place& place, int depth) {
  const Value::Map* record = value.AsMap();
  if (record == nullptr)
    return Fail(Error("schema", place, "an attribute record must be a table that begins with a name"));
  const std::string name = NameOf(*record);
  if (depth > kMaxNesting) return Fail(RecordError(place, name, "is nested too deeply"));

  std::vector<Attribute> attributes(1);
  attributes.front().api = api;
  if (Diagnostics problems = ReadFields(*record, name, place, depth, attributes.front()); !problems.empty())
    return Fail(std::move(problems));
  const auto changed = record->find("changed");
  if (changed == record->end()) return attributes;

  const Value::Map* changes = changed->second.AsMap();
  if (changes == nullptr) return Fail(RecordError(place, name, "has a bad field: changed must be a table"));
  std::map<Release, const Value::Map*> by_release;
  for (const auto& [text, fields] : *changes) {
    const auto release = ParseRelease(text);
    if (!release || fields.AsMap() == nullptr || *release <= attributes.front().since) {
      return Fail(
          RecordError(place, name, "has a bad field: changed must map later releases to fields, not \"" + text + "\""));
    }
    by_release[*release] = fields.AsMap();
  }
  attributes.reserve(1 + by_release.size());
  for (const auto& [release, change] : by_release) {
    if (change->contains("1") || change->contains("since") || change->contains("changed")) {
      return Fail(RecordError(place, name, "has a bad field: changed can not rename, begin or nest"));
    }
    Attribute& before = attributes.back();
    Attribute& next = attributes.emplace_back(before);  // within the reserved memory: nothing moves
    if (Diagnostics problems = ReadFields(*change, name, place, depth, next); !problems.empty())
      return Fail(std::move(problems));
    next.since = release;
    if (next.until && *next.until < release) return Fail(RecordError(place, name, "changes after it has ended"));
    before.until = Before(release);
  }
  return attributes;
}

Trouble ReadKeys(const Value& value, Attribute& attribute, int depth) {
  const Value::List* list = value.AsList();
  if (list == nullptr) return "must be a list of records";
  attribute.keys.clear();
  for (const Value& record : *list) {
    auto keys = ReadRecord({}, record, {}, depth + 1);
    if (!keys) return "holds a bad record: " + keys.error().front().message;
    for (Attribute& key : *keys) attribute.keys.push_back(std::move(key));
  }
  for (const Attribute& key : attribute.keys) {
    for (const auto& condition : key.when) {
      const std::string& sibling = condition.first;
      const auto named = [&](const Attribute& other) { return other.name == sibling && other.when.empty(); };
      if (std::none_of(attribute.keys.begin(), attribute.keys.end(), named)) {
        return "holds the record \"" + key.name + "\", which depends on \"" + sibling + "\" that there is not";
      }
    }
  }
  return "";
}

}  // namespace

const KindNames& NamesOf(Kind kind) {
  return *std::find_if(std::begin(kKindNames), std::end(kKindNames),
                       [&](const KindNames& names) { return names.kind == kind; });
}

std::string_view KindName(Kind kind) { return NamesOf(kind).name; }

bool Attribute::Is(Kind kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }

Result<std::vector<Attribute>> AttributesFromValue(std::string_view api, const Value& record, const Place& place) {
  return ReadRecord(api, record, place, 0);
}

// Parses records into rules between settings; the schema checks that the attributes exist.

namespace {

using record::Trouble;

template <class T>
struct RuleField {
  std::string_view name;
  Trouble (*read)(const Value&, T&);
};

template <class T>
Trouble ReadRuleFields(const Value::Map& map, const RuleField<T>* fields, std::size_t count, T& out) {
  for (const auto& [key, value] : map) {
    const RuleField<T>* end = fields + count;
    const std::string& name = key;  // clang before 16 cannot capture structured bindings
    const RuleField<T>* field = std::find_if(fields, end, [&](const auto& known) { return known.name == name; });
    if (field == end) {
      std::vector<std::string> names;
      for (const RuleField<T>* known = fields; known != end; ++known) names.emplace_back(known->name);
      return "has the unknown field \"" + key + "\" (" + DidYouMean(key, names) + ")";
    }
    if (Trouble trouble = field->read(value, out); !trouble.empty()) return "has a bad field: " + key + " " + trouble;
  }
  return "";
}

constexpr RuleField<Condition> kConditionFields[] = {
    {"one_of", [](const Value& v, Condition& c) { return record::Read(v, c.one_of); }},
    {"none_of", [](const Value& v, Condition& c) { return record::Read(v, c.none_of); }},
    {"above", [](const Value& v, Condition& c) { return record::Read(v, c.above); }},
    {"above_value_of", [](const Value& v, Condition& c) { return record::Read(v, c.above_value_of); }},
    {"set", [](const Value& v, Condition& c) { return record::Read(v, c.set); }},
};

// A plain value means equality; a table has more options.
Trouble ReadConditions(const Value& value, std::map<std::string, Condition>& out) {
  const Value::Map* map = value.AsMap();
  if (map == nullptr) return "must be a table of paths";
  for (const auto& [path, asked] : *map) {
    Condition& condition = out[path];
    if (asked.AsMap() == nullptr) {
      condition.one_of = {asked};
    } else if (Trouble trouble =
                   ReadRuleFields(*asked.AsMap(), kConditionFields, std::size(kConditionFields), condition);
               !trouble.empty()) {
      return "holds a condition that " + trouble;
    }
    if (condition == Condition{}) return "holds a condition that asks nothing";
  }
  return "";
}

constexpr RuleField<Rule> kRuleFields[] = {
    {"1", [](const Value& v, Rule& r) { return record::Read(v, r.name); }},
    {"kind", [](const Value& v, Rule& r) { return record::Read(v, r.kind); }},
    {"refused", [](const Value& v, Rule& r) { return record::Read(v, r.refused); }},
    {"about", [](const Value& v, Rule& r) { return record::Read(v, r.about); }},
    {"when", [](const Value& v, Rule& r) { return ReadConditions(v, r.when); }},
    {"unless", [](const Value& v, Rule& r) { return ReadConditions(v, r.unless); }},
    {"says", [](const Value& v, Rule& r) { return record::Read(v, r.says); }},
    {"hint", [](const Value& v, Rule& r) { return record::Read(v, r.hint); }},
    {"since", [](const Value& v, Rule& r) { return record::Read(v, r.since); }},
    {"until", [](const Value& v, Rule& r) { return record::Read(v, r.until); }},
    {"source", [](const Value& v, Rule& r) { return record::Read(v, r.source); }},
};

Trouble Contradiction(const Rule& rule) {
  if (rule.name.empty()) return "has no name: its first element must be one";
  if (rule.kind.empty() || rule.about.empty() || rule.says.empty()) return "lacks its kind, about or says";
  if (rule.when.empty()) return "has no condition";
  if (rule.source == RuleSource{}) return "names no source";
  if (rule.refused && rule.source.behaviour.empty()) return "is refused by no behaviour of MindSpore";
  if (rule.until && *rule.until < rule.since) return "ends before it begins";
  return "";
}

// The path of the rule that a placeholder names, in full or by its end; empty if none or several match.
std::string PathNamed(const std::vector<std::string>& paths, const std::string& word) {
  if (word == "release" || std::find(paths.begin(), paths.end(), word) != paths.end()) return word;
  std::string found;
  for (const std::string& path : paths) {
    if (!path.ends_with("." + word)) continue;
    if (!found.empty() && found != path) return "";
    found = path;
  }
  return found;
}

// "{parallel_mode}" becomes "{set_auto_parallel_context.parallel_mode}".
Trouble SpellOut(const Rule& rule, std::string& text) {
  std::vector<std::string> paths = {rule.about};
  for (const auto& [path, condition] : rule.when) {
    paths.push_back(path);
    if (!condition.above_value_of.empty()) paths.push_back(condition.above_value_of);
  }
  static const std::string kTimes = " × ";
  std::string spelt;
  std::size_t from = 0;
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', from)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) return "has a text with an open brace";
    std::string words = text.substr(open + 1, close - open - 1);
    spelt += text.substr(from, open - from) + "{";
    for (bool more = true; more;) {
      const std::size_t times = words.find(kTimes);
      more = times != std::string::npos;
      const std::string path = PathNamed(paths, words.substr(0, times));
      if (path.empty()) return "speaks of {" + words.substr(0, times) + "}, which is no one value of its conditions";
      spelt += path + (more ? kTimes : "");
      if (more) words.erase(0, times + kTimes.size());
    }
    spelt += "}";
    from = close + 1;
  }
  text = spelt + text.substr(from);
  return "";
}

}  // namespace

Result<Rule> RuleFromValue(const Value& record, const Place& place) {
  const Value::Map* map = record.AsMap();
  Rule rule;
  Trouble trouble = map == nullptr ? "must be a table that begins with a name"
                                   : ReadRuleFields(*map, kRuleFields, std::size(kRuleFields), rule);
  if (trouble.empty()) trouble = Contradiction(rule);
  if (trouble.empty()) trouble = SpellOut(rule, rule.says);
  if (trouble.empty()) trouble = SpellOut(rule, rule.hint);
  if (!trouble.empty()) return Fail(Error("schema", place, "rule \"" + rule.name + "\" " + trouble));
  return rule;
}

namespace {

using record::Read;
using record::Trouble;

Trouble ReadRepeats(const Value& value, Function& function) {
  static constexpr std::pair<std::string_view, Function::Repeats> kWords[] = {
      {"free", Function::Repeats::kFree}, {"same", Function::Repeats::kSame}, {"once", Function::Repeats::kOnce}};
  const std::string* text = value.AsString();
  for (const auto& [word, repeats] : kWords) {
    if (text != nullptr && *text == word) return function.repeats = repeats, "";
  }
  return "must be \"free\", \"same\" or \"once\"";
}

// A parameter record with the function's first release, unless it names a later one of its own.
Trouble ReadParameters(const Value& value, const Value& since, FunctionRecord& record) {
  const Value::Map* none = value.AsMap();  // an empty Lua table arrives as a map
  if (none != nullptr && none->empty()) {
    record.parameters.push_back(Value(Value::Map{{"1", Value(std::string(kCalled))},
                                                 {"kind", Value("bool")},
                                                 {"since", since},
                                                 {"doc", Value("Whether the function is called.")}}));
    return "";
  }
  const Value::List* list = value.AsList();
  if (list == nullptr) return "must be a list of records";
  for (const Value& element : *list) {
    const Value::Map* fields = element.AsMap();
    const auto name = fields == nullptr ? Value::Map::const_iterator{} : fields->find("1");
    if (fields == nullptr || name == fields->end() || name->second.AsString() == nullptr) {
      return "must be a list of records that begin with a name";
    }
    record.function.parameters.push_back(*name->second.AsString());
    Value::Map parameter = *fields;
    parameter.try_emplace("since", since);
    record.parameters.emplace_back(std::move(parameter));
  }
  return "";
}

Trouble ReadField(const std::string& key, const Value& value, const Value& since, FunctionRecord& record) {
  Function& function = record.function;
  if (key == "1") return Read(value, function.name);
  if (key == "doc") return Read(value, function.doc);
  if (key == "since") return Read(value, function.since);
  if (key == "devices") return Read(value, function.devices);
  if (key == "by_name") return Read(value, function.by_name);
  if (key == "repeats") return ReadRepeats(value, function);
  if (key == "parameters") return ReadParameters(value, since, record);
  return "is not known";
}

}  // namespace

Result<FunctionRecord> FunctionFromValue(const Value& value, const Place& place) {
  const Value::Map* fields = value.AsMap();
  const auto since = fields == nullptr ? Value::Map::const_iterator{} : fields->find("since");
  if (fields == nullptr || since == fields->end()) {
    return Fail(Error("schema", place, "a function record must be a table with a name and its first release"));
  }
  FunctionRecord record;
  for (const auto& [key, field] : *fields) {
    if (const Trouble trouble = ReadField(key, field, since->second, record); !trouble.empty()) {
      return Fail(Error("schema", place, "function record with a bad field: " + key + " " + trouble));
    }
  }
  if (record.function.name.empty() || record.parameters.empty()) {
    return Fail(Error("schema", place, "function record without a name or without parameters"));
  }
  return record;
}

namespace {

// Of the many members of an attribute few are set, so these are written: each with its place in the table, from 1 on.
template <std::size_t... kPlace>
void WriteMembers(ArchiveWriter& archive, Attribute& attribute, std::index_sequence<kPlace...>) {
  static const Attribute kUnset;
  const auto write = [&](std::size_t place, auto member) {
    if (!(attribute.*member == kUnset.*member)) archive(place + 1, attribute.*member);
  };
  (write(kPlace, std::get<kPlace>(kAttributeFields).member), ...);
  archive(std::size_t{0});
}

template <std::size_t kPlace>
void ReadAtPlace(ArchiveReader& archive, Attribute& attribute) {
  archive(attribute.*std::get<kPlace>(kAttributeFields).member);
}

template <std::size_t... kPlace>
constexpr auto ArchiveReaders(std::index_sequence<kPlace...>) {
  return std::array{&ReadAtPlace<kPlace>...};
}

}  // namespace

template <class A>
void Fields(A& archive, Release& release) {
  archive(release.major, release.minor, release.patch, release.candidate);
}

template <class A>
void Fields(A& archive, RuleSource& source) {
  archive(source.document, source.behaviour);
}

template <class A>
void Fields(A& archive, Move& move) {
  archive(move.function, move.parameter, move.values, move.literals, move.pynative, move.differs);
}

template <class A>
void Fields(A& archive, Attribute& attribute) {
  archive(attribute.api);
  if constexpr (A::kReading) {
    static constexpr auto kReaders = ArchiveReaders(kAttributePlaces);
    std::size_t place = 0;
    for (archive(place); place != 0; archive(place)) {
      if (place > kReaders.size()) return archive.Fail();
      kReaders[place - 1](archive, attribute);
    }
  } else {
    WriteMembers(archive, attribute, kAttributePlaces);
  }
}

template <class A>
void Fields(A& archive, Function& function) {
  archive(function.name, function.parameters, function.repeats, function.devices, function.by_name, function.since,
          function.doc);
}

template <class A>
void Fields(A& archive, Condition& condition) {
  archive(condition.one_of, condition.none_of, condition.above, condition.above_value_of, condition.set);
}

template <class A>
void Fields(A& archive, Rule& rule) {
  archive(rule.name, rule.kind, rule.refused, rule.about, rule.when, rule.unless, rule.says, rule.hint, rule.since,
          rule.until, rule.source);
}

template <class A>
void Fields(A& archive, ReleaseFacts& facts) {
  archive(facts.release, facts.short_name, facts.described, facts.doc, facts.described_from);
}

template <class A>
void Fields(A& archive, Schema& schema) {
  archive(schema.releases_, schema.rules_, schema.functions_, schema.calls_, schema.files_);
}

std::string ArchiveOfSchema(const Schema& schema) { return Archived(schema); }

std::optional<Schema> SchemaInArchive(std::string_view bytes) { return Unarchived<Schema>(bytes); }

}  // namespace muster
