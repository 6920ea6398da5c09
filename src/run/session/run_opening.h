// The beginning of a run on disk: its directory, the files that say what is run, and the first record of its journal.
#pragma once

#include "base/system/unique_fd.h"
#include "muster/binding.h"
#include "muster/result.h"

namespace muster {

struct LiveRun;

// Sets LiveRun::directory, and what the request says in `binding`.
Result<void> OpenRunDirectory(LiveRun& run, Binding& binding);
// RunRequest::keep_words, if it is asked for.
Result<void> KeepWords(const LiveRun& run);
// Sets LiveRun::plan_id. Returns the folder of the logs.
Result<UniqueFd> WriteFirstFiles(LiveRun& run);
// Creates the journal with its first record.
Result<void> OpenJournal(LiveRun& run);

}  // namespace muster
