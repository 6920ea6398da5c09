#include "stub/records/stub_report.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/values/quoting.h"
#include "base/values/value_text.h"

namespace muster {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, kChecks> kCheckNames = {
    "start", "ranks", "counts", "ports", "meeting", "hello", "devices", "files", "versions", "disk", "clock"};
constexpr std::array<std::string_view, 4> kOutcomes = {"ok", "failed", "not_checked", "note"};
constexpr std::array<std::string_view, 3> kKinds = {"program", "script", "path"};
constexpr std::string_view kMark = "muster_stub";
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxEntries = 4096;

// The enumerator of that name, or the value for none.
template <class E, std::size_t N>
std::optional<E> Named(const std::array<std::string_view, N>& names, const Json& json) {
  if (!json.is_string()) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), json.get_ref<const std::string&>());
  if (found == names.end()) return std::nullopt;
  return static_cast<E>(found - names.begin());
}

const Json& Field(const Json& object, const char* name) {
  static const Json none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

std::string TextOf(const Json& object, const char* name) {
  const Json& field = Field(object, name);
  return field.is_string() ? field.get_ref<const std::string&>().substr(0, kMaxText) : std::string();
}

template <class N>
bool NumberOf(const Json& json, N& number) {
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned()) {
    if (!std::in_range<N>(json.get<std::uint64_t>())) return false;
    number = static_cast<N>(json.get<std::uint64_t>());
    return true;
  }
  if (!std::in_range<N>(json.get<std::int64_t>())) return false;
  number = static_cast<N>(json.get<std::int64_t>());
  return true;
}

// The objects of a list, at most kMaxEntries.
template <class Take>
bool EachOf(const Json& list, Take take) {
  if (!list.is_array() || list.size() > kMaxEntries) return false;
  return std::all_of(list.begin(), list.end(), [&](const Json& one) { return one.is_object() && take(one); });
}

bool TakeFinding(const Json& json, StubReport& account) {
  const auto check = Named<Check>(kCheckNames, Field(json, "check"));
  const auto outcome = Named<StubFinding::Outcome>(kOutcomes, Field(json, "outcome"));
  if (!check || !outcome) return false;
  StubFinding finding{*check, *outcome, TextOf(json, "text"), TextOf(json, "hint"), {}};
  const Json& peers = Field(json, "peers");
  if (!peers.is_array()) return false;
  for (const Json& peer : peers) {
    if (finding.peers.size() >= kMaxEntries || !NumberOf(peer, finding.peers.emplace_back())) return false;
  }
  account.findings.push_back(std::move(finding));
  return true;
}

}  // namespace

std::string_view CheckName(Check check) { return kCheckNames[static_cast<std::size_t>(check)]; }

std::string StubReportLine(const StubReport& account) {
  Json findings = Json::array();
  for (const StubFinding& finding : account.findings) {
    findings.push_back({{"check", CheckName(finding.check)},
                        {"outcome", kOutcomes[static_cast<std::size_t>(finding.outcome)]},
                        {"text", finding.text},
                        {"hint", finding.hint},
                        {"peers", finding.peers}});
  }
  Json files = Json::array();
  for (const CheckedFile& file : account.files) {
    files.push_back({{"kind", kKinds[static_cast<std::size_t>(file.kind)]},
                     {"word", file.word},
                     {"path", file.path},
                     {"why", file.why},
                     {"bytes", file.bytes},
                     {"hash", file.hash}});
  }
  Json clocks = Json::array();
  for (const ClockDifference& clock : account.clocks) {
    clocks.push_back({{"peer", clock.peer}, {"offset_ns", clock.offset_ns}, {"error_ns", clock.error_ns}});
  }
  Json json = {{kMark, 1},
               {"process", account.process},
               {"says_rank", account.says_rank ? Json(*account.says_rank) : Json(nullptr)},
               {"greeted", account.greeted},
               {"stopped", account.stopped},
               {"findings", std::move(findings)},
               {"files", std::move(files)},
               {"clocks", std::move(clocks)}};
  return SerializedJson(json);
}

std::optional<StubReport> ParseStubReport(std::string_view line) {
  if (line.size() > kMaxReportBytes || !line.starts_with('{')) return std::nullopt;
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || Field(json, kMark.data()) != 1) return std::nullopt;
  StubReport account;
  if (!NumberOf(Field(json, "process"), account.process) || !NumberOf(Field(json, "greeted"), account.greeted))
    return std::nullopt;
  if (std::int64_t rank = 0; NumberOf(Field(json, "says_rank"), rank)) account.says_rank = rank;
  if (!Field(json, "stopped").is_boolean()) return std::nullopt;
  account.stopped = Field(json, "stopped").get<bool>();
  const bool whole = EachOf(Field(json, "findings"), [&](const Json& one) { return TakeFinding(one, account); }) &&
                     EachOf(Field(json, "files"),
                            [&](const Json& one) {
                              const auto kind = Named<CheckedFile::Kind>(kKinds, Field(one, "kind"));
                              CheckedFile file{kind.value_or(CheckedFile::Kind::kPath),
                                               TextOf(one, "word"),
                                               TextOf(one, "path"),
                                               TextOf(one, "why"),
                                               0,
                                               TextOf(one, "hash")};
                              if (!kind || !NumberOf(Field(one, "bytes"), file.bytes)) return false;
                              account.files.push_back(std::move(file));
                              return true;
                            }) &&
                     EachOf(Field(json, "clocks"), [&](const Json& one) {
                       ClockDifference& clock = account.clocks.emplace_back();
                       return NumberOf(Field(one, "peer"), clock.peer) &&
                              NumberOf(Field(one, "offset_ns"), clock.offset_ns) &&
                              NumberOf(Field(one, "error_ns"), clock.error_ns);
                     });
  return whole ? std::optional(std::move(account)) : std::nullopt;
}

std::string StubReportText(const StubReport& account) {
  constexpr std::array<const char*, 4> kWords = {"ok", "FAILED", "not checked", "note"};
  std::string text;
  for (const StubFinding& finding : account.findings) {
    text += fmt::format("{:<9} {:<12}{}", CheckName(finding.check), kWords[static_cast<std::size_t>(finding.outcome)],
                        Printable(finding.text));
    while (text.ends_with(' ')) text.pop_back();
    text += '\n';
    if (!finding.hint.empty()) text += fmt::format("{:<9} hint: {}\n", "", Printable(finding.hint));
  }
  return text;
}

}  // namespace muster
