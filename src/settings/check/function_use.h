// Checks the call of a function with parameters beyond its values: that all required ones are given, that it is not
// repeated, and that it has an effect on the device.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "muster/mindspore/context.h"

namespace muster {

struct FunctionUse {
  Diagnostics problems;
  bool skipped = false;  // a call that has no effect: it is not passed on
};

// `own` are the settings of the scope that calls; kinds: "missing_argument", "repeated", "division", "wrong_device",
// "conflict". The values themselves are checked by Call.
FunctionUse CheckFunctionUse(const Function& function, const Context& context,
                             const std::map<std::string, Setting>& own, const Value::Map& arguments,
                             const Place& place);

// The function, and its parameter that overrides, itself or by a sub-key, the setting of that key
// ("set_context.device_id"); null and "" if there is none.
std::pair<const Function*, std::string> ParameterThatReplaces(const Schema& schema, const std::string& key);

}  // namespace muster
