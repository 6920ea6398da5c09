// Compares the stubs' reports of different hosts: files, programs and clocks, which no stub can check alone. Pure.
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

// Findings of kFiles and kVersions: files that exist on some hosts only, or differ between hosts. `hosts` are names.
std::vector<HostwideFinding> CompareFiles(const Plan& plan, const std::vector<std::string>& hosts,
                                          std::span<const std::optional<StubReport>> accounts);

// Findings of kClock: hosts whose clocks differ from others by more than a second plus the uncertainty.
std::vector<HostwideFinding> CompareClocks(const Plan& plan, const std::vector<std::string>& hosts,
                                           std::span<const std::optional<StubReport>> accounts);

// Findings of preflight about programs and packages, and its faults of hosts.
std::vector<HostwideFinding> TakeComparison(const Plan& plan, const std::vector<std::string>& hosts,
                                            const HostsCompared& compared);

}  // namespace muster
