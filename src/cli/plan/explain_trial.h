// muster explain SWEEP:TRIAL: why the trial has its point.
#pragma once

#include <string>

namespace muster {

// Whether the word names a trial of a sweep, and no file.
bool IsTrialWord(const std::string& word);

// Prints it and returns the exit code.
int ExplainTrial(const std::string& word, bool json);

}  // namespace muster
