// Topics and pages of the reference: the names that `muster docs` accepts, with the functions that create their
// pages, and pages as blocks that are formatted for a terminal, as Markdown and as JSON. Both are made here from the
// tables of lua/muster/reference, or in C++ by the other files of this folder.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/value.h"

namespace muster {

// A page of the reference: the content of `muster docs NAME` for one topic, as blocks that can be formatted for a
// terminal, as Markdown and as JSON. Independent of topics.
//
// Texts contain words, and values and names in `backticks`, as in Markdown, and no other markup.

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

// Pages as Lua tables describe them (lua/muster/reference/topics.lua has the form), as one document: the first is its
// beginning, the others are its sections.
std::string DocumentMarkdown(const Value& pages);

// "`text`", the form of code words on pages.
std::string Ticked(std::string_view text);

std::vector<std::string> LinesOf(const std::string& text);

// Topics: the names that `muster docs` accepts, and the functions that create their pages. Each area (the context API
// and others) provides a list of topics; lookup, listing and suggestions are shared.

struct Topic {
  std::string name;                      // "mode", "ascend_config.precision_mode", "system"
  std::string kind;                      // "attribute", "sub-key", "function", "group", …
  std::string summary;                   // one line
  std::vector<std::string> other_names;  // "set_context.mode"
  bool listed = false;                   // in the overview; else in the page of another topic
  std::function<Page()> page;            // its data must live as long as the topic
};
using Topics = std::vector<Topic>;

constexpr std::string_view kGuides = "guides: ";  // begins the kind of a guide

// Topics as a list of Lua tables describes them (lua/muster/reference/topics.lua).
Topics TopicsFromValue(Value records);

// The topics of that name; if several kinds share it, those of the kind that comes first in the list, and the guide. If
// there are none, those with that alias.
std::vector<const Topic*> TopicsNamed(const Topics& topics, std::string_view name);

// No topic has that name: kind "unknown_topic", with the nearest names. `what` describes what was looked for.
Diagnostic UnknownTopic(const Topics& topics, std::string_view name, const std::string& what);

// The listed topics by kind, in order.
Page OverviewPage(const Topics& topics);

}  // namespace muster
