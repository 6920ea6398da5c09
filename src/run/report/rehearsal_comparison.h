// What no stub can tell alone, because it is about how hosts differ: files, programs and clocks. Pure.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "muster/plan.h"
#include "run/journal/head_facts.h"
#include "run/report/rehearsal.h"
#include "stub/records/stub_report.h"

namespace muster {

struct HostwideFinding {
  StubFinding::Outcome outcome = StubFinding::Outcome::kOk;
  RehearsalFailure failure;
};

// Of kFiles and kVersions: a file that is on some hosts only, and one that is another on some. `hosts` are names.
std::vector<HostwideFinding> CompareFiles(const Plan& plan, const std::vector<std::string>& hosts,
                                          std::span<const std::optional<StubReport>> accounts);

// Of kClock: hosts whose clocks differ from others' by more than a second and what the way leaves uncertain.
std::vector<HostwideFinding> CompareClocks(const Plan& plan, const std::vector<std::string>& hosts,
                                           std::span<const std::optional<StubReport>> accounts);

// What preflight found of programs and packages, and what is wrong with hosts by its account.
std::vector<HostwideFinding> TakeComparison(const Plan& plan, const std::vector<std::string>& hosts,
                                            const HostsCompared& compared);

}  // namespace muster
