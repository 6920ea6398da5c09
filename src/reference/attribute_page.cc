#include "reference/attribute_page.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/values/value_json.h"
#include "settings/schema/schema.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

// The longest key that is the path or contains it; empty for facts about the job.
std::string KeyNamed(const std::set<std::string>& keys, std::string path) {
  while (!keys.contains(path)) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return "";
    path.resize(dot);
  }
  return path;
}

}  // namespace

bool IsBelow(std::string_view path, const std::string& key) { return path.starts_with(key + "."); }

std::vector<std::string> PathsOf(const Rule& rule) {
  std::vector<std::string> paths = {rule.about};
  for (const auto* conditions : {&rule.when, &rule.unless}) {
    for (const auto& [path, condition] : *conditions) {
      paths.push_back(path);
      if (!condition.above_value_of.empty()) paths.push_back(condition.above_value_of);
    }
  }
  return paths;
}

std::vector<Release> HeldIn(const Rule& rule, const std::vector<Release>& releases) {
  std::vector<Release> held;
  std::copy_if(releases.begin(), releases.end(), std::back_inserter(held),
               [&](const Release& release) { return rule.HoldsIn(release); });
  return held;
}

RuleIndex::RuleIndex(const Schema& schema, const std::vector<AttributeHistory>& histories,
                     const std::vector<Release>& releases) {
  std::set<std::string> keys;
  for (const std::string& function : schema.Functions()) keys.insert(function);
  for (const AttributeHistory& history : histories) keys.insert(KeyOf(history.function, history.path));
  for (const Rule& rule : schema.rules()) {
    if (HeldIn(rule, releases).empty()) continue;
    all_.push_back(&rule);
    const std::vector<std::string> paths = PathsOf(rule);
    std::set<std::string> named;
    for (const std::string& path : paths) {
      // A rule that reports a table and names its sub-keys belongs to the sub-keys.
      const bool is_closer =
          std::any_of(paths.begin(), paths.end(), [&](const std::string& other) { return IsBelow(other, path); });
      if (!is_closer) named.insert(KeyNamed(keys, path));
    }
    for (const std::string& key : named) by_key_[key].push_back(&rule);
  }
  by_key_.erase("");
}

Rules RuleIndex::Naming(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? Rules() : found->second;
}

std::vector<std::string> RuleIndex::NamedBelow(const std::string& key) const {
  std::vector<std::string> below;
  for (const auto& [other, unused] : by_key_) {
    if (IsBelow(other, key)) below.push_back(other);
  }
  return below;
}

namespace {

constexpr std::string_view kRelease = "release";  // the placeholder for the release

std::string AnyOfCodes(const std::vector<Value>& values) {
  std::vector<std::string> codes;
  for (const Value& value : values) codes.push_back(Ticked(ToText(value)));
  return WordList(codes, " or ");
}

// How a rule's texts name its paths: without the function, and without the table if all are in the one that it reports.
class Names {
 public:
  explicit Names(const Rule& rule) : rule_(rule) {
    const std::vector<std::string> paths = PathsOf(rule);
    if (std::all_of(paths.begin() + 1, paths.end(), [&](const auto& path) { return IsBelow(path, rule.about); }))
      taken_off_ = rule.about.size() + 1;
  }

  std::string Phrase(const std::string& path, const Condition& asked) const {
    const bool is_fact = IsBelow(path, std::string(kJobFacts));
    if (is_fact && asked.above) return "more than " + NumberText(*asked.above);
    const std::string name = NameOf(path);
    if (asked.one_of.size() == 1) return Ticked(name + " = " + ToText(asked.one_of.front()));
    if (!asked.one_of.empty()) return Ticked(name) + " = " + AnyOfCodes(asked.one_of);
    if (!asked.none_of.empty()) return Ticked(name) + " other than " + AnyOfCodes(asked.none_of);
    if (asked.above) return Ticked(name) + " above " + NumberText(*asked.above);
    return Ticked(name);
  }

