#include "run/report/rehearsal.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/system/private_files.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "muster/site.h"
#include "plan/hosts/host_list.h"
#include "run/directory/process_output.h"
#include "run/hosts/host_differences.h"
#include "run/journal/head_facts.h"
#include "run/start/rehearsal_plan.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

// Compares the stubs' reports of different hosts: files, programs and clocks, which no stub can check alone. Pure.

struct HostwideFinding {
  StubFinding::Outcome outcome = StubFinding::Outcome::kOk;
  RehearsalFailure failure;
};

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

// Findings of kFiles and kVersions: files that exist on some hosts only, or differ between hosts. `hosts` are names.
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

// Findings of kClock: hosts whose clocks differ from others by more than a second plus the uncertainty.
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
      if (distance < clock.error_ns || static_cast<std::uint64_t>(distance - clock.error_ns) <= kMaxClockNs) continue;
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

// Findings of preflight about programs and packages, and its faults of hosts.
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

// The names of the plan's hosts.
std::vector<std::string> HostNames(const Plan& plan, const RunHistory& history) {
  std::vector<std::string> names;
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    const MachineHistory& machine = history.machines.at(host);
    std::string& name = names.emplace_back(plan.hosts[host].name);
    if (name.empty()) name = machine.agent ? machine.agent->host_name : plan.hosts[host].label;
    if (history.bound) name = machine.name;
  }
  return names;
}

class Judge {
 public:
  Judge(const Plan& plan, const RunHistory& history, std::span<const std::optional<StubReport>> accounts)
      : plan_(plan), history_(history), reports_(accounts), hosts_(HostNames(plan, history)) {
    if (history.began) {
      made_.run = history.began->run_id;
      made_.name = history.began->name;
    }
    made_.hosts = static_cast<std::uint32_t>(plan.hosts.size());
    made_.seconds = SecondsBetween(history.first.on_head, history.last.on_head);
    made_.outcome = history.ended ? std::string(OutcomeName(history.ended->cause)) : "lost";
    made_.run_exit_code = history.ended ? history.ended->exit_code : 3;
    for (const Process& process : plan.processes)
      made_.processes.push_back({plan.roles[process.role].name, process.index, process.rank, hosts_[process.host]});
  }

  Rehearsal Done() && {
    if (!history_.unready.empty()) {
      Unready();
    } else {
      JudgeStarts();
      JudgeFindings();
      JudgeRanks();
      for (HostwideFinding& found : CompareFiles(plan_, hosts_, reports_)) Hostwide(std::move(found));
      for (HostwideFinding& found : CompareClocks(plan_, hosts_, reports_)) Hostwide(std::move(found));
      if (history_.hosts_compared) {
        for (HostwideFinding& found : TakeComparison(plan_, hosts_, *history_.hosts_compared)) {
          if (!IsKnown(found)) Hostwide(std::move(found));
        }
      }
      NoteLaunchers();
    }
    Fold();
    for (int i = 0; i < kChecks; ++i) made_.rows.push_back(RowOf(static_cast<Check>(i)));
    return std::move(made_);
  }

 private:
  // A fixed port that is taken is detected before any process starts.
  void Unready() {
    RehearsalFailure failure{Check::kStart, {}, {}, history_.unready, {}};
    for (const auto& [name, port] : plan_.ports) {
      const std::string& host = hosts_[port.host];
      if (port.number == 0 || history_.unready.find(fmt::format("port {} ", port.number)) == std::string::npos)
        continue;
      if (hosts_.size() > 1 && history_.unready.find(host) == std::string::npos) continue;
      failure.check = Check::kPorts;
      failure.hint = "end the process that holds it, or set another port";
      for (std::uint32_t i = 0; i < plan_.processes.size(); ++i) {
        if (ProcessName(plan_, plan_.processes[i]) == port.owner) failure.processes.push_back(i);
      }
    }
    made_.came_about = false;
    made_.failures.push_back(std::move(failure));
  }

  void JudgeStarts() {
    for (std::uint32_t i = 0; i < reports_.size(); ++i) {
      if (reports_[i]) continue;
      // What the journal records about it.
      bool started = false;
      std::string why;
      for (const AttemptHistory& attempt : history_.attempts[i]) {
        started = started || attempt.started;
        if (attempt.spawn_failed) why = EndingText(*attempt.spawn_failed);
        if (attempt.exited) why = EndingText(*attempt.exited);
      }
      made_.failures.push_back({Check::kStart,
                                {i},
                                {},
                                started       ? why.empty() ? "no report from its stub" : why + " before its report"
                                : why.empty() ? "it was not started"
                                              : why,
                                "see muster logs and muster report"});
    }
  }

