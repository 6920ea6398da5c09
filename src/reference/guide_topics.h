// Topics of the guides: the pages of docs/, which are part of the program.
#pragma once

#include <span>

#include "base/values/embedded_file.h"
#include "reference/topic.h"

namespace muster {

// All pages of docs/ but decisions, by their file name.
std::span<const EmbeddedFile> EmbeddedGuides();

// Each is named as its file without ".md"; "sweeps.md" and "docs/sweeps.md" name only the guide. Their kinds are the
// headings under which docs/README.md links them, in its order; a page that it does not link is no topic.
Topics GuideTopics();

// The Markdown of a guide.
std::string_view GuideText(std::string_view name);

}  // namespace muster
