#include "plan/text/plan_diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/values/line_diff.h"
#include "plan/text/plan_text.h"
#include "plan/text/process_changes.h"

namespace muster {
namespace {

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

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
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
    const std::vector<std::string_view> lines_a = Lines(file_a->second.content.marked);
    const std::vector<std::string_view> lines_b = Lines(file_b->second.content.marked);
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

}  // namespace muster
