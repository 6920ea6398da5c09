#include "cli/options/host_transport.h"

#include "base/system/host_name.h"

namespace muster {

void AddAgentOption(CLI::App& app, std::string& agent) {
  app.add_option("--agent", agent, "path of muster-agent on the other hosts (default: beside muster, or on PATH)")
      ->type_name("PATH");
}

bool IsHereAlone(const std::vector<SiteHost>& hosts) {
  return hosts.empty() || (hosts.size() == 1 && IsThisMachine(hosts.front().name));
}

SshSettings SshSettingsForAgents(const std::string& agent, const std::vector<std::string>& environment) {
  SshSettings settings = SshSettingsFrom(environment);
  settings.agent_given = !agent.empty();
  settings.agent = agent;
  return settings;
}

}  // namespace muster
