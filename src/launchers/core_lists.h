// Parses the core lists that msrun's --bind_core takes from MindSpore 2.7 on: {"device0": ["0-9"], "device1":
// ["10-19"]}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace muster {

// The number of cores of each device, if all devices have the same number; nothing if the numbers differ. An error is a
// sentence: the text is no JSON object of names "deviceN" with lists of "A-B". The list "scheduler" is not counted.
tl::expected<std::optional<int>, std::string> CoresOfEach(std::string_view json);

}  // namespace muster
