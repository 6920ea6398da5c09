#include "plan/text/plan_summary.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/values/columns.h"
#include "base/values/number_list.h"
#include "base/values/shell_quote.h"
#include "plan/hosts/host_list.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

constexpr std::size_t kMostRoles = 5;
constexpr std::size_t kHeadWidth = 12;

std::string Counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

class Summary {
 public:
  Summary(const Plan& plan, const PlanSummaryFacts& facts) : plan_(plan), facts_(facts) {}

  std::string Whole() {
    Title();
    Roles();
    Hosts();
    Meshes();
    std::vector<std::string> derived, parameters;
    for (const auto& [name, value] : plan_.derived) {
      // Derived for every recipe with workers of MindSpore; what a job without a pipeline has, is no news.
      const bool usual = name == "pipeline_stages" && value == Value(std::int64_t{1});
      if (!usual) derived.push_back(name + "=" + ToText(value));
    }
    for (const auto& [name, value] : plan_.params) parameters.push_back(name + "=" + ToText(value));
    Items("derived", derived, 2);
    Items("parameters", parameters, 3);
    Besides();
    Example();
    if (facts_.warnings > 0)
      Line("warnings", Counted(facts_.warnings, "warning is", "warnings are") + " printed above");
    Line("", "full plan: --full; one process: --env ROLE:RANK; programs: --json");
    return std::move(text_);
  }

 private:
  // A line truncated to the width.
  void Line(const std::string& head, const std::string& rest) {
    std::string line = Printable(head);
    if (!rest.empty()) {
      line.append(kHeadWidth > Columns(line) ? kHeadWidth - Columns(line) : 1, ' ');
      line += Printable(rest);
    }
    if (Columns(line) > facts_.width) line = std::string(FirstColumns(line, facts_.width - 1)) + "…";
    text_ += line + "\n";
  }

