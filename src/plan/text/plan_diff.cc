#include "plan/text/plan_diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/values/line_diff.h"
#include "base/values/number_list.h"
#include "base/values/shell_quote.h"
#include "plan/text/folded_texts.h"
#include "plan/text/plan_text.h"

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

// The folded texts of one side, if all pairs or none have one, and one text or rule tells them all.
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

class Differ {
 public:
  Differ(const Plan& a, const Plan& b) : a_(a), b_(b) {}

  // The texts of pairs of one role; those that are the same on both sides help to find the rule.
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
      std::string told = ProcessesText(a_, processes);
      change.texts.push_back({std::move(told), std::move(processes), std::move(before), std::move(after)});
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

  void AddText(Kind kind, const std::string& role, std::string name, std::optional<std::string> before,
               std::optional<std::string> after, std::vector<std::string> lines = {}) {
    if (before == after) return;
    changes_.push_back(
        {kind, role, std::move(name), {{"", {}, std::move(before), std::move(after)}}, std::move(lines)});
  }

  // What processes have of `map`, their own before the role's, as text.
  template <class Map, class TextOf>
  void CompareMaps(Kind kind, const Role& role_a, const Role& role_b, Map Role::*common, Map Process::*own,
                   std::span<const Pair> members, TextOf text_of) {
    std::set<std::string_view> apart;  // names that some process has for itself
    for (const Pair& member : members) {
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
      for (const Pair& member : members) {
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

  void ComparePlaces(const std::string& role, std::span<const Pair> members) {
    struct Fact {
      const char* name;
      std::string (*of)(const Plan& plan, const Process& process);
    };
    static constexpr Fact kFacts[] = {
        {"host", [](const Plan& plan, const Process& process) { return plan.hosts[process.host].label; }},
        {"devices", [](const Plan&, const Process& process) { return NumberListText(process.devices); }},
        {"rank",
         [](const Plan&, const Process& process) { return process.rank ? std::to_string(*process.rank) : "none"; }},
        {"world_size", [](const Plan&, const Process& process) { return std::to_string(process.world_size); }},
        {"local_rank", [](const Plan&, const Process& process) { return std::to_string(process.local_rank); }},
        {"local_size", [](const Plan&, const Process& process) { return std::to_string(process.local_size); }},
        {"stage", [](const Plan&, const Process& process) { return std::to_string(process.stage); }},
        {"rank_in_stage", [](const Plan&, const Process& process) { return std::to_string(process.rank_in_stage); }},
        {"ready", [](const Plan& plan, const Process& process) { return EffectiveReadyWhat(plan, process).marked; }},
    };
    for (const Fact& fact : kFacts) {
      std::vector<Pair> pairs;
      for (const Pair& member : members) {
        std::string before = fact.of(a_, a_.processes[member.a]);
        std::string after = fact.of(b_, b_.processes[member.b]);
        pairs.push_back({member.a, member.b, std::move(before), std::move(after)});
      }
      AddPairs(Kind::kPlace, role, fact.name, pairs);
    }
  }

  void CompareCommands(const std::string& role, std::span<const Pair> members) {
    std::map<std::size_t, std::vector<Pair>> words;  // by position in commands of equal length
    std::map<std::size_t, std::string> names;
    std::vector<Pair> whole;
    std::vector<Pair> folders;
    for (const Pair& member : members) {
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

  void CompareMembers(const Role& role_a, const Role& role_b, std::span<const Pair> members) {
    ComparePlaces(role_a.name, members);
    CompareMaps(Kind::kContext, role_a, role_b, &Role::context, &Process::context, members,
                [](const Value& value) { return ToText(value); });
    CompareCommands(role_a.name, members);
    CompareMaps(Kind::kVariable, role_a, role_b, &Role::env, &Process::env, members,
                [](const Text& text) { return text.marked; });
  }

  std::vector<PlanChange> Take() {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const PlanChange& x, const PlanChange& y) { return x.kind < y.kind; });
    return std::move(changes_);
  }

 private:
  static std::string CommandText(const std::vector<Text>& words) {
    std::string text;
    for (const Text& word : words) text += (text.empty() ? "" : " ") + Quoted(word.marked);
    return text;
  }
  // The flag before it, if there is one.
  static std::string WordName(const std::vector<Text>& words, std::size_t position) {
    if (position > 0 && words[position - 1].marked.starts_with("-") && !words[position].marked.starts_with("-")) {
      return words[position - 1].marked;
    }
    return "command[" + std::to_string(position) + "]";
  }

  const Plan& a_;
  const Plan& b_;
  std::vector<PlanChange> changes_;
};

// Process numbers by role and index.
std::map<std::string_view, std::vector<std::uint32_t>> Members(const Plan& plan) {
  std::map<std::string_view, std::vector<std::uint32_t>> members;
  for (const Role& role : plan.roles) members[role.name];
  for (std::uint32_t i = 0; i < plan.processes.size(); ++i) {
    members[plan.roles[plan.processes[i].role].name].push_back(i);
  }
  return members;
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The canonical text without what is compared otherwise: whatever a plan will come to hold besides is compared, too.
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

// "role worker restart", "plan framework": how many words of a line say what it is about.
std::string Beginning(std::string_view line) {
  constexpr int kWords = 3;
  std::size_t end = 0;
  for (int word = 0; word < (line.starts_with("role ") ? kWords : 2); ++word) {
    end = std::min(line.find(' ', end + 1), line.size());
  }
  return std::string(line.substr(0, end));
}

// `text_…`: the lines of both that are compared as such.
void CompareRest(const Plan& a, std::string_view text_a, const Plan& b, std::string_view text_b, Differ& differ) {
  const std::vector<std::string_view> lines_a = Lines(text_a);
  const std::vector<std::string_view> lines_b = Lines(text_b);
  const std::set<std::string_view> in_a(lines_a.begin(), lines_a.end());
  const std::set<std::string_view> in_b(lines_b.begin(), lines_b.end());
  struct Sides {
    std::vector<std::string_view> gone, fresh;
  };
  std::map<std::string, Sides> by_beginning;
  std::set<std::string> roles_a, roles_b;
  for (const Role& role : a.roles) roles_a.insert("role " + role.name + " ");
  for (const Role& role : b.roles) roles_b.insert("role " + role.name + " ");
  // Of a role that is on one side only, that is said and no more.
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
      differ.AddText(kind, role, name, rest(sides.gone, i), rest(sides.fresh, i));
    }
  }
}

void CompareFiles(const Plan& a, const Plan& b, Differ& differ) {
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
      differ.AddText(Kind::kFile, "", path, size(a, file_a), size(b, file_b));
      continue;
    }
    if (file_a->second == file_b->second) continue;
    const std::vector<std::string_view> lines_a = Lines(file_a->second.content.marked);
    const std::vector<std::string_view> lines_b = Lines(file_b->second.content.marked);
    std::size_t i = 0;
    while (i < lines_a.size() && i < lines_b.size() && lines_a[i] == lines_b[i]) ++i;
    const auto line = [&](const std::vector<std::string_view>& lines) {
      return i < lines.size() ? "line " + std::to_string(i + 1) + ": " + std::string(lines[i]) : "end";
    };
    std::string before = line(lines_a);
    std::string after = line(lines_b);
    if (before == after) after += " (without a line's end)";  // one of the two ends with a newline
    differ.AddText(Kind::kFile, "", path, std::move(before), std::move(after),
                   UnifiedDiff(file_a->second.content.marked, file_b->second.content.marked));
  }
}

