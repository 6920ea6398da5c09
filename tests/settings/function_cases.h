// Calls of functions with parameters, made from the schema's records: valid ones, and one for each way to be wrong.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "muster/mindspore/context.h"

namespace muster {

struct NamedCall {
  std::string function;
  Value::Map arguments;

  bool operator==(const NamedCall&) const = default;
};

// What is set before, and the call that is looked at.
struct FunctionCase {
  std::vector<NamedCall> before;
  NamedCall call;

  bool operator==(const FunctionCase&) const = default;
};

// A value that the attribute takes in that release.
Value ValidValue(const Attribute& attribute, const Release& release);

// Of one function in a release that has it: every parameter with values that are taken, and with values of every wrong
// type, out of range, outside the choices, too short and of a wrong form, sub-keys likewise; unknown, missing and later
// parameters; repeated calls; calls for another device; and calls before and after the attributes that they override.
std::vector<FunctionCase> CasesOf(const Schema& schema, const Function& function, const Release& release);

}  // namespace muster
