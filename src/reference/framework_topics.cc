#include "reference/framework_topics.h"

#include <memory>
#include <utility>

#include "reference/record.h"

namespace muster {
namespace {

std::string Joined(const Value::List& texts, const char* between) {
  std::string joined;
  for (const Value& text : texts) {
    if (text.AsString() == nullptr) continue;
    joined += (joined.empty() ? "" : between) + Ticked(*text.AsString());
  }
  return joined;
}

// "1", "1 or more", "at most 1", "any": the allowed number of processes of a role.
std::string Count(const Value& role) {
  const auto least = static_cast<int>(FieldOf(role, "min").Number());
  const auto most = static_cast<int>(FieldOf(role, "max").Number());
  if (most == 0) return least == 0 ? "any" : std::to_string(least) + " or more";
  return least == most ? std::to_string(most) : "at most " + std::to_string(most);
}

std::string EndOf(const Value& role) {
  if (!TruthOf(role, "serves")) return "the job waits for it";
  return "serves; has " + std::to_string(static_cast<int>(FieldOf(role, "linger").Number())) +
         " s once the others have ended";
}

Table RolesTable(const Value& record) {
  Table table{{"role", "processes", "what it does", "its end"}, {}};
  for (const Value& role : ListOf(record, "roles")) {
    table.rows.push_back({Ticked(TextOf(role, "name")),
                          Count(role) + (TruthOf(role, "added") ? "; added by muster if left out" : ""),
                          TextOf(role, "doc"), EndOf(role)});
  }
  return table;
}

Table OptionsTable(const Value& record) {
  Table table{{"option", "values", "what it does"}, {}};
  for (const Value& option : ListOf(record, "options")) {
    const std::string kind = TextOf(option, "kind");
    std::string values = kind.empty() ? Joined(ListOf(option, "words"), ", ") : "a " + kind;
    if (kind.empty()) values += "; the first unless given";
    if (kind == "count") values = "a number";
    if (kind == "file") values = "a JSON file beside the recipe";
    if (kind == "list") values = "a list of texts";
    if (!TextOf(option, "default").empty()) values += "; " + Ticked(TextOf(option, "default")) + " unless given";
    table.rows.push_back({Ticked(TextOf(option, "name")), values, TextOf(option, "doc")});
  }
  return table;
}

Table NamesTable(const Value::List& names, std::vector<std::string> columns) {
  Table table{std::move(columns), {}};
  for (const Value& name : names) {
    std::vector<std::string> row = {Ticked(TextOf(name, "name"))};
    if (table.columns.size() == 3) row.push_back(TextOf(name, "who"));
    row.push_back(TextOf(name, "doc"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string RendezvousOf(const Value& record) {
  const Value& meeting = FieldOf(record, "meeting");
  if (meeting.IsNull()) return "none";
  return std::string("the first ") + Ticked(TextOf(meeting, "role")) +
         (TruthOf(record, "worlds") ? " of each world" : "") + ", at the port " + Ticked(TextOf(meeting, "port"));
}

Page FrameworkPage(const Value& record) {
  Page page;
  page.title = Ticked(TextOf(record, "name"));
  page.blocks.emplace_back(Paragraph{TextOf(record, "doc")});
  if (!TextOf(record, "example").empty()) page.blocks.emplace_back(Example{"lua", LinesOf(TextOf(record, "example"))});
  FactList facts;
  facts.facts.push_back({"rendezvous endpoint", {RendezvousOf(record)}});
  facts.facts.push_back({"the job ends", {TextOf(record, "ends")}});
  if (!TextOf(record, "derives").empty()) facts.facts.push_back({"MindSpore's context", {TextOf(record, "derives")}});
  if (!ListOf(record, "clear").empty()) facts.facts.push_back({"removed", {Joined(ListOf(record, "clear"), ", ")}});
  if (!TextOf(record, "source").empty()) facts.facts.push_back({"source", {TextOf(record, "source")}});
  page.blocks.emplace_back(std::move(facts));
  for (const Value& note : ListOf(record, "notes")) {
    if (note.AsString() != nullptr) page.blocks.emplace_back(Paragraph{*note.AsString()});
  }
  page.blocks.emplace_back(RolesTable(record));
  if (!ListOf(record, "options").empty()) page.blocks.emplace_back(OptionsTable(record));
  if (!ListOf(record, "variables").empty()) {
    page.blocks.emplace_back(NamesTable(ListOf(record, "variables"), {"variable", "whose", "value"}));
  }
  if (!ListOf(record, "absent").empty()) {
    page.blocks.emplace_back(Paragraph{"Names that recipes set but no framework reads; muster warns of them:"});
    page.blocks.emplace_back(NamesTable(ListOf(record, "absent"), {"variable", "why it has no effect"}));
  }
  Value::Map data = record.AsMap() == nullptr ? Value::Map() : *record.AsMap();
  data["kind"] = Value("framework");
  page.data = Value(std::move(data));
  return page;
}

const Value::List& Records(const Value& records) {
  static const Value::List none;
  return records.AsList() == nullptr ? none : *records.AsList();
}

Table Overview(const Value& records, bool linked) {
  Table table{{"framework", "what it launches"}, {}};
  for (const Value& record : Records(records)) {
    const std::string name = TextOf(record, "name");
    table.rows.push_back({linked ? "[" + Ticked(name) + "](#" + name + ")" : Ticked(name), TextOf(record, "doc")});
  }
  return table;
}

constexpr const char* kWhat =
    "What a recipe names as `framework`: which variables its processes find, which inherited ones are removed, where "
    "they "
    "meet and how the job ends. An option is chosen beside the name: `framework = { \"jax\", imitate = \"slurm\" }`. A "
    "variable "
    "that is set here can be contradicted on purpose only (`override = true`); those that are merely suggested say so.";

}  // namespace

Topics FrameworkTopics(const Value& records) {
  const auto known = std::make_shared<Value>(records);
  Topics topics;
  for (std::size_t i = 0; i < Records(*known).size(); ++i) {
    const Value& record = Records(*known)[i];
    topics.push_back({TextOf(record, "name"), "framework", TextOf(record, "doc"), {}, true, [known, i] {
                        return FrameworkPage(Records(*known)[i]);
                      }});
  }
  topics.push_back(
      {"frameworks", "list", "launch contracts that a recipe can name", {"framework", "contract"}, true, [known] {
         Page page;
         page.title = "Frameworks";
         page.blocks.emplace_back(Paragraph{kWhat});
         page.blocks.emplace_back(Overview(*known, false));
         page.data = Value(Value::Map{{"name", Value("frameworks")}, {"kind", Value("list")}, {"frameworks", *known}});
         return page;
       }});
  return topics;
}

std::string FrameworkReference(const Value& records) {
  Page introduction;
  introduction.title = "Frameworks";
  introduction.blocks.emplace_back(Paragraph{kWhat});
  introduction.blocks.emplace_back(Paragraph{
      "`muster docs NAME` prints the same. This page is made from `lua/muster/frameworks/` and is not edited by "
      "hand; how "
      "a recipe brings a contract of its own is in [environment.md](environment.md#contracts-of-your-own)."});
  introduction.blocks.emplace_back(Overview(records, true));
  std::string text = PageMarkdown(introduction, 1);
  for (const Value& record : Records(records)) text += "\n" + PageMarkdown(FrameworkPage(record), 2);
  return text;
}

}  // namespace muster