void CompareHosts(const Plan& a, const Plan& b, Differ& differ) {
  differ.AddText(Kind::kHosts, "", "hosts", std::to_string(a.hosts.size()), std::to_string(b.hosts.size()));
  // "8", of every host, or those of runs of hosts: "4 × 8, 1 × 4".
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
  differ.AddText(Kind::kHosts, "", "devices of each host", devices(a), devices(b));
  for (std::size_t i = 0; i < std::min(a.hosts.size(), b.hosts.size()); ++i) {
    differ.AddText(Kind::kHosts, "", "label of host " + std::to_string(i), a.hosts[i].label, b.hosts[i].label);
  }
  for (const auto& [name, port] : a.ports) {
    const auto other = b.ports.find(name);
    if (other == b.ports.end()) continue;
    differ.AddText(Kind::kHosts, "", "port " + name, "on " + a.hosts[port.host].label,
                   "on " + b.hosts[other->second.host].label);
  }
}

}  // namespace

std::string_view PlanChangeName(PlanChange::Kind kind) {
  switch (kind) {
    case Kind::kDerived:
      return "derived";
    case Kind::kPlan:
      return "plan";
    case Kind::kHosts:
      return "hosts";
    case Kind::kFile:
      return "file";
    case Kind::kRole:
      return "role";
    case Kind::kPlace:
      return "place";
    case Kind::kContext:
      return "context";
    case Kind::kCommand:
      return "command";
    case Kind::kFolder:
      return "cwd";
    case Kind::kVariable:
      return "variable";
  }
  return "";
}