  void JudgeFindings() {
    for (const auto& report : reports_) {
      if (!report) continue;
      for (const StubFinding& finding : report->findings) {
        RehearsalFailure found{finding.check, {report->process}, finding.peers, finding.text, finding.hint};
        std::erase_if(found.peers, [this](std::uint32_t peer) { return peer >= plan_.processes.size(); });
        Count& count = counts_[static_cast<std::size_t>(finding.check)];
        switch (finding.outcome) {
          case Outcome::kOk:
            ++count.well;
            count.texts.insert(finding.text);
            break;
          case Outcome::kFailed:
            made_.failures.push_back(std::move(found));
            break;
          case Outcome::kNotChecked:
            if (count.why_not.empty()) count.why_not = finding.text;
            ++count.not_checked;
            break;
          case Outcome::kNote:
            made_.notes.push_back(std::move(found));
            break;
        }
      }
    }
  }

  // Each rank of a world must be reported by exactly one process. Processes without a report are not judged.
  void JudgeRanks() {
    std::map<std::pair<std::string, std::int64_t>, std::vector<std::uint32_t>> saying;
    for (std::uint32_t i = 0; i < reports_.size(); ++i) {
      const Process& process = plan_.processes[i];
      if (!process.rank) continue;
      const std::string& world = plan_.roles[process.role].world;
      ++ranks_wanted_;
      if (reports_[i] && reports_[i]->says_rank) saying[{world, *reports_[i]->says_rank}].push_back(i);
    }
    ranks_said_ = saying.size();
    for (const auto& [key, processes] : saying) {
      if (processes.size() == 1) continue;
      for (const std::uint32_t process : processes) {
        made_.failures.push_back({Check::kRanks,
                                  {process},
                                  {},
                                  fmt::format("rank {} occurs {} times", key.second, processes.size()),
                                  "the framework would wait for the missing ranks for ever"});
      }
    }
  }

  void Hostwide(HostwideFinding found) {
    Count& count = counts_[static_cast<std::size_t>(found.failure.check)];
    if (found.outcome == Outcome::kFailed) made_.failures.push_back(std::move(found.failure));
    if (found.outcome == Outcome::kNote) made_.notes.push_back(std::move(found.failure));
    if (found.outcome == Outcome::kOk) {
      ++count.well;
      count.texts.insert(found.failure.text);
    }
    if (found.outcome == Outcome::kNotChecked) count.why_not = found.failure.text;
  }

  // Whether a stub of that host has already reported it.
  bool IsKnown(const HostwideFinding& found) const {
    return std::any_of(made_.failures.begin(), made_.failures.end(), [&](const RehearsalFailure& failure) {
      return failure.check == found.failure.check && !failure.processes.empty() && !found.failure.processes.empty() &&
             plan_.processes[failure.processes.front()].host == plan_.processes[found.failure.processes.front()].host;
    });
  }

  void NoteLaunchers() {
    constexpr std::string_view kNotOurs = "the launcher starts the ranks, and they are not rehearsed";
    for (std::uint32_t i = 0; i < plan_.processes.size(); ++i) {
      const Process& process = plan_.processes[i];
      if (plan_.roles[process.role].plays != "launcher") continue;
      for (const Check check : {Check::kRanks, Check::kCounts, Check::kRendezvousEndpoint})
        counts_[static_cast<std::size_t>(check)].why_not = kNotOurs;
      const std::vector<Text> words = RehearsedWords(plan_, process);
      made_.notes.push_back({Check::kRanks,
                             {i},
                             {},
                             fmt::format("the ranks that {} starts are not rehearsed: the stub replaces it alone",
                                         words.empty() ? "the launcher" : words.front().marked),
                             {}});
    }
  }

  // Groups equal findings of several processes of a host.
  void Fold() {
    for (std::vector<RehearsalFailure>* list : {&made_.failures, &made_.notes}) {
      using FindingKey = std::tuple<Check, std::string, std::string, std::uint32_t, std::uint32_t>;
      constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
      std::map<FindingKey, std::pair<std::set<std::uint32_t>, std::set<std::uint32_t>>> folded;
      const auto host_of = [this](std::uint32_t process) { return plan_.processes[process].host; };
      for (const RehearsalFailure& one : *list) {
        const std::uint32_t from = one.processes.empty() ? kNowhere : host_of(one.processes.front());
        const auto add = [&](std::uint32_t to, std::span<const std::uint32_t> peers) {
          auto& [processes, others] = folded[{one.check, one.text, one.hint, from, to}];
          processes.insert(one.processes.begin(), one.processes.end());
          others.insert(peers.begin(), peers.end());
        };
        if (one.peers.empty()) add(kNowhere, {});
        for (const std::uint32_t& peer : one.peers) add(host_of(peer), {&peer, 1});
      }
      list->clear();
      for (auto& [key, who] : folded) {
        list->push_back({std::get<0>(key),
                         {who.first.begin(), who.first.end()},
                         {who.second.begin(), who.second.end()},
                         std::get<1>(key),
                         std::get<2>(key)});
      }
    }
  }

