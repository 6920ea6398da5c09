// --where: conditions on what is known of a run. `NAME OP VALUE`, or NAME alone, joined by "and"; no "or", no brackets,
// nothing that is evaluated. Pure.
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
  // kSet: there is a value, and it is neither false nor nothing.
  enum class Op : std::uint8_t { kSet, kEqual, kUnequal, kLess, kAtMost, kMore, kAtLeast, kMatches };
  std::string name;
  Op op = Op::kSet;
  Value value;
  std::function<bool(std::string_view text)> matches;  // kMatches: whether the expression is found in the value's text
};

// Values are "…" or '…', true, false, numbers, or any other word; operators are == (or =) != < <= > >= ~. Kind "where".
Result<std::vector<RunCondition>> ParseConditions(std::string_view text);

// Null where a run has no such value.
using RunValue = std::function<Value(const std::string& name)>;

// Of a list the condition holds if it holds for one element, != if it holds for all. Numbers are compared as numbers,
// texts byte by byte; beside a number a duration ("5m") is a number of seconds and a size
// ("30GiB") one of bytes. What is not there, and what cannot be compared, is only unequal.
bool Holds(const RunCondition& condition, const RunValue& value);

// Whether the condition can be asked of that value, which is there: no number is less than a word. Text may be asked
// whether it equals anything.
bool CanBeAsked(const RunCondition& condition, const Value& value);

// Whether `a` comes before `b`: numbers before texts, and what is not there last.
bool ComesBefore(const Value& a, const Value& b);

}  // namespace muster
