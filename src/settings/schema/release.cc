// Parses and formats releases.
#include <array>
#include <charconv>

#include "muster/mindspore/schema.h"

namespace muster {
namespace {

std::optional<std::uint32_t> TakeNumber(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > 9999) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

std::optional<Release> ParseRelease(std::string_view text) {
  std::array<std::uint32_t, 3> numbers{};
  std::size_t count = 0;
  while (count < numbers.size()) {
    if (count > 0) {
      if (!text.starts_with('.')) break;
      text.remove_prefix(1);
    }
    const auto number = TakeNumber(text);
    if (!number) return std::nullopt;
    numbers[count++] = *number;
  }
  if (count < 2) return std::nullopt;
  Release release{numbers[0], numbers[1], numbers[2], Release::kFinal};
  if (text.starts_with("-rc")) {
    text.remove_prefix(3);
    const auto candidate = TakeNumber(text);
    if (!candidate) return std::nullopt;
    release.candidate = *candidate;
  }
  if (!text.empty()) return std::nullopt;
  return release;
}

std::string ReleaseText(const Release& release) {
  std::string text =
      std::to_string(release.major) + '.' + std::to_string(release.minor) + '.' + std::to_string(release.patch);
  if (release.candidate != Release::kFinal) text += "-rc" + std::to_string(release.candidate);
  return text;
}

}  // namespace muster
