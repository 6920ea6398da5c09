// Messages of the agent protocol: the activation of a host: its steps, and what they changed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "muster/activation.h"

namespace muster {

// Do these steps in one shell and tell what they changed in its environment: answered by HostActivated. Once, before
// the first start.
struct Activate {
  std::vector<ActivationStep> steps;
  std::vector<std::string> environment;  // "NAME=value": what the shell begins with
  std::string cwd;                       // absolute
  std::string log_path;                  // absolute, in run_dir; created exclusively, mode 0600: what the steps say
  std::uint32_t within_ms = 0;           // then the shell and what it started are killed
};

// Answer to Activate. Names and values come from what was sourced and are not trusted.
struct HostActivated {
  std::uint32_t host = 0;
  std::map<std::string, std::string> set;  // variables that are new, or have another value
  std::vector<std::string> unset;          // that are gone, in order
  std::uint64_t took_ms = 0;
  std::uint32_t failed_step = 0;  // from 1; 0: none, or the shell as a whole
  std::string error;              // why it failed, a phrase for people; empty if all went well

  bool operator==(const HostActivated&) const = default;
};

}  // namespace muster
