// Builds command lines of ssh that start an agent on a host or print ssh's configuration for a host.
//
// For ssh(1) and ssh_config(5), OpenSSH 7.6 and later; starts nothing. The user's configuration, keys and jump hosts
// apply; the options set here are required whatever that configuration contains. The remote side gets one fixed command
// with the agent's arguments; everything else comes through its stdin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"

namespace muster {

struct SshSettings {
  std::string program = "ssh";  // a path, or a name to be looked up on PATH
  std::string config;           // for ssh's -F, which replaces the user's and the system's configuration; empty: no -F
  std::string agent;            // path of muster-agent on the hosts, …
  bool agent_given = false;     // … set by the user; else the PATH is searched too
  std::uint32_t connect_seconds = 10;
  std::uint32_t greeting_seconds = 30;        // for the first message of the agent: a login may hang on a dead disk
  std::vector<std::string> agent_words = {};  // further arguments of the agent
};

// Reads `MUSTER_SSH` (program) and `MUSTER_SSH_CONFIG` (config) of this environment ("NAME=value").
SshSettings SshSettingsFrom(const std::vector<std::string>& environment);

// ssh to the host's agent, without terminal, prompts and forwardings, and only for hosts with a known key. Kind "hosts"
// if the name is invalid (IsHostName).
Result<std::vector<std::string>> SshArguments(const SshSettings& settings, std::string_view host);

// The command for the host's login shell, whichever shell that is.
std::string RemoteCommand(const SshSettings& settings);

// ssh -G: prints the configuration for the host without connecting.
Result<std::vector<std::string>> SshQuestion(const SshSettings& settings, std::string_view host);

// Whether the output of SshQuestion() names a jump host or a proxy command.
bool GoesThroughJumpHost(std::string_view answer);

}  // namespace muster
