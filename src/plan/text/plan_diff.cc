#include "plan/text/plan_diff.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/values/line_diff.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "muster/plan.h"
#include "plan/plan/plan_fields.h"
#include "plan/text/folded_texts.h"
#include "plan/text/plan_text.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

// The differences between the processes of a role in two plans: place, context, command, folder and variables, folded
// over processes. Part of plan_diff.h.

// A process in both plans, as indices into their processes.
struct ProcessPair {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

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

// Appends the changes of these processes, all of one role in each plan; the role's name is taken from `a`.
void CompareProcesses(const Plan& a, const Role& role_a, const Plan& b, const Role& role_b,
                      std::span<const ProcessPair> members, std::vector<PlanChange>& changes) {
  ProcessDiffer(a, b, changes).CompareMembers(role_a, role_b, members);
}

using Kind = PlanChange::Kind;

using Changes = std::vector<PlanChange>;

void AddText(Changes& changes, Kind kind, const std::string& role, std::string name, std::optional<std::string> before,
             std::optional<std::string> after, std::vector<std::string> lines = {}) {
  if (before == after) return;
  changes.push_back({kind, role, std::move(name), {{"", {}, std::move(before), std::move(after)}}, std::move(lines)});
}

Changes ByKind(Changes changes) {
  std::stable_sort(changes.begin(), changes.end(),
                   [](const PlanChange& x, const PlanChange& y) { return x.kind < y.kind; });
  return changes;
}

// Process numbers by role and index.
std::map<std::string_view, std::vector<std::uint32_t>> Members(const Plan& plan) {
  std::map<std::string_view, std::vector<std::uint32_t>> members;
  for (const Role& role : plan.roles) members[role.name];
  for (std::uint32_t i = 0; i < plan.processes.size(); ++i) {
    members[plan.roles[plan.processes[i].role].name].push_back(i);
  }
  return members;
}

// The canonical text without the parts that are compared separately, so that new fields of plans are compared as well.
std::string RestOfPlan(const Plan& plan) {
  Plan rest = plan;
  rest.processes.clear();
  rest.files.clear();
  rest.hosts.clear();
  for (auto& [name, port] : rest.ports) port.host = 0;
  rest.hosts.push_back({"host", 0});
  for (Role& role : rest.roles) {
    role.command.clear();
    role.cwd = {};
    role.env.clear();
    role.context.clear();
    role.ready.what = {};
  }
  return PlanText(rest);
}

// "role worker restart", "plan framework": the words at the beginning of a line that name its subject.
std::string Beginning(std::string_view line) {
  constexpr int kWords = 3;
  std::size_t end = 0;
  for (int word = 0; word < (line.starts_with("role ") ? kWords : 2); ++word) {
    end = std::min(line.find(' ', end + 1), line.size());
  }
  return std::string(line.substr(0, end));
}

// `text_…`: the remaining lines of both plans.
void CompareRest(const Plan& a, std::string_view text_a, const Plan& b, std::string_view text_b, Changes& changes) {
  const std::vector<std::string_view> lines_a = TextLines(text_a);
  const std::vector<std::string_view> lines_b = TextLines(text_b);
  const std::set<std::string_view> in_a(lines_a.begin(), lines_a.end());
  const std::set<std::string_view> in_b(lines_b.begin(), lines_b.end());
  struct Sides {
    std::vector<std::string_view> gone, fresh;
  };
  std::map<std::string, Sides> by_beginning;
  std::set<std::string> roles_a, roles_b;
  for (const Role& role : a.roles) roles_a.insert("role " + role.name + " ");
  for (const Role& role : b.roles) roles_b.insert("role " + role.name + " ");
  // For a role that is on one side only, its lines are not compared: the missing role is reported.
  const auto of_both = [&](std::string_view line) {
    const auto begins = [&](const std::string& begin) { return line.starts_with(begin); };
    return !line.starts_with("role ") ||
           (std::any_of(roles_a.begin(), roles_a.end(), begins) && std::any_of(roles_b.begin(), roles_b.end(), begins));
  };
  for (const std::string_view line : lines_a) {
    if (!in_b.contains(line) && of_both(line)) by_beginning[Beginning(line)].gone.push_back(line);
  }
  for (const std::string_view line : lines_b) {
    if (!in_a.contains(line) && of_both(line)) by_beginning[Beginning(line)].fresh.push_back(line);
  }
  for (const auto& [beginning, sides] : by_beginning) {
    const bool of_role = beginning.starts_with("role ");
    const Kind kind = of_role ? Kind::kRole : Kind::kPlan;
    const std::string role = of_role ? beginning.substr(5, beginning.find(' ', 5) - 5) : "";
    const std::string name = of_role ? beginning.substr(6 + role.size()) : beginning;
    const std::size_t known = beginning.size() + 1;
    const auto rest = [known](const std::vector<std::string_view>& lines, std::size_t i) -> std::optional<std::string> {
      if (i >= lines.size()) return std::nullopt;
      return std::string(lines[i].substr(std::min(known, lines[i].size())));
    };
    for (std::size_t i = 0; i < std::max(sides.gone.size(), sides.fresh.size()); ++i) {
      AddText(changes, kind, role, name, rest(sides.gone, i), rest(sides.fresh, i));
    }
  }
}

void CompareFiles(const Plan& a, const Plan& b, Changes& changes) {
  std::set<std::string> paths;
  for (const auto& [path, unused] : a.files) paths.insert(path);
  for (const auto& [path, unused] : b.files) paths.insert(path);
  for (const std::string& path : paths) {
    const auto file_a = a.files.find(path);
    const auto file_b = b.files.find(path);
    if (file_a == a.files.end() || file_b == b.files.end()) {
      const auto size = [&](const Plan& plan, auto found) -> std::optional<std::string> {
        if (found == plan.files.end()) return std::nullopt;
        return std::to_string(found->second.content.marked.size()) + " bytes";
      };
      AddText(changes, Kind::kFile, "", path, size(a, file_a), size(b, file_b));
      continue;
    }
    if (file_a->second == file_b->second) continue;
    const std::vector<std::string_view> lines_a = TextLines(file_a->second.content.marked);
    const std::vector<std::string_view> lines_b = TextLines(file_b->second.content.marked);
    std::size_t i = 0;
    while (i < lines_a.size() && i < lines_b.size() && lines_a[i] == lines_b[i]) ++i;
    const auto line = [&](const std::vector<std::string_view>& lines) {
      return i < lines.size() ? "line " + std::to_string(i + 1) + ": " + std::string(lines[i]) : "end";
    };
    std::string before = line(lines_a);
    std::string after = line(lines_b);
    if (before == after) after += " (without a line's end)";  // one of the two has no newline at the end
    AddText(changes, Kind::kFile, "", path, std::move(before), std::move(after),
            UnifiedDiff(file_a->second.content.marked, file_b->second.content.marked));
  }
}

void CompareHosts(const Plan& a, const Plan& b, Changes& changes) {
  AddText(changes, Kind::kHosts, "", "hosts", std::to_string(a.hosts.size()), std::to_string(b.hosts.size()));
  // "8" if all hosts have the same number, else runs of equal hosts: "4 × 8, 1 × 4".
  const auto devices = [](const Plan& plan) {
    std::string text;
    for (std::size_t i = 0; i < plan.hosts.size();) {
      std::size_t end = i + 1;
      while (end < plan.hosts.size() && plan.hosts[end].devices == plan.hosts[i].devices) ++end;
      const std::string each = std::to_string(plan.hosts[i].devices);
      if (end - i == plan.hosts.size()) return each;
      text += (text.empty() ? "" : ", ") + std::to_string(end - i) + " × " + each;
      i = end;
    }
    return text;
  };
  AddText(changes, Kind::kHosts, "", "devices of each host", devices(a), devices(b));
  for (std::size_t i = 0; i < std::min(a.hosts.size(), b.hosts.size()); ++i) {
    AddText(changes, Kind::kHosts, "", "label of host " + std::to_string(i), a.hosts[i].label, b.hosts[i].label);
  }
  for (const auto& [name, port] : a.ports) {
    const auto other = b.ports.find(name);
    if (other == b.ports.end()) continue;
    AddText(changes, Kind::kHosts, "", "port " + name, "on " + a.hosts[port.host].label,
            "on " + b.hosts[other->second.host].label);
  }
}

}  // namespace

