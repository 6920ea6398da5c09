// Quoting: texts written so that their reader takes them as they are, and texts that need no quotes. Words for POSIX
// shells and their splitting, lines for a terminal, names of runs, and addresses in front of ports.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace muster {

// Characters that a terminal obeys, or that reorder or hide what it shows.

// Whether the valid UTF-8 sequence is a control character (C0, DEL, C1), a zero-width or bidirectional mark, a byte
// order mark, or a line or paragraph separator.
bool IsDeceptive(std::string_view sequence);

// Recognises texts without any character that is special to a shell.

// Whether the text has only letters, digits, bytes beyond ASCII, "_-./:,+@%" and those of `also`; true if empty.
bool IsPlain(std::string_view text, std::string_view also = {});

// Quoting and splitting of words for POSIX shells, and escaping for terminals.

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

// Escapes a text of several lines for a terminal.

// Each line as Printable has it. What was escaped before stays as it is, so a text that is
// put together from escaped and other parts can be printed in this way.
std::string PrintableLines(std::string_view text);

// Valid names of runs and sweeps. They are used as folder names and on command lines, so they contain nothing that is
// special to a shell, a path or a terminal.

// A letter or digit, then letters, digits, '_', '-' and '.', at most 100 characters, all ASCII.
bool IsRunName(std::string_view name);

// Addresses in front of a port, in the one form that every reader splits in the same way: [::1]:80 (RFC 3986, 3.2.2).

// The address as it stands before ':' and a port, or as the host of a URL: an IPv6 literal in brackets, anything else
// unchanged.
std::string AddressBeforePort(std::string_view address);

// "192.0.2.1:80", "[::1]:80", "n01:80".
std::string EndpointText(std::string_view address, std::uint32_t port);

}  // namespace muster
