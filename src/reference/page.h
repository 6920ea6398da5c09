// A page of the reference: the content of `muster docs NAME` for one topic, as blocks that can be formatted for a
// terminal, as Markdown and as JSON. Independent of topics.
//
// Texts contain words, and values and names in `backticks`, as in Markdown, and no other markup.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "muster/value.h"

namespace muster {

struct Heading {
  std::string text;
  bool operator==(const Heading&) const = default;
};

struct Paragraph {
  std::string text;
  bool operator==(const Paragraph&) const = default;
};

// "default": one line, or one for each range of releases.
struct Fact {
  std::string label;
  std::vector<std::string> lines;
  bool operator==(const Fact&) const = default;
};
struct FactList {
  std::vector<Fact> facts;
  bool operator==(const FactList&) const = default;
};

struct Table {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // each with one cell per column
  bool operator==(const Table&) const = default;
};

// Lines to be copied verbatim.
struct Example {
  std::string language;
  std::vector<std::string> lines;
  bool operator==(const Example&) const = default;
};

struct Item {
  std::size_t level = 0;  // of items within items
  std::string mark;       // "-", "1."
  std::string text;
  bool operator==(const Item&) const = default;
};
struct Items {
  std::vector<Item> items;
  bool operator==(const Items&) const = default;
};

using Block = std::variant<Heading, Paragraph, FactList, Table, Example, Items>;

struct Page {
  std::string title;
  std::vector<Block> blocks;
  Value data;  // the same, for programs
};

struct TerminalStyle {
  bool colour = false;
  std::size_t width = 100;  // columns; texts are broken at blanks only
};

// For a terminal. Ends with a newline.
std::string PageText(const Page& page, const TerminalStyle& style);

// The title as a heading of that level (1 to 6), headings of blocks one below.
std::string PageMarkdown(const Page& page, std::size_t level);

// {"format": 1, "topics": [data of each]}
std::string PagesJson(const std::vector<Page>& pages);

}  // namespace muster
