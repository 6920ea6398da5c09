#include "run/report/code_report.h"

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "code/git.h"
#include "run/hosts/host_differences.h"

namespace muster {
namespace {

constexpr std::size_t kShownDigits = 12;

}  // namespace

CodeReport MakeCodeReport(const CheckedJournal& journal) {
  CodeReport code;
  for (const JournalRecord& record : journal.records()) {
    if (const auto* seen = std::get_if<CodeSeen>(&record.entry)) code.seen = *seen;
    if (const auto* shipped = std::get_if<CodeShipped>(&record.entry)) code.shipped.push_back(*shipped);
  }
  return code;
}

std::string GitText(const CodeReport& code) {
  if (!code.seen) return {};
  const CodeSeen& seen = *code.seen;
  std::string text = seen.commit.empty() ? "no commit" : seen.commit.substr(0, 12);
  if (!seen.branch.empty()) text += " on " + seen.branch;
  if (seen.changed + seen.untracked > 0)
    text += fmt::format(", {} changed or untracked", seen.changed + seen.untracked);
  return text;
}

std::string CodeText(const CodeReport& code) {
  std::string text;
  if (code.seen) {
    const GitState state{code.seen->commit, code.seen->branch, code.seen->changed, code.seen->untracked, {}};
    text += fmt::format("  {:<10}{}\n", "code", GitStateText(state));
  }
  if (!code.shipped.empty()) {
    const CodeShipped& first = code.shipped.front();
    std::uint64_t sent = 0;
    for (const CodeShipped& each : code.shipped) sent += each.sent;
    text += fmt::format("  {:<10}{} of {}: {} file{}, {}, to {} host{}{}\n", "shipped",
                        Printable(first.hash.substr(0, kShownDigits)), Printable(first.from), first.files,
                        first.files == 1 ? "" : "s", RoughBytes(first.bytes), code.shipped.size(),
                        code.shipped.size() == 1 ? "" : "s",
                        sent == 0 ? ", which had it already" : fmt::format(" ({} sent)", RoughBytes(sent)));
  }
  return text;
}

}  // namespace muster
