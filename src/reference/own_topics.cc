#include "reference/own_topics.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "base/system/fault.h"
#include "base/system/mechanism.h"
#include "base/values/value_json.h"

namespace muster {
namespace {

// "[1]" for the first element of a table.
std::string NameOf(const Value& field) {
  return ValueField(field, "name").IsNumber() ? "[1]" : TextField(field, "name");
}

// `"pack"`, `"deal"`; otherwise the type and its limits.
std::string ValuesOf(const Value& field) {
  std::string values = TextField(field, "type");
  for (const Value& word : ListField(field, "words")) {
    if (word.AsString() == nullptr) continue;
    values += (values.empty() ? "" : ", ") + Ticked("\"" + *word.AsString() + "\"");
  }
  const std::string range = TextField(field, "range");
  return values + (range.empty() ? "" : ", " + range);
}

// A value in recipe syntax is quoted; a phrase is not.
std::string DefaultOf(const Value& field) {
  if (TruthField(field, "required")) return "required";
  const std::string text = TextField(field, "default");
  const bool value = text.starts_with("\"") || text == "true" || text == "false";
  return value ? Ticked(text) : text;
}

std::string DocOf(const Value& field) {
  std::string doc = TextField(field, "doc");
  if (const std::string only = TextField(field, "only"); !only.empty()) doc += " Only in " + Ticked(only) + ".";
  if (TruthField(field, "describes")) doc += " Not inside `each`.";
  return doc;
}

// The examples of parameter types are in their hints.
std::string ExampleOf(const Value& field) {
  const std::string declaration = TextField(field, "declaration");
  return declaration.empty() ? TextField(field, "example") : "muster." + NameOf(field) + " " + declaration;
}

// One block of lines per field: a table of five columns is too wide for terminals.
FactList FieldList(const Value& section) {
  FactList list;
  for (const Value& field : ListField(section, "fields")) {
    const std::string standard = DefaultOf(field);
    std::string values = ValuesOf(field);
    if (!standard.empty()) values += standard == "required" ? "; required" : "; default: " + standard;
    list.facts.push_back({Ticked(NameOf(field)), {values, DocOf(field), Ticked(ExampleOf(field))}});
  }
  return list;
}

Table FieldTable(const Value& section) {
  const std::string what = TextField(section, "what");
  Table table{{what.empty() ? "field" : what, "values", "default", "description", "example"}, {}};
  for (const Value& field : ListField(section, "fields")) {
    table.rows.push_back(
        {Ticked(NameOf(field)), ValuesOf(field), DefaultOf(field), DocOf(field), Ticked(ExampleOf(field))});
  }
  return table;
}

void AddIntroduction(const Value& section, Page& page) {
  page.blocks.emplace_back(Paragraph{TextField(section, "doc")});
  page.blocks.emplace_back(Example{"lua", LinesOf(TextField(section, "example"))});
}

const Value::List& Sections(const Value& sections) {
  static const Value::List none;
  return sections.AsList() == nullptr ? none : *sections.AsList();
}

bool IsSection(const Value& sections, const std::string& name) {
  const Value::List& all = Sections(sections);
  return std::any_of(all.begin(), all.end(), [&](const Value& section) { return TextField(section, "name") == name; });
}

// The section, and the sections that are shown on its page.
std::vector<const Value*> OnPageOf(const Value& sections, const std::string& name) {
  std::vector<const Value*> found;
  for (const Value& section : Sections(sections)) {
    if (TextField(section, "name") == name || TextField(section, "page") == name) found.push_back(&section);
  }
  return found;
}

Page SectionPage(const Value& sections, const std::string& name) {
  Page page;
  Value::List records;
  for (const Value* section : OnPageOf(sections, name)) {
    if (page.title.empty()) {
      page.title = TextField(*section, "title");
    } else {
      page.blocks.emplace_back(Heading{TextField(*section, "title")});
    }
    AddIntroduction(*section, page);
    page.blocks.emplace_back(FieldList(*section));
    records.push_back(*section);
  }
  page.data =
      Value(Value::Map{{"name", Value(name)}, {"kind", Value("recipes")}, {"sections", Value(std::move(records))}});
  return page;
}

std::vector<std::string> OtherNames(const Value& sections, const std::string& name) {
  std::vector<std::string> names;
  const auto add = [&](std::string other) {
    if (other != name && std::find(names.begin(), names.end(), other) == names.end()) names.push_back(std::move(other));
  };
  for (const Value* section : OnPageOf(sections, name)) {
    const std::string own = TextField(*section, "name");
    add(own);
    for (const Value& other : ListField(*section, "other_names")) {
      if (other.AsString() != nullptr) add(*other.AsString());
    }
    for (const Value& field : ListField(*section, "fields")) {
      const std::string field_name = TextField(field, "name");
      if (field_name.empty()) continue;
      add(field_name);
      if (!IsSection(sections, own + "." + field_name)) add(own + "." + field_name);
      if (TextField(field, "type") == "method") add(own + ":" + field_name);
      if (own == "parameters") add("muster." + field_name);
    }
  }
  return names;
}

// Heading anchors as GitHub generates them.
std::string AnchorOf(const std::string& title) {
  std::string anchor;
  for (const char c : title) {
    if (c == ' ') anchor += '-';
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return anchor;
}

// The first sentence, without its full stop.
std::string Summary(const Value& section) {
  const std::string doc = TextField(section, "doc");
  return doc.substr(0, std::min(doc.find(". "), doc.size() - 1));
}

}  // namespace

Topics RecipeTopics(const Value& sections) {
  const auto known = std::make_shared<Value>(sections);
  Topics topics;
  for (const Value& section : Sections(*known)) {
    if (!TextField(section, "page").empty()) continue;
    const std::string name = TextField(section, "name");
    topics.push_back({name, "recipes", Summary(section), OtherNames(*known, name), true,
                      [known, name] { return SectionPage(*known, name); }});
  }
  return topics;
}

std::string RecipeReference(const Value& sections) {
  Page introduction;
  introduction.title = "Recipe reference";
  introduction.blocks.emplace_back(
      Paragraph{"All fields of recipes, roles and their tables, the members of `job` and `process`, and the types of "
                "parameters. [recipe-guide.md](recipe-guide.md) introduces them by example, [recipes.md](recipes.md) "
                "describes composition, [attributes.md](attributes.md) the attributes of the context."});
  introduction.blocks.emplace_back(
      Paragraph{"`muster docs NAME` prints the same. This page is generated from `lua/muster/recipe_fields.lua`, which "
                "the checks of recipes read, too; do not edit it by hand."});
  Table table{{"section", "about"}, {}};
  for (const Value& section : Sections(sections)) {
    const std::string title = TextField(section, "title");
    table.rows.push_back({"[" + title + "](#" + AnchorOf(title) + ")", Summary(section)});
  }
  introduction.blocks.emplace_back(std::move(table));
  std::string text = PageMarkdown(introduction, 1);
  for (const Value& section : Sections(sections)) {
    Page page;
    page.title = TextField(section, "title");
    AddIntroduction(section, page);
    page.blocks.emplace_back(FieldTable(section));
    text += "\n" + PageMarkdown(page, 2);
  }
  return text;
}

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
  const auto least = static_cast<int>(ValueField(role, "min").Number());
  const auto most = static_cast<int>(ValueField(role, "max").Number());
  if (most == 0) return least == 0 ? "any" : std::to_string(least) + " or more";
  return least == most ? std::to_string(most) : "at most " + std::to_string(most);
}

std::string EndOf(const Value& role) {
  if (!TruthField(role, "serves")) return "the job waits for it";
  return "serves; has " + std::to_string(static_cast<int>(ValueField(role, "linger").Number())) +
         " s once the others have ended";
}

Table RolesTable(const Value& record) {
  Table table{{"role", "processes", "what it does", "its end"}, {}};
  for (const Value& role : ListField(record, "roles")) {
    table.rows.push_back({Ticked(TextField(role, "name")),
                          Count(role) + (TruthField(role, "added") ? "; added by muster if left out" : ""),
                          TextField(role, "doc"), EndOf(role)});
  }
  return table;
}

Table OptionsTable(const Value& record) {
  Table table{{"option", "values", "what it does"}, {}};
  for (const Value& option : ListField(record, "options")) {
    const std::string kind = TextField(option, "kind");
    std::string values = kind.empty() ? Joined(ListField(option, "words"), ", ") : "a " + kind;
    if (kind.empty()) values += "; the first unless given";
    if (kind == "count") values = "a number";
    if (kind == "file") values = "a JSON file beside the recipe";
    if (kind == "list") values = "a list of texts";
    if (!TextField(option, "default").empty()) values += "; " + Ticked(TextField(option, "default")) + " unless given";
    table.rows.push_back({Ticked(TextField(option, "name")), values, TextField(option, "doc")});
  }
  return table;
}

Table NamesTable(const Value::List& names, std::vector<std::string> columns) {
  Table table{std::move(columns), {}};
  for (const Value& name : names) {
    std::vector<std::string> row = {Ticked(TextField(name, "name"))};
    if (table.columns.size() == 3) row.push_back(TextField(name, "who"));
    row.push_back(TextField(name, "doc"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string RendezvousOf(const Value& record) {
  const Value& meeting = ValueField(record, "meeting");
  if (meeting.IsNull()) return "none";
  return std::string("the first ") + Ticked(TextField(meeting, "role")) +
         (TruthField(record, "worlds") ? " of each world" : "") + ", at the port " + Ticked(TextField(meeting, "port"));
}

Page FrameworkPage(const Value& record) {
  Page page;
  page.title = Ticked(TextField(record, "name"));
  page.blocks.emplace_back(Paragraph{TextField(record, "doc")});
  if (!TextField(record, "example").empty())
    page.blocks.emplace_back(Example{"lua", LinesOf(TextField(record, "example"))});
  FactList facts;
  facts.facts.push_back({"rendezvous endpoint", {RendezvousOf(record)}});
  facts.facts.push_back({"the job ends", {TextField(record, "ends")}});
  if (!TextField(record, "derives").empty())
    facts.facts.push_back({"MindSpore's context", {TextField(record, "derives")}});
  if (!ListField(record, "clear").empty())
    facts.facts.push_back({"removed", {Joined(ListField(record, "clear"), ", ")}});
  if (!TextField(record, "source").empty()) facts.facts.push_back({"source", {TextField(record, "source")}});
  page.blocks.emplace_back(std::move(facts));
  for (const Value& note : ListField(record, "notes")) {
    if (note.AsString() != nullptr) page.blocks.emplace_back(Paragraph{*note.AsString()});
  }
  page.blocks.emplace_back(RolesTable(record));
  if (!ListField(record, "options").empty()) page.blocks.emplace_back(OptionsTable(record));
  if (!ListField(record, "variables").empty()) {
    page.blocks.emplace_back(NamesTable(ListField(record, "variables"), {"variable", "whose", "value"}));
  }
  if (!ListField(record, "absent").empty()) {
    page.blocks.emplace_back(Paragraph{"Names that recipes set but no framework reads; muster warns of them:"});
    page.blocks.emplace_back(NamesTable(ListField(record, "absent"), {"variable", "why it has no effect"}));
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
    const std::string name = TextField(record, "name");
    table.rows.push_back({linked ? "[" + Ticked(name) + "](#" + name + ")" : Ticked(name), TextField(record, "doc")});
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
    topics.push_back({TextField(record, "name"), "framework", TextField(record, "doc"), {}, true, [known, i] {
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

namespace {

// How a value is written, by the type of the option (engine/engine_page.h).
std::string ValueForm(const std::string& type) {
  if (type == "count") return "whole number";
  if (type == "duration" || type == "notice") return "duration with a unit: `\"90m\"`, `\"12h\"`";
  if (type == "flag" || type == "each_trial") return "true or false";
  if (type == "list") return "list of texts";
  if (type == "table") return "table";
  if (type == "requeue") return "table: `{ on = { \"time_limit\", \"preempted\", \"node_fail\" }, max = 3 }`";
  return "text";
}

std::string DefaultText(const Value& value) {
  if (value.IsNull()) return {};
  return "; default: " + Ticked(value.AsString() != nullptr ? '"' + *value.AsString() + '"' : ToText(value));
}

// The option of the command line; Slurm and Kubernetes have their own (cli/options/engine_choice.cc).
std::string OptionName(const std::string& engine) {
  return engine == "slurm" || engine == "kubernetes" ? engine : "engine-option";
}

// The same for editors.
std::string StubType(const std::string& type) {
  if (type == "count") return "integer";
  if (type == "flag" || type == "each_trial") return "boolean";
  if (type == "list") return "string[]";
  if (type == "table") return "table<string, any>";
  if (type == "requeue") return "string|{ on: (\"time_limit\"|\"preempted\"|\"node_fail\")[], max?: integer }";
  return type == "text" ? "string|integer" : "string";
}

std::string ClassName(const std::string& engine) {
  if (engine == "gridengine") return "muster.GridEngine";
  std::string name = engine;
  name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
  return "muster." + name;
}

Page EnginePage(const Value& engine) {
  const std::string name = TextField(engine, "name");
  Page page;
  page.title = "Options of the engine " + Ticked(name);
  page.blocks.emplace_back(Paragraph{TextField(engine, "doc")});
  std::string first;
  FactList list;
  for (const Value& option : ListField(engine, "options")) {
    const std::string option_name = TextField(option, "name");
    Fact fact{Ticked(option_name), {ValueForm(TextField(option, "type")) + DefaultText(ValueField(option, "default"))}};
    fact.lines.push_back(TextField(option, "doc"));
    const std::string line = TextField(option, "line");
    if (line.starts_with('-')) fact.lines.push_back("in the script: " + Ticked(line));
    if (first.empty() && TextField(option, "type") == "text" && option_name != "as") first = option_name;
    list.facts.push_back(std::move(fact));
  }
  page.blocks.emplace_back(
      Example{"",
              {"muster run RECIPE --on " + name + " --" + OptionName(name) + " " + first + "=VALUE",
               name + " = { " + first + " = \"VALUE\" }      in a recipe or a site file"}});
  page.blocks.emplace_back(std::move(list));
  page.data =
      Value(Value::Map{{"name", Value(name)}, {"kind", Value("engine")}, {"options", ValueField(engine, "options")}});
  return page;
}

}  // namespace

std::string EngineStub(const std::vector<Value>& pages) {
  std::string text =
      "---@meta _\n"
      "-- The options of engines for editors (`muster docs editors`), in recipes and site files. Printed by `muster "
      "docs "
      "--stub\n"
      "-- engines` from the engines' pages, and not edited by hand.\n";
  for (const Value& page : pages) {
    const std::string name = TextField(page, "name");
    text += "\n---Options of the engine " + name + ": `muster docs " + name + "`.\n---@class " + ClassName(name) + "\n";
    for (const Value& option : ListField(page, "options")) {
      text += "---@field " + TextField(option, "name") + "? " + StubType(TextField(option, "type")) + " " +
              TextField(option, "doc") + "\n";
    }
  }
  return text;
}

Topics EngineTopics(const std::vector<Value>& pages) {
  const auto known = std::make_shared<std::vector<Value>>(pages);
  Topics topics;
  for (std::size_t i = 0; i < known->size(); ++i) {
    const std::string name = TextField((*known)[i], "name");
    std::vector<std::string> others;
    for (const Value& option : ListField((*known)[i], "options"))
      others.push_back(name + "." + TextField(option, "name"));
    topics.push_back({name, "engines", "options of " + TextField((*known)[i], "doc"), std::move(others), true,
                      [known, i] { return EnginePage((*known)[i]); }});
  }
  return topics;
}

namespace {

Page FaultsPage() {
  Page page;
  page.title = "Fault hooks";
  page.blocks.emplace_back(Example{"", {"muster run --fault=SITE:ACTION:N …"}});
  page.blocks.emplace_back(Paragraph{
      "Makes a run go wrong on purpose, in any build; for tests of what becomes of it then. `delay` waits N "
      "milliseconds "
      "each time the site is passed; `fail` lets the site fail when it is passed for the Nth time; `kill` ends the "
      "program there with SIGKILL. The option may be given more than once."});
  Table table{{"site", "is passed when", "on `fail`"}, {}};
  Value::List sites;
  for (const FaultSite& site : kFaultSites) {
    table.rows.push_back({Ticked(site.name), std::string(site.when), std::string(site.fails)});
    sites.push_back(Value(Value::Map{{"name", Value(std::string(site.name))},
                                     {"when", Value(std::string(site.when))},
                                     {"fails", Value(std::string(site.fails))}}));
  }
  page.blocks.emplace_back(std::move(table));
  page.data = Value(
      Value::Map{{"name", Value("faults")}, {"kind", Value("of muster itself")}, {"sites", Value(std::move(sites))}});
  return page;
}

Page MechanismsPage() {
  Page page;
  page.title = "Mechanisms of the kernel";
  page.blocks.emplace_back(Example{"", {"muster run --without=NAME,… …", "MUSTER_WITHOUT=NAME,… muster …"}});
  page.blocks.emplace_back(
      Paragraph{"muster detects which mechanisms the kernel has, and uses substitutes for the others. These options "
                "disable more of them: where a mechanism exists and does not work, and to test the substitutes. The "
                "journal (`agent_connected`, `run_began`) and the receipt name the mechanisms in use."});
  Table table{{"name", "purpose", "substitute"}, {}};
  Value::List mechanisms;
  for (const MechanismFact& fact : kMechanismFacts) {
    table.rows.push_back({Ticked(fact.name), std::string(fact.what), std::string(fact.instead)});
    mechanisms.push_back(Value(Value::Map{{"name", Value(std::string(fact.name))},
                                          {"what", Value(std::string(fact.what))},
                                          {"instead", Value(std::string(fact.instead))}}));
  }
  page.blocks.emplace_back(std::move(table));
  page.blocks.emplace_back(
      Paragraph{"Required of every kernel: subreapers, `/proc`, signalfd, memfd_create (Linux 3.17)."});
  page.blocks.emplace_back(Paragraph{
      "One is used only on request: `muster run --isolate=pid` runs the processes in a PID namespace, which the "
      "kernel ends as a whole (`pid-namespace` in the journal and the receipt). It needs CAP_SYS_ADMIN or user "
      "namespaces; if it cannot be created, nothing is started."});
  page.data = Value(Value::Map{{"name", Value("mechanisms")},
                               {"kind", Value("of muster itself")},
                               {"mechanisms", Value(std::move(mechanisms))}});
  return page;
}

}  // namespace

Topics OwnTopics() {
  return {{"faults", "of muster itself", "making a run go wrong on purpose", {}, true, FaultsPage},
          {"mechanisms",
           "of muster itself",
           "the kernel mechanisms in use, and their substitutes",
           {},
           true,
           MechanismsPage}};
}

}  // namespace muster
