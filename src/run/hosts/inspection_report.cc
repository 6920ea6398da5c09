#include "run/hosts/inspection_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "plan/hosts/host_list.h"

namespace muster {
namespace {

struct Group {
  AgentUnreachable why;
  std::vector<SiteHost> hosts;
};

std::vector<Group> GroupsOf(const std::vector<HostRefusal>& refusals) {
  std::vector<Group> groups;
  for (const HostRefusal& refusal : refusals) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&refusal](const Group& known) { return known.why.why == refusal.why.why; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{refusal.why, {}});
    group->hosts.push_back({refusal.host, "", std::nullopt});
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.hosts.size() > b.hosts.size(); });
  return groups;
}

}  // namespace

std::string RefusalsText(const std::vector<HostRefusal>& refusals, std::size_t hosts) {
  std::string text;
  for (const Group& group : GroupsOf(refusals)) {
    if (!text.empty()) text += "; ";
    text += hosts == 1 ? fmt::format("{}: {}", group.hosts.front().name, group.why.why)
                       : fmt::format("{} of {} hosts: {}: {}", group.hosts.size(), hosts, group.why.why,
                                     HostListText(group.hosts));
  }
  return text;
}

std::vector<std::string> RefusalHints(const std::vector<HostRefusal>& refusals) {
  std::vector<std::string> hints;
  for (const Group& group : GroupsOf(refusals)) {
    const std::string& hint = group.why.hint;
    if (!hint.empty() && std::find(hints.begin(), hints.end(), hint) == hints.end()) hints.push_back(hint);
  }
  return hints;
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLineColumns = 120;

std::vector<std::string> DifferenceParts(std::span<const InspectedHost> hosts, const HostDifference& difference) {
  std::vector<std::string> parts;
  for (const HostVariant& variant : difference.variants) {
    parts.push_back(fmt::format("{}: {} {}", HostSetText(hosts, variant.hosts), Printable(difference.subject),
                                Printable(variant.value)));
  }
  return parts;
}

// The line, or one line for each set of hosts if it is too long.
std::string DifferenceText(std::span<const InspectedHost> hosts, const HostDifference& difference) {
  const std::string line = fmt::format("  {}\n", HostDifferenceLine(hosts, difference));
  return Columns(line) <= kLineColumns ? line
                                       : fmt::format("  {}\n", fmt::join(DifferenceParts(hosts, difference), "\n  "));
}

std::string FaultText(std::span<const InspectedHost> hosts, const HostFault& fault) {
  std::string text = fmt::format("  {}\n", HostFaultLine(hosts, fault));
  if (!fault.effect.empty()) text += "    effect: " + Printable(fault.effect) + '\n';
  if (!fault.hint.empty()) text += "    fix: " + Printable(fault.hint) + '\n';
  return text;
}

// All facts about a single host.
std::string FactsText(const HostFacts& facts) {
  std::vector<FactLine> reported = FactLines(facts);
  for (const DiskFact& disk : facts.disks) {
    const std::string inodes = disk.inodes == 0 ? "" : fmt::format(", {} inodes", disk.free_inodes);
    reported.push_back(
        {"free for " + disk.what, fmt::format("{}{} ({})", RoughBytes(disk.free_bytes), inodes, disk.path)});
  }
  if (!facts.addresses.empty()) reported.push_back({"addresses", fmt::format("{}", fmt::join(facts.addresses, ", "))});
  for (const PythonFact& python : facts.pythons) {
    if (!python.error.empty()) reported.push_back({python.program + " says", python.error});
  }
  std::size_t width = 0;
  for (const FactLine& fact : reported) width = std::max(width, Columns(Printable(fact.subject)));
  std::string text;
  for (const FactLine& fact : reported) {
    text += fmt::format("  {}  {}\n", InColumns(Printable(fact.subject), width), Printable(fact.value));
  }
  return text;
}

Json LimitJson(std::uint64_t value) { return value == LimitFact::kUnlimited ? Json("unlimited") : Json(value); }

Json FactsJson(const HostFacts& facts) {
  Json limits = Json::object();
  for (const LimitFact& limit : facts.limits) {
    limits[limit.name] = {{"soft", LimitJson(limit.soft)}, {"hard", LimitJson(limit.hard)}};
  }
  Json trials = Json::array();
  for (const HostCheck& trial : facts.trials) {
    trials.push_back({{"kind", trial.kind},
                      {"what", trial.what},
                      {"error", trial.error.empty() ? Json(nullptr) : Json(trial.error)}});
  }
  Json disks = Json::array();
  for (const DiskFact& disk : facts.disks) {
    disks.push_back({{"what", disk.what},
                     {"path", disk.path},
                     {"kind", disk.kind},
                     {"bytes", disk.bytes},
                     {"free_bytes", disk.free_bytes},
                     {"inodes", disk.inodes},
                     {"free_inodes", disk.free_inodes},
                     {"error", disk.error.empty() ? Json(nullptr) : Json(disk.error)}});
  }
  Json programs = Json::object();
  for (const ProgramFact& program : facts.programs) {
    programs[program.name] = program.path.empty() ? Json(nullptr) : Json(program.path);
  }
  Json pythons = Json::object();
  for (const PythonFact& python : facts.pythons) {
    pythons[python.program] = {{"version", python.version.empty() ? Json(nullptr) : Json(python.version)},
                               {"packages", python.packages},
                               {"error", python.error.empty() ? Json(nullptr) : Json(python.error)}};
  }
  return {{"muster", facts.muster},
          {"system", facts.system},
          {"kernel", facts.kernel},
          {"machine", facts.machine},
          {"root", facts.root},
          {"cores", facts.cores},
          {"memory_bytes", facts.memory_bytes},
          {"device_kind", facts.device_kind.empty() ? Json(nullptr) : Json(facts.device_kind)},
          {"devices", facts.devices},
          {"drivers", facts.drivers},
          {"addresses", facts.addresses},
          {"limits", std::move(limits)},
          {"trials", std::move(trials)},
          {"disks", std::move(disks)},
          {"programs", std::move(programs)},
          {"pythons", std::move(pythons)},
          {"variables", facts.variables}};
}

Json NamesJson(std::span<const InspectedHost> hosts, const HostSet& set) {
  Json names = Json::array();
  for (const std::uint32_t host : set) names.push_back(hosts[host].name);
  return names;
}

}  // namespace

