// How many columns of a terminal a text takes, and the part of it that fits.
//
// Knows UTF-8 and which characters are wide or none; near enough for names and log lines, no locale is asked.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

// Of a text without control bytes other than tabs. A tab counts as one column.
std::size_t Columns(std::string_view text);

// The longest beginning of the text that takes at most so many columns; no sequence is cut.
std::string_view FirstColumns(std::string_view text, std::size_t columns);

// The text in exactly so many columns: cut, its last column then "…", or filled with blanks. Tabs become blanks.
std::string InColumns(std::string_view text, std::size_t columns);

// The text with each of its lines broken at blanks where it would take more than so many columns; what goes on is
// indented by so many blanks. A word that is longer than a line is cut. `columns` 0: as it is.
std::string WrappedLines(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace muster
