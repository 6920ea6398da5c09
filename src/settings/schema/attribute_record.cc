// Parses records into attributes: a table of fields defines what a record may contain. Independent of the meaning of
// attributes.
#include <algorithm>
#include <array>
#include <limits>

#include "base/values/suggest.h"
#include "muster/mindspore/schema.h"
#include "settings/schema/attribute_fields.h"
#include "settings/schema/record_field.h"

namespace muster {
namespace {

using record::Read;
using record::Trouble;

constexpr int kMaxNesting = 8;

constexpr std::pair<std::string_view, Kind> kKinds[] = {
    {"bool", Kind::kBool},        {"int", Kind::kInt},
    {"float", Kind::kFloat},      {"string", Kind::kString},
    {"enum", Kind::kEnum},        {"size", Kind::kSize},
    {"path", Kind::kPath},        {"list_int", Kind::kListInt},
    {"tuple", Kind::kTuple},      {"dict", Kind::kDict},
    {"text_map", Kind::kTextMap}, {"any", Kind::kAny},
    {"words", Kind::kWords},      {"list_text", Kind::kListText},
    {"list_map", Kind::kListMap}, {"layouts", Kind::kLayouts},
    {"axes", Kind::kAxes},
};

Trouble Read(const Value& value, std::vector<Kind>& out) {
  const std::string* text = value.AsString();
  if (text == nullptr) return "must be text";
  out.clear();
  std::string_view rest = *text;
  while (true) {
    const std::string_view word = rest.substr(0, rest.find('|'));
    const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds), [&](auto& k) { return k.first == word; });
    if (known == std::end(kKinds)) return "names no kind: \"" + std::string(word) + "\"";
    out.push_back(known->second);
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

std::string_view KindName(Kind kind) {
  for (const auto& [name, known] : kKinds) {
    if (known == kind) return name;
  }
  return "?";
}

bool Attribute::Is(Kind kind) const { return std::find(kinds.begin(), kinds.end(), kind) != kinds.end(); }

Result<std::vector<Attribute>> AttributesFromValue(std::string_view api, const Value& record, const Place& place) {
  return ReadRecord(api, record, place, 0);
}

}  // namespace muster
