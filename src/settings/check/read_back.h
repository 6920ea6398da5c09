// The result of a getter of the context API: the effective value, in the form that the release returns.
#pragma once

#include <string_view>

#include "muster/mindspore/context.h"

namespace muster {

// `api` is the setter's name and a function of the context's release; `was_reset` is where the function was last reset,
// or null. Kinds: unknown_key, use_nested_dict, release, not_readable.
Result<Reading> ReadSetting(const Context& context, std::string_view api, std::string_view name, const Place& place,
                            const Place* was_reset);

}  // namespace muster
