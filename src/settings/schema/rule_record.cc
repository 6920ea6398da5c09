// Parses records into rules between settings; the schema checks that the attributes exist.
#include <algorithm>
#include <iterator>

#include "base/values/suggest.h"
#include "muster/mindspore/schema.h"
#include "settings/schema/record_field.h"

namespace muster {
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

}  // namespace muster
