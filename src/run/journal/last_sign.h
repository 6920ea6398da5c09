// How long a run lasted whose head did not record its end, because it was killed: until the last sign of its life. That
// is more than the last entry of the journal: processes write logs and metrics between two events, and the head writes
// samples of their usage.
#pragma once

#include "run/journal/journal.h"

namespace muster {

// From the first record of the journal to the last sign in the run directory (a descriptor); at least to the last
// record. The times of the files count unless the directory was copied without them; then the times in the files do.
MonotonicNs NsUntilLastSign(int run_folder, const JournalRecord& first, const JournalRecord& last);

}  // namespace muster
