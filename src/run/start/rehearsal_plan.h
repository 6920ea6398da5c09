// Makes the plan of a rehearsal, and that of a drill with stubs: the same processes on the same hosts with the same
// environment, folders, devices and ports, but each command replaced by a stub. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "muster/plan.h"

namespace muster {

struct RehearsalSettings {
  std::uint32_t within_ms = 5'000;            // how long stubs wait for each other; 10 ms are added for each process
  std::vector<std::string> search_dirs = {};  // folders of the library search path, as for a run
  // The contract of the plan's framework, if it is one of muster's own (OwnContractNamed).
  std::optional<std::vector<ContractVariable>> contract = {};
};

// The file with the stubs' input, below the run directory.
inline constexpr const char* kRehearsalFacts = "files/rehearsal.json";

// Each process gets an additional port "rehearsal.N", to which the others connect. Roles do not wait for each other,
// nothing is restarted, and a role has ended when its stubs have.
Plan RehearsalPlan(Plan plan, const RehearsalSettings& settings);

// The steps of stubs in a drill.
struct TrainingSettings {
  std::uint64_t steps = 100;
  std::uint32_t step_ms = 100;
  std::uint64_t every = 10;  // steps between checkpoints
  // Failures in every attempt of a process, instead of that step (stub/records/stub_failure.h).
  struct Defect {
    std::string process;  // "worker.3"
    std::string failure;  // "exception"
    std::uint64_t step = 0;
  };
  std::vector<Defect> defects = {};
};

// Each process is replaced by a stub that counts steps, and continues from the checkpoint that the first worker writes
// (stub/program/training_stub.h); those of serving roles only wait. Policies, limits and the order of starts are those
// of the plan, but processes are ready when they run, or when they are done. Where one has a defect, the others that
// count steps get no further: they wait for it, as in a collective. The error is a sentence: stubs cannot write
// checkpoints of that name.
tl::expected<Plan, std::string> TrainingStubPlan(Plan plan, const TrainingSettings& settings);

// Whether RehearsalPlan or TrainingStubPlan made this plan: its processes are stubs, so it should not be run as the
// job.
bool IsRehearsalPlan(const Plan& plan);

// The words of the command that a stub replaces: those after its "--".
std::vector<Text> RehearsedWords(const Plan& rehearsal, const Process& process);

}  // namespace muster
