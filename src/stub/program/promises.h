// Compares a process's environment with its contract and plan: ranks, counts, numbers in the context, devices. Pure
// except for the device nodes of this host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stub/records/stub_facts.h"
#include "stub/records/stub_report.h"

namespace muster {

// Returns the value of a variable; null if it is not set.
using StubVariable = std::function<const char*(const char* name)>;

// Adds findings of kRanks and kCounts, and the rank according to the environment. `context`: content of
// $MUSTER_CONTEXT; nothing if there is no such file.
void CheckPromises(const StubFacts& facts, std::uint32_t process, const StubVariable& variable,
                   const std::optional<std::string>& context, StubReport& account);

// Adds the finding of kDevices; none without devices. `root` contains /dev and /sys, and ends with a slash.
void CheckDevices(std::string_view kind, const StubVariable& variable, StubReport& account,
                  const std::string& root = "/");

}  // namespace muster
