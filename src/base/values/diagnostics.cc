#include "base/values/diagnostics.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/values/quoting.h"

namespace muster {
namespace {

std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = a[i - 1] == b[j - 1] ? 0 : 1;
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + cost});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        current[j] = std::min(current[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

// Whether the words differ only in case and in '-' for '_'.
bool SameButForm(std::string_view a, std::string_view b) {
  const auto plain = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c == '-' ? '_' : c;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return plain(x) == plain(y); });
}

}  // namespace

std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr std::size_t kMaxWord = 100;  // longer words are not typos; bounds the cost of hostile input
  if (word.size() > kMaxWord) return std::nullopt;
  for (const std::string& candidate : candidates) {
    if (candidate != word && SameButForm(candidate, word)) return candidate;
  }
  const std::size_t limit = std::clamp<std::size_t>(word.size() / 3, 1, 3);
  std::optional<std::string> nearest;
  std::size_t nearest_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > word.size() + limit || word.size() > candidate.size() + limit) continue;
    const std::size_t distance = Distance(word, candidate);
    if (distance < nearest_distance) {
      nearest = candidate;
      nearest_distance = distance;
    }
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates) {
  if (const auto nearest = Nearest(word, candidates)) return "did you mean \"" + *nearest + "\"?";
  if (candidates.empty()) return {};
  constexpr std::size_t kShown = 12;
  std::string text = "known: ";
  for (std::size_t i = 0; i < candidates.size() && i < kShown; ++i) {
    if (i > 0) text += ", ";
    text += candidates[i];
  }
  if (candidates.size() > kShown) text += ", …";
  return text;
}

namespace {

struct RefusedPattern {
  std::string_view begin;  // of RE2's error
  std::string_view hint;
};

// The first that fits.
constexpr std::array kRefused = {
    RefusedPattern{"invalid perl operator",
                   "RE2 has no lookahead, lookbehind or atomic groups: match more of the line, with "
                   "a group around what is wanted"},
    RefusedPattern{"invalid named capture group", "named groups are written (?P<NAME>…)"},
    RefusedPattern{"missing )", "each ( is closed by a ); the character itself is written \\("},
    RefusedPattern{"unexpected )", "each ) closes a (; the character itself is written \\)"},
    RefusedPattern{"missing ]", "each [ is closed by a ]; the character itself is written \\["},
    RefusedPattern{"no argument for repetition operator",
                   "* + ? repeat what stands before them: any text is .*; the characters are written \\* \\+ \\?"},
    RefusedPattern{"bad repetition operator",
                   "RE2 has no possessive repetitions (a++); the characters are written \\+ \\*"},
    RefusedPattern{
        "invalid escape sequence",
        "RE2 has \\d \\w \\s \\b and others, and no references to groups (\\1); a backslash is written \\\\"},
    RefusedPattern{"trailing \\", "a backslash is written \\\\"},
    RefusedPattern{"invalid repetition size", "at most 1000 repetitions: {1,1000}"},
    RefusedPattern{"pattern too large", "shorter repetitions, or a part of the line"},
};

}  // namespace

std::string PatternHint(std::string_view error) {
  const auto* known = std::find_if(kRefused.begin(), kRefused.end(),
                                   [&](const RefusedPattern& each) { return error.starts_with(each.begin); });
  return std::string(known == kRefused.end() ? "escape characters to match literally with a backslash" : known->hint);
}

bool HasErrors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

Diagnostics Folded(const Diagnostics& diagnostics) {
  Diagnostics folded;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (std::find(folded.begin(), folded.end(), diagnostic) == folded.end()) folded.push_back(diagnostic);
  }
  return folded;
}

Diagnostic Error(std::string kind, Place place, std::string message, std::string hint) {
  return {Severity::kError, Blame::kRecipe, std::move(kind), std::move(place), std::move(message), std::move(hint), {}};
}

Diagnostic Warning(std::string kind, Place place, std::string message, std::string hint) {
  Diagnostic diagnostic = Error(std::move(kind), std::move(place), std::move(message), std::move(hint));
  diagnostic.severity = Severity::kWarning;
  return diagnostic;
}

Diagnostic MachineError(std::string kind, std::string message, std::string hint) {
  Diagnostic diagnostic = Error(std::move(kind), {}, std::move(message), std::move(hint));
  diagnostic.blame = Blame::kMachine;
  return diagnostic;
}

Diagnostic SystemError(std::string kind, std::string message, int error_number) {
  return MachineError(std::move(kind), message + ": " + std::strerror(error_number));
}

namespace {

std::string PlaceText(const Place& place) {
  if (place.file.empty()) return {};
  const std::string file = Printable(place.file);
  return place.line == 0 ? file : file + ":" + std::to_string(place.line);
}

}  // namespace

std::string DiagnosticText(const Diagnostic& diagnostic, const SourceLine& source_line, bool colour) {
  const bool error = diagnostic.severity == Severity::kError;
  const char* mark = colour ? (error ? "\033[1;31m" : "\033[1;33m") : "";
  const char* soft = colour ? "\033[36m" : "";
  const char* plain = colour ? "\033[0m" : "";

  std::string text;
  const std::string place = PlaceText(diagnostic.place);
  text += place.empty() ? "muster" : place;
  text +=
      std::string(": ") + mark + (error ? "error" : "warning") + plain + ": " + Printable(diagnostic.message) + "\n";
  if (diagnostic.place.line > 0 && source_line) {
    if (const auto line = source_line(diagnostic.place)) {
      const std::string number = std::to_string(diagnostic.place.line);
      text += std::string(number.size() < 5 ? 5 - number.size() : 0, ' ') + number + " | " + Printable(*line) + "\n";
    }
  }
  if (!diagnostic.hint.empty()) text += std::string(soft) + "hint" + plain + ": " + Printable(diagnostic.hint) + "\n";
  for (const Note& note : diagnostic.notes) {
    const std::string where = PlaceText(note.place);
    text += std::string(soft) + "note" + plain + ": " + Printable(note.message);
    if (!where.empty()) text += " (" + where + ")";
    text += "\n";
  }
  return text;
}

std::string Sentence(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += "; ";
    text += diagnostic.message;
    if (!diagnostic.hint.empty()) text += " (" + diagnostic.hint + ")";
  }
  return text;
}

}  // namespace muster
