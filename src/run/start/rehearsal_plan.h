// The plan of a rehearsal: the same processes at the same places with the same environment, folders, devices and ports,
// and a stub in the place of each command. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/plan.h"

namespace muster {

struct RehearsalSettings {
  std::uint32_t within_ms = 5'000;  // how long stubs wait for each other; for many processes it becomes a little longer
  std::vector<std::string> search_dirs = {};  // as in a start
};

// Where the stubs' facts are, below the run directory.
inline constexpr const char* kRehearsalFacts = "files/rehearsal.json";

// Every process has a port more, "rehearsal.N", at which the others greet it. Roles do not wait for each other, nothing
// is started again, and every role has ended when its stubs have.
Plan RehearsalPlan(Plan plan, const RehearsalSettings& wishes);

// Whether a plan is one that RehearsalPlan has made: its processes are stubs, and nobody means to run those as the job.
bool IsRehearsalPlan(const Plan& plan);

// The words of the command that a stub stands for: those behind its "--".
std::vector<Text> RehearsedWords(const Plan& rehearsal, const Process& process);

}  // namespace muster