  RehearsalRow RowOf(Check check) const {
    std::set<std::uint32_t> failed;
    bool any = false;
    for (const RehearsalFailure& failure : made_.failures) {
      if (failure.check != check) continue;
      any = true;
      failed.insert(failure.processes.begin(), failure.processes.end());
    }
    if (any) {
      return {
          check, Outcome::kFailed,
          failed.empty() ? std::string() : fmt::format("{} of {} processes", failed.size(), plan_.processes.size())};
    }
    if (!made_.came_about) return {check, Outcome::kNotChecked, "nothing was started"};
    if (StubsThatReported() == 0 && !reports_.empty()) {
      const bool started = std::any_of(history_.attempts.begin(), history_.attempts.end(), [](const auto& attempts) {
        return std::any_of(attempts.begin(), attempts.end(), [](const AttemptHistory& a) { return a.started; });
      });
      return {check, Outcome::kNotChecked, started ? "no stub reported" : "no stub started"};
    }
    const Count& count = counts_[static_cast<std::size_t>(check)];
    if (check == Check::kStart) {
      return {check, Outcome::kOk,
              Counted(plan_.processes.size(), "process", "processes") + " on " + Counted(plan_.hosts.size(), "host")};
    }
    if (check == Check::kHello && plan_.processes.size() == 1)
      return {check, Outcome::kNotChecked, "there is one process"};
    if (check == Check::kRanks && ranks_said_ > 0 && count.why_not.empty()) {
      const std::string of = ranks_said_ < ranks_wanted_ ? fmt::format("{} of ", ranks_said_) : "";
      return {check, Outcome::kOk, of + Counted(ranks_wanted_, "rank") + ", each once"};
    }
    if (count.well > 0) return {check, Outcome::kOk, WellText(check, count)};
    return {check, Outcome::kNotChecked, count.why_not.empty() ? NothingToCheck(check) : count.why_not};
  }

  struct Count {
    std::size_t well = 0;
    std::size_t not_checked = 0;
    std::string why_not;
    std::set<std::string> texts;  // texts of successful checks
  };

  std::string WellText(Check check, const Count& count) const {
    const std::string partly =
        count.not_checked == 0 ? "" : fmt::format("; {} not checked: {}", count.not_checked, count.why_not);
    if (check == Check::kHello) {
      std::uint64_t greetings = 0;
      for (const auto& report : reports_) greetings += report ? report->greeted : 0;
      const auto everybody = plan_.processes.size() * (plan_.processes.size() - 1);
      return fmt::format("{} greetings{}{}", greetings, greetings == everybody ? ", all pairs" : "", partly);
    }
    if (check == Check::kPorts || check == Check::kDevices || check == Check::kDisk)
      return Counted(count.well, "process", "processes") + " checked" + partly;
    if (count.texts.size() == 1) return *count.texts.begin() + partly;
    return fmt::format("{} processes{}", count.well, partly);
  }

  std::size_t StubsThatReported() const {
    return static_cast<std::size_t>(
        std::count_if(reports_.begin(), reports_.end(), [](const auto& report) { return report.has_value(); }));
  }

  // Why there are no results for the check. Only if every stub has reported is it certain that there was nothing to
  // check.
  std::string NothingToCheck(Check check) const {
    if ((check == Check::kVersions || check == Check::kClock) && plan_.hosts.size() == 1) return "there is one host";
    if (StubsThatReported() < reports_.size()) return "no stub reported it";
    switch (check) {
      case Check::kRanks:
        return "no process has a rank";
      case Check::kCounts:
        return fmt::format("framework {} sets no counts", plan_.framework);
      case Check::kRendezvousEndpoint:
        if (!plan_.contract.empty()) return fmt::format("no variable of contract {} is an endpoint", plan_.framework);
        return fmt::format("framework {} has no rendezvous", plan_.framework);
      case Check::kDevices:
        return "no process has devices";
      default:
        return "not reported";
    }
  }

  const Plan& plan_;
  const RunHistory& history_;
  std::span<const std::optional<StubReport>> reports_;
  std::vector<std::string> hosts_;
  Rehearsal made_;
  std::array<Count, kChecks> counts_;
  std::size_t ranks_wanted_ = 0;  // processes of the plan with a rank
  std::size_t ranks_said_ = 0;
};