  // The replacement of a placeholder.
  std::string Word(const std::string& placeholder) const {
    if (placeholder == kRelease) return "MindSpore";
    static const std::string kTimes = " × ";
    if (const std::size_t times = placeholder.find(kTimes); times != std::string::npos)
      return Ticked(NameOf(placeholder.substr(0, times)) + kTimes + NameOf(placeholder.substr(times + kTimes.size())));
    const auto asked = rule_.when.find(placeholder);
    return asked == rule_.when.end() ? Ticked(NameOf(placeholder)) : Phrase(placeholder, asked->second);
  }

 private:
  std::string NameOf(const std::string& path) const {
    return path.substr(taken_off_ < path.size() ? taken_off_ : path.find('.') + 1);
  }

  const Rule& rule_;
  std::size_t taken_off_ = std::string::npos;
};

// A text with its placeholders filled, in three parts: up to its last value, that value, and the rest.
struct Filled {
  std::string before;
  std::string last;
  std::string after;
};

Filled Fill(const Rule& rule, std::string text) {
  // The release is stated elsewhere.
  static const std::string kInRelease = " in {" + std::string(kRelease) + "}";
  for (std::size_t at = text.find(kInRelease); at != std::string::npos; at = text.find(kInRelease))
    text.erase(at, kInRelease.size());
  const Names names(rule);
  Filled filled;
  std::size_t from = 0;
  for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', from)) {
    const std::size_t close = text.find('}', open);
    if (close == std::string::npos) break;
    const std::string placeholder = text.substr(open + 1, close - open - 1);
    filled.after += text.substr(from, open - from);
    from = close + 1;
    if (placeholder == kRelease) {
      filled.after += names.Word(placeholder);
      continue;
    }
    filled.before += filled.last + filled.after;
    filled.last = names.Word(placeholder);
    filled.after.clear();
  }
  filled.after += text.substr(from);
  return filled;
}

std::string Whole(const Filled& filled) { return filled.before + filled.last + filled.after; }

std::string SeverityWord(const Rule& rule) { return rule.refused ? "error" : "warning"; }

// "error in 1.6.2 and later: "
std::string Head(const Rule& rule, const std::vector<Release>& releases) {
  const std::vector<Release> held = HeldIn(rule, releases);
  if (held.empty() || held.size() == releases.size()) return SeverityWord(rule) + ": ";
  return SeverityWord(rule) + " in " + SpanText(releases, held.front(), held.back()) + ": ";
}

// " (not with `enable_ps = true`; API page of 1.6)"
std::string Tail(const Rule& rule) {
  const Names names(rule);
  std::vector<std::string> exceptions;
  for (const auto& [path, asked] : rule.unless) exceptions.push_back(names.Phrase(path, asked));
  return " (" + (exceptions.empty() ? "" : "not with " + WordList(exceptions, " or ") + "; ") +
         SourceText(rule.source) + ")";
}

Value TextIfAny(const std::string& text) { return text.empty() ? Value() : Value(text); }

Value ConditionsData(const std::map<std::string, Condition>& conditions) {
  Value::Map data;
  for (const auto& [path, asked] : conditions) {
    Value::Map fields;
    if (!asked.one_of.empty()) fields["one_of"] = Value(Value::List(asked.one_of));
    if (!asked.none_of.empty()) fields["none_of"] = Value(Value::List(asked.none_of));
    if (asked.above) fields["above"] = Value(*asked.above);
    if (!asked.above_value_of.empty()) fields["above_value_of"] = Value(asked.above_value_of);
    if (asked.set) fields["set"] = Value(*asked.set);
    data[path] = Value(std::move(fields));
  }
  return Value(std::move(data));
}

}  // namespace

std::vector<std::string> RuleLines(const Rules& rules, const std::vector<Release>& releases) {
  struct Line {
    std::string head;
    Filled says;
    std::string tail;
    std::vector<std::string> last;
  };
  std::vector<Line> lines;
  for (const Rule* rule : rules) {
    Line line{Head(*rule, releases), Fill(*rule, rule->says), Tail(*rule), {}};
    const auto same = std::find_if(lines.begin(), lines.end(), [&](const Line& known) {
      return known.head == line.head && known.says.before == line.says.before && known.says.after == line.says.after &&
             known.tail == line.tail;
    });
    const std::string last = line.says.last;
    (same == lines.end() ? lines.emplace_back(std::move(line)) : *same).last.push_back(last);
  }
  std::vector<std::string> texts;
  for (const Line& line : lines)
    texts.push_back(line.head + line.says.before + WordList(line.last, " or ") + line.says.after + line.tail);
  return texts;
}

