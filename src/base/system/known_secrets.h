// The secret values that this process knows, and texts without them.
//
// Programs print what they like, secrets too. Whatever muster quotes of their output, error notes and logs passes
// through here, so a value that is known is not copied into reports, pages and archives. Process-wide, since every
// reader of output must know every value; safe for several threads. Values are never written anywhere.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster {

// Replaces a secret value in texts and records.
inline constexpr std::string_view kHiddenValue = "(hidden)";

// Shorter values, and shorter lines of a value with several lines, are not looked for: they occur by chance.
inline constexpr std::size_t kMinHidden = 4;

// From now on texts are shown without the value, as it is and as JSON and muster's escapes write it.
void HideFromNowOn(std::string_view secret);

// Whether a text begins or ends in the middle of another one.
struct TextCut {
  bool begin = false;
  bool end = false;
};

// The text with kHiddenValue in place of each known value, and of the part of one at a place where the text was cut.
std::string WithoutSecrets(std::string_view text, TextCut cut = {});

// Overwrites each known value with asterisks, so that positions in the text stay valid. Returns how many there were.
std::size_t OverwriteSecrets(std::string& text);

// Of a text that continues: how many bytes can be dealt with before the rest is known. No known value spans that place.
std::size_t WithoutPartOfASecret(std::string_view text);

}  // namespace muster
