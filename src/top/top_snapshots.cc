#include "top/top_snapshots.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/host_name.h"
#include "run/directory/process_output.h"
#include "run/directory/run_directory.h"
#include "wire/files/run_layout.h"

namespace muster {

LastWords::LastWords(const std::string& logs_folder)
    : folder_(::open(logs_folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

const std::string& LastWords::Of(const std::string& name) {
  Known& known = known_[name];
  struct stat status {};
  if (!folder_ || ::fstatat(folder_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(status.st_mode)) {
    known = {};
    return known.line;
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::int64_t changed = std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  if (known.size == size && known.changed_ns == changed) return known.line;
  known = {size, changed, {}};
  constexpr std::size_t kFew = 4;
  constexpr std::size_t kWindow = 8U << 10;
  for (std::string& line : LastLines(folder_.get(), name, kFew, kWindow)) {
    if (line.find_first_not_of(" \t") != std::string::npos) known.line = std::move(line);
  }
  return known.line;
}

std::optional<ProcStat> ParseProcStat(std::string_view text) {
  // The name in field 2 may contain blanks and brackets.
  std::size_t at = text.rfind(") ");
  if (at == std::string_view::npos) return std::nullopt;
  at += 2;
  ProcStat stat;
  for (int field = 3; field <= 24; ++field) {
    const std::size_t end = std::min(text.find_first_of(" \n", at), text.size());
    std::uint64_t number = 0;
    const bool ok = std::from_chars(text.data() + at, text.data() + end, number).ec == std::errc();
    const bool wanted = field == 14 || field == 15 || field == 22 || field == 24;
    if (wanted && !ok) return std::nullopt;
    if (field == 14 || field == 15) stat.cpu_ticks += number;
    if (field == 22) stat.start_ticks = number;
    if (field == 24) stat.rss_pages = number;
    if (end == text.size() && field < 24) return std::nullopt;
    at = end + 1;
  }
  return stat;
}

namespace {

double SecondsSinceBoot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

}  // namespace

LoadMeter::LoadMeter()
    : ticks_per_second_(static_cast<double>(::sysconf(_SC_CLK_TCK))),
      page_kib_(static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 1024) {}

void LoadMeter::Next() {
  before_ = std::exchange(seen_, {});
  uptime_ = SecondsSinceBoot();
  now_ns_ = MonotonicNowNs();
}

std::optional<Load> LoadMeter::Of(std::int32_t pid, std::uint64_t start_ticks) {
  const UniqueFd file(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text;
  const ssize_t got = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (got <= 0) return std::nullopt;
  const auto stat = ParseProcStat({text.data(), static_cast<std::size_t>(got)});
  if (!stat || stat->start_ticks != start_ticks) return std::nullopt;
  seen_[pid] = {start_ticks, stat->cpu_ticks, now_ns_};
  double seconds = uptime_ - static_cast<double>(start_ticks) / ticks_per_second_;
  std::uint64_t ticks = stat->cpu_ticks;
  const auto before = before_.find(pid);
  if (before != before_.end() && before->second.start_ticks == start_ticks && ticks >= before->second.cpu_ticks) {
    ticks -= before->second.cpu_ticks;
    seconds = static_cast<double>(now_ns_ - before->second.at_ns) / 1e9;
  }
  // Times are counted in ticks: intervals below one tick give no value.
  Load load;
  if (seconds * ticks_per_second_ >= 1) {
    load.cpu_percent = 100 * static_cast<double>(ticks) / (seconds * ticks_per_second_);
  }
  load.memory_kib = stat->rss_pages * page_kib_;
  return load;
}

namespace {

std::string LogName(const TopProcess& process, std::uint32_t attempt) {
  return fmt::format("{}.{}.log", process.name, attempt);
}

// The first log of the folder by name; empty if there is none.
std::string FirstLog(const std::string& folder) {
  std::string first;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().string();
    if (path.ends_with(".log") && (first.empty() || path < first)) first = path;
  }
  return first;
}

}  // namespace

TopSnapshots::TopSnapshots(std::string run_dir)
    : run_dir_(std::move(run_dir)), own_host_(OwnHostName()), last_words_(kLogsEntry.In(run_dir_)) {}

std::string TopSnapshots::LogPath(const TopProcess& process, std::uint32_t attempt) const {
  return process.log_folder.empty() ? run_dir_ + "/logs/" + LogName(process, attempt) : FirstLog(process.log_folder);
}

void TopSnapshots::AddLastLines(TopState& state) {
  for (TopProcess& process : state.processes) process.last_line = last_words_.Of(LogName(process, process.attempt));
}

TopState TopSnapshots::Living(const ControlAnswer& answer) {
  TopState state = TopStateOf(answer, run_dir_);
  loads_.Next();
  for (TopProcess& process : state.processes) {
    if (process.pid == 0 || process.host != own_host_) continue;
    const auto load = loads_.Of(process.pid, process.start_ticks);
    if (!load) continue;
    process.cpu = load->cpu_percent;
    process.memory_kib = load->memory_kib;
  }
  AddLastLines(state);
  CountRoles(state);
  state.metrics = NewestReports(run_dir_);
  return state;
}

Result<TopState> TopSnapshots::Ended() {
  const Result<Report> report = MakeReport(run_dir_);
  if (!report) return Fail(report.error());
  TopState state = TopStateOf(*report);
  AddLastLines(state);
  return state;
}

Result<TopState> ReadTopState(const std::string& run_dir) {
  TopSnapshots look(run_dir);
  if (!IsRunLive(run_dir)) return look.Ended();
  Result<ControlConnection> head = ControlConnection::Open(run_dir);
  if (head) {
    if (const Result<ControlAnswer> answer = head->Ask({ControlRequest::Ask::kProcesses})) return look.Living(*answer);
  }
  // The run may have ended meanwhile.
  if (!IsRunLive(run_dir)) return look.Ended();
  return Fail(head ? Diagnostics{MachineError("control", "the head of the run does not report its processes",
                                              "possibly another version of muster; muster watch follows its journal")}
                   : head.error());
}

}  // namespace muster