namespace {

// In the order of PlanChange::Kind.
constexpr std::array<std::string_view, 10> kPlanChangeNames = {"derived", "plan",    "hosts",   "file", "role",
                                                               "place",   "context", "command", "cwd",  "variable"};
static_assert(kPlanChangeNames.size() == static_cast<std::size_t>(Kind::kVariable) + 1);

}  // namespace

std::string_view PlanChangeName(PlanChange::Kind kind) { return kPlanChangeNames[static_cast<std::size_t>(kind)]; }

std::vector<PlanChange> DiffPlans(const Plan& a, const Plan& b) {
  return DiffPlans(a, RestOfPlan(a), b, RestOfPlan(b));
}

std::vector<PlanChange> DiffPlans(const Plan& a, std::string_view rest_a, const Plan& b, std::string_view rest_b) {
  Changes changes;
  std::set<std::string> derived;
  for (const auto& [name, unused] : a.derived) derived.insert(name);
  for (const auto& [name, unused] : b.derived) derived.insert(name);
  for (const std::string& name : derived) {
    const auto text = [&](const Plan& plan) -> std::optional<std::string> {
      const auto found = plan.derived.find(name);
      return found == plan.derived.end() ? std::nullopt : std::optional(ToText(found->second));
    };
    AddText(changes, Kind::kDerived, "", name, text(a), text(b));
  }
  CompareHosts(a, b, changes);
  CompareFiles(a, b, changes);
  CompareRest(a, rest_a, b, rest_b, changes);

  const auto members_a = Members(a);
  const auto members_b = Members(b);
  const auto count = [](const auto& members) { return std::to_string(members.size()); };
  for (const Role& role : a.roles) {
    const std::vector<std::uint32_t>& here = members_a.at(role.name);
    const auto there = members_b.find(role.name);
    if (there == members_b.end()) {
      AddText(changes, Kind::kRole, role.name, "processes", count(here), std::nullopt);
      continue;
    }
    AddText(changes, Kind::kRole, role.name, "processes", count(here), count(there->second));
    std::vector<ProcessPair> pairs;
    for (std::size_t i = 0; i < std::min(here.size(), there->second.size()); ++i) {
      pairs.push_back({here[i], there->second[i]});
    }
    if (pairs.empty()) continue;
    CompareProcesses(a, role, b, b.roles[b.processes[pairs.front().b].role], pairs, changes);
  }
  for (const Role& role : b.roles) {
    if (!members_a.contains(role.name)) {
      AddText(changes, Kind::kRole, role.name, "processes", std::nullopt, count(members_b.at(role.name)));
    }
  }
  return ByKind(std::move(changes));
}

