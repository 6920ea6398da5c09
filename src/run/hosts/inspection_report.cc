#include "run/hosts/inspection_report.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "plan/hosts/host_list.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

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

std::vector<std::string> NamesOf(std::span<const InspectedHost> hosts, const HostSet& set) {
  std::vector<std::string> names;
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

template <class V>
void Parts(V& v, const DiskFact& disk) {
  v("what", disk.what), v("path", disk.path), v("kind", disk.kind), v("bytes", disk.bytes);
  v("free_bytes", disk.free_bytes), v("inodes", disk.inodes), v("free_inodes", disk.free_inodes);
  v("error", As<NullIfNone>(disk.error));
}
template <class V>
void Parts(V& v, const HostCheck& check) {
  v("kind", check.kind), v("what", check.what), v("error", As<NullIfNone>(check.error));
}
template <class V>
void Parts(V& v, const PythonFact& python) {
  v("version", As<NullIfNone>(python.version)), v("packages", python.packages),
      v("error", As<NullIfNone>(python.error));
}

namespace {

struct ReportedLimit {
  std::uint64_t value = 0;
};
struct InspectionForms : PartForms {
  using PartForms::Put;
  using PartForms::Schema;
  static void Put(auto& v, const ReportedLimit& limit) {
    limit.value == LimitFact::kUnlimited ? v.PutText("unlimited") : v.Put(limit.value);
  }
  static std::string Schema(auto&, const ReportedLimit&) {
    return schema::Either({schema::Count(), schema::OneOf(std::array<std::string_view, 1>{"unlimited"})});
  }
};

struct BothLimits {
  ReportedLimit soft;
  ReportedLimit hard;
};
template <class V>
void Parts(V& v, const BothLimits& limits) {
  v("soft", limits.soft), v("hard", limits.hard);
}

std::optional<std::string> OrNothing(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace

template <class V>
void Parts(V& v, const HostFacts& facts) {
  InOrder<BothLimits> limits;
  for (const LimitFact& limit : facts.limits) limits.members.push_back({limit.name, {{limit.soft}, {limit.hard}}});
  InOrder<std::optional<std::string>> programs;
  for (const ProgramFact& program : facts.programs)
    programs.members.emplace_back(program.name, OrNothing(program.path));
  InOrder<PythonFact> pythons;
  for (const PythonFact& python : facts.pythons) pythons.members.emplace_back(python.program, python);
  v("muster", facts.muster), v("system", facts.system), v("kernel", facts.kernel), v("machine", facts.machine);
  v("root", facts.root), v("cores", facts.cores), v("memory_bytes", facts.memory_bytes);
  v("device_kind", As<NullIfNone>(facts.device_kind)), v("devices", facts.devices), v("drivers", facts.drivers);
  v("addresses", facts.addresses), v("limits", limits), v("trials", facts.trials), v("disks", facts.disks);
  v("programs", programs), v("pythons", pythons), v("variables", facts.variables);
}

namespace {

struct ClockSeconds {
  double ahead = 0;
  double error = 0;
};
template <class V>
void Parts(V& v, const ClockSeconds& clock) {
  v("ahead", clock.ahead), v("error", clock.error);
}

struct NamedFinding {
  const HostFault& fault;
  std::vector<std::string> hosts;
};
template <class V>
void Parts(V& v, const NamedFinding& finding) {
  v("kind", finding.fault.kind), v("text", finding.fault.text), v("effect", As<NullIfNone>(finding.fault.effect));
  v("fix", As<NullIfNone>(finding.fault.hint)), v("hosts", finding.hosts);
}

struct NamedVariant {
  std::string value;
  std::vector<std::string> hosts;
};
template <class V>
void Parts(V& v, const NamedVariant& variant) {
  v("value", variant.value), v("hosts", variant.hosts);
}
struct NamedDifference {
  std::string subject;
  std::vector<NamedVariant> variants;
};
template <class V>
void Parts(V& v, const NamedDifference& difference) {
  v("subject", difference.subject), v("variants", difference.variants);
}

struct Inspection {
  std::span<const InspectedHost> hosts;
  const HostComparison& comparison;
  const std::vector<std::string>& remembered;
  const std::vector<std::string>& agents;
};

}  // namespace

template <class V>
void Parts(V& v, const InspectedHost& host) {
  const bool reached = host.why.empty();
  std::optional<ClockSeconds> clock;
  if (host.clock) clock = {InSeconds(host.clock->offset_ns), InSeconds(host.clock->error_ns)};
  v("name", host.name), v("reached", reached), v("why", As<NullIfNone>(host.why));
  v("missing", As<NullIfNone>(host.missing)), v("clock", clock);
  v("facts", reached ? std::optional(host.facts) : std::nullopt);
}

namespace {

template <class V>
void Parts(V& v, const Inspection& inspection) {
  const auto& [hosts, comparison, remembered, agents] = inspection;
  const auto findings = [&hosts = hosts](const std::vector<HostFault>& faults) {
    std::vector<NamedFinding> all;
    for (const HostFault& fault : faults) all.push_back({fault, NamesOf(hosts, fault.hosts)});
    return all;
  };
  std::vector<NamedDifference> differences;
  for (const HostDifference& difference : comparison.differences) {
    NamedDifference& named = differences.emplace_back();
    named.subject = difference.subject;
    for (const HostVariant& variant : difference.variants)
      named.variants.push_back({variant.value, NamesOf(hosts, variant.hosts)});
  }
  v("format", 1), v("ok", comparison.faults.empty());
  v("hosts", std::vector<InspectedHost>(hosts.begin(), hosts.end()));
  v("faults", findings(comparison.faults)), v("lacks", findings(comparison.lacks)), v("differences", differences);
  v("remembered", remembered), v("agents", agents);
}

}  // namespace

std::string InspectionJson(std::span<const InspectedHost> hosts, const HostComparison& comparison,
                           const std::vector<std::string>& remembered, const std::vector<std::string>& agents) {
  return JsonOf<InspectionForms>(Inspection{hosts, comparison, remembered, agents}, 1) + '\n';
}

std::string InspectionSchema() {
  HostComparison comparison;  // with an element of lists whose elements have no default
  comparison.faults.emplace_back();
  comparison.lacks.emplace_back();
  return SchemaOf<InspectionForms>(Inspection{{}, comparison, {}, {}});
}

}  // namespace muster
