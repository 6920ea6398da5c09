// Alternative values of a parameter: close ones, to see what depends on it, and whole numbers, to see which are
// possible. All satisfy the parameter's own limits; only planning shows whether they give a plan.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "muster/value.h"
#include "settings/parameters/parameter.h"

namespace muster {

// Most useful first, without `value` itself. Empty for secrets, and if no other value is
// allowed.
std::vector<Value> Nudges(const Parameter& parameter, const Value& value);

struct WholeNumbers {
  std::vector<std::int64_t> numbers;  // ascending
  std::string description;            // "1-64", "128 numbers: 1-32, powers of 2, …"
};

// At most 128 values of a parameter of type int, including `value`: all from its least one on, if that reaches twice
// the value; otherwise small numbers, powers of 2, divisors and multiples of `related`, and neighbours.
WholeNumbers PossibleNumbers(const Parameter& parameter, std::int64_t value, std::span<const std::int64_t> related);

}  // namespace muster
