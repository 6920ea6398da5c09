// Reads the Markdown of muster's guides as a page, so that they are formatted as the reference is.
//
// Takes what docs/ uses: headings, paragraphs, lists, tables, fenced code, links, pictures and comments.
#pragma once

#include <string>
#include <string_view>

#include "reference/page.h"

namespace muster {

// Links to other pages of docs/ name them as topics, once for each page ("`muster docs sweeps`"). Without data.
Page PageOfMarkdown(std::string_view markdown);

}  // namespace muster
