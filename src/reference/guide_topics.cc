#include "reference/guide_topics.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <vector>

#include "base/values/text_parts.h"

namespace muster {
namespace {

// The level and the mark of an item that begins here ("- x", "  1. x"), and where its text begins; 0: none does.
std::size_t ItemAt(std::string_view line, Item& item) {
  std::size_t at = line.find_first_not_of(' ');
  if (at == std::string_view::npos) return 0;
  item.level = at / 2;
  const std::size_t begin = at;
  if (line[at] == '-' || line[at] == '*') {
    ++at;
  } else {
    while (at < line.size() && IsDigit(line[at])) ++at;
    if (at == begin || at >= line.size() || line[at] != '.') return 0;
    ++at;
  }
  if (at >= line.size() || line[at] != ' ') return 0;
  item.mark = line[begin] == '*' ? "-" : std::string(line.substr(begin, at - begin));
  return at + 1;
}

// The cells of a row of a table; a bar in a cell is written "\|".
std::vector<std::string> CellsOf(std::string_view line) {
  line = Trimmed(line);
  line.remove_prefix(1);
  if (line.ends_with('|') && !line.ends_with("\\|")) line.remove_suffix(1);
  std::vector<std::string> cells(1);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size() && line[i + 1] == '|') {
      cells.back() += line[++i];
    } else if (line[i] == '|') {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  for (std::string& cell : cells) cell = std::string(Trimmed(cell));
  return cells;
}

class MarkdownReader {
 public:
  Page Read(std::string_view markdown) {
    bool comment = false;
    for (const std::string& line : LinesOf(std::string(markdown))) {
      if (in_code_) {
        Code(line);
        continue;
      }
      if (comment || line.starts_with("<!--")) {
        comment = line.find("-->") == std::string::npos;
        continue;
      }
      Line(line);
    }
    Flush();
    return std::move(page_);
  }

 private:
  void Line(const std::string& line) {
    if (line.starts_with("```")) {
      Flush();
      in_code_ = true;
      page_.blocks.emplace_back(Example{line.substr(3), {}});
    } else if (line.starts_with('#')) {
      Flush();
      const std::size_t level = line.find_first_not_of('#');
      const std::string text = Inline(std::string(Trimmed(std::string_view(line).substr(level))));
      if (page_.title.empty()) {
        page_.title = text;
      } else {
        page_.blocks.emplace_back(Heading{text});
      }
    } else if (line.starts_with('|')) {
      Row(line);
    } else if (Trimmed(line).empty()) {
      Flush();
    } else {
      Text(line);
    }
  }

  void Code(const std::string& line) {
    if (line.starts_with("```")) {
      in_code_ = false;
    } else {
      std::get<Example>(page_.blocks.back()).lines.push_back(line);
    }
  }

  void Row(const std::string& line) {
    if (rows_.empty()) Flush();
    std::vector<std::string> cells = CellsOf(line);
    if (rows_.size() == 1 && cells.front().find_first_not_of("-: ") == std::string::npos) return;
    for (std::string& cell : cells) cell = Inline(cell);
    if (!rows_.empty()) cells.resize(rows_.front().size());
    rows_.push_back(std::move(cells));
  }

  void Text(const std::string& line) {
    Item item;
    const std::size_t begin = ItemAt(line, item);
    if (begin != 0 && (paragraph_.empty() || !items_.empty())) {
      item.text = line.substr(begin);
      items_.push_back(std::move(item));
      return;
    }
    std::string& text = items_.empty() ? paragraph_ : items_.back().text;
    text += (text.empty() ? "" : " ") + std::string(Trimmed(line));
  }

  // Ends the paragraph, list or table.
  void Flush() {
    if (!paragraph_.empty()) page_.blocks.emplace_back(Paragraph{Inline(paragraph_)});
    paragraph_.clear();
    if (!items_.empty()) {
      for (Item& item : items_) item.text = Inline(item.text);
      page_.blocks.emplace_back(Items{std::move(items_)});
    }
    items_.clear();
    if (!rows_.empty()) {
      Table table{std::move(rows_.front()), {}};
      rows_.erase(rows_.begin());
      table.rows = std::move(rows_);
      page_.blocks.emplace_back(std::move(table));
    }
    rows_.clear();
  }

