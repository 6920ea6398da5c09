#include "plan/text/process_changes.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/values/number_list.h"
#include "base/values/shell_quote.h"
#include "plan/plan/plan_fields.h"
#include "plan/text/folded_texts.h"

namespace muster {
namespace {

using Kind = PlanChange::Kind;

// A process on both sides, with its texts.
struct Pair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::optional<std::string> before = {};
  std::optional<std::string> after = {};
};

// The folded texts of one side, if all pairs or none have a text, and one text or rule covers all.
struct Side {
  bool one = false;
  std::optional<std::string> text;
};

Side FoldSide(const Plan& plan, std::span<const Pair> pairs, RuleBy by, std::uint32_t Pair::*process,
              std::optional<std::string> Pair::*text) {
  std::vector<ProcessText> texts;
  for (const Pair& pair : pairs) {
    if (pair.*text) texts.push_back({pair.*process, *(pair.*text)});
  }
  if (texts.empty()) return {true, std::nullopt};
  if (texts.size() != pairs.size()) return {};
  std::vector<FoldedText> folded = FoldTexts(plan, texts, by);
  if (folded.size() != 1) return {};
  return {true, std::move(folded.front().text)};
}

// The compared facts of a process's place: the fields of its JSON (plan_fields.h), first host and devices, and where it
// is ready. Role and index are excluded: processes are paired by them.
constexpr std::string_view kReady = "ready";

struct FieldNames {
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], T&&) {
    names.emplace_back(name);
  }
  template <class... T>
  void operator()(T&&...) {}  // values that a process overrides are compared separately

  std::vector<std::string_view> names = {};
};

std::vector<std::string_view> PlaceFacts() {
  FieldNames fields;
  Process process;
  Fields(fields, process);
  std::erase_if(fields.names, [](std::string_view name) { return name == "role" || name == "index"; });
  std::stable_partition(fields.names.begin(), fields.names.end(),
                        [](std::string_view name) { return name == "host" || name == "devices"; });
  fields.names.push_back(kReady);
  return std::move(fields.names);
}

struct FieldText {
  template <std::size_t N, class T>
  void operator()(const char (&name)[N], T&& field) {
    if (wanted == name) text = Of(field);
  }
  template <class... T>
  void operator()(T&&...) {}

  static std::string Of(std::uint32_t number) { return std::to_string(number); }
  static std::string Of(const std::optional<std::uint32_t>& number) { return number ? Of(*number) : "none"; }
  static std::string Of(const std::vector<std::uint32_t>& numbers) { return NumberListText(numbers); }
  std::string Of(const FieldAs<NameOfHost, std::uint32_t>& host) const { return plan.hosts[host.value].label; }
  std::string Of(const FieldAs<NameOfRole, std::uint32_t>& role) const { return plan.roles[role.value].name; }

  const Plan& plan;
  std::string_view wanted;
  std::string text = {};
};

std::string PlaceFact(const Plan& plan, const Process& process, std::string_view fact) {
  if (fact == kReady) return EffectiveReadyWhat(plan, process).marked;
  FieldText field{plan, fact};
  Fields(field, const_cast<Process&>(process));  // this visitor only reads
  return std::move(field.text);
}

class ProcessDiffer {
 public:
  ProcessDiffer(const Plan& a, const Plan& b, std::vector<PlanChange>& changes) : a_(a), b_(b), changes_(changes) {}

  void CompareMembers(const Role& role_a, const Role& role_b, std::span<const ProcessPair> members) {
    ComparePlaces(role_a.name, members);
    CompareMaps(Kind::kContext, role_a, role_b, &Role::context, &Process::context, members,
                [](const Value& value) { return ToText(value); });
    CompareCommands(role_a.name, members);
    CompareMaps(Kind::kVariable, role_a, role_b, &Role::env, &Process::env, members,
                [](const Text& text) { return text.marked; });
  }

 private:
  // The texts of pairs of one role; pairs with equal texts help to find the rule.
  void AddPairs(Kind kind, const std::string& role, std::string name, const std::vector<Pair>& all) {
    std::vector<Pair> pairs;
    for (const Pair& pair : all) {
      if (pair.before != pair.after) pairs.push_back(pair);
    }
    if (pairs.empty()) return;
    PlanChange& change = changes_.emplace_back();
    change.kind = kind;
    change.role = role;
    change.name = std::move(name);
    const auto add = [&](std::span<const Pair> some, std::optional<std::string> before,
                         std::optional<std::string> after) {
      std::vector<std::uint32_t> processes;
      for (const Pair& pair : some) processes.push_back(pair.a);
      std::string reported = ProcessesText(a_, processes);
      change.texts.push_back({std::move(reported), std::move(processes), std::move(before), std::move(after)});
    };
    const RuleBy by = kind == Kind::kPlace ? RuleBy::kRank : RuleBy::kAnyPosition;
    for (const std::vector<Pair>* some : {&std::as_const(pairs), &all}) {
      Side before = FoldSide(a_, *some, by, &Pair::a, &Pair::before);
      Side after = before.one ? FoldSide(b_, *some, by, &Pair::b, &Pair::after) : Side{};
      if (!before.one || !after.one) continue;
      add(pairs, std::move(before.text), std::move(after.text));
      return;
    }
    std::map<std::pair<std::optional<std::string>, std::optional<std::string>>, std::size_t> numbers;
    std::vector<std::vector<Pair>> groups;
    for (const Pair& pair : pairs) {
      const auto [group, is_new] = numbers.try_emplace({pair.before, pair.after}, groups.size());
      if (is_new) groups.emplace_back();
      groups[group->second].push_back(pair);
    }
    for (const std::vector<Pair>& group : groups) add(group, group.front().before, group.front().after);
  }