// The last line of the log that is a report of this process.
std::optional<StubReport> StubReportIn(int folder, const std::string& log, std::uint32_t process) {
  const Result<FileTail> tail = ReadTail(folder, log, kMaxReportBytes);
  if (!tail) return std::nullopt;
  std::optional<StubReport> report;
  std::string_view rest = tail->bytes;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (auto read = ParseStubReport(rest.substr(0, end)); read && read->process == process) report = std::move(read);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return report;
}

}  // namespace

Rehearsal JudgeRehearsal(const Plan& plan, const RunHistory& history,
                         std::span<const std::optional<StubReport>> accounts) {
  return Judge(plan, history, accounts).Done();
}

Result<Rehearsal> ReadRehearsal(const std::string& run_dir) {
  const Result<RecordedRun> run = ReadRun(run_dir);
  if (!run) return Fail(run.error());
  const Plan& plan = *run->plan;
  if (!run->history.began || !run->history.began->rehearsal)
    return Fail(Error("run", {}, fmt::format("{} is not a rehearsal", Quoted(run_dir)), "use muster report for a run"));
  std::vector<std::optional<StubReport>> accounts;
  for (std::uint32_t i = 0; i < plan.processes.size(); ++i)
    accounts.push_back(StubReportIn(run->folder.get(), LogPath(plan, i, 0), i));
  Rehearsal made = JudgeRehearsal(plan, run->history, accounts);
  made.run_dir = run_dir;
  return made;
}

int RehearsalExitCode(const Rehearsal& rehearsal) {
  if (rehearsal.run_exit_code > 128) return rehearsal.run_exit_code;
  if (!rehearsal.came_about && rehearsal.failures.front().check == Check::kStart) return 3;
  return rehearsal.ok() ? 0 : 1;
}

// Writes the result of a rehearsal as a table and as JSON: RehearsalText and RehearsalJson of rehearsal.h.

namespace {

constexpr std::array<const char*, 3> kWords = {"ok", "FAILED", "not checked"};
constexpr std::array<std::string_view, 3> kJsonWords = {"ok", "failed", "not_checked"};

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
  std::string text = fmt::format("rehearsal of {}: {} on {} in {}\n", Printable(rehearsal.name),
                                 Counted(rehearsal.processes.size(), "process", "processes"),
                                 Counted(rehearsal.hosts, "host"), DurationText(rehearsal.seconds));
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

template <class V>
void Parts(V& v, const RehearsedProcess& process) {
  v("role", process.role), v("index", process.index), v("rank", process.rank), v("host", process.host);
}
template <class V>
void Parts(V& v, const RehearsalRow& row) {
  v("check", CheckName(row.check)), v("outcome", kJsonWords[static_cast<std::size_t>(row.outcome)]),
      v("text", row.text);
}

namespace {

// With its processes.
struct FailureOf {
  const Rehearsal& rehearsal;
  const RehearsalFailure& failure;
};
template <class V>
void Parts(V& v, const FailureOf& of) {
  const auto processes = [&](const std::vector<std::uint32_t>& indices) {
    std::vector<RehearsedProcess> all;
    for (const std::uint32_t index : indices) all.push_back(of.rehearsal.processes[index]);
    return all;
  };
  v("check", CheckName(of.failure.check)), v("text", of.failure.text), v("hint", As<NullIfNone>(of.failure.hint));
  v("processes", processes(of.failure.processes)), v("peers", processes(of.failure.peers));
}

std::vector<FailureOf> FailuresOf(const Rehearsal& rehearsal, const std::vector<RehearsalFailure>& failures) {
  std::vector<FailureOf> all;
  for (const RehearsalFailure& failure : failures) all.push_back({rehearsal, failure});
  return all;
}

}  // namespace

template <class V>
void Parts(V& v, const Rehearsal& rehearsal) {
  v("format", 1), v("run", rehearsal.run), v("name", rehearsal.name), v("run_dir", rehearsal.run_dir);
  v("ok", rehearsal.ok()), v("exit_code", RehearsalExitCode(rehearsal)), v("seconds", rehearsal.seconds);
  v("hosts", rehearsal.hosts), v("processes", rehearsal.processes.size()), v("checks", rehearsal.rows);
  v("failures", FailuresOf(rehearsal, rehearsal.failures)), v("notes", FailuresOf(rehearsal, rehearsal.notes));
}

std::string RehearsalJson(const Rehearsal& rehearsal) { return JsonOf<PartForms>(rehearsal, 2) + "\n"; }

std::string RehearsalSchema() {
  Rehearsal rehearsal;  // with an element of lists whose elements have no default
  rehearsal.failures.emplace_back();
  rehearsal.notes.emplace_back();
  return SchemaOf<PartForms>(rehearsal);
}

}  // namespace muster
