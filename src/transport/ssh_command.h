// The command lines of ssh, as data: how a host is asked for its agent, and what ssh would do for a host.
//
// Knows ssh(1) and ssh_config(5), OpenSSH 7.6 and later; starts nothing. The user's configuration, keys and jump hosts
// hold; what is said here is what the way to an agent must be whatever that configuration says. What goes to the other
// side is one fixed command with words about the agent; everything else comes through its stdin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"

namespace muster {

struct SshSettings {
  std::string program = "ssh";  // a path, or a name to be looked up on PATH
  std::string config;           // ssh's -F: instead of the user's and the system's configuration; empty: those
  std::string agent;            // path of muster-agent on the hosts, …
  bool agent_given = false;     // … by the user; else that on the host's PATH does as well, where this is none
  std::uint32_t connect_seconds = 10;
  std::vector<std::string> agent_words = {};  // further arguments of the agent
};

// What `MUSTER_SSH` (program) and `MUSTER_SSH_CONFIG` (config) of this environment ("NAME=value") say.
SshSettings SshSettingsFrom(const std::vector<std::string>& environment);

// ssh to the host's agent, without a terminal, a question, a forwarding, or a host whose key is not known already.
// Kind "hosts" if the host's name is none (IsHostName).
Result<std::vector<std::string>> SshArguments(const SshSettings& settings, std::string_view host);

// The command that the host's shell, whichever it is, is given.
std::string RemoteCommand(const SshSettings& settings);

// ssh -G: prints the configuration that holds for the host, connects to nothing.
Result<std::vector<std::string>> SshQuestion(const SshSettings& settings, std::string_view host);

// Whether the answer to SshQuestion() leads over another host or program.
bool GoesThroughJumpHost(std::string_view answer);

}  // namespace muster
