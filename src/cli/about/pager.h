// Shows a long text on a terminal page by page, with the user's pager.
#pragma once

#include <string>

namespace muster {

// Prints the text on standard output. If that is a terminal and the text is longer than the screen, through the program
// in MUSTER_PAGER or PAGER, as sh runs it; through less if neither is set. An empty value, "cat", or a pager that
// cannot be started: without one.
void PrintPaged(const std::string& text);

}  // namespace muster