std::vector<PlanChange> DiffPlans(const Plan& a, const Plan& b) {
  return DiffPlans(a, RestOfPlan(a), b, RestOfPlan(b));
}

std::vector<PlanChange> DiffPlans(const Plan& a, std::string_view rest_a, const Plan& b, std::string_view rest_b) {
  Differ differ(a, b);
  std::set<std::string> derived;
  for (const auto& [name, unused] : a.derived) derived.insert(name);
  for (const auto& [name, unused] : b.derived) derived.insert(name);
  for (const std::string& name : derived) {
    const auto text = [&](const Plan& plan) -> std::optional<std::string> {
      const auto found = plan.derived.find(name);
      return found == plan.derived.end() ? std::nullopt : std::optional(ToText(found->second));
    };
    differ.AddText(Kind::kDerived, "", name, text(a), text(b));
  }
  CompareHosts(a, b, differ);
  CompareFiles(a, b, differ);
  CompareRest(a, rest_a, b, rest_b, differ);

  const auto members_a = Members(a);
  const auto members_b = Members(b);
  const auto count = [](const auto& members) { return std::to_string(members.size()); };
  for (const Role& role : a.roles) {
    const std::vector<std::uint32_t>& here = members_a.at(role.name);
    const auto there = members_b.find(role.name);
    if (there == members_b.end()) {
      differ.AddText(Kind::kRole, role.name, "processes", count(here), std::nullopt);
      continue;
    }
    differ.AddText(Kind::kRole, role.name, "processes", count(here), count(there->second));
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < std::min(here.size(), there->second.size()); ++i) {
      pairs.push_back({here[i], there->second[i]});
    }
    if (pairs.empty()) continue;
    differ.CompareMembers(role, b.roles[b.processes[pairs.front().b].role], pairs);
  }
  for (const Role& role : b.roles) {
    if (!members_a.contains(role.name)) {
      differ.AddText(Kind::kRole, role.name, "processes", std::nullopt, count(members_b.at(role.name)));
    }
  }
  return differ.Take();
}

std::vector<PlanChange> DiffProcesses(const Plan& plan, std::uint32_t a, std::uint32_t b) {
  Differ differ(plan, plan);
  const Pair both{a, b};
  differ.CompareMembers(plan.roles[plan.processes[a].role], plan.roles[plan.processes[b].role], {&both, 1});
  std::vector<PlanChange> changes = differ.Take();
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
  using Key = std::tuple<Kind, std::string_view, std::string_view>;
  const auto key = [](const PlanChange& change) { return Key{change.kind, change.role, change.name}; };
  std::map<Key, std::set<std::size_t>> does;  // which causes change it alone
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

  std::map<std::pair<std::size_t, std::vector<std::size_t>>, CausedChanges> groups;  // few causes first
  for (const std::size_t cause : all) groups[{1, {cause}}].causes = {cause};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto found = does.find(key(changes[i]));
    const bool together = found == does.end() && otherwise.size() > 1;
    const std::vector<std::size_t> by =
        found == does.end() ? otherwise : std::vector<std::size_t>(found->second.begin(), found->second.end());
    // What some do alone and what the same do only together are told apart.
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
