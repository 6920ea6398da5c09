#include "run/report/rehearsal_comparison.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "muster/site.h"
#include "plan/hosts/host_list.h"
#include "run/hosts/host_differences.h"
#include "run/start/rehearsal_plan.h"

namespace muster {
namespace {

using Outcome = StubFinding::Outcome;

std::string HostsText(const std::vector<std::string>& hosts, const std::set<std::uint32_t>& set) {
  std::vector<SiteHost> named;
  for (const std::uint32_t host : set) {
    named.push_back({host < hosts.size() ? hosts[host] : fmt::format("host{}", host), {}, {}});  // a spare has no name
  }
  return HostListText(named);
}

// The first process of the plan on a host.
std::optional<std::uint32_t> FirstOn(const Plan& plan, std::uint32_t host) {
  for (std::uint32_t i = 0; i < plan.processes.size(); ++i) {
    if (plan.processes[i].host == host) return i;
  }
  return std::nullopt;
}

bool IsPython(const std::string& program) { return program.substr(program.rfind('/') + 1).starts_with("python"); }

// A file of a role's command, as seen on hosts.
struct Sight {
  std::map<std::uint32_t, std::uint32_t> there;    // host -> a process that found it
  std::map<std::uint32_t, std::uint32_t> missing;  // … and one that did not
  struct Variant {
    std::string path;
    std::set<std::uint32_t> hosts;
    std::vector<std::uint32_t> processes;
  };
  std::map<std::string, Variant> variants;  // by content

  static std::string Text(const std::pair<const std::string, Variant>& variant) {
    return fmt::format("{} ({})", variant.second.path, variant.first);
  }
};

}  // namespace

std::vector<HostwideFinding> CompareFiles(const Plan& plan, const std::vector<std::string>& hosts,
                                          std::span<const std::optional<StubReport>> accounts) {
  std::map<std::tuple<std::uint32_t, CheckedFile::Kind, std::string>, Sight> seen;
  for (std::uint32_t i = 0; i < accounts.size(); ++i) {
    if (!accounts[i]) continue;
    const std::uint32_t host = plan.processes[i].host;
    for (const CheckedFile& file : accounts[i]->files) {
      // Unknown whether the file exists there, which its stub has reported.
      if (file.kind == CheckedFile::Kind::kPath && !file.path.empty() && !file.why.empty()) continue;
      Sight& sight = seen[{plan.processes[i].role, file.kind, file.word}];
      (file.path.empty() ? sight.missing : sight.there).emplace(host, i);
      if (file.path.empty() || file.hash.empty()) continue;
      Sight::Variant& variant = sight.variants[fmt::format("{} bytes, {}", file.bytes, file.hash)];
      if (variant.path.empty()) variant.path = file.path;
      variant.hosts.insert(host);
      variant.processes.push_back(i);
    }
  }
  std::vector<HostwideFinding> found;
  std::set<std::string> same;
  bool differs = false;
  for (const auto& [key, sight] : seen) {
    const auto& [role, kind, word] = key;
    if (kind == CheckedFile::Kind::kPath && !sight.missing.empty()) {
      for (const auto& [host, process] : sight.missing) {
        if (sight.there.empty()) {
          found.push_back({Outcome::kNote,
                           {Check::kFiles,
                            {process},
                            {},
                            fmt::format("{} does not exist; the job may create it", Quoted(word)),
                            {}}});
          continue;
        }
        std::set<std::uint32_t> with;
        for (const auto& [other, by] : sight.there) with.insert(other);
        found.push_back({Outcome::kFailed,
                         {Check::kFiles,
                          {process},
                          {},
                          fmt::format("{} is missing, but exists on {}", Quoted(word), HostsText(hosts, with)),
                          "copy it there, or use --ship-code"}});
      }
    }
    if (sight.variants.size() < 2) {
      if (sight.variants.size() == 1 && sight.variants.begin()->second.hosts.size() > 1) same.insert(word);
      continue;
    }
    const auto most = std::max_element(sight.variants.begin(), sight.variants.end(), [](const auto& a, const auto& b) {
      return a.second.hosts.size() < b.second.hosts.size();
    });
    for (const auto& each : sight.variants) {
      if (each.first == most->first) continue;
      const Sight::Variant& variant = each.second;
      differs = true;
      found.push_back({Outcome::kFailed,
                       {Check::kVersions,
                        {variant.processes.front()},
                        {},
                        fmt::format("{} differs from the one on {}: {} instead of {}", Quoted(word),
                                    HostsText(hosts, most->second.hosts), Sight::Text(each), Sight::Text(*most)),
                        kind == CheckedFile::Kind::kProgram ? "install the same version on all hosts"
                                                            : "copy the same file to all hosts, or use --ship-code"}});
    }
  }
  if (!differs && !same.empty()) {
    std::string words;
    for (const std::string& word : same) words += (words.empty() ? "" : ", ") + word;
    found.push_back(
        {Outcome::kOk, {Check::kVersions, {}, {}, fmt::format("the same on {} hosts: {}", hosts.size(), words), {}}});
  }
  return found;
}

std::vector<HostwideFinding> CompareClocks(const Plan& plan, const std::vector<std::string>& hosts,
                                           std::span<const std::optional<StubReport>> accounts) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>
      apart;  // pair of hosts, the lower number first -> difference
  std::int64_t most = 0;
  bool compared = false;
  for (std::uint32_t i = 0; i < accounts.size(); ++i) {
    if (!accounts[i]) continue;
    for (const ClockDifference& clock : accounts[i]->clocks) {
      if (clock.peer >= plan.processes.size() || clock.error_ns < 0 || clock.offset_ns == INT64_MIN) continue;
      const std::int64_t distance = std::abs(clock.offset_ns);
      compared = true;
      most = std::max(most, distance);
      if (distance < clock.error_ns || static_cast<std::uint64_t>(distance - clock.error_ns) <= kMostClockNs) continue;
      const auto pair = std::minmax(plan.processes[i].host, plan.processes[clock.peer].host);
      if (pair.first != pair.second) apart[pair] = std::max(apart[pair], distance);
    }
  }
  std::vector<HostwideFinding> found;
  if (compared && apart.empty()) {
    found.push_back({Outcome::kOk, {Check::kClock, {}, {}, "within " + DurationText(InSeconds(most)), {}}});
  }
  // Reports the host that differs from most others, then the next.
  while (!apart.empty()) {
    std::map<std::uint32_t, std::size_t> count;
    for (const auto& [pair, distance] : apart) {
      ++count[pair.first];
      ++count[pair.second];
    }
    const std::uint32_t worst = std::max_element(count.begin(), count.end(), [](const auto& a, const auto& b) {
                                  return a.second < b.second;
                                })->first;
    std::set<std::uint32_t> others;
    std::int64_t by = 0;
    for (auto pair = apart.begin(); pair != apart.end();) {
      const auto [first, second] = pair->first;
      if (first != worst && second != worst) {
        ++pair;
        continue;
      }
      others.insert(first == worst ? second : first);
      by = std::max(by, pair->second);
      pair = apart.erase(pair);
    }
    found.push_back(
        {Outcome::kFailed,
         {Check::kClock,
          {*FirstOn(plan, worst)},
          {},
          fmt::format("its clock differs from {}'s by {}", HostsText(hosts, others), DurationText(InSeconds(by))),
          "check with timedatectl on both whether their time is synchronized"}});
  }
  return found;
}

