#include "run/report/failure_analysis.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/values/overloaded.h"
#include "base/values/shell_quote.h"
#include "base/values/signal_name.h"
#include "base/values/units.h"
#include "run/directory/last_lines.h"
#include "run/directory/log_path.h"
#include "run/journal/attempt_hosts.h"
#include "run/journal/ending_text.h"

namespace muster {
namespace {

constexpr std::size_t kMostKeptGroups = 20;
constexpr std::size_t kMostKeptEntries = 100;
constexpr double kApart = 1.0;  // in seconds: ends that are further apart get separate entries

using Key = std::pair<ProcessId, std::uint32_t>;

// Something that happened to a process, on the head's clock if its host's clock is known, else when the head received
// it.
struct Happening {
  MonotonicNs at = 0;
  ProcessId process = 0;
  std::string what;
};

// The end of a failed attempt.
struct Failed {
  Key key;
  ProcessExited exit;
  bool asked = false;  // it had received a signal from muster
};

// Replaces digits, and hexadecimal ones after 0x, so that lines that differ only in a rank, a time or an address are
// equal.
std::string WithoutNumbers(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_hex = [&](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) {
      plain += text[i];
      continue;
    }
    plain += '#';
    const bool hex = text[i] == '0' && i + 1 < text.size() && text[i + 1] == 'x';
    if (hex) ++i;
    while (i + 1 < text.size() && (hex ? is_hex(text[i + 1]) : is_digit(text[i + 1]))) ++i;
  }
  return plain;
}

std::vector<std::string> WithoutNumbers(const std::vector<std::string>& lines) {
  std::vector<std::string> plain;
  plain.reserve(lines.size());
  for (const std::string& line : lines) plain.push_back(WithoutNumbers(line));
  return plain;
}

// An entry of the journal about one attempt.
template <class E>
concept OfAttempt = requires(const E& entry) {
  entry.process;
  entry.attempt;
};

// Collects the journal entries for the analysis.
class FailureWalk {
 public:
  FailureWalk(const Plan& plan, const CheckedJournal& journal, const HostClocks& clocks)
      : plan_(plan), clocks_(clocks), hosts_(plan, journal) {
    for (const JournalRecord& record : journal.records()) Take(record);
  }

  const AttemptHosts& hosts() const { return hosts_; }
  const std::vector<Happening>& happenings() const { return happenings_; }
  const std::vector<Failed>& failed() const { return failed_; }
  const std::map<ProcessId, std::uint32_t>& attempts() const { return attempts_; }
  const std::map<Key, MonotonicNs>& zeros() const { return zeros_; }
  const std::map<Key, std::vector<std::string>>& evidence() const { return evidence_; }

 private:
  void Add(const Key& key, std::string what, MonotonicNs on_host, MonotonicNs on_head) {
    const auto at = OnHead({hosts_.Of(key.first, key.second), on_host, 0}, clocks_);
    happenings_.push_back({at.value_or(on_head), key.first, std::move(what)});
  }

  void Take(const JournalRecord& record) {
    const MonotonicNs on_head = record.at;
    std::visit(Overloaded{
                   [&](const OfAttempt auto& e) { attempts_[e.process] = std::max(attempts_[e.process], e.attempt); },
                   [](const auto&) {},
               },
               record.entry);
    std::visit(Overloaded{
                   [&](const ProcessExited& e) { TakeExit(e, on_head); },
                   [&](const SpawnFailed& e) {
                     const Key key(e.process, e.attempt);
                     Add(key, EndingText(e), e.at, on_head);
                     zeros_.try_emplace(key, happenings_.back().at);
                   },
                   [&](const SignalSent& e) {
                     if (e.error != 0) return;
                     const Key key(e.process, e.attempt);
                     sent_[key].insert(e.signal);
                     Add(key, fmt::format("was sent {}", SignalName(e.signal)), e.at, on_head);
                   },
                   [&](const LimitPassed& e) {
                     happenings_.push_back({on_head, e.process, EndingText(e)});
                     zeros_.try_emplace({e.process, e.attempt}, on_head);
                   },
                   [&](const ProcessStarted& e) {
                     if (e.attempt > 0) Add({e.process, e.attempt}, "was started again", e.at, on_head);
                   },
                   [&](const EndEvidence& e) {
                     evidence_[{e.process, e.attempt}].push_back(e.detail);
                   },
                   [&](const PortTaken& e) {
                     evidence_[{e.process, e.attempt}].push_back(TakenText(e));
                   },
                   [](const auto&) {},
               },
               record.entry);
  }

  void TakeExit(const ProcessExited& exit, MonotonicNs on_head) {
    const Key key(exit.process, exit.attempt);
    Add(key, EndingText(exit), exit.at, on_head);
    zeros_.try_emplace(key, happenings_.back().at);
    const auto sent = sent_.find(key);
    const bool asked = sent != sent_.end();
    const bool by_our_signal = asked && exit.signalled && sent->second.contains(exit.code);
    if ((exit.signalled || exit.code != 0) && !by_our_signal) failed_.push_back({key, exit, asked});
  }

