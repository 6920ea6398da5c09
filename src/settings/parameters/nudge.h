// Other values that a parameter could have: close ones, to see what follows from it, and whole numbers, to see which
// are possible. All of them are allowed by the parameter itself; whether a plan comes of them, only planning tells.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "muster/value.h"
#include "settings/parameters/parameter.h"

namespace muster {

// In the order in which they are worth trying, without `value` itself. None for secrets, and where no other value is
// allowed.
std::vector<Value> Nudges(const Parameter& parameter, const Value& value);

struct WholeNumbers {
  std::vector<std::int64_t> numbers;  // ascending
  std::string told;                   // which these are: "1-64", "128 numbers: 1-32, powers of 2, …"
};

// At most 128 values of a parameter of type int, `value` among them: all from its least one on, if that reaches twice
// the value, or else the small ones, powers of 2, what divides one of `related` or is divided by it, and neighbours.
WholeNumbers PossibleNumbers(const Parameter& parameter, std::int64_t value, std::span<const std::int64_t> related);

}  // namespace muster
