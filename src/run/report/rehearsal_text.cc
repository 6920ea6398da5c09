// Writes the result of a rehearsal as a table and as JSON: RehearsalText and RehearsalJson of rehearsal.h.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_text.h"
#include "run/report/rehearsal.h"
#include "run/report/report_json_parts.h"

namespace muster {
namespace {

using namespace report_json;

constexpr std::array<const char*, 3> kWords = {"ok", "FAILED", "not checked"};
constexpr std::array<const char*, 3> kJsonWords = {"ok", "failed", "not_checked"};

// Processes by host and role, in the order of the plan.
struct FindingGroup {
  std::string host;
  std::string role;
  std::vector<std::uint32_t> ranks;
  std::vector<std::uint32_t> indices;
};

std::vector<FindingGroup> Grouped(const Rehearsal& rehearsal, std::span<const std::uint32_t> processes) {
  std::vector<FindingGroup> groups;
  for (const std::uint32_t index : processes) {
    const RehearsedProcess& process = rehearsal.processes[index];
    auto group = std::find_if(groups.begin(), groups.end(), [&](const FindingGroup& each) {
      return each.host == process.host && each.role == process.role;
    });
    if (group == groups.end()) group = groups.insert(groups.end(), {process.host, process.role, {}, {}});
    group->indices.push_back(process.index);
    if (process.rank) group->ranks.push_back(*process.rank);
  }
  return groups;
}

std::string FailureText(const Rehearsal& rehearsal, const RehearsalFailure& failure) {
  std::string text = std::string(CheckName(failure.check)) + ": ";
  if (!failure.processes.empty()) text += PartyText(rehearsal, failure.processes);
  if (failure.check == Check::kHello && !failure.peers.empty())
    text += " cannot reach " + PartyText(rehearsal, failure.peers);
  if (!failure.processes.empty()) text += ": ";
  return text + failure.text;
}

Json PartyJson(const Rehearsal& rehearsal, const std::vector<std::uint32_t>& processes) {
  Json list = Json::array();
  for (const std::uint32_t index : processes) {
    const RehearsedProcess& process = rehearsal.processes[index];
    list.push_back({{"role", process.role},
                    {"index", process.index},
                    {"rank", process.rank ? Json(*process.rank) : Json(nullptr)},
                    {"host", Plain(process.host)}});
  }
  return list;
}

Json FailuresJson(const Rehearsal& rehearsal, const std::vector<RehearsalFailure>& failures) {
  Json list = Json::array();
  for (const RehearsalFailure& failure : failures) {
    list.push_back({{"check", CheckName(failure.check)},
                    {"text", Plain(failure.text)},
                    {"hint", TextOrNull(failure.hint)},
                    {"processes", PartyJson(rehearsal, failure.processes)},
                    {"peers", PartyJson(rehearsal, failure.peers)}});
  }
  return list;
}

}  // namespace

std::string PartyText(const Rehearsal& rehearsal, std::span<const std::uint32_t> processes) {
  std::string text;
  for (FindingGroup& group : Grouped(rehearsal, processes)) {
    text += text.empty() ? "" : ", ";
    std::sort(group.ranks.begin(), group.ranks.end());
    std::sort(group.indices.begin(), group.indices.end());
    if (group.ranks.size() != group.indices.size()) {
      text += fmt::format("{}.{}", group.role, NumberListText(group.indices));
    } else if (group.ranks.size() == 1) {
      text += fmt::format("rank {} ({}.{})", group.ranks.front(), group.role, group.indices.front());
    } else {
      text += fmt::format("ranks {} ({})", NumberListText(group.ranks), group.role);
    }
    text += " on " + group.host;
  }
  return text;
}

std::string RehearsalText(const Rehearsal& rehearsal) {
  std::string text = fmt::format("rehearsal of {}: {} process{} on {} host{} in {}\n", Printable(rehearsal.name),
                                 rehearsal.processes.size(), rehearsal.processes.size() == 1 ? "" : "es",
                                 rehearsal.hosts, rehearsal.hosts == 1 ? "" : "s", DurationText(rehearsal.seconds));
  for (const RehearsalRow& row : rehearsal.rows) {
    text += fmt::format("  {:<10}{:<13}{}", CheckName(row.check), kWords[static_cast<std::size_t>(row.outcome)],
                        Printable(row.text));
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
  }
  const auto list = [&](const char* head, const std::vector<RehearsalFailure>& failures) {
    if (failures.empty()) return;
    text += fmt::format("{}\n", head);
    for (const RehearsalFailure& failure : failures) {
      text += fmt::format("  {}\n", Printable(FailureText(rehearsal, failure)));
      if (!failure.hint.empty()) text += fmt::format("    hint: {}\n", Printable(failure.hint));
    }
  };
  list("faults", rehearsal.failures);
  list("notes", rehearsal.notes);
  text += fmt::format("run {}\n", Printable(rehearsal.run_dir));
  return text;
}

std::string RehearsalJson(const Rehearsal& rehearsal) {
  Json checks = Json::array();
  for (const RehearsalRow& row : rehearsal.rows) {
    checks.push_back({{"check", CheckName(row.check)},
                      {"outcome", kJsonWords[static_cast<std::size_t>(row.outcome)]},
                      {"text", Plain(row.text)}});
  }
  const Json json = {{"format", 1},
                     {"run", rehearsal.run},
                     {"name", Plain(rehearsal.name)},
                     {"run_dir", Plain(rehearsal.run_dir)},
                     {"ok", rehearsal.ok()},
                     {"exit_code", RehearsalExitCode(rehearsal)},
                     {"seconds", rehearsal.seconds},
                     {"hosts", rehearsal.hosts},
                     {"processes", rehearsal.processes.size()},
                     {"checks", std::move(checks)},
                     {"failures", FailuresJson(rehearsal, rehearsal.failures)},
                     {"notes", FailuresJson(rehearsal, rehearsal.notes)}};
  return SerializedJson(json, 2) + "\n";
}

}  // namespace muster
