#include "settings/schema/rule_note.h"

namespace muster {

std::string SourceText(const RuleSource& source) {
  std::string text = source.document;
  if (!source.behaviour.empty()) text += (text.empty() ? "MindSpore " : "; MindSpore ") + source.behaviour;
  return text;
}

Note RuleNote(const RuleSource& source) { return {"rule: " + SourceText(source), {}}; }

void Cite(Diagnostic& diagnostic, const Attribute& attribute, std::string_view field) {
  const auto source = attribute.sources.find(std::string(field));
  if (source != attribute.sources.end()) diagnostic.notes.push_back(RuleNote(source->second));
}

}  // namespace muster