  const Plan& plan_;
  const HostClocks& clocks_;
  AttemptHosts hosts_;
  std::vector<Happening> happenings_;
  std::vector<Failed> failed_;
  std::map<ProcessId, std::uint32_t> attempts_;  // latest attempt of each process
  std::map<Key, std::set<std::int32_t>> sent_;
  std::map<Key, MonotonicNs> zeros_;  // the failure times of attempts by the journal
  std::map<Key, std::vector<std::string>> evidence_;
};

std::vector<TimelineEntry> TimelineOf(const Plan& plan, std::vector<Happening> happenings, ProcessId origin,
                                      MonotonicNs zero) {
  std::stable_sort(happenings.begin(), happenings.end(),
                   [](const Happening& a, const Happening& b) { return a.at < b.at; });
  struct Draft {
    TimelineEntry entry;
    std::set<ProcessId> processes;
  };
  std::vector<Draft> drafts;
  std::map<std::string, std::size_t> latest;  // latest draft with this text
  for (const Happening& happening : happenings) {
    const double at = happening.at >= zero ? InSeconds(happening.at - zero) : -InSeconds(zero - happening.at);
    if (at < -kTimelineBefore || at > kTimelineAfter) continue;
    const bool is_origin = happening.process == origin;
    // Events before the first failure are not merged with events after it.
    if (is_origin && at == 0) latest.clear();
    const auto found = latest.find(happening.what);
    if (!is_origin && found != latest.end() && at - drafts[found->second].entry.to < kApart) {
      drafts[found->second].entry.to = at;
      drafts[found->second].processes.insert(happening.process);
      continue;
    }
    if (!is_origin) latest[happening.what] = drafts.size();
    drafts.push_back({{at, at, happening.what, {}}, {happening.process}});
  }
  std::vector<TimelineEntry> timeline;
  for (Draft& draft : drafts) {
    if (timeline.size() == kMostKeptEntries) break;
    draft.entry.who = MembersOf(plan, draft.processes);
    timeline.push_back(std::move(draft.entry));
  }
  return timeline;
}

std::vector<FailedGroup> GroupsOf(const Plan& plan, const std::vector<Failed>& failed, ProcessId origin, int run_dir) {
  struct Draft {
    FailedGroup group;
    std::vector<std::string> plain;
    std::string plain_message;
    std::set<ProcessId> processes;
  };
  std::vector<Draft> drafts;
  for (const Failed& each : failed) {
    const auto [process, attempt] = each.key;
    if (process == origin) continue;
    const std::string& role = plan.roles[plan.processes[process].role].name;
    FailedGroup group;
    group.why = EndingText(plan, each.exit);
    group.log = LogPath(plan, process, attempt);
    group.lines = LastLines(run_dir, group.log);
    group.error = ReadErrorNote(run_dir, plan, process, attempt);
    std::vector<std::string> plain = WithoutNumbers(group.lines);
    std::string message = group.error ? WithoutNumbers(group.error->message) : "";
    const auto same = std::find_if(drafts.begin(), drafts.end(), [&](const Draft& draft) {
      return draft.group.who.role == role && draft.group.why == group.why && draft.plain == plain &&
             draft.plain_message == message;
    });
    if (same != drafts.end()) {
      same->group.alike = same->group.alike || same->group.lines != group.lines;
      same->processes.insert(process);
    } else if (drafts.size() < kMostKeptGroups) {
      group.hint = PythonHint(group.lines);
      group.who.role = role;
      drafts.push_back({std::move(group), std::move(plain), std::move(message), {process}});
    }
  }
  std::vector<FailedGroup> groups;
  for (Draft& draft : drafts) {
    draft.group.who = MembersOf(plan, draft.processes).front();
    groups.push_back(std::move(draft.group));
  }
  return groups;
}

// SIGABRT, SIGPIPE and SIGTERM can be reactions to another failure, like an exit code (see RunCause::Trace).
bool IsReaction(const ProcessExited& exit) {
  return !exit.signalled || exit.code == SIGABRT || exit.code == SIGPIPE || exit.code == SIGTERM;
}

Moment MomentOf(const Failed& failed, const AttemptHosts& hosts) {
  return {hosts.Of(failed.key.first, failed.key.second), failed.exit.at, EndLatenessNs(failed.exit.max_rss_kib)};
}

// Measures the distance between `other` and the origin, and the distance at which their order would be certain.
void Measure(const Moment& other, const Moment& origin, const HostClocks& clocks, UncertainOrder& doubt) {
  const bool same = other.host == origin.host;
  const auto of_other = same ? std::optional(other.at) : OnHead(other, clocks);
  const auto of_origin = same ? std::optional(origin.at) : OnHead(origin, clocks);
  if (!of_other || !of_origin) return;
  const double after = *of_other >= *of_origin ? InSeconds(*of_other - *of_origin) : -InSeconds(*of_origin - *of_other);
  if (doubt.after && std::abs(*doubt.after) <= std::abs(after)) return;
  doubt.after = after;
  // The one that was seen later may have happened earlier than that.
  doubt.within = InSeconds(after >= 0 ? other.late_ns : origin.late_ns);
  if (!same) doubt.within += InSeconds(clocks[other.host]->error_ns + clocks[origin.host]->error_ns);
}

std::vector<UncertainOrder> DoubtsOf(const Plan& plan, const std::vector<Failed>& failed, const Key& origin,
                                     const HostClocks& clocks, const AttemptHosts& hosts) {
  const auto of_origin = std::find_if(failed.begin(), failed.end(), [&](const Failed& f) { return f.key == origin; });
  if (of_origin == failed.end()) return {};
  const Moment first = MomentOf(*of_origin, hosts);
  struct Draft {
    UncertainOrder doubt;
    std::set<ProcessId> processes;
  };
  std::map<std::uint32_t, Draft> drafts;  // by machine
  for (const Failed& other : failed) {
    if (other.key.first == origin.first || other.asked) continue;
    if (IsReaction(other.exit) != IsReaction(of_origin->exit)) continue;  // a kill from outside is not a reaction
    const Moment moment = MomentOf(other, hosts);
    if (OrderOf(first, moment, clocks) != Order::kUnknown) continue;
    Draft& draft = drafts[moment.host];
    draft.processes.insert(other.key.first);
    Measure(moment, first, clocks, draft.doubt);
  }
  std::vector<UncertainOrder> doubts;
  for (auto& [machine, draft] : drafts) {
    draft.doubt.who = MembersOf(plan, draft.processes);
    if (machine != first.host) draft.doubt.host = hosts.Name(machine);
    doubts.insert(machine == first.host ? doubts.begin() : doubts.end(), std::move(draft.doubt));
  }
  return doubts;
}

}  // namespace