std::string HostFaultLine(std::span<const InspectedHost> hosts, const HostFault& fault) {
  if (hosts.size() < 2) return Printable(fault.text);
  return fmt::format("{} of {} hosts: {}: {}", fault.hosts.size(), hosts.size(), Printable(fault.text),
                     HostSetText(hosts, fault.hosts));
}

std::string HostDifferenceLine(std::span<const InspectedHost> hosts, const HostDifference& difference) {
  return fmt::format("{}", fmt::join(DifferenceParts(hosts, difference), " · "));
}

std::string InspectionText(std::span<const InspectedHost> hosts, const HostComparison& comparison,
                           const std::vector<std::string>& remembered, const std::vector<std::string>& agents) {
  const auto reached = std::count_if(hosts.begin(), hosts.end(), [](const InspectedHost& h) { return h.why.empty(); });
  std::string text;
  if (hosts.size() == 1) {
    text = Printable(hosts.front().name) + '\n';
    if (reached == 1) text += FactsText(hosts.front().facts);
  } else {
    text = fmt::format("{} hosts, {} of them reached\n", hosts.size(), reached);
  }
  if (!agents.empty()) text += fmt::format("agents for other architectures: {}\n", fmt::join(agents, ", "));
  text += comparison.faults.empty() ? "no faults\n" : "faults\n";
  for (const HostFault& fault : comparison.faults) text += FaultText(hosts, fault);
  if (!comparison.lacks.empty()) text += "missing, optional\n";
  for (const HostFault& lack : comparison.lacks) text += FaultText(hosts, lack);
  if (!remembered.empty()) text += "remembered\n";
  for (const std::string& line : remembered) text += "  " + line + '\n';
  if (reached < 2) return text;
  text += comparison.differences.empty() ? "no differences\n" : "differences\n";
  for (const HostDifference& difference : comparison.differences) text += DifferenceText(hosts, difference);
  return text;
}

std::string InspectionJson(std::span<const InspectedHost> hosts, const HostComparison& comparison,
                           const std::vector<std::string>& remembered, const std::vector<std::string>& agents) {
  Json all = Json::array();
  for (const InspectedHost& host : hosts) {
    const bool reached = host.why.empty();
    Json clock = nullptr;
    if (host.clock) {
      clock = {{"ahead", InSeconds(host.clock->offset_ns)}, {"error", InSeconds(host.clock->error_ns)}};
    }
    all.push_back({{"name", host.name},
                   {"reached", reached},
                   {"why", reached ? Json(nullptr) : Json(host.why)},
                   {"missing", host.missing.empty() ? Json(nullptr) : Json(host.missing)},
                   {"clock", std::move(clock)},
                   {"facts", reached ? FactsJson(host.facts) : Json(nullptr)}});
  }
  const auto findings = [&](const std::vector<HostFault>& all_of_them) {
    Json list = Json::array();
    for (const HostFault& fault : all_of_them) {
      list.push_back({{"kind", fault.kind},
                      {"text", fault.text},
                      {"effect", fault.effect.empty() ? Json(nullptr) : Json(fault.effect)},
                      {"fix", fault.hint.empty() ? Json(nullptr) : Json(fault.hint)},
                      {"hosts", NamesJson(hosts, fault.hosts)}});
    }
    return list;
  };
  Json differences = Json::array();
  for (const HostDifference& difference : comparison.differences) {
    Json variants = Json::array();
    for (const HostVariant& variant : difference.variants) {
      variants.push_back({{"value", variant.value}, {"hosts", NamesJson(hosts, variant.hosts)}});
    }
    differences.push_back({{"subject", difference.subject}, {"variants", std::move(variants)}});
  }
  const Json json = {{"format", 1},
                     {"ok", comparison.faults.empty()},
                     {"hosts", std::move(all)},
                     {"faults", findings(comparison.faults)},
                     {"lacks", findings(comparison.lacks)},
                     {"differences", std::move(differences)},
                     {"remembered", remembered},
                     {"agents", agents}};
  return SerializedJson(json, 1) + '\n';
}

}  // namespace muster