  // Without links and emphasis; text in backticks stays as it is.
  std::string Inline(std::string_view text) {
    std::string plain;
    bool code = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '`') code = !code;
      if (code || c == '`') {
        plain += c;
      } else if (c == '\\' && i + 1 < text.size() && std::ispunct(static_cast<unsigned char>(text[i + 1])) != 0) {
        plain += text[++i];
      } else if (c == '!' && text.substr(i + 1).starts_with('[')) {
        plain += "(picture) ";
      } else if (c == '[') {
        if (const std::size_t end = Link(text.substr(i), plain); end != 0) {
          i += end - 1;
        } else {
          plain += c;
        }
      } else if (c != '*' || (text.substr(i + 1).starts_with(' ') && plain.ends_with(' '))) {
        plain += c;
      }
    }
    return plain;
  }

  // Adds the link with which `text` begins, "[words](target)", and returns its length; 0: it begins with none.
  std::size_t Link(std::string_view text, std::string& plain) {
    bool code = false;
    std::size_t middle = 1;
    for (; middle < text.size() && (code || text[middle] != ']'); ++middle) code = code != (text[middle] == '`');
    if (!text.substr(std::min(middle, text.size())).starts_with("](")) return 0;
    const std::size_t end = text.find(')', middle);
    if (end == std::string_view::npos) return 0;
    plain += Inline(text.substr(1, middle - 1));
    std::string_view target = text.substr(middle + 2, end - middle - 2);
    if (target.find("://") != std::string_view::npos) {
      plain += " (" + std::string(target) + ")";
    } else {
      target = target.substr(0, target.find('#'));
      const bool page = target.ends_with(".md") && target.find('/') == std::string_view::npos;
      const std::string name(page ? target.substr(0, target.size() - 3) : std::string_view());
      if (page && named_.insert(name).second) plain += " (" + Ticked("muster docs " + name) + ")";
    }
    return end + 1;
  }

  Page page_;
  bool in_code_ = false;
  std::string paragraph_;
  std::vector<Item> items_;
  std::vector<std::vector<std::string>> rows_;
  std::set<std::string> named_;  // pages
};

}  // namespace

Page PageOfMarkdown(std::string_view markdown) { return MarkdownReader().Read(markdown); }

namespace {

struct ListedGuide {
  std::string name;
  std::string group;
};

// The pages that the index links, each under the first heading that does.
std::vector<ListedGuide> ListedIn(std::string_view index) {
  std::vector<ListedGuide> listed;
  std::string group;
  for (const std::string& line : LinesOf(std::string(index))) {
    if (line.starts_with("## ")) group = line.substr(3);
    constexpr std::string_view kLink = "](";
    for (std::size_t at = line.find(kLink); at != std::string::npos; at = line.find(kLink, at + 1)) {
      const std::size_t begin = at + kLink.size();
      const std::string target = line.substr(begin, line.find_first_of("#)", begin) - begin);
      if (!target.ends_with(".md") || target.find('/') != std::string::npos) continue;
      const std::string name = target.substr(0, target.size() - 3);
      const bool known =
          std::any_of(listed.begin(), listed.end(), [&](const ListedGuide& each) { return each.name == name; });
      if (!known) listed.push_back({name, group});
    }
  }
  return listed;
}

std::string TitleOf(std::string_view markdown) {
  const std::size_t end = markdown.find('\n');
  std::string title(markdown.substr(0, end));
  title.erase(0, title.find_first_not_of("# "));
  return title;
}

Page GuidePage(const std::string& name) {
  const std::string_view markdown = GuideText(name);
  Page page = PageOfMarkdown(markdown);
  page.data = Value::Map{{"name", name}, {"kind", "guide"}, {"title", page.title}, {"markdown", std::string(markdown)}};
  return page;
}

}  // namespace

std::string_view GuideText(std::string_view name) {
  const std::string file = std::string(name) + ".md";
  for (const EmbeddedFile& each : EmbeddedGuides()) {
    if (each.path == file) return each.text;
  }
  return {};
}

Topics GuideTopics() {
  Topics topics;
  for (const ListedGuide& guide : ListedIn(GuideText("README"))) {
    const std::string_view text = GuideText(guide.name);
    if (text.empty()) continue;
    std::string kind(kGuides);
    for (const char c : guide.group) kind += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    topics.push_back({guide.name,
                      kind,
                      TitleOf(text),
                      {guide.name + ".md", "docs/" + guide.name + ".md"},
                      true,
                      [name = guide.name] { return GuidePage(name); }});
  }
  return topics;
}

}  // namespace muster