Value RuleData(const Rule& rule, const std::vector<Release>& releases) {
  Value::List held;
  for (const Release& release : HeldIn(rule, releases)) held.emplace_back(ReleaseText(release));
  return Value::Map{
      {"name", rule.name},
      {"kind", rule.kind},
      {"severity", SeverityWord(rule)},
      {"about", rule.about},
      {"says", Whole(Fill(rule, rule.says))},
      {"hint", TextIfAny(Whole(Fill(rule, rule.hint)))},
      {"when", ConditionsData(rule.when)},
      {"unless", ConditionsData(rule.unless)},
      {"releases", std::move(held)},
      {"document", TextIfAny(rule.source.document)},
      {"behaviour", TextIfAny(rule.source.behaviour)},
  };
}

namespace {

template <class T>
Value ListValue(const std::vector<T>& elements) {
  Value::List list;
  for (const T& element : elements) list.emplace_back(element);
  return Value(std::move(list));
}

Value NumberOrNull(const std::optional<double>& number) { return number ? Value(*number) : Value(); }

Value SourcesData(const std::map<std::string, RuleSource>& sources) {
  Value::Map data;
  for (const auto& [rule, source] : sources) {
    data[rule] =
        Value(Value::Map{{"document", TextOrNull(source.document)}, {"behaviour", TextOrNull(source.behaviour)}});
  }
  return Value(std::move(data));
}

// One release's record for programs: common properties as fields, all facts in words.
Value RecordData(const Release& release, const Attribute& record) {
  Value::List kinds;
  for (const Kind kind : record.kinds) kinds.emplace_back(KindName(kind));
  Value::Map facts;
  for (const auto& [label, text] : FactsOf(record)) facts[label] = Value(text);
  return Value::Map{
      {"release", ReleaseText(release)},
      {"type", std::move(kinds)},
      {"min", NumberOrNull(record.min)},
      {"max", NumberOrNull(record.max)},
      {"above", NumberOrNull(record.above)},
      {"choices", ListValue(record.choices)},
      {"constants", record.constants},
      {"default", record.default_value},
      {"default_on", record.default_on},
      {"devices", ListValue(record.devices.empty() ? record.enforced : record.devices)},
      {"skipped_elsewhere", !record.enforced.empty()},
      {"deprecated", record.deprecated},
      {"withdrawn", record.withdrawn},
      {"undocumented", record.undocumented},
      {"successor", TextOrNull(record.successor)},
      {"per_process", record.per_process},
      {"secret", record.secret},
      {"file", TextOrNull(record.file)},
      {"sources", SourcesData(record.sources)},
      {"facts", std::move(facts)},
  };
}

// "context.set_context { device_id = … }"
std::string Call(const AttributeHistory& history, const std::string& value) {
  std::string call = value;
  std::string rest = history.path;
  while (true) {
    const std::size_t dot = rest.rfind('.');
    call = rest.substr(dot == std::string::npos ? 0 : dot + 1) + " = " + call;
    if (dot == std::string::npos) break;
    call = "{ " + call + " }";
    rest.resize(dot);
  }
  return "context." + history.function + " { " + call + " }";
}

// The content of the file down to the key: { "rdr": { "mode": … } }
std::string InFile(const AttributeHistory& history) {
  std::string text = "…";
  std::string rest = history.path;
  for (std::size_t dot = rest.rfind('.'); dot != std::string::npos; dot = rest.rfind('.')) {
    text = "{ \"" + rest.substr(dot + 1) + "\": " + text + " }";
    rest.resize(dot);
  }
  return text;
}

std::vector<Example> Examples(const AttributeSubject& subject) {
  const AttributeHistory& first = *subject.variants.front();
  if (!first.in_file()) return {Example{"lua", {Call(first, "…")}}};
  if (first.depth > 0) return {Example{"json", {InFile(first)}}};
  std::vector<std::string> calls;
  for (const AttributeHistory* user : subject.named_by)
    calls.push_back(Call(*user, "muster.file \"" + first.path + ".json\""));
  return {Example{"lua", std::move(calls)}};
}

Value RulesData(const Rules& rules, const std::vector<Release>& all) {
  Value::List data;
  for (const Rule* rule : rules) data.push_back(RuleData(*rule, all));
  return Value(std::move(data));
}

// The facts of one variant besides its records; rules are listed with the last variant.
FactList FactsOn(const AttributeSubject& subject, const AttributeHistory& variant, const std::vector<Release>& all) {
  FactList list = FactsOf(variant, all);
  std::string place;
  if (!variant.latest().group.empty()) place = "group `" + variant.latest().group + "`";
  if (!variant.latest().area.empty())
    place += (place.empty() ? "" : ", ") + ("area `" + variant.latest().area + "` of the guide of 1.0");
  if (!place.empty()) list.facts.insert(list.facts.begin() + 1, {"listed in", {place}});
  if (&variant != subject.variants.back()) return list;
  if (!subject.rules.empty()) list.facts.push_back({"rules", RuleLines(subject.rules, all)});
  if (!subject.keys_with_rules.empty()) {
    std::vector<std::string> names;
    for (const std::string& key : subject.keys_with_rules)
      names.push_back("`" + key.substr(variant.function.size() + 1) + "`");
    list.facts.push_back({"rules below", {"see " + WordList(names)}});
  }
  return list;
}

}  // namespace

