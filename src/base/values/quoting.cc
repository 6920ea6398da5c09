#include "base/values/quoting.h"

#include <algorithm>
#include <iterator>

#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"

namespace muster {

bool IsPlain(std::string_view text, std::string_view also) {
  return std::all_of(text.begin(), text.end(), [also](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x80 || IsLetterOrDigit(c) || std::string_view("_-./:,+@%").find(c) != std::string_view::npos ||
           also.find(c) != std::string_view::npos;
  });
}

namespace {

// Words that a shell treats specially at the start of a command (POSIX.1, shell command language, 2.4).
constexpr std::string_view kReserved[] = {"case", "do", "done", "elif", "else", "esac",  "fi",
                                          "for",  "if", "in",   "then", "time", "until", "while"};

bool NeedsNoQuotes(char c) {
  return IsLetterOrDigit(c) || std::string_view("_-./:=,+@%^").find(c) != std::string_view::npos;
}

void AppendEscapedByte(std::string& out, unsigned char byte) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += "\\x";
  out += kHex[byte >> 4];
  out += kHex[byte & 15];
}

template <class Special>
std::string Escaped(std::string_view text, Special special) {
  std::string out;
  out.reserve(text.size() + 2);
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    if (length == 0) {
      AppendEscapedByte(out, static_cast<unsigned char>(text.front()));
      text.remove_prefix(1);
      continue;
    }
    const std::string_view sequence = text.substr(0, length);
    text.remove_prefix(length);
    if (length == 1 && special(out, sequence[0])) continue;
    if (IsDeceptive(sequence)) {
      for (const char c : sequence) AppendEscapedByte(out, static_cast<unsigned char>(c));
    } else {
      out += sequence;
    }
  }
  return out;
}

}  // namespace

bool IsDeceptive(std::string_view sequence) {
  if (sequence.size() == 1) {
    const auto byte = static_cast<unsigned char>(sequence[0]);
    return byte < 0x20 || byte == 0x7f;
  }
  const auto second = static_cast<unsigned char>(sequence[1]);
  if (sequence.size() == 2)
    return (static_cast<unsigned char>(sequence[0]) == 0xc2 && second < 0xa0) || sequence == "\u061c";
  if (sequence == "\ufeff") return true;
  if (sequence.size() == 3 && static_cast<unsigned char>(sequence[0]) == 0xe2) {
    const auto third = static_cast<unsigned char>(sequence[2]);
    if (second == 0x80) return (third >= 0x8b && third <= 0x8f) || (third >= 0xa8 && third <= 0xae);
    if (second == 0x81) return third >= 0xa0 && third <= 0xaf;
  }
  return false;
}

namespace {

// "\"$(printf '\\033')\"": bytes that a terminal would obey, for a shell.
std::string AsPrinted(std::string_view bytes) {
  std::string out = "\"$(printf '";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += '\\';
    for (const int shift : {6, 3, 0}) out += static_cast<char>('0' + ((byte >> shift) & 7));
  }
  return out + "')\"";
}

std::string InQuotes(std::string_view word) {
  std::string out = "'";
  while (!word.empty()) {
    const std::size_t length = std::max<std::size_t>(Utf8Length(word), 1);
    const std::string_view sequence = word.substr(0, length);
    word.remove_prefix(length);
    if (sequence == "'") {
      out += "'\\''";
    } else if (sequence != "\n" && sequence != "\t" && (Utf8Length(sequence) == 0 || IsDeceptive(sequence))) {
      out += "'" + AsPrinted(sequence) + "'";
    } else {
      out += sequence;
    }
  }
  return out + "'";
}

}  // namespace

// Bytes that a terminal would obey, besides tabs and line ends, are written as "$(printf '\033')", which ShellWords
// does not read.
std::string ShellQuoted(std::string_view word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), NeedsNoQuotes);
  return plain ? std::string(word) : InQuotes(word);
}

std::string ShellQuoted(std::span<const std::string> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += ' ';
    // As the first word, NAME=text would be an assignment, and "if" the start of a statement.
    const bool misread =
        i == 0 && (words[i].find('=') != std::string::npos ||
                   std::find(std::begin(kReserved), std::end(kReserved), words[i]) != std::end(kReserved));
    out += misread ? InQuotes(words[i]) : ShellQuoted(words[i]);
  }
  return out;
}

std::string Quoted(std::string_view text) {
  return '"' +
         Escaped(text,
                 [](std::string& out, char c) {
                   switch (c) {
                     case '\n':
                       out += "\\n";
                       return true;
                     case '\t':
                       out += "\\t";
                       return true;
                     case '"':
                       out += "\\\"";
                       return true;
                     case '\\':
                       out += "\\\\";
                       return true;
                     default:
                       return false;
                   }
                 }) +
         '"';
}

std::string PrintableLines(std::string_view text) {
  return Escaped(text, [](std::string& out, char c) {
    if (c != '\n' && c != '\t') return false;
    out += c;
    return true;
  });
}

std::string Printable(std::string_view text) {
  return Escaped(text, [](std::string& out, char c) {
    if (c == '\n') {
      out += "\\n";
      return true;
    }
    if (c == '\t') {
      out += c;
      return true;
    }
    return false;
  });
}

tl::expected<std::vector<std::string>, std::string> ShellWords(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;  // inside a word, which may be empty so far
  const auto add = [&](char c) {
    if (!inside) words.emplace_back();
    inside = true;
    words.back() += c;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ' || c == '\t' || c == '\n') {
      inside = false;
    } else if (c == '\\') {
      if (++i == text.size()) return tl::unexpected<std::string>("it ends with a backslash");
      if (text[i] != '\n') add(text[i]);  // a backslash before a newline continues the line
    } else if (c == '\'' || c == '"') {
      const std::size_t open = i;
      if (!inside) words.emplace_back();
      inside = true;
      for (++i; i < text.size() && text[i] != c; ++i) {
        const bool escapes = c == '"' && text[i] == '\\' && i + 1 < text.size() &&
                             std::string_view("$`\"\\\n").find(text[i + 1]) != std::string_view::npos;
        if (escapes && text[++i] == '\n') continue;
        add(text[i]);
      }
      if (i == text.size()) {
        return tl::unexpected("the quote " + std::string(text.substr(open, 16)) + " is not closed");
      }
    } else {
      add(c);
    }
  }
  return words;
}

std::string Readable(const std::string& text) { return IsUtf8(text) ? text : Printable(text); }

bool IsRunName(std::string_view name) {
  constexpr std::size_t kMax = 100;
  const auto is_plain = [](char c) { return IsLetterOrDigit(c); };
  const auto is_part = [&](char c) { return is_plain(c) || c == '_' || c == '-' || c == '.'; };
  return !name.empty() && name.size() <= kMax && is_plain(name.front()) &&
         std::all_of(name.begin(), name.end(), is_part);
}

std::string AddressBeforePort(std::string_view address) {
  const bool six = !address.starts_with('[') && address.find(':') != std::string_view::npos;
  return six ? "[" + std::string(address) + "]" : std::string(address);
}

std::string EndpointText(std::string_view address, std::uint32_t port) {
  return AddressBeforePort(address) + ":" + std::to_string(port);
}

}  // namespace muster
