#include "reference/page.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"

namespace muster {

// Formats pages for a terminal.

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

// The parts of text in backticks, broken at blanks, each in backticks.
void AddParts(const std::string& code, std::vector<std::string>& words) {
  std::string part;
  for (const char c : code) {
    if (c == ' ') {
      words.push_back(part + "`");
      part = "`";
    } else {
      part += c;
    }
  }
  words.push_back(part);
}

// Breaks at blanks into lines of at most `width` columns, a longer word on a line of its own. Text in backticks is not
// broken if it fits on a line.
std::vector<std::string> Broken(const std::string& text, std::size_t width) {
  std::vector<std::string> whole(1);
  bool code = false;
  for (const char c : text) {
    if (c == '`') code = !code;
    if (c == ' ' && !code) {
      whole.emplace_back();
    } else {
      whole.back() += c;
    }
  }
  std::vector<std::string> words;
  for (std::string& word : whole) {
    if (WidthOf(word) > width && word.starts_with('`')) {
      AddParts(word, words);
    } else {
      words.push_back(std::move(word));
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

  void operator()(const Heading& heading) {
    text_ += "\n";
    std::string indent;
    for (const std::string& line : Broken(heading.text, style_.width - 4)) {
      text_ += indent + Bold(line) + "\n";
      indent = "    ";
    }
  }
  void operator()(const Paragraph& paragraph) {
    for (const std::string& line : Broken(paragraph.text, style_.width - 2)) text_ += "  " + Shown(line) + "\n";
  }
  void operator()(const FactList& list) {
    // Labels that would leave too little for the text stand on lines of their own.
    const std::size_t most = style_.width > kNarrowest + kAroundLabel ? style_.width - kNarrowest - kAroundLabel : 1;
    std::size_t label_width = 0;
    for (const Fact& fact : list.facts) {
      if (WidthOf(fact.label) <= most) label_width = std::max(label_width, WidthOf(fact.label));
    }
    if (label_width == 0) label_width = 4;
    for (const Fact& fact : list.facts) {
      std::string label = fact.label;
      if (WidthOf(label) > label_width) {
        text_ += "  " + Bold(label) + "\n";
        label.clear();
      }
      for (const std::string& line : fact.lines) {
        std::string rest;  // continuation lines are indented further
        for (const std::string& part : Broken(line, Left(label_width + kAroundLabel))) {
          text_ += "  " + Bold(label) + std::string(label_width - WidthOf(label) + 2, ' ') + rest + Shown(part) + "\n";
          label.clear();
          rest = "  ";
        }
      }
    }
  }
  // The last column gets the remaining width. If that is too little, all columns are narrower; if their words do not
  // fit then either, each row is a list.
  void operator()(const Table& table) {
    if (table.columns.empty()) return;
    std::vector<std::size_t> widths = NaturalWidths(table);
    if (TakenBy(widths) - widths.back() + std::min(widths.back(), kNarrowest) > style_.width &&
        !Narrow(table, widths)) {
      return Records(table);
    }
    widths.back() = std::max(style_.width - (TakenBy(widths) - widths.back()), std::size_t{1});
    Row(table.columns, widths, true);
    for (const auto& row : table.rows) Row(row, widths, false);
  }
  void operator()(const Items& list) {
    for (const Item& item : list.items) {
      std::string begin = std::string(2 + 2 * item.level, ' ') + item.mark + " ";
      for (const std::string& part : Broken(item.text, Left(begin.size()))) {
        text_ += begin + Shown(part) + "\n";
        begin.assign(begin.size(), ' ');
      }
    }
  }
  void operator()(const Example& example) {
    for (const std::string& line : example.lines) text_ += "    " + Printable(line) + "\n";
  }

  std::string Bold(const std::string& text) const {
    return style_.colour && !text.empty() ? kBold + WithoutBackticks(text) + kPlain : WithoutBackticks(text);
  }

 private:
  static constexpr std::size_t kNarrowest = 24;
  static constexpr std::size_t kAroundLabel = 6;  // two blanks before it, two behind it, and a further indent

  // With two blanks before each column.
  static std::size_t TakenBy(const std::vector<std::size_t>& widths) {
    std::size_t taken = 0;
    for (const std::size_t width : widths) taken += width + 2;
    return taken;
  }

  static std::vector<std::size_t> NaturalWidths(const Table& table) {
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      widths.push_back(WidthOf(table.columns[i]));
      for (const auto& row : table.rows) widths[i] = std::max(widths[i], WidthOf(row[i]));
    }
    return widths;
  }

  // Takes columns from the widest until the table fits; false if words do not fit into the columns then.
  bool Narrow(const Table& table, std::vector<std::size_t>& widths) const {
    std::vector<std::size_t> least(widths.size());
    const auto need = [&](const std::vector<std::string>& row) {
      for (std::size_t i = 0; i < row.size(); ++i) {
        for (const std::string& word : Broken(row[i], 1)) least[i] = std::max(least[i], WidthOf(word));
      }
    };
    need(table.columns);
    for (const auto& row : table.rows) need(row);
    if (TakenBy(least) > style_.width) return false;
    while (TakenBy(widths) > style_.width) {
      std::size_t widest = 0;
      for (std::size_t i = 1; i < widths.size(); ++i) {
        if (widths[i] - least[i] > widths[widest] - least[widest]) widest = i;
      }
      --widths[widest];
    }
    return true;
  }

  void Row(const std::vector<std::string>& row, const std::vector<std::size_t>& widths, bool bold) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells.push_back(Broken(row[i], widths[i]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t at = 0; at < height; ++at) {
      std::string line;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::string part = at < cells[i].size() ? cells[i][at] : std::string();
        const std::size_t used = WidthOf(part);
        line += "  " + (bold ? Bold(part) : Shown(part)) + std::string(widths[i] > used ? widths[i] - used : 0, ' ');
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text_ += line + "\n";
    }
  }

  // Each row as its first cell, and below it the others by the names of their columns.
  void Records(const Table& table) {
    for (const auto& row : table.rows) {
      for (const std::string& part : Broken(row.front(), Left(2))) text_ += "  " + Bold(part) + "\n";
      for (std::size_t i = 1; i < row.size(); ++i) {
        if (row[i].empty()) continue;
        std::string label = table.columns[i] + (table.columns[i].empty() ? "" : ": ");
        for (const std::string& part : Broken(label + row[i], Left(6))) text_ += "      " + Shown(part) + "\n";
      }
    }
  }

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

// Formats pages as Markdown with tables (GitHub's dialect).

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

// Formats pages as JSON: the data of each page, in one object.

std::string PagesJson(const std::vector<Page>& pages) {
  auto topics = nlohmann::json::array();
  for (const Page& page : pages) topics.push_back(ToJson(page.data));
  const nlohmann::json whole = {{"format", 1}, {"topics", std::move(topics)}};
  return SerializedJson(whole, 2) + "\n";
}

// Reads pages and topics from the tables of lua/muster/reference.

namespace {

std::vector<std::string> TextsIn(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& text : *list.AsList()) texts.push_back(*text.AsString());
  return texts;
}

Block BlockFromValue(const Value& block) {
  if (const std::string* paragraph = block.AsString()) return Paragraph{*paragraph};
  const Value::Map& fields = *block.AsMap();
  if (fields.contains("heading")) return Heading{TextField(fields, "heading")};
  if (fields.contains("example")) return Example{TextField(fields, "language"), LinesOf(TextField(fields, "example"))};
  if (fields.contains("columns")) {
    Table table{TextsIn(fields.at("columns")), {}};
    for (const Value& row : ListField(block, "rows")) table.rows.push_back(TextsIn(row));
    return table;
  }
  FactList list;
  for (const Value& fact : ListField(block, "facts")) {
    const std::vector<std::string> texts = TextsIn(fact);
    list.facts.push_back({texts.front(), {texts.begin() + 1, texts.end()}});
  }
  return list;
}

Page PageFromValue(const Value& record) {
  Page page{TextField(record, "title"), {}, ValueField(record, "data")};
  for (const Value& block : ListField(record, "blocks")) page.blocks.push_back(BlockFromValue(block));
  return page;
}

}  // namespace

std::string DocumentMarkdown(const Value& pages) {
  std::string text;
  for (const Value& page : *pages.AsList())
    text += text.empty() ? PageMarkdown(PageFromValue(page), 1) : "\n" + PageMarkdown(PageFromValue(page), 2);
  return text;
}

Topics TopicsFromValue(Value records) {
  const auto known = std::make_shared<Value>(std::move(records));
  Topics topics;
  for (const Value& record : *known->AsList()) {
    topics.push_back({TextField(record, "name"), TextField(record, "kind"), TextField(record, "summary"),
                      TextsField(record, "other_names"), TruthField(record, "listed"),
                      [known, &record] { return PageFromValue(ValueField(record, "page")); }});
  }
  return topics;
}

std::string Ticked(std::string_view text) { return "`" + std::string(text) + "`"; }

std::vector<std::string> LinesOf(const std::string& text) {
  const std::vector<std::string_view> lines = TextLines(text);
  return {lines.begin(), lines.end()};
}

std::vector<const Topic*> TopicsNamed(const Topics& topics, std::string_view name) {
  std::vector<const Topic*> found;
  for (const Topic& topic : topics) {
    if (topic.name == name && (found.empty() || found.front()->kind == topic.kind)) found.push_back(&topic);
  }
  // The guide of a name that the reference has, too, comes after it.
  for (const Topic& topic : topics) {
    const bool more = topic.kind.starts_with(kGuides) && !found.empty() && found.front()->kind != topic.kind;
    if (topic.name == name && more) found.push_back(&topic);
  }
  if (!found.empty()) return found;
  for (const Topic& topic : topics) {
    if (std::find(topic.other_names.begin(), topic.other_names.end(), name) != topic.other_names.end())
      found.push_back(&topic);
  }
  return found;
}

Diagnostic UnknownTopic(const Topics& topics, std::string_view name, const std::string& what) {
  std::vector<std::string> names;
  std::vector<std::string> listed;
  for (const Topic& topic : topics) {
    names.push_back(topic.name);
    names.insert(names.end(), topic.other_names.begin(), topic.other_names.end());
    if (topic.listed) listed.push_back(topic.name);
  }
  const bool near = Nearest(name, names).has_value();
  return Error("unknown_topic", {}, "there is no " + what + " " + Quoted(name),
               DidYouMean(name, near ? names : listed));
}

Page OverviewPage(const Topics& topics) {
  Page page;
  page.title = "muster docs TOPIC";
  page.blocks.push_back(
      Paragraph{"One of these, or any attribute, sub-key (`ascend_config.precision_mode`), field of a recipe, sweep or "
                "site (`role.count`, `sweep.budget`), function (`muster.flags`) or option of an engine "
                "(`slurm.partition`). A guide is printed behind the reference of the same name."});
  Value::List listed;
  std::vector<std::string> kinds;
  for (const bool guides : {true, false}) {
    for (const Topic& topic : topics) {
      const bool wanted = topic.listed && topic.kind.starts_with(kGuides) == guides;
      if (wanted && std::find(kinds.begin(), kinds.end(), topic.kind) == kinds.end()) kinds.push_back(topic.kind);
    }
  }
  for (const std::string& kind : kinds) {
    Table table{{kind, "what it is about"}, {}};
    for (const Topic& topic : topics) {
      if (topic.listed && topic.kind == kind) table.rows.push_back({"`" + topic.name + "`", topic.summary});
    }
    page.blocks.emplace_back(std::move(table));
  }
  for (const Topic& topic : topics) {
    listed.push_back(Value(Value::Map{{"name", topic.name}, {"kind", topic.kind}, {"summary", topic.summary}}));
  }
  page.data = Value::Map{{"kind", "overview"}, {"topics", std::move(listed)}};
  return page;
}

}  // namespace muster