std::vector<PlanChange> DiffProcesses(const Plan& plan, std::uint32_t a, std::uint32_t b) {
  const ProcessPair both{a, b};
  Changes changes;
  CompareProcesses(plan, plan.roles[plan.processes[a].role], plan, plan.roles[plan.processes[b].role], {&both, 1},
                   changes);
  changes = ByKind(std::move(changes));
  for (PlanChange& change : changes) {
    change.role.clear();
    for (ChangedText& text : change.texts) {
      text.processes.clear();
      text.ids.clear();
    }
  }
  return changes;
}

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

namespace {

using Kind = PlanChange::Kind;

constexpr std::size_t kMaxTexts = 8;         // of one change, in text for users
constexpr std::size_t kMaxDetails = 20;      // of one cause, in text for users
constexpr std::size_t kMaxColumnWidth = 44;  // longer names shift the rest of their line

std::string SideText(const std::optional<std::string>& text) { return text ? Printable(*text) : "none"; }

std::string ChangeText(const std::optional<std::string>& before, const std::optional<std::string>& after) {
  return SideText(before) + " → " + SideText(after);
}

std::string CauseText(const PlanCause& cause) {
  std::string text = Printable(cause.name);
  if (cause.before || cause.after) text += "  " + ChangeText(cause.before, cause.after);
  text += "  (" + cause.kind;
  if (!cause.source.empty()) text += ", " + Printable(cause.source);
  return text + ")";
}

// "2 lines removed, 3 added".
std::string LinesText(const std::vector<std::string>& lines) {
  const auto count = [&lines](char mark) {
    return static_cast<std::size_t>(
        std::count_if(lines.begin(), lines.end(), [mark](const std::string& line) { return line.front() == mark; }));
  };
  return Counted(count('-'), "line", "lines") + " removed, " + std::to_string(count('+')) + " added";
}

// The first column of a row.
std::string NameOf(const PlanChange& change) {
  const bool of_role = change.kind == Kind::kRole;
  return Printable((of_role ? change.role + " " : "") + change.name);
}

// A row: one change, with the texts of all roles that share it.
struct Row {
  const PlanChange* change = nullptr;
  std::vector<ChangedText> texts;
};

// One row per kind and name; roles with the same change share a row.
std::vector<Row> Rows(const std::vector<PlanChange>& changes, const std::vector<std::size_t>& chosen) {
  std::vector<Row> rows;
  std::map<std::pair<Kind, std::string>, std::size_t> known;
  for (const std::size_t i : chosen) {
    const auto [found, is_new] = known.try_emplace({changes[i].kind, NameOf(changes[i])}, rows.size());
    if (is_new) rows.push_back({&changes[i], {}});
    std::vector<ChangedText>& texts = rows[found->second].texts;
    for (const ChangedText& text : changes[i].texts) {
      const auto same = std::find_if(texts.begin(), texts.end(), [&](const ChangedText& other) {
        return other.before == text.before && other.after == text.after;
      });
      if (same == texts.end()) {
        texts.push_back(text);
        texts.back().processes = ShortProcessesText(text.processes);
      } else {
        same->processes += ", " + ShortProcessesText(text.processes);
        same->ids.insert(same->ids.end(), text.ids.begin(), text.ids.end());
      }
    }
  }
  return rows;
}

void AppendChanges(std::string& out, const std::vector<PlanChange>& changes, const std::vector<std::size_t>& chosen) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  const std::vector<Row> rows = Rows(changes, chosen);
  for (const Row& row : rows) {
    name_width = std::max(name_width, Columns(NameOf(*row.change)));
    for (const ChangedText& text : row.texts) {
      if (!text.processes.empty()) value_width = std::max(value_width, Columns(ChangeText(text.before, text.after)));
    }
  }
  name_width = std::min(name_width, kMaxColumnWidth);
  value_width = std::min(value_width, kMaxColumnWidth);
  constexpr std::size_t kKindWidth = 8;
  for (const auto& [change, texts] : rows) {
    std::string head = "  " + Padded(std::string(PlanChangeName(change->kind)), kKindWidth) + "  " +
                       Padded(NameOf(*change), name_width) + "  ";
    const std::size_t shown = texts.size() > kMaxTexts ? kMaxTexts - 1 : texts.size();
    for (std::size_t t = 0; t < shown; ++t) {
      const std::string values =
          change->lines.empty() ? ChangeText(texts[t].before, texts[t].after) : LinesText(change->lines);
      out +=
          head +
          (texts[t].processes.empty() ? values : Padded(values, value_width) + "  " + Printable(texts[t].processes)) +
          '\n';
      head.assign(Columns(head), ' ');
    }
    for (const std::string& line : change->lines) out += "    " + Printable(line) + '\n';
    if (shown == texts.size()) continue;
    std::size_t processes = 0;
    for (std::size_t t = shown; t < texts.size(); ++t) processes += texts[t].ids.size();
    out += head + "… and " + std::to_string(texts.size() - shown) + " more" +
           (processes > 0 ? ", of " + Counted(processes, "process", "processes") : "") + '\n';
  }
}

