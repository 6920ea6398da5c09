// Reports, with their failures, dumps and contexts, as text.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "run/directory/run_tags.h"
#include "run/report/context_report.h"
#include "run/report/dump_report.h"
#include "run/report/failure_analysis.h"
#include "run/report/report.h"

namespace muster {

// Writes the analysis of a first failure for report.txt: FailureHeadline and FailureDetails of failure_analysis.h.

namespace {

constexpr std::size_t kMaxGroups = 4;
constexpr std::size_t kMaxLines = 6;
constexpr std::size_t kMaxEntries = 12;
constexpr std::size_t kMaxMembers = 6;
constexpr std::size_t kMaxTraceback = 12;

std::string Row(const std::string& head, const std::string& text) {
  return fmt::format("  {:<10}{}\n", head, Printable(text));
}

// "worker.0-3 (ranks 4-7)": with ranks if they differ from the indices.
std::string MembersText(const Members& members) {
  std::string text = fmt::format("{}.{}", members.role, IndexRanges(members.indices));
  if (!members.ranks.empty() && members.ranks != members.indices) {
    text += fmt::format(" (rank{} {})", members.ranks.size() == 1 ? "" : "s", IndexRanges(members.ranks));
  }
  return text;
}

// The error file of the process.
std::string ErrorNoteText(const ErrorNote& note, bool with_traceback = true) {
  if (!note.unreadable.empty()) return Row("error", "its error file cannot be read: " + note.unreadable);
  std::string text = Row("error", note.message);
  const auto& lines = note.traceback;
  const std::size_t skipped = lines.size() > kMaxTraceback ? lines.size() - kMaxTraceback : 0;
  for (std::size_t i = skipped; with_traceback && i < lines.size(); ++i) text += Row("", "  " + lines[i]);
  std::size_t shown = 0;
  for (const auto& [name, value] : note.more) {
    if (shown++ == kMaxMembers) break;
    text += Row("", fmt::format("{}: {}", name, ToText(value)));
  }
  return text;
}

std::string DoubtText(const UncertainOrder& doubt) {
  const std::string who = fmt::format("unknown whether {}{} failed first: ", MembersText(doubt.who),
                                      doubt.host.empty() ? "" : " on " + doubt.host);
  if (doubt.host.empty()) return who + "they ended too close together";
  if (!doubt.after) return who + "the clocks of the hosts have not been compared";
  return who + fmt::format("seen {} {}, and the order is certain only beyond {}", DurationText(std::abs(*doubt.after)),
                           *doubt.after >= 0 ? "later" : "earlier", DurationText(doubt.within));
}

std::string TimeText(double seconds) {
  if (seconds == 0) return "0";
  return (seconds < 0 ? "-" : "+") + DurationText(std::abs(seconds));
}

// Texts of which each is shown once in full: after that without what stands behind the colon.
class Once {
 public:
  explicit Once(const std::string& first) : shown_{first} {}

  std::string operator()(const std::string& text) {
    return shown_.insert(text).second ? text : text.substr(0, text.find(": "));
  }

