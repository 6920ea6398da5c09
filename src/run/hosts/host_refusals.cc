#include "run/hosts/host_refusals.h"

#include <algorithm>

#include <fmt/format.h>

#include "plan/hosts/host_list.h"

namespace muster {
namespace {

struct Group {
  AgentUnreachable why;
  std::vector<SiteHost> hosts;
};

std::vector<Group> GroupsOf(const std::vector<HostRefusal>& refusals) {
  std::vector<Group> groups;
  for (const HostRefusal& refusal : refusals) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&refusal](const Group& known) { return known.why.why == refusal.why.why; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{refusal.why, {}});
    group->hosts.push_back({refusal.host, "", std::nullopt});
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.hosts.size() > b.hosts.size(); });
  return groups;
}

}  // namespace

std::string RefusalsText(const std::vector<HostRefusal>& refusals, std::size_t hosts) {
  std::string text;
  for (const Group& group : GroupsOf(refusals)) {
    if (!text.empty()) text += "; ";
    text += hosts == 1 ? fmt::format("{}: {}", group.hosts.front().name, group.why.why)
                       : fmt::format("{} of {} hosts: {}: {}", group.hosts.size(), hosts, group.why.why,
                                     HostListText(group.hosts));
  }
  return text;
}

std::vector<std::string> RefusalHints(const std::vector<HostRefusal>& refusals) {
  std::vector<std::string> hints;
  for (const Group& group : GroupsOf(refusals)) {
    const std::string& hint = group.why.hint;
    if (!hint.empty() && std::find(hints.begin(), hints.end(), hint) == hints.end()) hints.push_back(hint);
  }
  return hints;
}

}  // namespace muster
