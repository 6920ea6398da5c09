#include "engine/engine_calls.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/values/number_list.h"
#include "base/values/shell_quote.h"
#include "engine/command_template.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

bool IsAbout(const std::vector<std::string>& command, std::string_view placeholder) {
  return std::any_of(command.begin(), command.end(),
                     [&](const std::string& word) { return word.find(placeholder) != std::string::npos; });
}

// One call for all jobs, or one for each if the command names a single one.
std::vector<EngineCall> CallsFor(const std::vector<std::string>& command, const std::vector<std::string>& clear,
                                 std::span<const std::string> jobs, TemplateValues values) {
  std::vector<EngineCall> calls;
  if (command.empty() || jobs.empty()) return calls;
  const auto add = [&](std::span<const std::string> some) {
    values.texts["job"] = some.front();
    values.texts["jobs"] = fmt::format("{}", fmt::join(some, ","));
    values.lists["each_job"].assign(some.begin(), some.end());
    calls.push_back({FilledCommand(command, values), clear, {some.begin(), some.end()}});
  };
  if (!IsAbout(command, "{job}")) {
    add(jobs);
  } else {
    for (std::size_t i = 0; i < jobs.size(); ++i) add(jobs.subspan(i, 1));
  }
  return calls;
}

}  // namespace

std::vector<std::string> WithoutVariables(std::vector<std::string> environment, std::span<const std::string> clear) {
  std::erase_if(environment, [&](const std::string& variable) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    return std::any_of(clear.begin(), clear.end(), [&](const std::string& pattern) {
      return pattern.ends_with('*') ? name.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1))
                                    : name == pattern;
    });
  });
  return environment;
}

std::optional<std::chrono::milliseconds> TryAgainAfter(const EnginePage& page, std::string_view error,
                                                       std::chrono::milliseconds tried_for) {
  constexpr std::chrono::milliseconds kPause{2'000};
  const bool away = std::any_of(page.away.begin(), page.away.end(),
                                [&](const std::string& words) { return error.find(words) != std::string_view::npos; });
  if (!away || tried_for + kPause > kAwayTime) return std::nullopt;
  return kPause;
}

Result<EngineCall> StartCall(const EnginePage& page, const Allocation& allocation, std::span<const std::string> hosts,
                             const StartedAgent& agent) {
  if (!agent.options.empty() && !IsAbout(page.start, "{options}") && !IsAbout(page.start, "{each_option}")) {
    return Fail(MachineError("engine",
                             page.name + ": its start command has no place for options of the agent: " +
                                 fmt::format("{}", fmt::join(agent.options, " ")),
                             "start = { …, \"--dial\", \"{dial_file}\", \"{each_option}\" }"));
  }
  std::map<std::string_view, const AllocatedHost*> known;
  for (const AllocatedHost& host : allocation.hosts) known[host.name] = &host;
  std::vector<std::uint32_t> positions;
  std::vector<SiteHost> named;
  TemplateValues values;
  for (const std::string& host : hosts) {
    const auto found = known.find(host);
    if (found == known.end()) {
      return Fail(MachineError("engine",
                               "host " + host + " is not in the allocation of " + page.name + " job " + allocation.job,
                               "its hosts are " + HostListText(HostsOf(allocation))));
    }
    positions.push_back(found->second->position);
    named.push_back({host, {}, {}});
    values.lists["each_host"].push_back(host);
    values.lists["each_position"].push_back(std::to_string(found->second->position));
  }
  std::sort(positions.begin(), positions.end());
  values.lists["each_option"] = agent.options;
  values.texts = {{"agent", agent.agent},
                  {"dial_file", agent.dial_file},
                  {"options", fmt::format("{}", fmt::join(agent.options, " "))},
                  {"count", std::to_string(hosts.size())},
                  {"hosts", fmt::format("{}", fmt::join(hosts, ","))},
                  {"host_list", HostListText(named)},
                  {"spaced_hosts", fmt::format("{}", fmt::join(hosts, " "))},
                  {"positions", NumberListText(positions)},
                  {"job", allocation.job}};
  return EngineCall{FilledCommand(page.start, values), page.clear};
}

EngineCall SubmitCall(const EnginePage& page, const std::string& script, bool& on_stdin) {
  on_stdin = !IsAbout(page.submit.command, "{script}");
  TemplateValues values;
  values.texts["script"] = script;
  return {FilledCommand(page.submit.command, values), {}};
}

Result<std::string> SubmittedJob(const EnginePage& page, std::string_view output) {
  const auto unreadable = [&] {
    return Fail(MachineError(
        "engine", page.name + ": no job id in the answer to the submission: " + Quoted(output.substr(0, 200))));
  };
  std::string_view rest = output;
  if (!page.submit.after.empty()) {
    const std::size_t at = rest.find(page.submit.after);
    if (at == std::string_view::npos) return unreadable();
    rest.remove_prefix(at + page.submit.after.size());
  }
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  rest = rest.substr(0, rest.find_first_of(" \t\r\n"));
  if (!page.submit.before.empty()) rest = rest.substr(0, rest.find(page.submit.before));
  if (rest.empty() || rest.size() > 256) return unreadable();
  return std::string(rest);
}

std::vector<EngineCall> QueryCalls(const EnginePage& page, const EngineQuery& query,
                                   std::span<const std::string> jobs) {
  return CallsFor(query.command, page.query_clear, jobs, {});
}

std::vector<EngineCall> CancelCalls(const EnginePage& page, std::span<const std::string> jobs) {
  return CallsFor(page.cancel, {}, jobs, {});
}

std::vector<EngineCall> SignalCalls(const EnginePage& page, std::span<const std::string> jobs,
                                    const std::string& signal) {
  TemplateValues values;
  values.texts["signal"] = signal;
  return CallsFor(page.signal, {}, jobs, std::move(values));
}

std::vector<EngineCall> RequeueCalls(const EnginePage& page, std::span<const std::string> jobs) {
  if (!page.requeue) return {};
  return CallsFor(page.requeue->command, {}, jobs, {});
}

}  // namespace muster