 private:
  std::set<std::string> shown_;
};

std::string GroupText(const FailedGroup& group, Once& once) {
  if (group.lines.empty() && !group.error && group.evidence.empty()) {
    return fmt::format("  no last lines of {}, which {}\n", Printable(MembersText(group.who)), once(group.why));
  }
  const bool several = group.who.indices.size() > 1;
  std::string text =
      fmt::format("  last lines of {}, which {}{}:\n", Printable(MembersText(group.who)), once(group.why),
                  !several      ? ""
                  : group.alike ? " (they differ only in numbers; the first one's)"
                                : " (the same)");
  if (group.error) text += ErrorNoteText(*group.error);
  for (const std::string& evidence : group.evidence) text += Row("evidence", evidence);
  const std::size_t skipped = group.lines.size() > kMaxLines ? group.lines.size() - kMaxLines : 0;
  for (std::size_t i = skipped; i < group.lines.size(); ++i) text += fmt::format("    {}\n", Printable(group.lines[i]));
  return text;
}

}  // namespace

std::string MembersText(const std::vector<Members>& members) {
  std::string text;
  for (const Members& each : members) text += (text.empty() ? "" : ", ") + MembersText(each);
  return text;
}

std::string SignText(const EarlierSign& sign) {
  const std::string age = sign.before ? fmt::format(" (by {})", DurationText(*sign.before)) : "";
  return fmt::format("{} may have failed first{}: {}", MembersText(sign.who), age, sign.what);
}

std::string FailureHeadline(const FailureAnalysis& analysis, bool with_traceback) {
  std::string text;
  if (analysis.error) text += ErrorNoteText(*analysis.error, with_traceback);
  if (!analysis.hint.empty() && !(analysis.error && analysis.hint.find(analysis.error->message) != std::string::npos)) {
    text += Row("hint", analysis.hint);
  }
  for (const std::string& evidence : analysis.evidence) text += Row("evidence", evidence);
  for (const UncertainOrder& doubt : analysis.doubts) text += Row("order", DoubtText(doubt));
  std::size_t signs = 0;
  for (const EarlierSign& sign : analysis.signs) {
    if (signs++ == kMaxGroups) break;
    text += Row("doubt", SignText(sign));
  }
  if (analysis.signs.size() > kMaxGroups) {
    text += Row("", fmt::format("{} more in report.json", analysis.signs.size() - kMaxGroups));
  }
  return text;
}

std::string FailureDetails(const FailureAnalysis& analysis, const std::string& origin_name, const std::string& why) {
  std::string text;
  Once once(why);
  for (std::size_t i = 0; i < std::min(analysis.others.size(), kMaxGroups); ++i)
    text += GroupText(analysis.others[i], once);
  if (analysis.others.size() > kMaxGroups) {
    text += fmt::format("  … and {} that ended differently\n", Counted(analysis.others.size() - kMaxGroups, "group"));
  }
  // With only one entry, the timeline would repeat the first failure.
  if (analysis.timeline.size() < 2) return text;
  // Selects entries so that the first failure is included.
  const auto zero = std::find_if(analysis.timeline.begin(), analysis.timeline.end(),
                                 [](const TimelineEntry& entry) { return entry.from >= 0; });
  const auto at = static_cast<std::size_t>(zero - analysis.timeline.begin());
  const std::size_t first = at > kMaxEntries / 3 ? at - kMaxEntries / 3 : 0;
  text += fmt::format("  around the first failure, that of {}:\n", Printable(origin_name));
  if (first > 0) text += fmt::format("    {} before\n", Counted(first, "entry", "entries"));
  for (std::size_t i = first; i < std::min(analysis.timeline.size(), first + kMaxEntries); ++i) {
    const TimelineEntry& entry = analysis.timeline[i];
    const std::string until = entry.to - entry.from < 0.0005 ? "" : fmt::format(", the last at {}", TimeText(entry.to));
    const bool several = entry.who.size() > 1 || entry.who.front().indices.size() > 1;
    const std::string what = several && entry.what.starts_with("was ") ? "were " + entry.what.substr(4) : entry.what;
    text += fmt::format("    {:<9} {} {}{}\n", TimeText(entry.from), Printable(MembersText(entry.who)),
                        Printable(once(what)), until);
  }
  if (analysis.timeline.size() > first + kMaxEntries) {
    text += fmt::format("    {} more in report.json\n", analysis.timeline.size() - first - kMaxEntries);
  }
  return text;
}

// Writes a dump as text: DumpText of dump_report.h.

namespace {

constexpr std::size_t kMaxFrames = 6;
constexpr double kBusy = 0.5;  // of a processor: the process is computing, or in an endless loop

std::string FrameText(const StackFrame& frame) {
  if (frame.file.empty()) return frame.function;
  const std::string line = frame.line == 0 ? "" : fmt::format(":{}", frame.line);
  return fmt::format("{} ({}{})", frame.function, frame.file, line);
}

// "waiting in anon_pipe_read (read of a pipe)"
std::string KernelText(const ThreadState& thread) {
  std::string text;
  const bool waits = !thread.wait.empty();
  if (waits) text = fmt::format("waiting in {}", thread.wait);
  if (!waits && thread.state == "running") text = "running";
  if (!waits && thread.state == "sleeping") text = "waiting";
  if (thread.state == "uninterruptible") text += text.empty() ? "stuck in the kernel" : ", uninterruptible";
  if (thread.state == "stopped" || thread.state == "traced") text = thread.state;
  if (thread.state == "zombie" || thread.state == "dead") text = "zombie";
  if (!thread.call.empty()) {
    const bool plain = thread.target == "pipe" || thread.target == "socket" || thread.target == "eventpoll";
    text += fmt::format("{}{}{}{})", text.empty() ? "(" : " (", thread.call,
                        thread.target.empty() ? ""
                        : plain               ? " of a "
                                              : " of ",
                        thread.target);
  }
  return text;
}

std::string PlaceText(const DumpGroup& group) {
  const ThreadState* thread = group.thread();
  if (thread == nullptr) return group.state() == nullptr ? "exited before it could be inspected" : "no information";
  std::string text;
  if (!thread->frames.empty()) text = fmt::format("in {}", FrameText(thread->frames.front()));
  if (const std::string kernel = KernelText(*thread); !kernel.empty()) text += (text.empty() ? "" : ", ") + kernel;
  if (group.busiest >= kBusy) text += fmt::format(", {:.0f} % of a processor", 100 * group.busiest);
  return text.empty() ? "no information" : text;
}

std::string SilenceText(const DumpGroup& group) {
  std::string text = fmt::format("wrote last {} before", DurationText(group.longest_seconds));
  if (group.longest_seconds - group.quietest_seconds > 0.5) {
    text = fmt::format("wrote last {} to {} before", DurationText(group.quietest_seconds),
                       DurationText(group.longest_seconds));
  }
  if (group.first.log_bytes == 0) return "wrote nothing";
  return group.last_line.empty() ? text : fmt::format("{}: {}", text, group.last_line);
}

// "2 python3, 1 nvcc": the other system processes of the first one.
std::string BesidesText(const DumpGroup& group) {
  std::map<std::string, std::size_t> programs;
  for (std::size_t i = 0; i < group.first.states.size(); ++i) {
    if (i != group.place) ++programs[group.first.states[i].program];
  }
  std::string text;
  for (const auto& [program, count] : programs)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, program);
  return text;
}

std::string GroupText(const DumpGroup& group) {
  std::string text = fmt::format("    {}{}: {}\n", Printable(MembersText({group.who})),
                                 group.outlier ? ", unlike most of its role" : "", Printable(PlaceText(group)));
  if (const ThreadState* thread = group.thread()) {
    const std::size_t shown = std::min(thread->frames.size(), kMaxFrames);
    for (std::size_t i = 1; i < shown; ++i) {
      text += fmt::format("      {} {}\n", i == 1 ? "from" : "    ", Printable(FrameText(thread->frames[i])));
    }
    if (thread->frames.size() > shown) text += fmt::format("           … and {} more\n", thread->frames.size() - shown);
  }
  text += fmt::format("      {}\n", Printable(SilenceText(group)));
  if (const std::string besides = BesidesText(group); !besides.empty()) {
    text += fmt::format("      beside {}: {}\n", Printable(group.state()->program), Printable(besides));
  }
  return text;
}

std::string WhyText(const std::string& why) {
  if (why == "silent") return "before a silent role was stopped";
  if (why == "silent_job") return "before the silent job was stopped";
  return why == "stop" ? "before the run was stopped" : "on request";
}

std::string DumpNoteText(const DumpNote& note) {
  if (note.kind == "no_tools") {
    return "no py-spy or gdb on the PATH of the processes, so only what the kernel shows; pip install py-spy, or the "
           "package gdb, makes stacks visible";
  }
  if (note.kind == "no_py_spy") {
    return "no py-spy on the PATH of the processes, so Python's own frames are not seen; pip install py-spy";
  }
  if (note.kind == "refused") {
    return "the kernel does not allow inspecting processes: " + note.detail +
           "; it requires the same user, CAP_SYS_PTRACE in a container, and kernel.yama.ptrace_scope = 0";
  }
  if (note.kind == "late") return "timed out before tools had shown the stacks of " + note.detail;
  if (note.kind == "file") return "a file could not be written: " + note.detail;
  return note.detail;
}

}  // namespace

