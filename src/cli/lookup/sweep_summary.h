// The summary of a sweep that muster show and muster report print: state, counts, the best trial, failures with their
// causes, rungs, hosts.
#pragma once

#include "cli/lookup/trial_facts.h"
#include "muster/result.h"

namespace muster {

// Writes to the standard output, as text or as one JSON object. Fails, with nothing printed, if rows cannot be read.
Result<void> ShowSweep(const OpenedSweep& sweep, bool json);

}  // namespace muster
