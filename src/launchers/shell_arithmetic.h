// Evaluates the arithmetic of shells: $(( … )), (( … )), let and expr.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster {

struct ShellVariables {
  // The value of a variable: "" if it is not set, nothing if it is unknown.
  std::function<std::optional<std::string>(const std::string& name)> value;
  // Assigns a number, or makes the variable unknown.
  std::function<void(const std::string& name, std::optional<std::int64_t> number)> assign;
};

// The value of `text`, in which $ has been expanded; an empty text is 0. Nothing if it depends on an unknown value, and
// for errors (a division by zero, a syntax error, more than 64 levels); variables that it would assign are unknown
// then.
std::optional<std::int64_t> ShellArithmetic(std::string_view text, const ShellVariables& variables);

// What `expr WORD…` prints: sums and comparisons of whole numbers, `length`, `substr`. Nothing for anything else.
std::optional<std::string> ExprValue(std::span<const std::string> words);

}  // namespace muster