std::vector<Members> MembersOf(const Plan& plan, const std::set<ProcessId>& processes) {
  std::vector<Members> members;
  for (const ProcessId id : processes) {
    const Process& process = plan.processes[id];
    const std::string& role = plan.roles[process.role].name;
    if (members.empty() || members.back().role != role) members.push_back({role, {}, {}});
    members.back().indices.push_back(process.index);
    if (process.rank) members.back().ranks.push_back(*process.rank);
  }
  return members;
}

HostClocks ClocksOf(const Plan& plan, const CheckedJournal& journal) {
  HostClocks clocks(plan.hosts.size());
  if (clocks.size() == 1) clocks[0] = HostClock{};
  for (const JournalRecord& record : journal.records()) {
    if (const auto* reached = std::get_if<HostReached>(&record.entry)) {
      if (reached->host >= clocks.size()) clocks.resize(std::size_t{reached->host} + 1);
      clocks[reached->host].reset();
    } else if (const auto* compared = std::get_if<ClockCompared>(&record.entry)) {
      // The latest comparison is the best one, or the clocks have drifted.
      if (compared->host < clocks.size()) clocks[compared->host] = HostClock{compared->offset_ns, compared->error_ns};
    }
  }
  return clocks;
}

FailureAnalysis AnalyseFailure(const Plan& plan, const CheckedJournal& journal, const FirstFailure& origin,
                               const HostClocks& clocks, int run_dir) {
  const FailureWalk walk(plan, journal, clocks);
  const Key key(origin.process, origin.attempt);
  FailureAnalysis account;
  if (const auto found = walk.evidence().find(key); found != walk.evidence().end()) account.evidence = found->second;
  account.hint = PythonHint(LastLines(run_dir, LogPath(plan, origin.process, origin.attempt), 10 * kLastLines));
  account.error = ReadErrorNote(run_dir, plan, origin.process, origin.attempt);
  // An attempt followed by another one was a restart, not a failure beside this one.
  std::vector<Failed> failed = walk.failed();
  std::erase_if(failed, [&](const Failed& f) { return f.key.second < walk.attempts().at(f.key.first); });
  account.others = GroupsOf(plan, failed, origin.process, run_dir);
  account.doubts = DoubtsOf(plan, failed, key, clocks, walk.hosts());
  for (const UncertainOrder& doubt : account.doubts) {
    for (const Members& each : doubt.who) account.unordered.push_back(each);
  }
  const auto ended = std::find_if(failed.begin(), failed.end(), [&](const Failed& f) { return f.key == key; });
  if (ended != failed.end()) {
    const Moment moment = MomentOf(*ended, walk.hosts());
    account.at = OnHead(moment, clocks);
    if (account.at) account.at_error = InSeconds(clocks[moment.host]->error_ns);
  }
  if (const auto zero = walk.zeros().find(key); zero != walk.zeros().end()) {
    account.timeline = TimelineOf(plan, walk.happenings(), origin.process, zero->second);
  }
  return account;
}

}  // namespace muster
