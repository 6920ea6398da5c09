// muster hosts: what this user's runs have shown about hosts.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/system/clock.h"
#include "base/system/own_environment.h"
#include "base/values/quoting.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "run/hosts/bad_hosts.h"
#include "run/hosts/host_history.h"

namespace muster {
namespace {

struct HostsOptions {
  std::vector<std::string> hosts;
  bool json = false;
};

int RunHosts(const HostsOptions& options) {
  const std::vector<std::string> environment = OwnVariables();
  const std::string history = HostHistoryFile(environment);
  if (history.empty()) {
    return Refuse({Error("hosts", {}, "neither XDG_STATE_HOME nor HOME is set: nothing is remembered about hosts",
                         "XDG_STATE_HOME=/a/folder")},
                  options.json);
  }
  const std::vector<ShownHost> hosts =
      ShownHosts(ReadHostHistory(history), ReadBadHosts(BadHostsFile(environment)), options.hosts);
  if (options.json) {
    std::fputs(PrintableLines(ShownHostsJson(hosts)).c_str(), stdout);
    return kExitOk;
  }
  const bool details = !options.hosts.empty();
  std::fputs(PrintableLines(ShownHostsText(hosts, details, WallNowNs() / 1'000'000'000)).c_str(), stdout);
  return kExitOk;
}

}  // namespace

std::string HostsSchema() { return ShownHostsSchema(); }

std::function<int()> SetupHosts(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<HostsOptions>();
  app.add_option("HOSTS", options->hosts, "only these, with their last failures")->type_name("HOST …");
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunHosts(*options); };
}

}  // namespace muster
