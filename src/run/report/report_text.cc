// Writes report.txt: ReportText of report.h. A few lines about the run, the first failure first.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "run/directory/run_tags.h"
#include "run/report/context_report.h"
#include "run/report/report.h"

namespace muster {
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
std::string Counted(const Report& report, bool colour) {
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

// The last few restarts, which matter most.
std::string RestartLines(const Report& report) {
  constexpr std::size_t kShown = 5;
  std::string text;
  const std::size_t skipped = report.restarts.size() > kShown ? report.restarts.size() - kShown : 0;
  if (skipped > 0) text += fmt::format("  {:<10}{} earlier ones\n", "restart", skipped);
  for (std::size_t i = skipped; i < report.restarts.size(); ++i) {
    const RestartReport& restart = report.restarts[i];
    text +=
        fmt::format("  {:<10}{}{}\n", "restart", Printable(restart.why),
                    restart.processes == 1       ? ""
                    : restart.scope == "process" ? fmt::format("; {} processes", restart.processes)
                                                 : fmt::format("; all {} of its {}", restart.processes, restart.scope));
  }
  return text;
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
  constexpr std::size_t kMostPlaces = 6;
  if (report.dumps.empty()) return {};
  std::string text;
  if (report.dumps.size() > 1) text += fmt::format("  {:<10}{} earlier ones\n", "dump", report.dumps.size() - 1);
  return text + DumpText(report.dumps.back(), kMostPlaces);
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

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
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
  if (metrics.bad_lines > 0) text += fmt::format("; {} of {} lines are invalid", metrics.bad_lines, metrics.lines);
  return fmt::format("  {:<10}{}.{}{}\n", "metrics", Printable(metrics.role), metrics.index, Printable(text));
}

std::string RunLine(const Report& report) { return fmt::format("  {:<10}{}\n", "run", Printable(report.run_dir)); }

// The last lines of the first failure without the traceback of its error file, which is shown above them.
std::string LastLinesText(const FailureReport& failure) {
  std::vector<std::string> lines = failure.last_lines;
  if (failure.account.error) {
    const std::vector<std::string>& traceback = failure.account.error->traceback;
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
  std::string text = ReplacementLines(report) + RestartLines(report) + ContextText(contexts) + UnreadableLines(report);
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
  std::string text = fmt::format("{}{} {}\n", report.rehearsal ? "rehearsal of " : "", Printable(report.name),
                                 Coloured(Printable(Headline(report)), report.outcome, view.colour));
  if (report.outcome == "ok" && !view.details) return text + Aside(report) + RunLine(report);
  if (report.first_failure) {
    const FailureReport& failure = *report.first_failure;
    text += ClockLine(failure);
    text += FailureHeadline(failure.account, !view.output_shown);
    text += view.output_shown ? fmt::format("  {:<10}{}\n", "log", failure.log) : LastLinesText(failure);
    text += FailureDetails(failure.account, NameOf(failure.role, failure.index), failure.why);
  }
  text += FileLines(report);
  text += FailedActivationText(report.activations);
  text += DumpLines(report);
  text += ReplacementLines(report);
  text += RestartLines(report);
  text += Counted(report, view.colour);
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
