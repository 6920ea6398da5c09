#include "launchers/launcher_name.h"

#include <algorithm>
#include <cctype>

namespace muster {
namespace {

bool HasWord(std::string_view words, std::string_view word) {
  const std::string padded = " " + std::string(words) + " ";
  return !word.empty() && padded.find(" " + std::string(word) + " ") != std::string::npos;
}

}  // namespace

bool IsPython(std::string_view word) {
  const std::string_view name = FileName(word);
  return name.starts_with("python") && name.find_first_not_of("0123456789.", 6) == std::string_view::npos;
}

bool IsAssignment(std::string_view word) {
  const std::size_t equals = word.find('=');
  if (equals == 0 || equals == std::string_view::npos || std::isdigit(static_cast<unsigned char>(word.front())) != 0)
    return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::size_t WordsOfItsName(const LauncherFacts& facts, const std::vector<std::string>& words, std::size_t at) {
  if (at == words.size()) return 0;
  std::size_t end = at;
  if (IsPython(words[at])) {
    ++end;
    while (end < words.size() && words[end].starts_with('-') && words[end] != "-m") {
      end += words[end] == "-W" || words[end] == "-X" ? 2 : 1;
    }
    if (end < words.size() && HasWord(facts.programs, FileName(words[end]))) {
      ++end;  // python /opt/bin/torchrun
    } else if (end + 1 < words.size() && words[end] == "-m" && HasWord(facts.modules, words[end + 1])) {
      end += 2;
    } else {
      return 0;
    }
    if (facts.subcommand.empty() || words[end - 1].ends_with("." + std::string(facts.subcommand))) return end - at;
  } else if (HasWord(facts.programs, FileName(words[at]))) {
    ++end;
    if (FileName(words[at]).ends_with("-" + std::string(facts.subcommand))) return end - at;
  } else {
    return 0;
  }
  if (!facts.subcommand.empty() && end < words.size() && words[end] == facts.subcommand) ++end;
  return end - at;
}

std::optional<KnownLauncher> LauncherOfWords(const std::vector<std::string>& words) {
  std::size_t at = 0;
  while (at < words.size() && IsAssignment(words[at])) ++at;
  for (std::size_t i = 0; i < kLauncherCount; ++i) {
    const auto launcher = static_cast<KnownLauncher>(i);
    if (WordsOfItsName(FactsOf(launcher), words, at) > 0) return launcher;
  }
  return std::nullopt;
}

}  // namespace muster
