// The width of a text in terminal columns, and cutting and wrapping text to a width.
//
// Handles UTF-8, wide and zero-width characters; precise enough for names and log lines, independent of the locale.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

// The width of a text without control bytes other than tabs. A tab counts as one column.
std::size_t Columns(std::string_view text);

// The longest prefix of the text that takes at most so many columns; cuts no UTF-8 sequence.
std::string_view FirstColumns(std::string_view text, std::size_t columns);

// The text in exactly so many columns: cut and ended with "…", or padded with blanks. Tabs become blanks.
std::string InColumns(std::string_view text, std::size_t columns);

// Breaks each line of the text at blanks where it would take more than `columns` columns; continuation lines are
// indented by `indent` blanks. A word that is longer than a line is cut. `columns` 0: unchanged.
std::string WrappedLines(std::string_view text, std::size_t columns, std::size_t indent);

// Messages and reports for a terminal of that width: lines are broken at blanks, and continue below the value that
// stands behind their first wide gap, else two columns further in. Whole in any case, so that they can be copied:
// words, text in backticks that fits on a line, commands ("muster run …" behind a colon), and lines of source ("   3 |
// …"). Colours take no columns. `columns` below 40: unchanged.
std::string FittedLines(std::string_view text, std::size_t columns);

}  // namespace muster