std::string DumpText(const DumpReport& dump, std::size_t most) {
  std::set<std::string> tools;
  for (const DumpGroup& group : dump.groups) {
    for (const SystemProcessState& state : group.first.states) {
      if (!state.by.empty()) tools.insert(state.by);
    }
  }
  std::string by;
  for (const std::string& tool : tools) by += (by.empty() ? ", stacks by " : " and ") + tool;
  std::string text = fmt::format("  {:<10}{}, taken {}{}; all of it in {}/\n", "dump", dump.number, WhyText(dump.why),
                                 by, dump.folder);
  for (std::size_t i = 0; i < std::min(dump.groups.size(), most); ++i) text += GroupText(dump.groups[i]);
  if (dump.groups.size() > most) {
    text += fmt::format("    … and {} more places, in report.json\n", dump.groups.size() - most);
  }
  if (!dump.unheard.empty()) text += fmt::format("    {}: no data\n", Printable(MembersText(dump.unheard)));
  if (!dump.ended) text += "    it is still in progress, or was interrupted\n";
  if (dump.ended && !dump.complete) text += "    it ended before all hosts had reported\n";
  // A note about several hosts is printed once.
  std::map<std::string, std::string> hosts;
  std::vector<std::string> order;
  for (const auto& [host, note] : dump.notes) {
    const std::string said = DumpNoteText(note);
    std::string& those = hosts[said];
    if (those.empty()) order.push_back(said);
    those += (those.empty() ? "" : ", ") + host;
  }
  for (const std::string& said : order) {
    text += fmt::format("    {}: {}\n", Printable(hosts[said]), Printable(said));
  }
  return text;
}

