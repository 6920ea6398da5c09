#include "cli/plan/failure_trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "cli/command/small_file.h"

namespace muster {
namespace {

constexpr std::uintmax_t kMaxTrace = 64U << 20;

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
    SimulatedFailure failure;
    failure.down = down_s;
    int used = 0;
    const int fields = std::sscanf(line.c_str(), "%lf %u %lf %n", &failure.at, &failure.machine, &failure.down, &used);
    const bool sane = std::isfinite(failure.at) && failure.at >= 0 && std::isfinite(failure.down) && failure.down >= 0;
    if (fields < 2 || !sane || (fields == 3 && static_cast<std::size_t>(used) < line.size())) {
      return Fail(Error("trace", {file, number}, fmt::format("{} is no failure", Quoted(std::string(Trimmed(line)))),
                        "seconds, the number of a host, and optionally the seconds that it was down: 86400 17 3600"));
    }
    failures.push_back(failure);
    if (failures.size() > kMaxSimulatedFailures)
      return Fail(
          Error("trace", {file, number}, fmt::format("there are more than {} failures", kMaxSimulatedFailures)));
  }
  std::stable_sort(failures.begin(), failures.end(),
                   [](const SimulatedFailure& a, const SimulatedFailure& b) { return a.at < b.at; });
  return failures;
}

}  // namespace muster
