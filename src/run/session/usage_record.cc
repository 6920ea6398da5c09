#include "run/session/usage_record.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/private_files.h"
#include "run/session/live_run.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::uint64_t kIntervalMs = 5'000;
constexpr std::string_view kVariable = "MUSTER_USAGE_SECONDS=";
constexpr std::size_t kSpare = 256U << 10;  // bytes that are appended before the file is rewritten

}  // namespace

std::uint64_t UsageIntervalMs(const std::vector<std::string>& environment) {
  constexpr double kMaxSeconds = 24 * 3600;
  for (const std::string& variable : environment) {
    if (!variable.starts_with(kVariable)) continue;
    const char* const end = variable.data() + variable.size();
    double seconds = 0;
    const auto read = std::from_chars(variable.data() + kVariable.size(), end, seconds);
    if (read.ec != std::errc() || read.ptr != end || !(seconds >= 0 && seconds <= kMaxSeconds)) continue;
    return static_cast<std::uint64_t>(std::ceil(seconds * 1000));
  }
  return kIntervalMs;
}

void UsageRecord::Keep(const UsageSampled& sample) {
  if (failed_ || sample.processes.empty()) return;
  if (!history_) history_.emplace(run_.plan.processes.size());
  const std::uint64_t at_ms = (run_.clock->Monotonic() - run_.began_at) / 1'000'000;
  std::vector<std::pair<ProcessId, UsagePoint>> points;
  for (const ProcessUsage& usage : sample.processes) {
    points.emplace_back(usage.process, UsagePoint{at_ms, usage.attempt, usage.running_ms, usage.cpu_ms,
                                                  usage.memory_kib, usage.device_kib});
    history_->Add(usage.process, points.back().second);
  }
  const std::string line = UsageLine(at_ms, points);
  if (file_ && appended_ + line.size() > std::max(rewritten_, kSpare)) {
    failed_ = !Rewrite();
  } else if (const int error = Write(line); error != 0) {
    failed_ = true;
    run_.console.Warn(fmt::format("resource usage is no longer recorded: cannot write {}: {}", kUsageEntry.name,
                                  std::system_category().message(error)));
  }
}

int UsageRecord::Write(const std::string& line) {
  const int folder = run_.directory->folder();
  if (!file_) {
    auto created = CreateFile(folder, kUsageEntry.name, O_APPEND);
    if (!created) return EIO;
    file_ = std::move(*created);
  }
  appended_ += line.size();
  return WriteAll(file_.get(), line);
}

bool UsageRecord::Rewrite() {
  const int folder = run_.directory->folder();
  const std::string lines = history_->Lines();
  const auto replaced = ReplaceFile(folder, kUsageEntry.name, lines);
  if (replaced) file_ = UniqueFd(::openat(folder, kUsageEntry.name, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  if (!replaced || !file_) {
    run_.console.Warn(fmt::format("resource usage is no longer recorded: {} cannot be rewritten", kUsageEntry.name));
    return false;
  }
  rewritten_ = lines.size();
  appended_ = 0;
  return true;
}

}  // namespace muster
