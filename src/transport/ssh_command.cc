#include "transport/ssh_command.h"

#include <array>

#include "base/system/host_name.h"
#include "base/values/shell_quote.h"

namespace muster {
namespace {

// ssh uses the first value of an option that is given twice, so these override any configuration.
constexpr std::array<std::string_view, 13> kOptions = {
    "BatchMode=yes",              // no user can answer prompts
    "StrictHostKeyChecking=yes",  // nor compare fingerprints
    "ClearAllForwardings=yes",    // of ports; the options below forbid other kinds
    "ForwardAgent=no",
    "ForwardX11=no",
    "Tunnel=no",
    "PermitLocalCommand=no",
    "RequestTTY=no",
    "RemoteCommand=none",  // it would replace the command of RemoteCommand()
    "EscapeChar=none",
    "ControlMaster=no",  // an existing master is used; one that this ssh opened would outlive muster
    "ConnectionAttempts=1",
    "LogLevel=INFO",  // reasons of failures are read from stderr (ssh_failure.h)
};

// $1 is the path of the agent, the rest its arguments. The user's login shell must only support exec and quotes.
constexpr std::string_view kGiven = R"(a=$1; shift; exec "$a" --stdio "$@")";
constexpr std::string_view kLookedFor = R"(a=$1; shift; [ -x "$a" ] || a=$(command -v muster-agent) || )"
                                        R"({ echo "muster-agent: not found" >&2; exit 127; }; exec "$a" --stdio "$@")";

Result<std::vector<std::string>> Begin(const SshSettings& settings, std::string_view host) {
  if (!IsHostName(host)) {
    return Fail(MachineError("hosts", Quoted(host) + " is not a host name"));
  }
  std::vector<std::string> words = {settings.program};
  if (!settings.config.empty()) words.insert(words.end(), {"-F", settings.config});
  return words;
}

}  // namespace

SshSettings SshSettingsFrom(const std::vector<std::string>& environment) {
  SshSettings settings;
  for (const std::string_view variable : environment) {
    const auto take = [variable](std::string_view begin, std::string& to) {
      if (variable.starts_with(begin) && variable.size() > begin.size()) to = variable.substr(begin.size());
    };
    take("MUSTER_SSH=", settings.program);
    take("MUSTER_SSH_CONFIG=", settings.config);
  }
  return settings;
}

std::string RemoteCommand(const SshSettings& settings) {
  std::string command = "exec /bin/sh -c " + ShellQuoted(settings.agent_given ? kGiven : kLookedFor) + " sh " +
                        ShellQuoted(settings.agent);
  for (const std::string& word : settings.agent_words) command += " " + ShellQuoted(word);
  return command;
}

Result<std::vector<std::string>> SshArguments(const SshSettings& settings, std::string_view host) {
  Result<std::vector<std::string>> words = Begin(settings, host);
  if (!words) return words;
  words->insert(words->end(), {"-T", "-a", "-x"});
  for (const std::string_view option : kOptions) words->insert(words->end(), {"-o", std::string(option)});
  words->insert(words->end(), {"-o", "ConnectTimeout=" + std::to_string(settings.connect_seconds), "--",
                               std::string(host), RemoteCommand(settings)});
  return words;
}

Result<std::vector<std::string>> SshQuestion(const SshSettings& settings, std::string_view host) {
  Result<std::vector<std::string>> words = Begin(settings, host);
  if (words) words->insert(words->end(), {"-G", "--", std::string(host)});
  return words;
}

bool GoesThroughJumpHost(std::string_view answer) {
  for (std::size_t begin = 0; begin < answer.size();) {
    const std::size_t end = std::min(answer.find('\n', begin), answer.size());
    const std::string_view line = answer.substr(begin, end - begin);
    begin = end + 1;
    for (const std::string_view word : {"proxyjump ", "proxycommand "}) {
      if (line.starts_with(word) && line.substr(word.size()) != "none") return true;
    }
  }
  return false;
}

}  // namespace muster
