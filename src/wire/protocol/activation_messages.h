// Messages of the agent protocol: the activation of a host, its steps, and the changes that they made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "muster/activation.h"
#include "wire/protocol/start_messages.h"

namespace muster {

// Execute these steps in one shell and report the changes of its environment with HostActivated. Sent once, before the
// first start.
struct Activate {
  std::vector<ActivationStep> steps;
  std::vector<std::string> environment;  // "NAME=value": the initial environment of the shell
  std::string cwd;                       // absolute
  std::string log_path;                  // absolute, in run_dir; created exclusively, mode 0600: output of the steps
  std::uint32_t within_ms = 0;           // time limit; after it the shell and its descendants are killed
  HostVariables of_host = {};            // in the initial environment, too
};

// Answer to Activate. Names and values come from sourced files and are untrusted.
struct HostActivated {
  std::uint32_t host = 0;
  std::map<std::string, std::string> set;  // new and changed variables
  std::vector<std::string> unset;          // removed variables, sorted
  std::uint64_t took_ms = 0;
  std::uint32_t failed_step = 0;  // counted from 1; 0: none, or the shell as a whole
  std::string error;              // reason of the failure, for users; empty if all steps succeeded

  bool operator==(const HostActivated&) const = default;
};

}  // namespace muster