  // Compares the effective values of processes in `map` as text: their own, or else the role's.
  template <class Map, class TextOf>
  void CompareMaps(Kind kind, const Role& role_a, const Role& role_b, Map Role::*common, Map Process::*own,
                   std::span<const ProcessPair> members, TextOf text_of) {
    std::set<std::string_view> apart;  // names that some process has in its own map
    for (const ProcessPair& member : members) {
      for (const auto& [name, unused] : a_.processes[member.a].*own) apart.insert(name);
      for (const auto& [name, unused] : b_.processes[member.b].*own) apart.insert(name);
    }
    std::set<std::string_view> names = apart;
    for (const auto& [name, unused] : role_a.*common) names.insert(name);
    for (const auto& [name, unused] : role_b.*common) names.insert(name);
    const auto of_role = [&](const Role& role, const std::string& name) -> std::optional<std::string> {
      const auto found = (role.*common).find(name);
      return found == (role.*common).end() ? std::nullopt : std::optional(text_of(found->second));
    };
    for (const std::string_view viewed : names) {
      const std::string name(viewed);
      const std::optional<std::string> shared_a = of_role(role_a, name);
      const std::optional<std::string> shared_b = of_role(role_b, name);
      const bool is_apart = apart.contains(viewed);
      if (!is_apart && shared_a == shared_b) continue;
      std::vector<Pair> pairs;
      for (const ProcessPair& member : members) {
        Pair pair{member.a, member.b, shared_a, shared_b};
        if (is_apart) {
          const Map& own_a = a_.processes[member.a].*own;
          const Map& own_b = b_.processes[member.b].*own;
          if (const auto found = own_a.find(name); found != own_a.end()) pair.before = text_of(found->second);
          if (const auto found = own_b.find(name); found != own_b.end()) pair.after = text_of(found->second);
        }
        pairs.push_back(std::move(pair));
      }
      AddPairs(kind, role_a.name, name, pairs);
    }
  }

  void ComparePlaces(const std::string& role, std::span<const ProcessPair> members) {
    for (const std::string_view fact : PlaceFacts()) {
      std::vector<Pair> pairs;
      for (const ProcessPair& member : members) {
        std::string before = PlaceFact(a_, a_.processes[member.a], fact);
        std::string after = PlaceFact(b_, b_.processes[member.b], fact);
        pairs.push_back({member.a, member.b, std::move(before), std::move(after)});
      }
      AddPairs(Kind::kPlace, role, std::string(fact), pairs);
    }
  }

  void CompareCommands(const std::string& role, std::span<const ProcessPair> members) {
    std::map<std::size_t, std::vector<Pair>> words;  // by position in commands of equal length
    std::map<std::size_t, std::string> names;
    std::vector<Pair> whole;
    std::vector<Pair> folders;
    for (const ProcessPair& member : members) {
      const std::vector<Text>& before = EffectiveCommand(a_, a_.processes[member.a]);
      const std::vector<Text>& after = EffectiveCommand(b_, b_.processes[member.b]);
      if (before.size() != after.size()) {
        whole.push_back({member.a, member.b, CommandText(before), CommandText(after)});
      } else {
        for (std::size_t i = 0; i < before.size(); ++i) {
          if (before[i] == after[i]) continue;
          words[i].push_back({member.a, member.b, before[i].marked, after[i].marked});
          names.try_emplace(i, WordName(before, i));
        }
      }
      const Text& cwd = EffectiveCwd(a_, a_.processes[member.a]);
      const Text& other = EffectiveCwd(b_, b_.processes[member.b]);
      if (cwd != other) folders.push_back({member.a, member.b, cwd.marked, other.marked});
    }
    AddPairs(Kind::kCommand, role, "command", whole);
    for (const auto& [position, pairs] : words) AddPairs(Kind::kCommand, role, names[position], pairs);
    AddPairs(Kind::kFolder, role, "cwd", folders);
  }

  static std::string CommandText(const std::vector<Text>& words) {
    std::string text;
    for (const Text& word : words) text += (text.empty() ? "" : " ") + Quoted(word.marked);
    return text;
  }
  // Named after the preceding flag, if any.
  static std::string WordName(const std::vector<Text>& words, std::size_t position) {
    if (position > 0 && words[position - 1].marked.starts_with("-") && !words[position].marked.starts_with("-")) {
      return words[position - 1].marked;
    }
    return "command[" + std::to_string(position) + "]";
  }

  const Plan& a_;
  const Plan& b_;
  std::vector<PlanChange>& changes_;
};

}  // namespace

void CompareProcesses(const Plan& a, const Role& role_a, const Plan& b, const Role& role_b,
                      std::span<const ProcessPair> members, std::vector<PlanChange>& changes) {
  ProcessDiffer(a, b, changes).CompareMembers(role_a, role_b, members);
}

}  // namespace muster
