// Notifications as values: what lua/muster/notify.lua has made of the `notify` of a recipe or site file.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "muster/plan.h"
#include "muster/value.h"

namespace muster {

// A list of maps with the members of Notification. The error is a phrase; checked values have none.
tl::expected<std::vector<Notification>, std::string> NotificationsFrom(const Value& value);

}  // namespace muster
