#include "reference/definition_topics.h"

#include <algorithm>
#include <cctype>
#include <memory>

namespace muster {
namespace {

// The length of the type with which the text begins. A blank ends it outside of brackets and texts, but not beside
// "|" and behind ":" and ",", as in "fun(p: table): boolean, string?".
std::size_t LengthOfType(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '}' || c == '>') --depth;
    if (c != ' ' || depth > 0) continue;
    const char before = i == 0 ? ' ' : text[i - 1];
    const bool goes_on = before == '|' || before == ':' || before == ',' || text.substr(i + 1).starts_with('|');
    if (!goes_on) return i;
  }
  return text.size();
}

// "name? type description"
DefinedField FieldIn(std::string_view text) {
  DefinedField field;
  const std::size_t end = std::min(text.find(' '), text.size());
  field.name = text.substr(0, end);
  field.optional = field.name.ends_with('?');
  if (field.optional) field.name.pop_back();
  text.remove_prefix(std::min(end + 1, text.size()));
  const std::size_t type = LengthOfType(text);
  field.type = text.substr(0, type);
  field.doc = text.substr(std::min(type + 1, text.size()));
  return field;
}

class DefinitionReader {
 public:
  explicit DefinitionReader(Definitions& out) : out_(out) {}

  void Take(std::string_view line) {
    constexpr std::string_view kDoc = "---";
    if (!line.starts_with(kDoc) || line.starts_with("----")) {
      Code(line);
      doc_.clear();
      next_ = {};
      in_class_ = false;
      return;
    }
    line.remove_prefix(kDoc.size());
    if (TakeTag(line, "@class ")) {
      out_.classes.push_back({std::string(line.substr(0, line.find(' '))), std::move(doc_), {}});
      in_class_ = true;
    } else if (TakeTag(line, "@field ")) {
      if (!in_class_) return;
      DefinedField field = FieldIn(line);
      if (field.doc.empty()) field.doc = std::move(doc_);
      out_.classes.back().fields.push_back(std::move(field));
    } else if (TakeTag(line, "@param ")) {
      next_.parameters.push_back(FieldIn(line));
      return;
    } else if (TakeTag(line, "@return ")) {
      next_.returned = line.substr(0, LengthOfType(line));
      return;
    } else if (line.starts_with('@')) {
      return;
    } else {
      doc_ += (doc_.empty() ? "" : " ") + std::string(line);
      return;
    }
    doc_.clear();
  }

 private:
  static bool TakeTag(std::string_view& line, std::string_view tag) {
    if (!line.starts_with(tag)) return false;
    line.remove_prefix(tag.size());
    return true;
  }

  void Code(std::string_view line) {
    constexpr std::string_view kFunction = "function ";
    constexpr std::string_view kOwnModule = "muster.";
    const bool function = TakeTag(line, kFunction);
    if (!line.starts_with(kOwnModule)) return;
    const std::size_t end = line.find_first_of(function ? "(" : " ");
    if (end == std::string_view::npos) return;
    next_.name = line.substr(0, end);
    next_.is_value = !function;
    next_.doc = std::move(doc_);
    out_.functions.push_back(std::move(next_));
  }

  Definitions& out_;
  std::string doc_;
  DefinedFunction next_;
  bool in_class_ = false;
};

}  // namespace

const DefinedClass* Definitions::Class(std::string_view name) const {
  const auto found = std::find_if(classes.begin(), classes.end(),
                                  [&](const DefinedClass& each) { return each.name == name && !each.fields.empty(); });
  return found == classes.end() ? nullptr : &*found;
}

Definitions ReadDefinitions(std::span<const EmbeddedFile> files) {
  Definitions definitions;
  for (const EmbeddedFile& file : files) {
    DefinitionReader reader(definitions);
    for (const std::string& line : LinesOf(std::string(file.text))) reader.Take(line);
  }
  return definitions;
}