// Writes the lines about contexts in report.txt: ContextText of context_report.h.

namespace {

// Usually only a few of a recipe's forty attributes are changed; more than these indicate an obvious error.
constexpr std::size_t kMaxShown = 10;

std::string Who(const ContextReport& context) {
  return fmt::format("{}.{}", context.role, IndexRanges(context.indices));
}

std::string By(const ContextReport& context) {
  if (!context.other_release) {
    return context.release.empty() ? "" : fmt::format(" (MindSpore {})", context.release);
  }
  return fmt::format(" to {}, though the recipe is for {}",
                     context.release.empty() ? "a MindSpore without a release number" : "MindSpore " + context.release,
                     context.expected);
}

std::string WhatBecame(const ContextReport& context) {
  if (context.state == "applied") return "applied" + By(context);
  if (context.state == "overridden") return fmt::format("applied{}, and changed by the script:", By(context));
  if (context.state == "unknown") {
    return fmt::format("applied{}; the process ended before its last values could be read", By(context));
  }
  if (context.state == "not_wrapped") {
    return fmt::format("applied{} without parallel: the script did not call muster_context.parallel(network)",
                       By(context));
  }
  if (context.state == "never_read") {
    return "never read: no Python with muster's sitecustomize was started (python3 -I, -E and -S disable it)";
  }
  if (context.state == "never_imported") return "never applied: the script did not import mindspore";
  if (context.state == "incomplete") return "not applied completely: the process ended meanwhile";
  std::string text = context.state == "failed" ? "not applied" : "unknown: its record cannot be read";
  for (const ContextReport::Problem& problem : context.errors) text += ": " + problem.message;
  return text;
}

}  // namespace

std::string IndexRanges(const std::vector<std::uint32_t>& indices) {
  std::string text;
  for (std::size_t i = 0; i < indices.size();) {
    std::size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", indices[i]);
    if (last > i) text += fmt::format("-{}", indices[last]);
    i = last + 1;
  }
  return text;
}