  // Items side by side on at most `most_lines` lines; then the number of omitted ones.
  void Items(const std::string& head, const std::vector<std::string>& items, std::size_t most_lines) {
    std::string line;
    std::string shown_head = head;
    std::size_t lines = 0;
    constexpr std::size_t kForMore = 14;  // "  and 12 more"
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::size_t room = facts_.width - kHeadWidth - (lines + 1 == most_lines ? kForMore : 0);
      if (!line.empty() && Columns(line) + 2 + Columns(Printable(items[i])) > room) {
        if (lines + 1 == most_lines) return Line(shown_head, line + fmt::format("  and {} more", items.size() - i));
        Line(shown_head, line);
        shown_head.clear();
        line.clear();
        ++lines;
      }
      line += (line.empty() ? "" : "  ") + items[i];
    }
    if (!line.empty()) Line(shown_head, line);
  }

  void Title() {
    std::string framework = plan_.framework;
    if (!plan_.mindspore.empty()) framework += " " + plan_.mindspore;
    Line("plan", fmt::format("{}  framework {}  id {}", plan_.name, framework, ShortPlanId(PlanId(plan_))));
    if (!plan_.doc.empty()) Line("", plan_.doc);
  }

  void Roles() {
    struct Counts {
      std::size_t processes = 0;
      std::map<std::uint32_t, std::size_t> on_hosts;
      std::set<std::size_t> devices;
      std::uint32_t world = 0;
      std::vector<std::uint32_t> ranks;
    };
    std::vector<Counts> counts(plan_.roles.size());
    for (const Process& process : plan_.processes) {
      Counts& role = counts[process.role];
      ++role.processes;
      ++role.on_hosts[process.host];
      role.devices.insert(process.devices.size());
      if (process.rank) role.ranks.push_back(*process.rank);
      role.world = process.world_size;
    }
    std::size_t name_width = 0;
    for (const Role& role : plan_.roles) name_width = std::max(name_width, Columns(Printable(role.name)));
    const std::size_t shown = plan_.roles.size() > kMostRoles ? kMostRoles - 1 : plan_.roles.size();
    for (std::size_t i = 0; i < shown; ++i) {
      Counts& role = counts[i];
      std::string line = Printable(plan_.roles[i].name);
      line.append(name_width - Columns(line), ' ');
      line += "  " + Counted(role.processes, "process", "processes");
      line += role.on_hosts.size() == 1 ? " on " + plan_.hosts[role.on_hosts.begin()->first].label
                                        : " on " + Counted(role.on_hosts.size(), "host", "hosts");
      if (role.on_hosts.size() > 1) {
        std::set<std::size_t> each;
        for (const auto& [host, number] : role.on_hosts) each.insert(number);
        line += each.size() == 1 ? fmt::format(", {} each", *each.begin())
                                 : fmt::format(", {} to {} each", *each.begin(), *each.rbegin());
      }
      if (role.devices.size() == 1 && *role.devices.begin() > 0) {
        line += ", " + Counted(*role.devices.begin(), "device", "devices") + (role.processes > 1 ? " each" : "");
      } else if (role.devices.size() > 1) {
        line += fmt::format(", {} to {} devices each", *role.devices.begin(), *role.devices.rbegin());
      }
      if (!role.ranks.empty()) {
        std::sort(role.ranks.begin(), role.ranks.end());
        line +=
            fmt::format(", rank{} {} of {}", role.ranks.size() == 1 ? "" : "s", NumberListText(role.ranks), role.world);
      }
      Line(i == 0 ? "roles" : "", line);
    }
    if (shown < plan_.roles.size()) Line("", fmt::format("and {} more roles", plan_.roles.size() - shown));
  }

  void Hosts() {
    // "60 × 8, 4 × 4 devices": runs of equal hosts.
    std::string devices;
    for (std::size_t i = 0; i < plan_.hosts.size();) {
      std::size_t end = i + 1;
      while (end < plan_.hosts.size() && plan_.hosts[end].devices == plan_.hosts[i].devices) ++end;
      devices += fmt::format("{}{} × {}", devices.empty() ? "" : ", ", end - i, plan_.hosts[i].devices);
      i = end;
    }
    std::string line =
        devices + (plan_.device_use.kind.empty() ? " devices" : " devices (" + plan_.device_use.kind + ")");
    const bool none = std::all_of(plan_.processes.begin(), plan_.processes.end(),
                                  [](const Process& process) { return process.devices.empty(); });
    if (none) line = std::to_string(plan_.hosts.size()) + " (no devices are used)";
    std::vector<SiteHost> named;
    for (const PlanHost& host : plan_.hosts) {
      if (!host.name.empty()) named.push_back({host.name, {}, {}});
    }
    if (!named.empty()) line += "  " + HostListText(named);
    Line("hosts", line);
  }

  // Shows the first mesh only; further meshes usually describe parts of it.
  void Meshes() {
    if (facts_.meshes.empty()) return;
    std::string line;
    for (const MeshAxis& axis : facts_.meshes.front())
      line += fmt::format("{}{} {}", line.empty() ? "" : " × ", axis.name, axis.size);
    if (facts_.meshes.size() > 1) line += fmt::format("  and {} more", facts_.meshes.size() - 1);
    Line("mesh", line);
  }

  // Counts of the remaining parts.
  void Besides() {
    std::vector<std::string> parts;
    const auto add = [&parts](std::size_t count, const char* one, const char* many) {
      if (count > 0) parts.push_back(Counted(count, one, many));
    };
    add(plan_.ports.size(), "port", "ports");
    add(plan_.files.size(), "file", "files");
    add(plan_.secrets.size(), "secret", "secrets");
    add(plan_.activation.size(), "activation step", "activation steps");
    add(plan_.notifications.size(), "notification", "notifications");
    if (!plan_.checkpoints.dir.marked.empty()) parts.push_back("checkpoints in " + plan_.checkpoints.dir.marked);
    if (!plan_.pinned.empty()) parts.push_back(Counted(plan_.pinned.size(), "pinned value", "pinned values"));
    Items("also", parts, 1);
  }

  // The first process of the largest role: the others are usually variations of it.
  void Example() {
    if (plan_.processes.empty()) return;
    std::vector<std::size_t> count(plan_.roles.size(), 0);
    for (const Process& process : plan_.processes) ++count[process.role];
    const auto most = static_cast<std::uint32_t>(std::max_element(count.begin(), count.end()) - count.begin());
    const Process& process = *std::find_if(plan_.processes.begin(), plan_.processes.end(),
                                           [most](const Process& one) { return one.role == most; });
    std::string line = ProcessName(plan_, process) + " on " + plan_.hosts[process.host].label;
    if (!process.devices.empty())
      line += (process.devices.size() == 1 ? ", device " : ", devices ") + NumberListText(process.devices);
    if (process.rank) line += fmt::format(", rank {} of {}", *process.rank, process.world_size);
    Line("example", line);
    std::vector<std::string> words;
    for (const Text& word : EffectiveCommand(plan_, process)) words.push_back(word.marked);
    Line("  command",
         plan_.roles[most].shell && !words.empty() ? "/bin/sh -c " + ShellQuoted(words.front()) : ShellQuoted(words));
    if (const Text& cwd = EffectiveCwd(plan_, process); !cwd.marked.empty()) Line("  folder", cwd.marked);
    std::vector<std::string> variables;
    for (const auto& [name, value] : EffectiveEnv(plan_, process)) {
      // Variables that every process of muster has are not specific to this plan.
      const bool usual = name.starts_with("MUSTER_") || name.starts_with("PYTHON");
      if (!usual) variables.push_back(name + "=" + value.marked);
    }
    Items("  variables", variables, 2);
    std::vector<std::string> context;
    for (const auto& [name, value] : EffectiveContext(plan_, process))
      context.push_back(name.substr(name.rfind('.') + 1) + "=" + ToText(value));
    Items("  context", context, 2);
  }

  const Plan& plan_;
  const PlanSummaryFacts& facts_;
  std::string text_;
};

}  // namespace

std::string PlanSummaryText(const Plan& plan, const PlanSummaryFacts& facts) { return Summary(plan, facts).Whole(); }

}  // namespace muster
