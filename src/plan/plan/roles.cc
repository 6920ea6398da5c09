#include "plan/plan/roles.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace muster {
namespace {

template <class E, std::size_t N>
std::optional<E> MemberNamed(const std::array<std::string_view, N>& names, std::string_view name) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == name) return static_cast<E>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view ReadinessName(Readiness::Kind kind) { return kReadinessNames[static_cast<std::size_t>(kind)]; }
std::string_view RestartScopeName(RestartPolicy::Scope scope) {
  return kRestartScopeNames[static_cast<std::size_t>(scope)];
}

std::optional<Ending> EndingNamed(std::string_view name) { return MemberNamed<Ending>(kEndingNames, name); }
std::optional<Readiness::Kind> ReadinessNamed(std::string_view name) {
  return MemberNamed<Readiness::Kind>(kReadinessNames, name);
}
std::optional<RestartPolicy::Scope> RestartScopeNamed(std::string_view name) {
  return MemberNamed<RestartPolicy::Scope>(kRestartScopeNames, name);
}

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

namespace {

class Search {
 public:
  Search(const Plan& plan, std::uint32_t host) : plan_(plan), host_(host) {}

  bool In(const Text& text) const {
    if (text.marked.find(kPlaceholderOpen) == std::string::npos) return false;
    const auto pieces = Pieces(text);
    return pieces && std::any_of(pieces->begin(), pieces->end(),
                                 [&](const TextPiece& piece) { return piece.hole && IsOfHost(*piece.hole); });
  }
  bool In(const std::vector<Text>& texts) const {
    return std::any_of(texts.begin(), texts.end(), [&](const Text& text) { return In(text); });
  }
  bool In(const Value& value) const {
    if (const std::string* text = value.AsString()) return In(Text(*text));
    if (const Value::List* list = value.AsList()) {
      return std::any_of(list->begin(), list->end(), [&](const Value& element) { return In(element); });
    }
    if (const Value::Map* map = value.AsMap()) {
      return std::any_of(map->begin(), map->end(), [&](const auto& entry) { return In(entry.second); });
    }
    return false;
  }
  // Values of the process override those of its role.
  template <class Map>
  bool In(const Map& of_role, const Map& own) const {
    return std::any_of(own.begin(), own.end(), [&](const auto& entry) { return In(entry.second); }) ||
           std::any_of(of_role.begin(), of_role.end(),
                       [&](const auto& entry) { return !own.contains(entry.first) && In(entry.second); });
  }

 private:
  bool IsOfHost(const Placeholder& hole) const {
    switch (hole.kind) {
      case Placeholder::Kind::kHostName:
      case Placeholder::Kind::kHostAddress:
      case Placeholder::Kind::kDevices:
        return hole.host == host_;
      case Placeholder::Kind::kPort: {
        const auto port = plan_.ports.find(hole.name);
        return port != plan_.ports.end() && port->second.host == host_;
      }
      default:
        return false;
    }
  }

  const Plan& plan_;
  std::uint32_t host_;
};

}  // namespace

bool RefersToHost(const Plan& plan, const Process& process, std::uint32_t host) {
  const Search search(plan, host);
  const Role& role = plan.roles[process.role];
  const std::vector<ContainerMount>& mounts = role.container.mounts;
  return search.In(role.container.image) || search.In(role.container.options) ||
         std::any_of(mounts.begin(), mounts.end(),
                     [&](const ContainerMount& mount) { return search.In(mount.source) || search.In(mount.target); }) ||
         search.In(EffectiveCommand(plan, process)) || search.In(EffectiveCwd(plan, process)) ||
         search.In(EffectiveReadyWhat(plan, process)) || search.In(role.ready.command) ||
         search.In(role.env, process.env) || search.In(role.context, process.context);
}

bool FilesMentionHost(const Plan& plan, std::uint32_t host) {
  const Search search(plan, host);
  return std::any_of(plan.files.begin(), plan.files.end(),
                     [&](const auto& file) { return search.In(file.second.content); });
}

}  // namespace muster
