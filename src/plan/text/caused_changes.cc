#include "plan/text/caused_changes.h"

#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace muster {

std::vector<CausedChanges> GroupByCause(const std::vector<PlanChange>& changes, const std::vector<PlanCause>& causes) {
  using Key = std::tuple<PlanChange::Kind, std::string_view, std::string_view>;
  const auto key = [](const PlanChange& change) { return Key{change.kind, change.role, change.name}; };
  std::map<Key, std::set<std::size_t>> does;  // the causes that each produce the change alone
  std::vector<std::size_t> untried;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    all.push_back(i);
    if (!causes[i].alone) {
      untried.push_back(i);
      continue;
    }
    for (const PlanChange& change : *causes[i].alone) does[key(change)].insert(i);
  }
  const std::vector<std::size_t>& otherwise = untried.empty() ? all : untried;

  std::map<std::pair<std::size_t, std::vector<std::size_t>>, CausedChanges> groups;  // groups with few causes first
  for (const std::size_t cause : all) groups[{1, {cause}}].causes = {cause};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto found = does.find(key(changes[i]));
    const bool together = found == does.end() && otherwise.size() > 1;
    const std::vector<std::size_t> by =
        found == does.end() ? otherwise : std::vector<std::size_t>(found->second.begin(), found->second.end());
    // Changes that some causes produce alone and those that the same causes produce only together are in separate
    // groups.
    CausedChanges& group = groups[{by.size() + (together ? causes.size() : 0), by}];
    group.causes = by;
    group.together = together;
    group.changes.push_back(i);
  }
  std::vector<CausedChanges> grouped;
  for (auto& [unused, group] : groups) grouped.push_back(std::move(group));
  return grouped;
}

}  // namespace muster
