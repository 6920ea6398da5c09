// Formats pages for a terminal.
#include <algorithm>

#include "base/values/shell_quote.h"
#include "base/values/utf8.h"
#include "reference/page.h"

namespace muster {
namespace {

constexpr const char* kBold = "\033[1m";
constexpr const char* kCode = "\033[36m";
constexpr const char* kPlain = "\033[0m";

// The width of the text: one column per code point, none for backticks.
std::size_t WidthOf(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(Utf8Length(text), 1);
    width += text.front() == '`' ? 0 : 1;
    text.remove_prefix(length);
  }
  return width;
}

// Breaks at blanks into lines of at most `width` columns, a longer word on a line of its own. Text in backticks is not
// broken if it fits on a line.
std::vector<std::string> Broken(const std::string& text, std::size_t width) {
  std::vector<std::string> words(1);
  bool code = false;
  for (const char c : text) {
    if (c == '`') code = !code;
    if (c == ' ' && !code) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::vector<std::string> lines(1);
  for (const std::string& word : words) {
    if (!lines.back().empty() && WidthOf(lines.back()) + 1 + WidthOf(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

class TextWriter {
 public:
  TextWriter(const TerminalStyle& style, std::string& text) : style_(style), text_(text) {}

  void operator()(const Heading& heading) { text_ += "\n" + Bold(heading.text) + "\n"; }
  void operator()(const Paragraph& paragraph) {
    for (const std::string& line : Broken(paragraph.text, style_.width - 2)) text_ += "  " + Shown(line) + "\n";
  }
  void operator()(const FactList& list) {
    std::size_t label_width = 0;
    for (const Fact& fact : list.facts) label_width = std::max(label_width, WidthOf(fact.label));
    for (const Fact& fact : list.facts) {
      std::string label = fact.label;
      for (const std::string& line : fact.lines) {
        std::string rest;  // continuation lines are indented further
        for (const std::string& part : Broken(line, Left(label_width + 4 + 2))) {
          text_ += "  " + Bold(label) + std::string(label_width - WidthOf(label) + 2, ' ') + rest + Shown(part) + "\n";
          label.clear();
          rest = "  ";
        }
      }
    }
  }
  // The last column gets the remaining width.
  void operator()(const Table& table) {
    if (table.columns.empty()) return;
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      widths.push_back(WidthOf(table.columns[i]));
      for (const auto& row : table.rows) widths[i] = std::max(widths[i], WidthOf(row[i]));
    }
    std::size_t before = 2;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) before += widths[i] + 2;
    const auto add = [&](const std::vector<std::string>& row, bool bold) {
      std::string line = "  ";
      for (std::size_t i = 0; i + 1 < row.size(); ++i) {
        line += (bold ? Bold(row[i]) : Shown(row[i])) + std::string(widths[i] - WidthOf(row[i]) + 2, ' ');
      }
      for (const std::string& part : Broken(row.back(), Left(before))) {
        line += bold ? Bold(part) : Shown(part);
        line.erase(line.find_last_not_of(' ') + 1);
        text_ += line + "\n";
        line = std::string(before, ' ');
      }
    };
    add(table.columns, true);
    for (const auto& row : table.rows) add(row, false);
  }
  void operator()(const Example& example) {
    for (const std::string& line : example.lines) text_ += "    " + Printable(line) + "\n";
  }

  std::string Bold(const std::string& text) const {
    return style_.colour && !text.empty() ? kBold + WithoutBackticks(text) + kPlain : WithoutBackticks(text);
  }

 private:
  static constexpr std::size_t kNarrowest = 24;

  std::size_t Left(std::size_t taken) const {
    return style_.width > taken + kNarrowest ? style_.width - taken : kNarrowest;
  }

  static std::string WithoutBackticks(std::string text) {
    std::erase(text, '`');
    return Printable(text);
  }

  // Without colours, keep the quotes of names that could be mistaken for English words.
  std::string Shown(const std::string& text) const {
    if (!style_.colour) return WithoutBackticks(text);
    std::string shown;
    bool code = false;
    std::string run;
    for (const char c : text + "`") {
      if (c != '`') {
        run += c;
        continue;
      }
      if (!run.empty()) shown += code ? kCode + Printable(run) + kPlain : Printable(run);
      run.clear();
      code = !code;
    }
    return shown;
  }

  const TerminalStyle& style_;
  std::string& text_;
};

}  // namespace

std::string PageText(const Page& page, const TerminalStyle& style) {
  std::string text;
  TextWriter writer(style, text);
  text += writer.Bold(page.title) + "\n";
  for (const Block& block : page.blocks) {
    // A blank line between blocks, except before a heading, which has its own.
    if (!std::holds_alternative<Heading>(block) && &block != &page.blocks.front() &&
        !std::holds_alternative<Heading>((&block)[-1])) {
      text += "\n";
    }
    std::visit(writer, block);
  }
  return text;
}

}  // namespace muster
