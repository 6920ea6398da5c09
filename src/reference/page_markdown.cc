// Formats pages as Markdown with tables (GitHub's dialect).
#include "reference/page.h"

namespace muster {
namespace {

// Escapes markup outside backticks; in a cell a bar must be escaped even in backticks.
std::string Escaped(const std::string& text, bool in_cell) {
  std::string escaped;
  bool code = false;
  for (const char c : text) {
    if (c == '`') code = !code;
    if ((in_cell && c == '|') || (!code && (c == '*' || c == '<'))) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string Row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) row += " " + Escaped(cell, true) + " |";
  return row + "\n";
}

struct Writer {
  std::size_t level;
  std::string& text;

  void operator()(const Heading& heading) const {
    text += std::string(level + 1, '#') + " " + Escaped(heading.text, false) + "\n\n";
  }
  void operator()(const Paragraph& paragraph) const { text += Escaped(paragraph.text, false) + "\n\n"; }
  void operator()(const FactList& list) const {
    for (const Fact& fact : list.facts) {
      text += "- **" + fact.label + ":**";
      if (fact.lines.size() == 1) text += " " + Escaped(fact.lines.front(), false);
      text += "\n";
      for (std::size_t i = 0; fact.lines.size() > 1 && i < fact.lines.size(); ++i)
        text += "  - " + Escaped(fact.lines[i], false) + "\n";
    }
    text += "\n";
  }
  void operator()(const Table& table) const {
    text += Row(table.columns);
    text += Row(std::vector<std::string>(table.columns.size(), "---"));
    for (const auto& row : table.rows) text += Row(row);
    text += "\n";
  }
  void operator()(const Items& list) const {
    for (const Item& item : list.items) {
      text += std::string(2 * item.level, ' ') + item.mark + " " + Escaped(item.text, false) + "\n";
    }
    text += "\n";
  }
  void operator()(const Example& example) const {
    text += "```" + example.language + "\n";
    for (const std::string& line : example.lines) text += line + "\n";
    text += "```\n\n";
  }
};

}  // namespace

std::string PageMarkdown(const Page& page, std::size_t level) {
  std::string text = std::string(level, '#') + " " + Escaped(page.title, false) + "\n\n";
  for (const Block& block : page.blocks) std::visit(Writer{level, text}, block);
  if (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace muster
