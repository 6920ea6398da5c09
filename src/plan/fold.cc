#include "plan/fold.h"

#include <algorithm>

namespace muster {
namespace {

using Members = std::vector<Process*>;

// What the member has under the key, its own before the role's; null if nothing.
template <class Map>
const typename Map::mapped_type* Effective(const Map& common, const Map& own, const std::string& key) {
  if (const auto found = own.find(key); found != own.end()) return &found->second;
  const auto found = common.find(key);
  return found == common.end() ? nullptr : &found->second;
}

template <class Map>
void FoldMap(Map& common, const Members& members, Map Process::*own) {
  std::vector<std::string> keys;
  for (const auto& [key, unused] : common) keys.push_back(key);
  for (const auto& [key, unused] : members.front()->*own) {
    if (!common.contains(key)) keys.push_back(key);
  }
  for (const std::string& key : keys) {
    const auto value = *Effective(common, members.front()->*own, key);
    const bool shared = std::all_of(members.begin(), members.end(), [&](const Process* member) {
      const auto* theirs = Effective(common, member->*own, key);
      return theirs != nullptr && *theirs == value;
    });
    if (shared) {
      common.insert_or_assign(key, value);
      for (Process* member : members) (member->*own).erase(key);
    } else if (auto node = common.extract(key); !node.empty()) {
      for (Process* member : members) (member->*own).try_emplace(key, node.mapped());
    }
  }
}

template <class T>
void FoldOptional(T& common, const Members& members, std::optional<T> Process::*own) {
  const auto effective = [&](const Process* member) -> const T& { return (member->*own) ? *(member->*own) : common; };
  const T first = effective(members.front());
  const bool shared =
      std::all_of(members.begin(), members.end(), [&](auto* member) { return effective(member) == first; });
  for (Process* member : members) {
    if (shared) {
      (member->*own).reset();
    } else if (!(member->*own)) {
      member->*own = common;
    }
  }
  common = shared ? first : T{};
}

}  // namespace

void Fold(Plan& plan) {
  std::vector<Members> members(plan.roles.size());
  for (Process& process : plan.processes) members.at(process.role).push_back(&process);
  for (std::size_t r = 0; r < plan.roles.size(); ++r) {
    Role& role = plan.roles[r];
    std::sort(role.unset.begin(), role.unset.end());
    role.unset.erase(std::unique(role.unset.begin(), role.unset.end()), role.unset.end());
    if (members[r].empty()) {
      role.command.clear();
      role.shell = false;
      role.cwd = {};
      role.env.clear();
      role.unset.clear();
      role.context.clear();
      continue;
    }
    FoldOptional(role.command, members[r], &Process::command);
    FoldOptional(role.cwd, members[r], &Process::cwd);
    FoldMap(role.env, members[r], &Process::env);
    FoldMap(role.context, members[r], &Process::context);
  }
}

}  // namespace muster