std::string ContextText(const std::vector<ContextReport>& contexts) {
  std::string text;
  for (const ContextReport& context : contexts) {
    text += fmt::format("  {:<10}{}: {}\n", text.empty() ? "context" : "", Printable(Who(context)),
                        Printable(WhatBecame(context)));
    std::size_t shown = 0;
    for (const ContextReport::Change& change : context.overridden) {
      if (shown++ == kMaxShown) {
        text += fmt::format("  {:<12}and {} more\n", "", context.overridden.size() - kMaxShown);
        break;
      }
      const std::string line = fmt::format("{}: {} was {}, and {} at the end", change.function, change.attribute,
                                           ToText(change.planned), ToText(change.found));
      text += fmt::format("  {:<12}{}\n", "", Printable(line));
    }
  }
  return text;
}

// Writes report.txt: ReportText of report.h. A few lines about the run, the first failure first.

namespace {

std::string NameOf(const std::string& role, std::uint32_t index) { return fmt::format("{}.{}", role, index); }

std::string Headline(const Report& report) {
  if (report.outcome == "ok") return fmt::format("succeeded after {}", DurationText(report.timings.total));
  if (report.outcome == "running")
    return fmt::format("is running; its last event came after {}", DurationText(report.timings.total));
  std::string why = report.why;
  if (report.first_failure) {
    const FailureReport& failure = *report.first_failure;
    why = fmt::format("{}{}{} {}", NameOf(failure.role, failure.index),
                      failure.rank               ? fmt::format(" (rank {})", *failure.rank)
                      : failure.ranks_by.empty() ? ""
                                                 : fmt::format(" (rank assigned by {})", failure.ranks_by),
                      failure.host.empty() ? "" : fmt::format(" on {}", failure.host), failure.why);
    if (failure.spawn_stage.empty()) why += fmt::format(" after {}", DurationText(failure.after_seconds));
  }
  return fmt::format("{}: {}", report.outcome, why);
}

// Green, red, or yellow for other verdicts.
std::string Coloured(const std::string& text, std::string_view verdict, bool colour) {
  if (!colour) return text;
  const bool good = verdict == "ok" || verdict == "running";
  const bool bad = verdict == "failed" || verdict == "origin" || verdict == "lost" || verdict == "killed";
  return fmt::format("\x1b[1;{}m{}\x1b[0m", good ? 32 : bad ? 31 : 33, text);
}

// Verdicts as report.json has them, for readers.
std::string VerdictWords(const std::string& verdict) {
  if (verdict == "origin") return "failed first";
  if (verdict == "victim") return "ended because of it";
  return verdict == "not_started" ? "not started" : verdict;
}

// "worker: 1 failed first, 3 ended because of it"; the first failure is described above.
std::string VerdictCounts(const Report& report, bool colour) {
  std::vector<std::string> order;
  std::map<std::string, std::map<std::string, std::size_t>> roles;
  for (const ProcessReport& process : report.processes) {
    if (roles.find(process.role) == roles.end()) order.push_back(process.role);
    ++roles[process.role][process.verdict];
  }
  std::string text;
  for (const std::string& role : order) {
    text += fmt::format("  {:<9} ", role);  // names may be longer
    const char* separator = "";
    for (const auto& [verdict, count] : roles[role]) {
      text += fmt::format("{}{} {}", separator, count, Coloured(VerdictWords(verdict), verdict, colour));
      separator = ", ";
    }
    text += '\n';
  }
  return text;
}

// A line with the label for each of the last few, which matter most.
template <class Items, class Text>
std::string LastLines(std::string_view label, const Items& items, const Text& text_of) {
  constexpr std::size_t kShown = 5;
  const std::size_t skipped = items.size() > kShown ? items.size() - kShown : 0;
  std::string text;
  if (skipped > 0) text += fmt::format("  {:<10}{} earlier ones\n", label, skipped);
  for (std::size_t i = skipped; i < items.size(); ++i) text += fmt::format("  {:<10}{}\n", label, text_of(items[i]));
  return text;
}

// What a drill did, so that nobody takes its failures for the run's own.
std::string FaultLines(const Report& report) {
  return LastLines("fault", report.faults, [](const FaultReport& each) {
    return fmt::format("{} after {}, by the drill", FaultText(each.fault), DurationText(each.after));
  });
}

std::string RestartLines(const Report& report) {
  return LastLines("restart", report.restarts, [](const RestartReport& restart) {
    return Printable(restart.why) + (restart.processes == 1 ? std::string()
                                     : restart.scope == "process"
                                         ? fmt::format("; {} processes", restart.processes)
                                         : fmt::format("; all {} of its {}", restart.processes, restart.scope));
  });
}

// The last verdict, if it is that a restart cannot help, or not on that host.
std::string VerdictLine(const Report& report) {
  if (report.failures.empty() || !report.failures.back().judged) return {};
  const FailureJudged& judged = *report.failures.back().judged;
  if (judged.verdict == RestartVerdict::kRestart) return {};
  const std::string what = judged.verdict == RestartVerdict::kStop ? "stop" : "exclude " + judged.host_name;
  return fmt::format("  {:<10}{}: {}{}\n", "verdict", Printable(what), Printable(judged.evidence),
                     judged.obeyed ? "" : " (not obeyed: muster docs verdicts)");
}

std::string ReplacementLines(const Report& report) {
  std::string text;
  for (const ReplacementReport& each : report.replacements) {
    text += fmt::format("  {:<10}{} replaced {}{}\n", "host", Printable(each.by), Printable(each.host),
                        each.why.empty() ? "" : fmt::format(", which was lost: {}", Printable(each.why)));
  }
  return text;
}

// If the host has another clock than the head: the time of the failure and its uncertainty.
std::string ClockLine(const FailureReport& failure) {
  if (!failure.at_error || *failure.at_error == 0) return {};
  return fmt::format("  {:<10}{} by the head's clock, ± {}\n", "at", Printable(failure.at),
                     DurationText(std::max(*failure.at_error, 0.0001)));  // "0.0 ms" would suggest perfect precision
}

// The last dump is shown, because it is closest to the end; earlier ones are only mentioned.
std::string DumpLines(const Report& report) {
  constexpr std::size_t kMaxPlaces = 6;
  if (report.dumps.empty()) return {};
  std::string text;
  if (report.dumps.size() > 1) text += fmt::format("  {:<10}{} earlier ones\n", "dump", report.dumps.size() - 1);
  return text + DumpText(report.dumps.back(), kMaxPlaces);
}

// "worker.0 0-3, worker.1 4-7 and 6 more", from the texts of `of` for each process; empty if all are empty.
template <class Of>
std::string Given(const Report& report, const char* name, const Of& of) {
  constexpr std::size_t kShown = 8;
  std::string text;
  std::size_t given = 0;
  for (const ProcessReport& process : report.processes) {
    const std::string what = of(process);
    if (what.empty() || ++given > kShown) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", NameOf(process.role, process.index), Printable(what));
  }
  if (given == 0) return {};
  return fmt::format("  {:<10}{}{}\n", name, text, given > kShown ? fmt::format(" and {} more", given - kShown) : "");
}

// Processes are called "left" only if all agents have reported their end. If one is lost, or the head was killed, their
// state is unknown, although the agents or their guards will have killed everything.
std::string ReceiptLine(const Report& report) {
  const Receipt& receipt = report.receipt;
  std::string by;
  for (const std::string& each : receipt.by) by += (by.empty() ? "" : ", ") + each;
  const char* left = "left";
  if (report.outcome == "running") left = "running";
  if (receipt.left > 0 && report.outcome != "running" && (!receipt.attested || report.outcome == "lost")) {
    left = "not accounted for";
  }
  if (report.outcome != "running" && !report.replacements.empty() && receipt.left > 0) left = "lost with their host";
  return fmt::format("{} started, {} exited, {} {}{}{}", receipt.started, receipt.reaped, receipt.left, left,
                     receipt.adopted > 0 ? fmt::format(", {} orphans cleaned up", receipt.adopted) : "",
                     by.empty() ? "" : fmt::format(" (by {})", by));
}

std::string TimingsLine(const Timings& t) {
  std::string line;
  for (const auto& [name, seconds] :
       {std::pair{"plan", t.plan}, std::pair{"connect", t.connect}, std::pair{"spawn", t.spawn},
        std::pair{"run", t.run}, std::pair{"linger", t.linger}, std::pair{"stop", t.stop},
        std::pair{"finish", t.finish}}) {
    if (seconds > 0) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, DurationText(seconds));
  }
  return line;
}

