#include "plan/plan/fold.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

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

// Adds what of `more` is not there.
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

// Whether every key of `keys` is in `map`, and whether any is. Both are ordered.
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

// Maps are walked beside each other in the order of their keys: with thousands of members, looking every key up in each
// map would be most of the work.
template <class Map>
void FoldMap(Map& common, const Members& members, Map Process::*own) {
  struct Candidate {
    const typename Map::value_type* entry;
    bool left_alone_agrees;  // the value is also that of members that have none of their own
    bool shared = true;
  };
  // What the first member has, its own before the role's: whatever is shared is among it.
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
  // What the role had and not all share goes to the members that had nothing else; what all share leaves them.
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
