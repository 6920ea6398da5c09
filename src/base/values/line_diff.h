// Line differences between two texts, as diff(1) computes them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct LineChange {
  bool added = false;      // in the second text; else in the first
  std::uint32_t line = 0;  // number in that text, from 1
  std::string text;

  bool operator==(const LineChange&) const = default;
};

// A shortest list of removed and added lines, in order. If the texts differ over more lines than can be compared
// quickly (millions of pairs), all of these count as removed and added.
std::vector<LineChange> DiffLines(std::string_view before, std::string_view after);

// The same as `diff -U CONTEXT` prints it, without the two lines that name the files: "@@ -1,4 +1,5 @@", then lines
// that begin with ' ', '-' or '+'. A text that does not end with a newline has "\\ No newline at end of file" behind
// its last line.
std::vector<std::string> UnifiedDiff(std::string_view before, std::string_view after, std::uint32_t context = 3);

}  // namespace muster
