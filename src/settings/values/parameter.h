// Parameters of a recipe: typed, documented, and the only things that overrides can change. Parses texts of the
// command line into values of the parameter's type, with a hint at what another text meant; validates values, and
// finds alternative ones within the parameter's limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// How large a parameter's value may be.

// Memory of a list or table that is given as JSON, on the command line, in a file or in a variable. Checked while it
// is parsed: two bytes of text become a value of 56.
inline constexpr std::size_t kMaxParameterBytes = std::size_t{32} << 20;

// Parameters of a recipe: typed, documented, and the only things that overrides can change. Parses texts of the command
// line into values of the parameter's type, and validates values.

enum class ParameterType : std::uint8_t {
  kInt,
  kFloat,
  kBool,
  kString,
  kEnum,
  kPath,
  kList,
  kMap,
  kBytes,
  kDuration,
  kSecret
};

// "int", "float", …: the names of the constructors muster.int, muster.float, …
std::string_view ParameterTypeName(ParameterType type);
std::optional<ParameterType> ParameterTypeOf(std::string_view name);

struct Parameter {
  std::string name;  // including the names of its blocks: "optimizer.lr"
  ParameterType type = ParameterType::kString;
  std::optional<Value> default_value;            // none: the user must give a value
  std::optional<double> min, max, above, below;  // of numbers, bytes (in bytes) and durations (in seconds)
  std::vector<Value> one_of;
  std::string doc;
  std::string was;       // an old name, in the same block; still accepted with a warning
  std::string from_env;  // variable with the value unless there is an override
  Place place;           // of its declaration
  bool variant = false;  // an enum whose values each have parameters of their own
  // Parameters of variants exist only if these parameters have these values: "optimizer" -> "adam".
  std::map<std::string, std::string> when;

  bool operator==(const Parameter&) const = default;
};

// The whole name that the parameter had before, "optimizer.rate"; empty without `was`.
std::string FormerName(const Parameter& parameter);

// The source of a parameter's value, in order of increasing precedence.
enum class ParameterOrigin : std::uint8_t {
  kDefault,
  kExtension,
  kEnvironment,
  kProfile,
  kMusterSet,
  kCommandLine,
  kSweep
};
std::string_view ParameterOriginText(ParameterOrigin origin);

// Creates a parameter from its declaration table as plain data: "type" is the constructor's name, "1" (or "default")
// the default, the other keys are named like the members above. Unknown keys and options that the type does not have
// are errors of kind "parameter".
Result<Parameter> ParameterFromValue(const std::string& name, const Value& declaration, const Place& place);

// Parses a text from the user into a value of the type ("30GiB" of a bytes parameter -> 32212254720). List and map
// texts are JSON. Fails with kind "parameter_value"; `origin` ends the message: "(from the command line)".
Result<Value> ReadParameterText(const Parameter& parameter, std::string_view text, std::string_view origin);

// Checks that the value has the type and satisfies the limits; an integral float counts as an int. Returns the
// normalised value (sizes and durations as numbers). Kind "parameter_value". `origin` ends the message: "(from the
// command line)".
Result<Value> CheckParameter(const Parameter& parameter, const Value& value, const Place& place,
                             std::string_view origin);
// The same for a value as a user wrote it in a recipe, a sweep file or JSON: a duration needs its unit there, so a
// number other than 0 is refused. (Values that muster computes, such as points of a sweep, are numbers of seconds.)
Result<Value> CheckWrittenParameter(const Parameter& parameter, const Value& value, const Place& place,
                                    std::string_view origin);

// "int >= 1", "one of \"adam\", \"sgd\"", …: the allowed values, for messages and `muster params`.
std::string ParameterRangeText(const Parameter& parameter);

// Alternative values of a parameter: close ones, to see what depends on it, and whole numbers, to see which are
// possible. All satisfy the parameter's own limits; only planning shows whether they give a plan.

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
