#include "reference/attribute_page.h"

#include "reference/attribute_facts.h"
#include "reference/rule_facts.h"
#include "settings/schema/word_list.h"

namespace muster {
namespace {

template <class T>
Value ListValue(const std::vector<T>& elements) {
  Value::List list;
  for (const T& element : elements) list.emplace_back(element);
  return Value(std::move(list));
}

Value NumberOrNull(const std::optional<double>& number) { return number ? Value(*number) : Value(); }

Value TextOrNull(const std::string& text) { return text.empty() ? Value() : Value(text); }

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
  return Value(Value::Map{
      {"release", Value(ReleaseText(release))},
      {"type", Value(std::move(kinds))},
      {"min", NumberOrNull(record.min)},
      {"max", NumberOrNull(record.max)},
      {"above", NumberOrNull(record.above)},
      {"choices", ListValue(record.choices)},
      {"constants", Value(record.constants)},
      {"default", record.default_value},
      {"default_on", Value(record.default_on)},
      {"devices", ListValue(record.devices.empty() ? record.enforced : record.devices)},
      {"skipped_elsewhere", Value(!record.enforced.empty())},
      {"deprecated", Value(record.deprecated)},
      {"withdrawn", Value(record.withdrawn)},
      {"undocumented", Value(record.undocumented)},
      {"successor", TextOrNull(record.successor)},
      {"per_process", Value(record.per_process)},
      {"secret", Value(record.secret)},
      {"file", TextOrNull(record.file)},
      {"sources", SourcesData(record.sources)},
      {"facts", Value(std::move(facts))},
  });
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
  return Value(Value::Map{{"name", Value(history.path)},
                          {"kind", Value(KindWord(history))},
                          {"function", TextOrNull(history.function)},
                          {"summary", Value(history.latest().doc)}});
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