std::string KindWord(const AttributeHistory& history) {
  if (history.in_file()) return history.depth == 0 ? "JSON file" : "key";
  return history.depth == 0 ? "attribute" : "sub-key";
}

Value AttributeData(const AttributeHistory& history) {
  return Value::Map{{"name", history.path},
                    {"kind", KindWord(history)},
                    {"function", TextOrNull(history.function)},
                    {"summary", history.latest().doc}};
}

std::vector<Fact> NamedByFact(const AttributeHistory& file, const std::vector<const AttributeHistory*>& named_by) {
  Fact fact{"named by", {}};
  for (const AttributeHistory* user : named_by)
    fact.lines.push_back("`" + Call(*user, "muster.file \"" + file.path + ".json\"") + "`");
  return fact.lines.empty() ? std::vector<Fact>() : std::vector{std::move(fact)};
}

Page AttributePage(const AttributeSubject& subject, const std::vector<Release>& all) {
  const AttributeHistory& first = *subject.variants.front();
  Page page;
  page.title = "`" + first.path + "`";
  if (first.in_file() && first.depth == 0) page.title += ", a JSON file";
  for (Example& example : Examples(subject)) page.blocks.emplace_back(std::move(example));
  Value::List records;
  for (const AttributeHistory* variant : subject.variants) {
    page.blocks.push_back(Paragraph{variant->latest().doc});
    page.blocks.emplace_back(FactsOn(subject, *variant, all));
    for (const auto& [release, record] : variant->records) records.push_back(RecordData(release, *record));
  }
  Value::List key_data;
  for (const AttributeHistory* key : subject.keys) key_data.push_back(AttributeData(*key));
  if (!subject.keys.empty()) {
    page.blocks.push_back(Heading{first.in_file() ? "Keys" : "Sub-keys"});
    page.blocks.emplace_back(AttributeTable(subject.keys, all, false));
  }
  Value data = AttributeData(first);
  Value::Map& fields = std::get<Value::Map>(data.data());
  fields["group"] = TextOrNull(first.latest().group);
  fields["area"] = TextOrNull(first.latest().area);
  fields["releases"] = Value(std::move(records));
  fields["keys"] = Value(std::move(key_data));
  fields["rules"] = RulesData(subject.rules, all);
  page.data = std::move(data);
  return page;
}

Table AttributeTable(const std::vector<const AttributeHistory*>& histories, const std::vector<Release>& all,
                     bool values) {
  Table table{{"name", "releases", "what it is"}, {}};
  if (values) table.columns = {"name", "type", "default", "releases", "what it is"};
  for (const AttributeHistory* history : histories) {
    const Attribute& latest = history->latest();
    std::vector<std::string> row = {"`" + history->path + "`"};
    if (values) row.insert(row.end(), {ShortType(latest), ShortDefault(latest)});
    row.insert(row.end(), {ReleasesText(*history, all), latest.doc});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace muster
