// Whether a process's environment says what its contract promises and its plan has: ranks, counts, the context's own
// numbers, devices. Pure but for the device nodes of this host.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "stub/records/stub_account.h"
#include "stub/records/stub_facts.h"

namespace muster {

// Value of a variable; null if it is not set.
using StubVariable = std::function<const char*(const char* name)>;

// Findings of kRanks and kCounts, and what the process says its rank is. `context`: what $MUSTER_CONTEXT holds; nothing
// if there is no such file.
void CheckPromises(const StubFacts& facts, std::uint32_t process, const StubVariable& variable,
                   const std::optional<std::string>& context, StubAccount& account);

// Finding of kDevices; none for a process without devices. `root` is where /dev and /sys are, with a slash at its end.
void CheckDevices(std::string_view kind, const StubVariable& variable, StubAccount& account,
                  const std::string& root = "/");

}  // namespace muster
