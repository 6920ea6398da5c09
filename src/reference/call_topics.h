// Pages about the functions with parameters (set_device, runtime.set_memory, …): one topic each, and a list of all.
#pragma once

#include <optional>
#include <vector>

#include "muster/mindspore/schema.h"
#include "reference/attribute_history.h"
#include "reference/topic.h"

namespace muster {

// The parameters of a function in the order of the call, each followed by its sub-keys.
std::vector<AttributeHistory> ParametersOf(const Schema& schema, const Function& function,
                                           const std::vector<Release>& releases);

// Releases, repeated calls, devices.
std::vector<Fact> FunctionFacts(const Function& function, const std::vector<Release>& releases);

// For the functions that `release` has, or for all; the schema must outlive the topics.
Topics CallTopics(const Schema& schema, const std::optional<Release>& release);

// All of them with their parameters, as the page of the reference shows them.
Page CallsPage(const Schema& schema, const std::vector<Release>& releases);

}  // namespace muster