// "worker.0 loss 0.25, step 100": the last values.
std::string MetricsLine(const RoleMetrics& metrics) {
  constexpr std::size_t kShown = 8;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, value] : metrics.last) {
    if (++shown > kShown) continue;
    text += fmt::format("{}{} {}", text.empty() ? " " : ", ", name, ToText(value));
  }
  if (shown > kShown) text += fmt::format(", and {} more", shown - kShown);
  if (!metrics.not_finite.empty()) {
    std::vector<std::string> names(metrics.not_finite.begin(), metrics.not_finite.end());
    const std::size_t more = names.size() - std::min(names.size(), kShown);
    names.resize(names.size() - more);
    text += fmt::format("{}not finite: {}", text.empty() ? " " : "; ", Joined(names, ", "));
    if (more > 0) text += fmt::format(" and {} more", more);
  }
  if (metrics.bad_lines > 0) text += fmt::format("; {} of {} lines are invalid", metrics.bad_lines, metrics.lines);
  return fmt::format("  {:<10}{}.{}{}\n", "metrics", Printable(metrics.role), metrics.index, Printable(text));
}

std::string RunLine(const Report& report) { return fmt::format("  {:<10}{}\n", "run", Printable(report.run_dir)); }

// The last lines of the first failure without the traceback of its error file, which is shown above them.
std::string LastLinesText(const FailureReport& failure) {
  std::vector<std::string> lines = failure.last_lines;
  if (failure.analysis.error) {
    const std::vector<std::string>& traceback = failure.analysis.error->traceback;
    // Either text may lack its beginning: the end of the traceback may be the beginning of the lines.
    for (std::size_t skipped = 0; skipped < traceback.size(); ++skipped) {
      const auto from = traceback.begin() + static_cast<std::ptrdiff_t>(skipped);
      const auto found = std::search(lines.begin(), lines.end(), from, traceback.end());
      if (found == lines.end() || (skipped > 0 && found != lines.begin())) continue;
      lines.erase(found, found + (traceback.end() - from));
      break;
    }
  }
  if (lines.empty()) return {};
  std::string text = fmt::format("  last lines of {}:\n", failure.log);
  for (const std::string& line : lines) text += fmt::format("    {}\n", Printable(line));
  return text;
}

