#include "reference/recipe_topics.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include "reference/record.h"

namespace muster {
namespace {

// "[1]" for the first element of a table.
std::string NameOf(const Value& field) { return FieldOf(field, "name").IsNumber() ? "[1]" : TextOf(field, "name"); }

// `"pack"`, `"deal"`; otherwise the type and its limits.
std::string ValuesOf(const Value& field) {
  std::string values = TextOf(field, "type");
  for (const Value& word : ListOf(field, "words")) {
    if (word.AsString() == nullptr) continue;
    values += (values.empty() ? "" : ", ") + Ticked("\"" + *word.AsString() + "\"");
  }
  const std::string range = TextOf(field, "range");
  return values + (range.empty() ? "" : ", " + range);
}

// A value in recipe syntax is quoted; a phrase is not.
std::string DefaultOf(const Value& field) {
  if (TruthOf(field, "required")) return "required";
  const std::string text = TextOf(field, "default");
  const bool value = text.starts_with("\"") || text == "true" || text == "false";
  return value ? Ticked(text) : text;
}

std::string DocOf(const Value& field) {
  std::string doc = TextOf(field, "doc");
  if (const std::string only = TextOf(field, "only"); !only.empty()) doc += " Only in " + Ticked(only) + ".";
  if (const std::string former = TextOf(field, "former"); !former.empty()) doc += " Formerly " + Ticked(former) + ".";
  if (TruthOf(field, "describes")) doc += " Not inside `each`.";
  return doc;
}

// The examples of parameter types are in their hints.
std::string ExampleOf(const Value& field) {
  const std::string declaration = TextOf(field, "declaration");
  return declaration.empty() ? TextOf(field, "example") : "muster." + NameOf(field) + " " + declaration;
}

// One block of lines per field: a table of five columns is too wide for terminals.
FactList FieldList(const Value& section) {
  FactList list;
  for (const Value& field : ListOf(section, "fields")) {
    const std::string standard = DefaultOf(field);
    std::string values = ValuesOf(field);
    if (!standard.empty()) values += standard == "required" ? "; required" : "; default: " + standard;
    list.facts.push_back({Ticked(NameOf(field)), {values, DocOf(field), Ticked(ExampleOf(field))}});
  }
  return list;
}

Table FieldTable(const Value& section) {
  const std::string what = TextOf(section, "what");
  Table table{{what.empty() ? "field" : what, "values", "default", "description", "example"}, {}};
  for (const Value& field : ListOf(section, "fields")) {
    table.rows.push_back(
        {Ticked(NameOf(field)), ValuesOf(field), DefaultOf(field), DocOf(field), Ticked(ExampleOf(field))});
  }
  return table;
}

void AddIntroduction(const Value& section, Page& page) {
  page.blocks.emplace_back(Paragraph{TextOf(section, "doc")});
  page.blocks.emplace_back(Example{"lua", LinesOf(TextOf(section, "example"))});
}

const Value::List& Sections(const Value& sections) {
  static const Value::List none;
  return sections.AsList() == nullptr ? none : *sections.AsList();
}

bool IsSection(const Value& sections, const std::string& name) {
  const Value::List& all = Sections(sections);
  return std::any_of(all.begin(), all.end(), [&](const Value& section) { return TextOf(section, "name") == name; });
}

// The section, and the sections that are shown on its page.
std::vector<const Value*> OnPageOf(const Value& sections, const std::string& name) {
  std::vector<const Value*> found;
  for (const Value& section : Sections(sections)) {
    if (TextOf(section, "name") == name || TextOf(section, "page") == name) found.push_back(&section);
  }
  return found;
}

Page SectionPage(const Value& sections, const std::string& name) {
  Page page;
  Value::List records;
  for (const Value* section : OnPageOf(sections, name)) {
    if (page.title.empty()) {
      page.title = TextOf(*section, "title");
    } else {
      page.blocks.emplace_back(Heading{TextOf(*section, "title")});
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
    const std::string own = TextOf(*section, "name");
    add(own);
    for (const Value& other : ListOf(*section, "other_names")) {
      if (other.AsString() != nullptr) add(*other.AsString());
    }
    for (const Value& field : ListOf(*section, "fields")) {
      const std::string field_name = TextOf(field, "name");
      if (field_name.empty()) continue;
      add(field_name);
      if (!IsSection(sections, own + "." + field_name)) add(own + "." + field_name);
      if (TextOf(field, "type") == "method") add(own + ":" + field_name);
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
  const std::string doc = TextOf(section, "doc");
  return doc.substr(0, std::min(doc.find(". "), doc.size() - 1));
}

}  // namespace

Topics RecipeTopics(const Value& sections) {
  const auto known = std::make_shared<Value>(sections);
  Topics topics;
  for (const Value& section : Sections(*known)) {
    if (!TextOf(section, "page").empty()) continue;
    const std::string name = TextOf(section, "name");
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
    const std::string title = TextOf(section, "title");
    table.rows.push_back({"[" + title + "](#" + AnchorOf(title) + ")", Summary(section)});
  }
  introduction.blocks.emplace_back(std::move(table));
  std::string text = PageMarkdown(introduction, 1);
  for (const Value& section : Sections(sections)) {
    Page page;
    page.title = TextOf(section, "title");
    AddIntroduction(section, page);
    page.blocks.emplace_back(FieldTable(section));
    text += "\n" + PageMarkdown(page, 2);
  }
  return text;
}

}  // namespace muster
