#include "run/start/activation.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "plan/environment/environment.h"

namespace muster {
namespace {

std::string_view NameIn(std::string_view entry) { return entry.substr(0, entry.find('=')); }

// Numbers of spares follow those of the plan's hosts.
std::string LabelOf(const Plan& plan, std::uint32_t host) {
  return host < plan.hosts.size() ? plan.hosts[host].label : fmt::format("host{}", host);
}

bool IsOwn(std::string_view name) {
  const auto names = StandardVariableNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string ActivationLogPath(const Plan& plan, std::uint32_t host) {
  return fmt::format("logs/activation.{}.log", LabelOf(plan, host));
}

std::vector<std::string> BeginningEnvironment(const Plan& plan, const std::vector<std::string>& inherited) {
  std::vector<std::string> environment;
  for (const std::string& entry : inherited) {
    const std::string_view name = NameIn(entry);
    const bool secret = std::any_of(plan.secrets.begin(), plan.secrets.end(),
                                    [&](const auto& each) { return each.second.from_env == name; });
    const bool variable = !name.empty() && name.size() < entry.size();
    if (variable && !secret && !IsOwn(name)) environment.push_back(entry);
  }
  return environment;
}

Activate ActivateHost(const Plan& plan, const Binding& binding, const CallerEnvironment& surroundings,
                      std::uint32_t host) {
  Activate command;
  command.steps = plan.activation;
  for (ActivationStep& step : command.steps) step.what = surroundings.Led(host, step.what);
  command.cwd = surroundings.Led(host, surroundings.cwd);
  command.log_path = fmt::format("{}/{}", binding.run_dir, ActivationLogPath(plan, host));
  constexpr std::uint64_t kLongest = std::numeric_limits<std::uint32_t>::max();
  command.within_ms =
      plan.start_limit_ms == 0 ? kActivationMs : static_cast<std::uint32_t>(std::min(plan.start_limit_ms, kLongest));
  command.environment = BeginningEnvironment(plan, surroundings.environment);
  command.of_host = surroundings.of_host;
  for (const auto& [name, secret] : plan.secrets) {
    if (!secret.from_env.empty() && !command.of_host.take.empty()) command.of_host.leave.push_back(secret.from_env);
  }
  command.environment.push_back("MUSTER_RUN_ID=" + binding.run_id);
  command.environment.push_back("MUSTER_RUN_DIR=" + binding.run_dir);
  command.environment.push_back(fmt::format("MUSTER_PROCESS={}/activation.{}", binding.run_id, LabelOf(plan, host)));
  return command;
}

std::string ActivationStepText(const Plan& plan, std::uint32_t step) {
  if (step == 0 || step > plan.activation.size()) return "the shell";
  const ActivationStep& failed = plan.activation[step - 1];
  return fmt::format("step {} ({} {})", step, ActivationKindName(failed.kind), Printable(failed.what));
}

std::string ActivationFailure(const Plan& plan, const std::string& host_name, const HostActivated& reported) {
  return fmt::format("the activation of {} failed in {}: {}", Printable(host_name),
                     ActivationStepText(plan, reported.failed_step), Printable(reported.error));
}

HostActivated WithoutOwnVariables(HostActivated reported) {
  std::erase_if(reported.set, [](const auto& entry) { return IsOwn(entry.first); });
  std::erase_if(reported.unset, [](const std::string& name) { return IsOwn(name); });
  return reported;
}

HostActivated Shown(HostActivated reported, const HiddenValues& hidden) {
  for (auto& [name, value] : reported.set) value = hidden.Shown(name, value);
  return reported;
}

std::vector<std::string> ActivatedEnvironment(const std::vector<std::string>& inherited,
                                              const HostActivated& reported) {
  const std::set<std::string_view> unset(reported.unset.begin(), reported.unset.end());
  std::vector<std::string> environment;
  environment.reserve(inherited.size() + reported.set.size());
  for (const auto& [name, value] : reported.set) environment.push_back(fmt::format("{}={}", name, value));
  for (const std::string& entry : inherited) {
    const std::string name(NameIn(entry));
    if (!reported.set.contains(name) && !unset.contains(name)) environment.push_back(entry);
  }
  return environment;
}

}  // namespace muster
