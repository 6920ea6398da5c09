// --where: conditions on properties of a run. `NAME OP VALUE`, or NAME alone, joined by "and"; no "or", no brackets, no
// expressions. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "muster/value.h"

namespace muster {

struct RunCondition {
  // kSet: there is a value, and it is neither false nor null.
  enum class Op : std::uint8_t { kSet, kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast, kMatches };
  std::string name;
  Op op = Op::kSet;
  Value value;
  std::function<bool(std::string_view text)> matches;  // kMatches: whether the expression matches the value's text
};

// Values are "…" or '…', true, false, numbers, or any other word; operators are == (or =) != < <= > >= ~. Kind "where".
Result<std::vector<RunCondition>> ParseConditions(std::string_view text);

// Null if a run has no such value.
using RunValue = std::function<Value(const std::string& name)>;

// For a list the condition holds if it holds for one element, != if it holds for all. Numbers are compared as numbers,
// texts byte by byte; compared with a number, a duration ("5m") is a number of seconds and a size ("30GiB") one of
// bytes. Missing and incomparable values satisfy only !=.
bool Holds(const RunCondition& condition, const RunValue& value);

// Whether the condition is meaningful for that value, which exists: no number is less than a word. Any value may be
// compared for equality with text.
bool CanBeAsked(const RunCondition& condition, const Value& value);

// Whether `a` comes before `b`: numbers before texts, missing values last.
bool ComesBefore(const Value& a, const Value& b);

}  // namespace muster
