#include "reference/definitions.h"

#include <algorithm>

#include "reference/record.h"

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

}  // namespace muster
