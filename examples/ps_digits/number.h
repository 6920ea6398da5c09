// Parses whole texts as numbers within a range.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ps_digits {

// Only a decimal integer, within the bounds.
std::optional<std::int64_t> ParseInteger(std::string_view text, std::int64_t min, std::int64_t max);

// Only a finite decimal number.
std::optional<double> ParseDecimal(std::string_view text);

// The shortest text that reads back as the same number.
std::string NumberText(double number);

bool AllDigits(std::string_view text);

}  // namespace ps_digits
