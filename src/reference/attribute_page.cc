#include "reference/attribute_page.h"

#include "reference/attribute_facts.h"

namespace muster {
namespace {

template <class T>
Value ListValue(const std::vector<T>& elements) {
  Value::List list;
  for (const T& element : elements) list.emplace_back(element);
  return Value(std::move(list));
}

Value NumberOrNull(const std::optional<double>& number) { return number ? Value(*number) : Value(); }

// One release's record for programs: what is most asked for in fields, all of it in words.
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
      {"successor", record.successor.empty() ? Value() : Value(record.successor)},
      {"per_process", Value(record.per_process)},
      {"secret", Value(record.secret)},
      {"facts", Value(std::move(facts))},
  });
}

// "set_context { device_id = … }"
std::string Call(const AttributeHistory& history) {
  std::string call = "…";
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

}  // namespace

Value AttributeData(const AttributeHistory& history) {
  return Value(Value::Map{{"name", Value(history.path)},
                          {"kind", Value(history.depth == 0 ? "attribute" : "sub-key")},
                          {"function", Value(history.function)},
                          {"summary", Value(history.latest().doc)}});
}

Page AttributePage(const std::vector<const AttributeHistory*>& variants,
                   const std::vector<const AttributeHistory*>& keys, const std::vector<Release>& all) {
  const AttributeHistory& first = *variants.front();
  Page page;
  page.title = "`" + first.path + "`";
  page.blocks.push_back(Example{"lua", {Call(first)}});
  Value::List records;
  for (const AttributeHistory* variant : variants) {
    page.blocks.push_back(Paragraph{variant->latest().doc});
    FactList facts = FactsOf(*variant, all);
    std::string place;
    if (!variant->latest().group.empty()) place = "group `" + variant->latest().group + "`";
    if (!variant->latest().area.empty())
      place += (place.empty() ? "" : ", ") + ("area `" + variant->latest().area + "` of the guide of 1.0");
    if (!place.empty()) facts.facts.insert(facts.facts.begin() + 1, {"listed in", {place}});
    page.blocks.emplace_back(std::move(facts));
    for (const auto& [release, record] : variant->records) records.push_back(RecordData(release, *record));
  }
  Value::List key_data;
  for (const AttributeHistory* key : keys) key_data.push_back(AttributeData(*key));
  if (!keys.empty()) {
    page.blocks.push_back(Heading{"Sub-keys"});
    page.blocks.emplace_back(AttributeTable(keys, all, false));
  }
  Value data = AttributeData(first);
  Value::Map& fields = std::get<Value::Map>(data.data());
  fields["group"] = first.latest().group.empty() ? Value() : Value(first.latest().group);
  fields["area"] = first.latest().area.empty() ? Value() : Value(first.latest().area);
  fields["releases"] = Value(std::move(records));
  fields["keys"] = Value(std::move(key_data));
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
