// Writes the analysis of a first failure for report.txt: FailureHeadline and FailureDetails of failure_analysis.h.
#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "run/report/context_report.h"
#include "run/report/failure_analysis.h"

namespace muster {
namespace {

constexpr std::size_t kMostGroups = 4;
constexpr std::size_t kMostLines = 6;
constexpr std::size_t kMostEntries = 12;
constexpr std::size_t kMostMembers = 6;
constexpr std::size_t kMostTraceback = 12;

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

std::string Plural(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// The error file of the process.
std::string NoteText(const ErrorNote& note, bool with_traceback = true) {
  if (!note.unreadable.empty()) return Row("error", "its error file cannot be read: " + note.unreadable);
  std::string text = Row("error", note.message);
  const auto& lines = note.traceback;
  const std::size_t skipped = lines.size() > kMostTraceback ? lines.size() - kMostTraceback : 0;
  for (std::size_t i = skipped; with_traceback && i < lines.size(); ++i) text += Row("", "  " + lines[i]);
  std::size_t shown = 0;
  for (const auto& [name, value] : note.more) {
    if (shown++ == kMostMembers) break;
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
  if (group.error) text += NoteText(*group.error);
  for (const std::string& evidence : group.evidence) text += Row("evidence", evidence);
  const std::size_t skipped = group.lines.size() > kMostLines ? group.lines.size() - kMostLines : 0;
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

std::string FailureHeadline(const FailureAnalysis& account, bool with_traceback) {
  std::string text;
  if (account.error) text += NoteText(*account.error, with_traceback);
  if (!account.hint.empty() && !(account.error && account.hint.find(account.error->message) != std::string::npos)) {
    text += Row("hint", account.hint);
  }
  for (const std::string& evidence : account.evidence) text += Row("evidence", evidence);
  for (const UncertainOrder& doubt : account.doubts) text += Row("order", DoubtText(doubt));
  std::size_t signs = 0;
  for (const EarlierSign& sign : account.signs) {
    if (signs++ == kMostGroups) break;
    text += Row("doubt", SignText(sign));
  }
  if (account.signs.size() > kMostGroups) {
    text += Row("", fmt::format("{} more in report.json", account.signs.size() - kMostGroups));
  }
  return text;
}

std::string FailureDetails(const FailureAnalysis& account, const std::string& origin_name, const std::string& why) {
  std::string text;
  Once once(why);
  for (std::size_t i = 0; i < std::min(account.others.size(), kMostGroups); ++i)
    text += GroupText(account.others[i], once);
  if (account.others.size() > kMostGroups) {
    text += fmt::format("  … and {} that ended differently\n", Plural(account.others.size() - kMostGroups, "group"));
  }
  // With only one entry, the timeline would repeat the first failure.
  if (account.timeline.size() < 2) return text;
  // Selects entries so that the first failure is included.
  const auto zero = std::find_if(account.timeline.begin(), account.timeline.end(),
                                 [](const TimelineEntry& entry) { return entry.from >= 0; });
  const auto at = static_cast<std::size_t>(zero - account.timeline.begin());
  const std::size_t first = at > kMostEntries / 3 ? at - kMostEntries / 3 : 0;
  text += fmt::format("  around the first failure, that of {}:\n", Printable(origin_name));
  if (first > 0) text += fmt::format("    {} before\n", Plural(first, "entry"));
  for (std::size_t i = first; i < std::min(account.timeline.size(), first + kMostEntries); ++i) {
    const TimelineEntry& entry = account.timeline[i];
    const std::string until = entry.to - entry.from < 0.0005 ? "" : fmt::format(", the last at {}", TimeText(entry.to));
    const bool several = entry.who.size() > 1 || entry.who.front().indices.size() > 1;
    const std::string what = several && entry.what.starts_with("was ") ? "were " + entry.what.substr(4) : entry.what;
    text += fmt::format("    {:<9} {} {}{}\n", TimeText(entry.from), Printable(MembersText(entry.who)),
                        Printable(once(what)), until);
  }
  if (account.timeline.size() > first + kMostEntries) {
    text += fmt::format("    {} more in report.json\n", account.timeline.size() - first - kMostEntries);
  }
  return text;
}

}  // namespace muster