// The last lines above are missing because of it.
std::string UnreadableLines(const Report& report) {
  constexpr std::size_t kShown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, report.unreadable_logs.size()); ++i) {
    text += fmt::format("  {:<10}cannot be read: {}\n", "log", Printable(report.unreadable_logs[i]));
  }
  if (report.unreadable_logs.size() > kShown) {
    text += fmt::format("  {:<10}{} more cannot be read\n", "log", report.unreadable_logs.size() - kShown);
  }
  return text;
}

std::string FileLines(const Report& report) {
  constexpr std::size_t kShown = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, report.files.size()); ++i)
    text += fmt::format("  {:<10}{}\n", i == 0 ? "files" : "", Printable(FileText(report, report.files[i])));
  if (report.files.size() > kShown)
    text += fmt::format("  {:<10}{} more in report.json\n", "", report.files.size() - kShown);
  return text;
}

// Problems of a run that succeeded: deviations from the recipe.
std::string Aside(const Report& report) {
  std::vector<ContextReport> contexts;
  for (const ContextReport& context : report.contexts) {
    if (context.state != "applied") contexts.push_back(context);
  }
  std::string text = FaultLines(report) + ReplacementLines(report) + RestartLines(report) + ContextText(contexts) +
                     UnreadableLines(report);
  if (const std::string dropped = DroppedLogsText(report.dropped_logs); !dropped.empty())
    text += fmt::format("  {:<10}{}\n", "logs", Printable(dropped));
  return text;
}

}  // namespace

