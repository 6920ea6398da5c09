// Creates the files at the beginning of a run: its directory, the files that define the run, and the first record of
// its journal.
#pragma once

#include "base/system/unique_fd.h"
#include "muster/binding.h"
#include "muster/result.h"

namespace muster {

struct LiveRun;

// Sets LiveRun::directory, and the values of the request in `binding`.
Result<void> OpenRunDirectory(LiveRun& run, Binding& binding);
// Implements RunRequest::keep_words.
Result<void> KeepWords(const LiveRun& run);
// Sets LiveRun::plan_id. Returns the folder of the logs.
Result<UniqueFd> WriteFirstFiles(LiveRun& run);
// Creates the journal with its first record.
Result<void> OpenJournal(LiveRun& run);

}  // namespace muster
