#include "cli/plan/failure_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "cli/command/small_file.h"

namespace muster {
namespace {

constexpr std::uintmax_t kMaxTrace = 64U << 20;

std::optional<double> Seconds(const std::string& word) {
  char* end = nullptr;
  const double seconds = std::strtod(word.c_str(), &end);
  const bool decimal = word.find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (!decimal || *end != '\0' || !std::isfinite(seconds) || seconds < 0) return std::nullopt;
  return seconds;
}

std::optional<SimulatedFailure> FailureIn(const std::string& line, double down_s) {
  std::istringstream reader(line);
  const std::vector<std::string> words{std::istream_iterator<std::string>(reader), {}};
  if (words.size() < 2 || words.size() > 3) return std::nullopt;
  const auto at = Seconds(words[0]);
  const auto machine = ParseNumber<std::uint32_t>(words[1]);
  const auto down = words.size() == 3 ? Seconds(words[2]) : down_s;
  if (!at || !machine || !down) return std::nullopt;
  return SimulatedFailure{*at, *machine, *down};
}

}  // namespace

Result<void> CheckFailureShape(double shape) {
  if (shape >= 0.2 && shape <= 10) return {};
  return Fail(Error("usage", {}, fmt::format("--shape must be from 0.2 to 10, got {}", shape)));
}

Result<std::vector<SimulatedFailure>> ReadFailureTrace(const std::string& file, double down_s) {
  const auto text = ReadSmallFile(file, kMaxTrace);
  if (!text) return Fail(Error("file", {}, text.error()));
  std::vector<SimulatedFailure> failures;
  std::uint32_t number = 0;
  for (std::size_t begin = 0; begin < text->size();) {
    const std::size_t end = std::min(text->find('\n', begin), text->size());
    std::string line = text->substr(begin, std::min(end, text->find('#', begin)) - begin);
    begin = end + 1;
    ++number;
    std::replace_if(
        line.begin(), line.end(), [](char c) { return c == ',' || c == '\t' || c == '\r'; }, ' ');
    if (Trimmed(line).empty()) continue;
    const auto failure = FailureIn(line, down_s);
    if (!failure) {
      return Fail(Error("trace", {file, number}, fmt::format("{} is no failure", Quoted(std::string(Trimmed(line)))),
                        "seconds, the number of a host, and optionally the seconds that it was down: 86400 17 3600"));
    }
    failures.push_back(*failure);
    if (failures.size() > kMaxSimulatedFailures)
      return Fail(
          Error("trace", {file, number}, fmt::format("there are more than {} failures", kMaxSimulatedFailures)));
  }
  std::stable_sort(failures.begin(), failures.end(),
                   [](const SimulatedFailure& a, const SimulatedFailure& b) { return a.at < b.at; });
  return failures;
}

Result<Diagnostics> LeaveOutOtherHosts(std::vector<SimulatedFailure>& failures, std::size_t machines,
                                       const std::string& file) {
  const std::size_t left_out =
      std::erase_if(failures, [&](const SimulatedFailure& failure) { return failure.machine >= machines; });
  if (left_out == 0) return Diagnostics{};
  const std::string range =
      machines == 1 ? "there is host 0 alone" : fmt::format("there are hosts 0 to {}", machines - 1);
  if (failures.empty()) return Fail(Error("trace", {file, 0}, "all failures are of hosts that there are not", range));
  return Diagnostics{Warning("trace", {file, 0},
                             fmt::format("{} of hosts that there are not {} left out", Counted(left_out, "failure"),
                                         left_out == 1 ? "is" : "are"),
                             range)};
}

}  // namespace muster
