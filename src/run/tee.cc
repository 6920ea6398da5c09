#include "run/tee.h"

#include <optional>

#include <fmt/format.h>

#include "base/shell_quote.h"
#include "base/suggest.h"
#include "run/rank_set.h"

namespace muster {

Result<std::set<ProcessId>> TeedProcesses(const Plan& plan, const std::vector<std::string>& words) {
  std::set<ProcessId> teed;
  for (const std::string& word : words) {
    const std::size_t colon = word.find(':');
    const std::string role = word.substr(0, colon);
    std::optional<RankSet> ranks;
    if (colon != std::string::npos) {
      ranks = RankSet::Parse(std::string_view(word).substr(colon + 1));
      if (!ranks) {
        return Fail(Error("tee", {}, fmt::format("--tee {}: what follows the colon is no rank", Quoted(word)),
                          "for example --tee worker:0-3,7"));
      }
    }
    bool known = false;
    bool any = false;
    for (ProcessId id = 0; id < plan.processes.size(); ++id) {
      const Process& process = plan.processes[id];
      if (plan.roles[process.role].name != role) continue;
      known = true;
      if (ranks && !ranks->Contains(process.rank.value_or(process.index))) continue;
      any = true;
      teed.insert(id);
    }
    if (any) continue;
    std::vector<std::string> roles;
    for (const Role& one : plan.roles) roles.push_back(one.name);
    return Fail(Error("tee", {}, fmt::format("--tee {}: the plan has no such process", Quoted(word)),
                      known ? "muster plan shows the ranks of each role" : DidYouMean(role, roles)));
  }
  return teed;
}

}  // namespace muster
