// What hosts are asked before a run, and by doctor: one question for all of them. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "run/hosts/host_differences.h"
#include "wire/protocol/inspection_messages.h"

namespace muster {

struct Plan;

struct HostQuestion {
  std::vector<std::string> environment;  // the user's, "NAME=value"
  std::string cwd;                       // absolute
  std::vector<std::string> search_dirs;  // as in a start
  std::string run_dir = {};              // where the run directory will be; empty: where it would be by default
  bool any_python = false;               // ask python3 for its packages where the plan has no Python
  bool trials = false;                   // try what the host lets an agent do; takes a moment
  std::uint32_t within_ms = 5'000;
};

// `needs` are those of the plan (host_differences.h), or empty.
Inspect QuestionFor(const Plan& plan, std::span<const HostNeeds> needs, const HostQuestion& wanted);

// The value of a variable; empty if it is not set.
std::string ValueOf(const std::vector<std::string>& environment, const std::string& name);

}  // namespace muster
