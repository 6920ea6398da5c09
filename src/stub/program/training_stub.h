// A stub that takes time: it replaces a process in a drill (docs/drill.md). It counts steps, reports them, writes
// checkpoints and continues from them, as a training does.
#pragma once

#include <span>

namespace muster {

// Arguments: STEPS STEP_MS EVERY SIGNAL DIR NAME FILE COMPLETE NEWEST DEFECT. It does STEPS steps of STEP_MS each; `-`:
// it serves until it is ended. A line with the step at $MUSTER_METRICS and on stdout for each. Unless DIR is empty it
// writes a checkpoint after each EVERY steps, and after SIGNAL (a number; 0: none): below DIR, named NAME with the
// number of the step for each `*`, a folder with the file COMPLETE unless that is empty; FILE, unless it is empty, gets
// its path. It continues from the checkpoint NEWEST unless that is empty.
//
// It fails of itself as SignalOf() a StubFailure tells it to, at the end of a step; and as DEFECT ("exception@40") says
// instead of doing that step, with @0 before the first, unless that is empty. It then writes what a Python program
// does. 0: all steps are done; 1: it failed, or a checkpoint cannot be written or read; 2: wrong arguments.
int TrainingStubMain(std::span<char* const> words);

}  // namespace muster
