// Fuzzes the text of an override for every type: an accepted value is normalised, so checking it again changes nothing,
// and satisfies the parameter's limits.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/values/number_text.h"
#include "base/values/utf8_text.h"
#include "settings/values/parameter.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

std::vector<muster::Parameter> EveryType() {
  std::vector<muster::Parameter> parameters;
  for (const char* type :
       {"int", "float", "bool", "string", "enum", "path", "list", "map", "bytes", "duration", "secret"}) {
    muster::Parameter parameter;
    parameter.name = "x";
    parameter.type = *muster::ParameterTypeOf(type);
    if (parameter.type == muster::ParameterType::kEnum)
      parameter.one_of = {muster::Value("a"), muster::Value(1), muster::Value(true)};
    parameters.push_back(parameter);
    parameter.min = -10;
    parameter.below = 1000;
    parameters.push_back(parameter);
  }
  return parameters;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<muster::Parameter> kParameters = EveryType();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto bytes = muster::ParseBytes(text)) Require(*bytes >= 0);
  if (const auto seconds = muster::ParseDuration(text)) Require(std::isfinite(*seconds) && *seconds >= 0);
  for (const muster::Parameter& parameter : kParameters) {
    const auto read = muster::ReadParameterText(parameter, text, "command line");
    if (!read) {
      Require(!read.error().empty());
      continue;
    }
    Require(parameter.type != muster::ParameterType::kSecret);
    const auto settled = muster::CheckParameter(parameter, *read, {}, "command line");
    if (!settled) continue;
    const auto again = muster::CheckParameter(parameter, *settled, {}, "command line");
    Require(again && *again == *settled);
    if (parameter.below && settled->IsNumber())
      Require(settled->Number() < *parameter.below && settled->Number() >= *parameter.min);
    if (const std::string* accepted = settled->AsString()) Require(muster::IsUtf8(*accepted));
  }
  return 0;
}
