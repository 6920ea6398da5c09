// UTF-8 text: its validation, what a file that is none is probably encoded in, and its width in terminal columns,
// with cutting and wrapping. Wide and zero-width characters are handled precisely enough for names and log lines;
// independent of the locale.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

// UTF-8 validation (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).

bool IsUtf8(std::string_view bytes);

// Length in bytes of the valid sequence at the front, 0 if there is none.
std::size_t Utf8Length(std::string_view bytes);

// The longest prefix of at most `size` bytes that does not cut a valid sequence.
std::string_view Utf8Prefix(std::string_view bytes, std::size_t size);

// Why the content of a file is not UTF-8 text without NUL, and which encoding it probably has.

struct EncodingProblem {
  std::string what;      // "it is UTF-16", "byte \xfc is not UTF-8", "it is a binary file"
  std::string encoding;  // as iconv names the one that it probably has; empty for a binary file
  std::size_t line = 0;  // from 1; 0 for the file as a whole
};

// Nothing for UTF-8 without NUL.
std::optional<EncodingProblem> FindEncodingProblem(std::string_view bytes);

// The command that converts the file; empty for a binary one.
std::string EncodingHint(const EncodingProblem& problem, const std::string& file);

// The width of a text in terminal columns, and cutting and wrapping text to a width.
//
// Handles UTF-8, wide and zero-width characters; precise enough for names and log lines, independent of the locale.

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
