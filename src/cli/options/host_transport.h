// Chooses the transport: a local agent for this machine alone, ssh for named hosts.
#pragma once

#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "muster/site.h"
#include "transport/ssh_command.h"

namespace muster {

// --agent PATH.
void AddAgentOption(CLI::App& app, std::string& agent);

// Whether no host is named, or this machine alone. With several hosts this machine is reached through ssh too.
bool IsHereAlone(const std::vector<SiteHost>& hosts);

// `agent`: value of --agent, empty if not given; `environment` is the user's, "NAME=value".
SshSettings SshSettingsForAgents(const std::string& agent, const std::vector<std::string>& environment);

}  // namespace muster