std::string FileText(const Report& report, const EvidenceFile& file) {
  const ProcessReport* owner = file.process ? &report.processes[*file.process] : nullptr;
  return fmt::format("{}{}: {}", file.path,
                     owner == nullptr ? "" : fmt::format(" ({})", NameOf(owner->role, owner->index)), file.what);
}

std::string ReportText(const Report& report, const ReportView& view) {
  std::string text =
      fmt::format("{}{} {}\n",
                  report.drill       ? "drill of "
                  : report.rehearsal ? "rehearsal of "
                                     : "",
                  Printable(report.name), Coloured(Printable(Headline(report)), report.outcome, view.colour));
  if (report.outcome == "ok" && !view.details) return text + Aside(report) + RunLine(report);
  text += FaultLines(report);
  if (report.first_failure) {
    const FailureReport& failure = *report.first_failure;
    text += ClockLine(failure);
    text += FailureHeadline(failure.analysis, !view.output_shown);
    text += view.output_shown ? fmt::format("  {:<10}{}\n", "log", failure.log) : LastLinesText(failure);
    text += FailureDetails(failure.analysis, NameOf(failure.role, failure.index), failure.why);
  }
  text += FileLines(report);
  text += FailedActivationText(report.activations);
  text += DumpLines(report);
  text += ReplacementLines(report);
  text += RestartLines(report);
  text += VerdictLine(report);
  text += VerdictCounts(report, view.colour);
  text += Given(report, "devices", [](const ProcessReport& process) { return Joined(process.devices); });
  text += Given(report, "cores", [](const ProcessReport& process) { return process.cores; });
  text += ContextText(report.contexts);
  text += ActivationText(report.activations);
  text += CodeText(report.code);
  if (const std::string dropped = DroppedLogsText(report.dropped_logs); !dropped.empty()) {
    text += fmt::format("  {:<10}{}\n", "logs", Printable(dropped));
  }
  text += UnreadableLines(report);
  if (view.times || report.receipt.left > 0) {
    text += fmt::format("  {:<10}{}\n", "receipt", Printable(ReceiptLine(report)));
  }
  if (!report.receipt.silent_hosts.empty() && report.receipt.left > 0 && report.outcome != "running") {
    text += fmt::format("  {:<10}if {} runs: muster clean {} there ends what may be left\n", "",
                        Printable(Joined(report.receipt.silent_hosts)), Printable(report.run));
  }
  if (const std::string timings = TimingsLine(report.timings); view.times && !timings.empty()) {
    text += fmt::format("  {:<10}{}\n", "time", timings);
  }
  if (view.times) text += StartupText(report.startup);
  text += RunLine(report);
  if (report.job) text += JobLines(*report.job);
  if (report.resumed) {
    text += fmt::format("  {:<10}run {}, from {}\n", "resumed", Printable(report.resumed->run),
                        Printable(report.resumed->checkpoint));
  }
  if (!report.tags.empty()) text += fmt::format("  {:<10}{}\n", "tags", Joined(report.tags));
  if (!report.note.empty()) text += fmt::format("  {:<10}{}\n", "note", NoteText(report.note, 12));
  for (const RoleMetrics& metrics : report.metrics) text += MetricsLine(metrics);
  if (!report.checkpoint.empty()) text += fmt::format("  {:<9} {}\n", "checkpoint", Printable(report.checkpoint));
  if (!report.no_checkpoint.empty()) {
    text += fmt::format("  {:<9} {}\n", "checkpoint", Printable(report.no_checkpoint));
  }
  if (!report.parent.empty() && !(report.resumed && report.resumed->run == report.parent)) {
    text += fmt::format("  {:<10}run {}\n", "from", Printable(report.parent));
  }
  if (report.outcome != "ok" && report.outcome != "running") {
    text += fmt::format("  {:<10}{}\n", "exit code", report.exit_code);
  }
  if (!report.journal_damage.empty()) {
    text += fmt::format("  the journal could be read only in part: {}\n", Printable(report.journal_damage));
  }
  return text;
}

}  // namespace muster
