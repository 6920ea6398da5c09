// Builds the inspection request that hosts get before a run, and from doctor. Pure.
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
  std::vector<std::string> search_dirs;  // folders of the library search path, as for a run
  std::string run_dir = {};              // path of the run directory to be created; empty: the default
  bool any_python = false;               // list packages of python3 if the plan uses no Python
  bool trials = false;                   // also run probes of what an agent is permitted to do; takes a moment
  std::uint32_t within_ms = 5'000;
};

// `needs` are those of the plan (host_differences.h), or empty.
Inspect QuestionFor(const Plan& plan, std::span<const HostNeeds> needs, const HostQuestion& wanted);

// The value of a variable; empty if it is not set.
std::string ValueOf(const std::vector<std::string>& environment, const std::string& name);

}  // namespace muster
