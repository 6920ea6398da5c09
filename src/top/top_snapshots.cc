#include "top/top_snapshots.h"

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/system/host_name.h"
#include "run/control/control_protocol.h"
#include "run/directory/run_directory.h"

namespace muster {
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
    : run_dir_(std::move(run_dir)), own_host_(OwnHostName()), last_words_(run_dir_ + "/logs") {}

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
