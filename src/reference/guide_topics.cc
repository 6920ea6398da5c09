#include "reference/guide_topics.h"

#include <algorithm>
#include <cctype>

#include "reference/markdown_page.h"
#include "reference/record.h"

namespace muster {
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
  page.data = Value(Value::Map{{"name", Value(name)},
                               {"kind", Value("guide")},
                               {"title", Value(page.title)},
                               {"markdown", Value(std::string(markdown))}});
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
