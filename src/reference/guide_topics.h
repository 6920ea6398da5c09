// Topics of the guides: the pages of docs/, which are part of the program, read from Markdown as pages, so that they
// are formatted as the reference is.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/values/embedded_file.h"
#include "reference/page.h"

namespace muster {

// Reads the Markdown of muster's guides as a page, so that they are formatted as the reference is.
//
// Takes what docs/ uses: headings, paragraphs, lists, tables, fenced code, links, pictures and comments.

// Links to other pages of docs/ name them as topics, once for each page ("`muster docs sweeps`"). Without data.
Page PageOfMarkdown(std::string_view markdown);

// Topics of the guides: the pages of docs/, which are part of the program.

// All pages of docs/ but decisions, by their file name.
std::span<const EmbeddedFile> EmbeddedGuides();

// Each is named as its file without ".md"; "sweeps.md" and "docs/sweeps.md" name only the guide. Their kinds are the
// headings under which docs/README.md links them, in its order; a page that it does not link is no topic.
Topics GuideTopics();

// The Markdown of a guide.
std::string_view GuideText(std::string_view name);

}  // namespace muster