namespace {

constexpr std::string_view kModulePrefix = "muster.";

// A file or table whose fields are classes of the definitions.
struct DefinedTable {
  const char* name;
  const char* kind;
  const char* title;
  const char* summary;
  std::vector<const char*> classes;  // the first is the table itself
  const char* example;
};

const std::vector<DefinedTable>& Tables() {
  static const std::vector<DefinedTable> kTables = {
      {"sweep",
       "sweep files",
       "Sweep file",
       "fields of a sweep file",
       {"muster.Sweep", "muster.SweepMetrics", "muster.SweepRetry", "muster.SweepBudget"},
       "local muster = require \"muster\"\n"
       "return muster.sweep {\n"
       "  recipe    = muster.load \"train.lua\",\n"
       "  space     = { lr = muster.log_uniform(1e-4, 1e-1), batch = { 32, 64 } },\n"
       "  sampler   = muster.random { seed = 1, trials = 20 },\n"
       "  objective = muster.minimize \"loss\",\n"
       "}\n"},
      {"site",
       "site files",
       "Site file",
       "fields of a site file",
       {"muster.Site", "muster.SiteEnvironment"},
       "-- muster.site.lua\n"
       "local muster = require \"muster\"\n"
       "return muster.site {\n"
       "  hosts       = \"n[01-16]:8\",\n"
       "  environment = { set = { NCCL_SOCKET_IFNAME = \"ib0\" } },\n"
       "}\n"},
      {"contract",
       "contracts",
       "Contract of a recipe's own",
       "fields of a launch contract of a recipe's own",
       {"muster.Contract", "muster.ContractRole"},
       "framework = muster.contract {\n"
       "  name  = \"ring\",\n"
       "  roles = { worker = { min = 2 } },\n"
       "  env   = function(process, job) return { RING_RANK = process.rank } end,\n"
       "}\n"},
  };
  return kTables;
}

// What a function returns that a field of a sweep file takes, and the axes of its space.
struct DefinedResult {
  const char* type;
  const char* name;
  const char* title;
  const char* summary;
};
constexpr DefinedResult kResults[] = {
    {"muster.Axis", "axes", "Axes of a space", "values of one parameter in a sweep"},
    {"muster.Space", "space", "Spaces", "which points a sweep has"},
    {"muster.Sampler", "sampler", "Samplers", "which points of a space are tried, and in which order"},
    {"muster.Objective", "objective", "Objectives", "what the trials of a sweep are ranked by"},
    {"muster.EarlyStop", "early_stop", "Early stopping", "which trials of a sweep are stopped early"},
};

std::string Signature(const DefinedFunction& function) {
  if (function.is_value) return function.name;
  const bool table =
      function.parameters.size() == 1 && function.parameters.front().type.find("muster.") != std::string::npos;
  std::string words;
  for (const DefinedField& each : function.parameters) {
    words += (words.empty() ? "" : ", ") + (each.optional ? "[" + each.name + "]" : each.name);
  }
  return function.name + (table ? " { … }" : "(" + words + ")");
}

std::string TypeText(const std::string& type) {
  std::string text;
  for (const char c : type) {
    if (c == '|') {
      text += " or ";
    } else {
      text += c;
    }
  }
  return text;
}

FactList FieldList(const std::vector<DefinedField>& fields) {
  FactList list;
  for (const DefinedField& field : fields) {
    Fact fact{Ticked(field.name == "[1]" ? "1" : field.name), {TypeText(field.type)}};
    if (!field.optional) fact.lines.back() += "; required";
    if (!field.doc.empty()) fact.lines.push_back(field.doc);
    list.facts.push_back(std::move(fact));
  }
  return list;
}

Value FieldsValue(const std::vector<DefinedField>& fields) {
  Value::List list;
  for (const DefinedField& field : fields) {
    list.push_back(Value(Value::Map{{"name", Value(field.name)},
                                    {"type", Value(field.type)},
                                    {"optional", Value(field.optional)},
                                    {"doc", Value(field.doc)}}));
  }
  return Value(std::move(list));
}

// "asha" of "muster.asha"
std::string Bare(const std::string& name) { return name.substr(kModulePrefix.size()); }

// The classes with fields that a type names.
std::vector<const DefinedClass*> ClassesIn(const Definitions& definitions, const std::string& type) {
  std::vector<const DefinedClass*> found;
  for (const DefinedClass& each : definitions.classes) {
    if (each.fields.empty()) continue;
    const std::size_t at = type.find(each.name);
    if (at == std::string::npos) continue;
    const std::size_t end = at + each.name.size();
    const bool whole = end == type.size() || (std::isalnum(static_cast<unsigned char>(type[end])) == 0);
    if (whole) found.push_back(&each);
  }
  return found;
}

// Where the fields of a class are listed, if not on the page of its function.
std::string TopicOfClass(const std::string& name) {
  if (name == "muster.Recipe") return "recipe";
  if (name == "muster.ParameterDeclaration") return "parameters";
  for (const DefinedTable& table : Tables()) {
    if (name == table.classes.front()) return table.name;
  }
  return {};
}

Page FunctionPage(const Definitions& definitions, const DefinedFunction& function) {
  Page page;
  page.title = Ticked(Signature(function));
  page.blocks.emplace_back(Paragraph{function.doc});
  std::vector<DefinedField> parts = function.parameters;
  if (!function.returned.empty() && function.returned != "any") {
    parts.push_back({"returns", true, function.returned, ""});
  }
  if (!parts.empty()) page.blocks.emplace_back(FieldList(parts));
  for (const DefinedField& parameter : function.parameters) {
    for (const DefinedClass* fields : ClassesIn(definitions, parameter.type)) {
      const std::string topic = TopicOfClass(fields->name);
      if (!topic.empty()) {
        page.blocks.emplace_back(
            Paragraph{"Fields of " + Ticked(parameter.name) + ": " + Ticked("muster docs " + topic)});
        continue;
      }
      page.blocks.emplace_back(Heading{"Fields of " + Ticked(parameter.name)});
      page.blocks.emplace_back(FieldList(fields->fields));
    }
  }
  page.data = Value(Value::Map{{"name", Value(function.name)},
                               {"kind", Value("function")},
                               {"doc", Value(function.doc)},
                               {"parameters", FieldsValue(function.parameters)},
                               {"returns", Value(function.returned)}});
  return page;
}

// "muster.Sampler" → "One of `muster.grid { … }`, …"
std::string FunctionsThatReturn(const Definitions& definitions, const std::string& type) {
  std::string list;
  for (const DefinedFunction& function : definitions.functions) {
    if (function.returned == type) list += (list.empty() ? "" : ", ") + Ticked(Signature(function));
  }
  return list;
}

// Fields whose type is made by functions list these.
std::vector<DefinedField> WithFunctions(const Definitions& definitions, std::vector<DefinedField> fields) {
  for (DefinedField& field : fields) {
    const std::string functions = FunctionsThatReturn(definitions, field.type);
    if (!functions.empty() && field.type.starts_with(kModulePrefix)) field.type = functions;
  }
  return fields;
}

// The field of the table whose value is of that class.
std::string FieldOfClass(const DefinedClass& table, const std::string& name) {
  for (const DefinedField& field : table.fields) {
    if (field.type.find(name) != std::string::npos) return field.name;
  }
  return name;
}

Page TablePage(const Definitions& definitions, const DefinedTable& table) {
  Page page;
  page.title = table.title;
  Value::List sections;
  for (const char* name : table.classes) {
    const DefinedClass* fields = definitions.Class(name);
    if (fields == nullptr) continue;
    if (name != table.classes.front()) {
      page.blocks.emplace_back(Heading{Ticked(FieldOfClass(*definitions.Class(table.classes.front()), name))});
    }
    if (!fields->doc.empty()) page.blocks.emplace_back(Paragraph{fields->doc});
    if (name == table.classes.front()) page.blocks.emplace_back(Example{"lua", LinesOf(table.example)});
    page.blocks.emplace_back(FieldList(WithFunctions(definitions, fields->fields)));
    sections.push_back(Value(Value::Map{{"name", Value(name)}, {"fields", FieldsValue(fields->fields)}}));
  }
  page.data = Value(
      Value::Map{{"name", Value(table.name)}, {"kind", Value(table.kind)}, {"sections", Value(std::move(sections))}});
  return page;
}

Page ResultPage(const Definitions& definitions, const DefinedResult& result) {
  Page page;
  page.title = result.title;
  FactList list;
  Value::List functions;
  for (const DefinedFunction& function : definitions.functions) {
    if (function.returned != result.type) continue;
    list.facts.push_back({Ticked(Signature(function)), {function.doc}});
    functions.push_back(Value(Value::Map{{"name", Value(function.name)}, {"doc", Value(function.doc)}}));
  }
  for (const DefinedClass& each : definitions.classes) {
    if (each.name == result.type && !each.doc.empty()) page.blocks.emplace_back(Paragraph{each.doc});
  }
  page.blocks.emplace_back(std::move(list));
  page.data = Value(Value::Map{
      {"name", Value(result.name)}, {"kind", Value("sweep files")}, {"functions", Value(std::move(functions))}});
  return page;
}

std::string FirstSentence(const std::string& doc) {
  std::string sentence = doc.substr(0, std::min(doc.find(". "), doc.find(": ")));
  while (sentence.ends_with('.')) sentence.pop_back();
  return sentence;
}

std::vector<std::string> OtherNames(const Definitions& definitions, const DefinedTable& table) {
  std::vector<std::string> names;
  const DefinedClass* fields = definitions.Class(table.classes.front());
  for (const char* name : table.classes) {
    const DefinedClass* part = definitions.Class(name);
    if (fields == nullptr || part == nullptr) continue;
    const std::string prefix = part == fields ? table.name : FieldOfClass(*fields, name);
    for (const DefinedField& field : part->fields) {
      names.push_back(field.name);
      names.push_back(prefix + "." + field.name);
    }
  }
  return names;
}

}  // namespace

Topics DefinitionTopics(const Definitions& definitions) {
  const auto known = std::make_shared<Definitions>(definitions);
  Topics topics;
  for (const DefinedTable& table : Tables()) {
    topics.push_back({table.name, table.kind, table.summary, OtherNames(*known, table), true,
                      [known, &table] { return TablePage(*known, table); }});
  }
  for (const DefinedResult& result : kResults) {
    topics.push_back({result.name, "sweep files", result.summary, {}, true, [known, &result] {
                        return ResultPage(*known, result);
                      }});
  }
  for (std::size_t i = 0; i < known->functions.size(); ++i) {
    const DefinedFunction& function = known->functions[i];
    topics.push_back({function.name,
                      "functions",
                      FirstSentence(function.doc),
                      {Bare(function.name)},
                      function.returned != "muster.Parameter",  // `muster docs parameters` lists those
                      [known, i] { return FunctionPage(*known, known->functions[i]); }});
  }
  return topics;
}

}  // namespace muster
