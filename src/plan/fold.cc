#include "plan/fold.h"

#include <algorithm>

namespace muster {
namespace {

using Members = std::vector<Process*>;

// Keeps what is not in `shared`.
void RemoveShared(Variables& own, const Variables& shared) {
  if (own.empty() || shared.empty()) return;
  auto kept = own.extract_sequence();
  auto common = shared.begin();
  const auto gone = std::remove_if(kept.begin(), kept.end(), [&](const auto& entry) {
    while (common != shared.end() && common->first < entry.first) ++common;
    return common != shared.end() && common->first == entry.first;
  });
  kept.erase(gone, kept.end());
  own.adopt_sequence(boost::container::ordered_unique_range, std::move(kept));
}

void RemoveShared(ContextValues& own, const ContextValues& shared) {
  std::erase_if(own, [&](const auto& entry) { return shared.contains(entry.first); });
}

// Maps are walked beside each other in the order of their keys: with thousands of members, looking every key up in each
// map would be most of the work.
template <class Map>
void FoldMap(Map& common, const Members& members, Map Process::*own) {
  // What the first member has, its own before the role's: whatever is shared is among it.
  Map shared = members.front()->*own;
  shared.insert(common.begin(), common.end());
  for (const Process* member : members) {
    const Map& theirs = member->*own;
    auto their = theirs.begin();
    auto base = common.begin();
    for (auto entry = shared.begin(); entry != shared.end();) {
      while (their != theirs.end() && their->first < entry->first) ++their;
      while (base != common.end() && base->first < entry->first) ++base;
      const typename Map::mapped_type* value = nullptr;
      if (their != theirs.end() && their->first == entry->first) {
        value = &their->second;
      } else if (base != common.end() && base->first == entry->first) {
        value = &base->second;
      }
      entry = value != nullptr && *value == entry->second ? std::next(entry) : shared.erase(entry);
    }
  }
  // What the role had and not all share goes to the members that had nothing else; what all share leaves them.
  Map leaving = common;
  RemoveShared(leaving, shared);
  for (Process* member : members) {
    for (const auto& [key, value] : leaving) (member->*own).try_emplace(key, value);
    RemoveShared(member->*own, shared);
  }
  common = std::move(shared);
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