void AppendDetails(std::string& out, const PlanCause& cause) {
  const std::size_t shown = cause.details.size() > kMaxDetails ? kMaxDetails - 1 : cause.details.size();
  for (std::size_t i = 0; i < shown; ++i) out += "  " + Printable(cause.details[i]) + '\n';
  if (shown < cause.details.size()) {
    out += "  … and " + Counted(cause.details.size() - shown, "more line", "more lines") + '\n';
  }
}

std::string GroupTitle(const PlanDifference& diff, const CausedChanges& group) {
  if (group.causes.size() == 1) return CauseText(diff.causes[group.causes.front()]) + '\n';
  if (group.causes.empty()) return "no parameter differs\n";
  std::vector<std::string> names;
  for (const std::size_t cause : group.causes) names.push_back(Printable(diff.causes[cause].name));
  return Joined(names, ", ", " and ") + (group.together ? " together\n" : ", each of them\n");
}

}  // namespace

std::vector<std::string> ChangeLines(const std::vector<PlanChange>& changes, std::size_t most) {
  std::vector<std::size_t> all(changes.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<std::string> lines;
  std::size_t left_out = 0;
  for (const auto& [change, texts] : Rows(changes, all)) {
    if (lines.size() == most) {
      ++left_out;
      continue;
    }
    std::string line = std::string(PlanChangeName(change->kind)) + " " + NameOf(*change);
    if (!texts.empty()) {
      line += ": " + ChangeText(texts.front().before, texts.front().after);
      if (!texts.front().processes.empty()) line += " (" + Printable(texts.front().processes) + ")";
      if (texts.size() > 1) line += ", …";
    }
    lines.push_back(std::move(line));
  }
  if (left_out > 0) lines.push_back("and " + Counted(left_out, "more change", "more changes"));
  return lines;
}

bool IsSamePlan(const PlanDifference& diff) { return diff.a.plan_id == diff.b.plan_id; }

std::string DiffSummary(const PlanDifference& diff) {
  std::size_t parameters = 0;
  std::size_t of_cluster = 0;
  bool recipe = false;
  bool call = false;
  for (const PlanCause& cause : diff.causes) {
    if (cause.kind == "parameter") ++parameters;
    if (cause.kind == "cluster") ++of_cluster;
    recipe = recipe || cause.kind == "recipe";
    call = call || cause.kind == "call";
  }
  std::vector<std::string> causes;
  if (recipe) causes.emplace_back("the recipe's text");
  if (parameters > 0) causes.push_back(Counted(parameters, "parameter", "parameters"));
  if (of_cluster > 0) causes.push_back(Counted(of_cluster, "number of the cluster", "numbers of the cluster"));
  if (call) causes.emplace_back("how it was called");

  // Counts names, not roles: the same name in two roles counts once.
  std::map<Kind, std::set<std::string>> names;
  std::set<std::uint32_t> processes;
  for (const PlanChange& change : diff.changes) {
    const bool is_layout = change.kind != Kind::kDerived && change.kind < Kind::kContext;
    names[is_layout ? Kind::kPlace : change.kind].insert(std::string(PlanChangeName(change.kind)) + NameOf(change));
    for (const ChangedText& text : change.texts) processes.insert(text.ids.begin(), text.ids.end());
  }
  const std::size_t derived = names[Kind::kDerived].size();
  const std::size_t others = names[Kind::kPlace].size();
  const std::size_t attributes = names[Kind::kContext].size();
  const std::size_t words = names[Kind::kCommand].size();
  const std::size_t folders = names[Kind::kFolder].size();
  const std::size_t variables = names[Kind::kVariable].size();
  std::vector<std::string> effects;
  if (others > 0) effects.push_back(Counted(others, "fact of the layout", "facts of the layout"));
  if (attributes > 0) effects.push_back(Counted(attributes, "attribute", "attributes"));
  if (words > 0) effects.push_back(Counted(words, "word of a command", "words of commands"));
  if (folders > 0) effects.emplace_back("the folder");
  if (variables > 0) effects.push_back(Counted(variables, "variable", "variables"));

  std::vector<std::string> parts;
  if (!causes.empty()) {
    const bool one = causes.size() == 1 && parameters + of_cluster <= 1;
    parts.push_back(Joined(causes, ", ", " and ") + (one ? " differs" : " differ"));
  }
  if (derived > 0) parts.push_back(Counted(derived, "derived value", "derived values"));
  if (!effects.empty()) {
    parts.push_back(Joined(effects, ", ", " and ") +
                    (processes.empty() ? "" : " of " + Counted(processes.size(), "process", "processes")));
  }
  if (parts.empty()) return "nothing differs";
  std::string text = parts.front();
  if (causes.empty()) text += diff.of_processes ? " differ" : " differ, and no parameter does";
  for (std::size_t i = 1; i < parts.size(); ++i) text += ", hence " + parts[i];
  if (diff.changes.empty()) text += ", and nothing follows from it";
  return text;
}

std::string DiffText(const PlanDifference& diff) {
  const std::size_t width = std::max(Columns(Printable(diff.a.name)), Columns(Printable(diff.b.name)));
  std::string out;
  for (const auto& [letter, side] : {std::pair{"A", &diff.a}, std::pair{"B", &diff.b}}) {
    out += std::string(letter) + "  " + Padded(Printable(side->name), width) + "  plan " + ShortPlanId(side->plan_id) +
           '\n';
  }
  out += DiffSummary(diff) + (IsSamePlan(diff) && !diff.of_processes ? "; both run the same\n" : "\n");
  for (const std::string& note : diff.notes) out += "note: " + Printable(note) + '\n';
  for (const CausedChanges& group : GroupByCause(diff.changes, diff.causes)) {
    out += '\n' + (diff.of_processes ? "" : GroupTitle(diff, group));
    if (group.causes.size() == 1) {
      const PlanCause& cause = diff.causes[group.causes.front()];
      AppendDetails(out, cause);
      if (!cause.why_not.empty()) out += "  alone it leads to no plan: " + Printable(cause.why_not) + '\n';
      if (cause.alone && cause.alone->empty()) out += "  changes nothing\n";
    }
    AppendChanges(out, diff.changes, group.changes);
  }
  if (!diff.metrics.empty()) out += "\nlast metrics\n";
  std::size_t longest = 0;
  for (const DiffedMetric& metric : diff.metrics) longest = std::max(longest, Columns(Printable(metric.name)));
  for (const DiffedMetric& metric : diff.metrics) {
    out += "  " + Padded(Printable(metric.name), longest) + "  " + Printable(metric.before.value_or("(none)")) + " → " +
           Printable(metric.after.value_or("(none)")) + '\n';
  }
  return out;
}

template <class V>
void Parts(V& v, const DiffedSide& side) {
  v("name", side.name), v("plan_id", side.plan_id);
}
template <class V>
void Parts(V& v, const PlanCause& cause) {
  v("kind", cause.kind), v("name", cause.name), v("before", cause.before), v("after", cause.after);
  v("source", cause.source), v("tried_alone", cause.alone.has_value()), v("why_not", cause.why_not);
  v("lines", cause.details);
}
template <class V>
void Parts(V& v, const ChangedText& text) {
  v("processes", text.processes), v("count", text.ids.size()), v("before", text.before), v("after", text.after);
}
template <class V>
void Parts(V& v, const PlanChange& change) {
  Kind kind = change.kind;
  v("kind", WithNames(kind, kPlanChangeNames)), v("role", change.role), v("name", change.name);
  v("values", change.texts), v("lines", OnlyIf(change.kind == Kind::kFile, change.lines));
}
template <class V>
void Parts(V& v, const CausedChanges& group) {
  v("causes", group.causes), v("changes", group.changes), v("together", group.together);
}
template <class V>
void Parts(V& v, const DiffedMetric& metric) {
  v("name", metric.name), v("before", metric.before), v("after", metric.after);
}
template <class V>
void Parts(V& v, const PlanDifference& diff) {
  v("format", 1), v("same_plan", IsSamePlan(diff)), v("a", diff.a), v("b", diff.b), v("summary", DiffSummary(diff));
  v("causes", diff.causes), v("changes", diff.changes), v("groups", GroupByCause(diff.changes, diff.causes));
  v("notes", diff.notes), v("metrics", diff.metrics);
}

std::string DiffJson(const PlanDifference& diff) { return JsonOf<PartForms>(diff, 1) + "\n"; }

std::string DiffSchema() { return SchemaOf<PartForms>(PlanDifference()); }

}  // namespace muster
