#include "plan/plan/fold.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace muster {
namespace {

using Members = std::vector<Process*>;

// Removes entries that are equal in `shared`.
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

// Adds entries of `more` whose keys are missing.
void AddMissing(Variables& own, const Variables& more) {
  auto before = own.extract_sequence();
  decltype(before) merged;
  merged.reserve(before.size() + more.size());
  auto next = before.begin();
  for (const auto& entry : more) {
    for (; next != before.end() && next->first < entry.first; ++next) merged.push_back(std::move(*next));
    if (next == before.end() || next->first != entry.first) merged.emplace_back(entry.first, entry.second);
  }
  std::move(next, before.end(), std::back_inserter(merged));
  own.adopt_sequence(boost::container::ordered_unique_range, std::move(merged));
}

void AddMissing(ContextValues& own, const ContextValues& more) { own.insert(more.begin(), more.end()); }

// Whether all keys of `keys` are in `map`, and whether any is. Both are sorted.
template <class Map, class Keys>
std::pair<bool, bool> AllAndAny(const Map& map, const Keys& keys) {
  std::size_t found = 0;
  auto entry = map.begin();
  for (const auto& [key, unused] : keys) {
    while (entry != map.end() && entry->first < key) ++entry;
    if (entry == map.end()) break;
    if (entry->first == key) ++found;
  }
  return {found == keys.size(), found > 0};
}

// Walks all maps in parallel, in key order: with thousands of members, looking up every key in each map would dominate
// the cost.
template <class Map>
void FoldMap(Map& common, const Members& members, Map Process::*own) {
  struct Candidate {
    const typename Map::value_type* entry;
    bool left_alone_agrees;  // members without own values have the same value
    bool shared = true;
  };
  // Effective values of the first member: anything that all members share is among them.
  const Map first = members.front()->*own;
  std::vector<Candidate> candidates;
  candidates.reserve(first.size() + common.size());
  auto base = common.begin();
  for (const auto& entry : first) {
    for (; base != common.end() && base->first < entry.first; ++base) candidates.push_back({&*base, true});
    const bool both = base != common.end() && base->first == entry.first;
    candidates.push_back({&entry, both && base->second == entry.second});
    if (both) ++base;
  }
  for (; base != common.end(); ++base) candidates.push_back({&*base, true});

  for (const Process* member : members) {
    const Map& theirs = member->*own;
    auto their = theirs.begin();
    for (Candidate& candidate : candidates) {
      const auto& [key, value] = *candidate.entry;
      while (their != theirs.end() && their->first < key) ++their;
      const bool has_own = their != theirs.end() && their->first == key;
      if (!(has_own ? their->second == value : candidate.left_alone_agrees)) candidate.shared = false;
    }
  }

  Map shared;
  for (const Candidate& candidate : candidates) {
    if (candidate.shared) shared.insert(shared.end(), *candidate.entry);
  }
  // The role's values that not all members share move to the members that inherited them; shared values leave the
  // members.
  Map leaving = common;
  RemoveShared(leaving, shared);
  for (Process* member : members) {
    Map& theirs = member->*own;
    if (!AllAndAny(theirs, leaving).first) AddMissing(theirs, leaving);
    if (AllAndAny(theirs, shared).second) RemoveShared(theirs, shared);
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
