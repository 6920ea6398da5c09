// How the commands that need hosts come to them: this machine alone by an agent of its own, what is named through ssh.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "muster/site.h"
#include "transport/ssh_command.h"

namespace muster {

// --agent PATH.
void AddAgentOption(CLI::App& app, std::string& agent);

// Whether no host is named, or this machine alone. Among several this machine is reached through ssh too.
bool IsHereAlone(const std::vector<SiteHost>& hosts);

// `agent` as --agent gave it, empty if it did not; `environment` is the user's, "NAME=value".
SshSettings WayToAgents(const std::string& agent, const std::vector<std::string>& environment);

}  // namespace muster
