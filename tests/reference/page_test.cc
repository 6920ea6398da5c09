// Compares a page in its three formats with golden texts.
#include "reference/page.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

Page Sample() {
  Page page;
  page.title = "`mode`";
  page.blocks = {
      Example{"lua", {"context.set_context { mode = … }"}},
      Paragraph{"Whole graphs or one operator at a time, as `a | b` says."},
      FactList{{{"default", {"in 1.0.1: `1`", "later: `0`, which is a longer text than the line has room for"}},
                {"type", {"a whole number"}}}},
      Heading{"Sub-keys"},
      Table{{"name", "what"}, {{"`a`", "first <b> * c"}, {"`longer`", "one that has to be broken into lines here"}}},
  };
  page.data = Value(Value::Map{{"name", Value("mode")}});
  return page;
}

TEST(Pages, AreWrappedOnATerminal) {
  TerminalStyle style;
  style.width = 44;
  EXPECT_EQ(PageText(Sample(), style),
            "mode\n"
            "    context.set_context { mode = … }\n"
            "\n"
            "  Whole graphs or one operator at a time, as\n"
            "  a | b says.\n"
            "\n"
            "  default  in 1.0.1: 1\n"
            "           later: 0, which is a longer\n"
            "             text than the line has room for\n"
            "  type     a whole number\n"
            "\n"
            "Sub-keys\n"
            "  name    what\n"
            "  a       first <b> * c\n"
            "  longer  one that has to be broken into\n"
            "          lines here\n");
}

TEST(Pages, HaveColoursOnlyOnRequest) {
  TerminalStyle style;
  EXPECT_EQ(PageText(Sample(), style).find('\x1b'), std::string::npos);
  style.colour = true;
  const std::string text = PageText(Sample(), style);
  EXPECT_NE(text.find("\x1b[1mmode\x1b[0m"), std::string::npos);
  EXPECT_NE(text.find("\x1b[36ma | b\x1b[0m"), std::string::npos);
}

TEST(Pages, EscapeControlBytes) {
  Page page;
  page.title = "t\x1b[2J";
  page.blocks = {Paragraph{"`\x1b[31m`"}, Example{"lua", {"\x1b"}}};
  for (const bool colour : {false, true}) {
    TerminalStyle style;
    style.colour = colour;
    const std::string text = PageText(page, style);
    EXPECT_EQ(text.find("\x1b[2J"), std::string::npos);
    EXPECT_EQ(text.find("\x1b[31m"), std::string::npos);
  }
}

TEST(Pages, AreEscapedMarkdown) {
  EXPECT_EQ(PageMarkdown(Sample(), 2),
            "## `mode`\n"
            "\n"
            "```lua\n"
            "context.set_context { mode = … }\n"
            "```\n"
            "\n"
            "Whole graphs or one operator at a time, as `a | b` says.\n"
            "\n"
            "- **default:**\n"
            "  - in 1.0.1: `1`\n"
            "  - later: `0`, which is a longer text than the line has room for\n"
            "- **type:** a whole number\n"
            "\n"
            "### Sub-keys\n"
            "\n"
            "| name | what |\n"
            "| --- | --- |\n"
            "| `a` | first \\<b> \\* c |\n"
            "| `longer` | one that has to be broken into lines here |\n");
  Page bars;
  bars.blocks = {Table{{"`a|b`"}, {}}};
  EXPECT_NE(PageMarkdown(bars, 1).find("`a\\|b`"), std::string::npos) << "a bar would end the cell";
}

TEST(Pages, HaveTheirDataInJson) {
  EXPECT_EQ(PagesJson({Sample()}),
            "{\n  \"format\": 1,\n  \"topics\": [\n    {\n      \"name\": \"mode\"\n    }\n  ]\n}\n");
}

}  // namespace
}  // namespace muster