std::vector<HostwideFinding> TakeComparison(const Plan& plan, const std::vector<std::string>& hosts,
                                            const HostsCompared& compared) {
  std::set<std::string> programs;
  for (const Process& process : plan.processes) {
    if (const std::vector<Text> words = RehearsedWords(plan, process); !words.empty())
      programs.insert(words.front().marked);
  }
  std::vector<HostwideFinding> found;
  const auto add = [&](Check check, std::uint32_t host, std::string text, std::string hint) {
    const auto first = host < hosts.size() ? FirstOn(plan, host) : std::nullopt;  // a spare has no process
    if (first) found.push_back({Outcome::kFailed, {check, {*first}, {}, std::move(text), std::move(hint)}});
  };
  // Paths of programs may differ: their contents are compared, and for Python what it reports about itself.
  for (const HostDifference& difference : compared.differences) {
    const std::size_t of = difference.subject.find(" of ");
    const std::string whose = of == std::string::npos ? difference.subject : difference.subject.substr(of + 4);
    if (!difference.subject.starts_with("driver ") && !(IsPython(whose) && programs.contains(whose))) continue;
    if (difference.variants.empty()) continue;
    const HostVariant& most = difference.variants.front();
    const std::string with_most = HostsText(hosts, {most.hosts.begin(), most.hosts.end()});
    for (const HostVariant& variant : std::span(difference.variants).subspan(1)) {
      for (const std::uint32_t host : variant.hosts) {
        add(Check::kVersions, host,
            fmt::format("{} is {}, and on {} {}", difference.subject, variant.value, with_most, most.value),
            "install the same version on all hosts");
      }
    }
  }
  static const std::map<std::string, Check, std::less<>> kKinds = {
      {"clock", Check::kClock}, {"disk", Check::kDisk},       {"program", Check::kFiles},
      {"limit", Check::kStart}, {"devices", Check::kDevices}, {"version", Check::kVersions}};
  for (const HostFault& fault : compared.faults) {
    const auto kind = kKinds.find(fault.kind);
    if (kind == kKinds.end()) continue;
    for (const std::uint32_t host : fault.hosts) add(kind->second, host, fault.text, fault.hint);
  }
  return found;
}

}  // namespace muster
