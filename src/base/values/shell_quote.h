// Quoting and splitting of words for POSIX shells, and escaping for terminals.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace muster {

// The word as one POSIX shell word that reads back as the same bytes; unquoted where nothing needs it.
std::string ShellQuoted(std::string_view word);
// The words as a command line: the first is quoted where a shell would take it for an assignment or a keyword.
std::string ShellQuoted(std::span<const std::string> words);

// Splits a command line into words as a POSIX shell does (2.2 of its standard): blanks and newlines separate, '…', "…"
// and \ quote. Nothing is expanded and no character is an operator: $, *, ~, |, # and & are literal. The error is a
// phrase: a quote that is not closed, a backslash at the end.
tl::expected<std::vector<std::string>, std::string> ShellWords(std::string_view text);

// Double-quoted with \n \t \" \\ and \xNN for control bytes: one line, reversible, safe on a terminal.
std::string Quoted(std::string_view text);

// Escapes a text for a terminal line: control bytes (also C1 and ESC) become \xNN or \n; valid UTF-8 stays, invalid
// bytes become \xNN. Tabs stay.
std::string Printable(std::string_view text);

// The text for JSON, which has to be UTF-8: if it is not, as Printable has it.
std::string Readable(const std::string& text);

}  // namespace muster
