#include "stub/records/stub_report.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

constexpr std::array<std::string_view, kChecks> kCheckNames = {
    "start", "ranks", "counts", "ports", "meeting", "hello", "devices", "files", "versions", "disk", "clock"};
constexpr std::array<std::string_view, 4> kOutcomes = {"ok", "failed", "not_checked", "note"};
constexpr std::array<std::string_view, 3> kKinds = {"program", "script", "path"};
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxEntries = 4096;

}  // namespace

// Members are in the order of their names.

template <class V>
void Fields(V& v, StubFinding& finding) {
  v("check", WithNames(finding.check, kCheckNames)), v("hint", Phrase{finding.hint, kMaxText});
  v("outcome", WithNames(finding.outcome, kOutcomes)), v("peers", AtMost(finding.peers, kMaxEntries));
  v("text", Phrase{finding.text, kMaxText});
}

template <class V>
void Fields(V& v, CheckedFile& file) {
  v("bytes", file.bytes), v("hash", Phrase{file.hash, kMaxText}), v("kind", WithNames(file.kind, kKinds));
  v("path", Phrase{file.path, kMaxText}), v("why", Phrase{file.why, kMaxText}), v("word", Phrase{file.word, kMaxText});
}

template <class V>
void Fields(V& v, ClockDifference& clock) {
  v("error_ns", clock.error_ns), v("offset_ns", clock.offset_ns), v("peer", clock.peer);
}

template <class V>
void Fields(V& v, StubReport& report) {
  std::int64_t format = 1;
  v("clocks", AtMost(report.clocks, kMaxEntries)), v("files", AtMost(report.files, kMaxEntries));
  v("findings", AtMost(report.findings, kMaxEntries)), v("greeted", report.greeted), v("muster_stub", format);
  v("process", report.process), v("says_rank", report.says_rank), v("stopped", report.stopped);
  if constexpr (V::kReading) {
    if (format != 1) v.Fail();
  }
}

std::string_view CheckName(Check check) { return kCheckNames[static_cast<std::size_t>(check)]; }

std::string StubReportSchema() { return SchemaOf(StubReport()); }
std::string StubReportLine(const StubReport& report) { return JsonOf(report); }

std::optional<StubReport> ParseStubReport(std::string_view line) {
  if (line.size() > kMaxReportBytes || !line.starts_with('{')) return std::nullopt;
  auto report = FromJson<StubReport>(line);
  return report ? std::optional(*std::move(report)) : std::nullopt;
}

std::string StubReportText(const StubReport& report) {
  constexpr std::array<const char*, 4> kWords = {"ok", "FAILED", "not checked", "note"};
  std::string text;
  for (const StubFinding& finding : report.findings) {
    text += fmt::format("{:<9} {:<12}{}", CheckName(finding.check), kWords[static_cast<std::size_t>(finding.outcome)],
                        Printable(finding.text));
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
    if (!finding.hint.empty()) text += fmt::format("{:<9} hint: {}\n", "", Printable(finding.hint));
  }
  return text;
}

}  // namespace muster
