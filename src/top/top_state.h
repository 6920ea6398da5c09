// What `muster top` shows, as values: a run, its roles and its processes at one moment.
//
// Knows what a head answers and what a report tells; not where CPU times and last lines come from, nor how it is drawn.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "run/control/control_protocol.h"
#include "run/directory/newest_metrics.h"
#include "run/report/report.h"

namespace muster {

struct TopProcess {
  std::string name;  // "worker.2"
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;
  std::string host;
  // As docs/control.md has it; of one that has ended how: "exit 1", "SIGKILL", "not started"; "lost" if that was not
  // seen.
  std::string state;
  std::uint32_t attempt = 0;
  std::int32_t pid = 0;  // 0 unless it runs
  std::uint64_t start_ticks = 0;
  std::optional<double> seconds;  // how long the attempt has run, or ran
  std::optional<double> cpu;      // percent of one core
  std::optional<std::uint64_t> memory_kib;
  std::string last_line;   // safe for a terminal
  std::string log_folder;  // of a trial of a sweep, whose logs are not the run's; else empty
  bool ended = false;
  bool bad = false;  // ended, and not with exit code 0
  // Bad, started again, or in another state than most of its role.
  bool odd = false;
};

struct TopRole {
  std::string name;
  std::uint64_t running = 0;
  std::uint64_t waiting = 0;
  std::uint64_t ended = 0;
  std::uint64_t bad = 0;  // of those
  std::uint64_t restarts = 0;
  double cpu = 0;
  std::uint64_t memory_kib = 0;
};

struct TopState {
  bool is_sweep = false;  // its processes are running trials, and its id that of a sweep
  std::string name;
  std::string run;
  std::string plan;
  std::string run_dir;
  std::string phase;  // as in the journal while it goes on, then its outcome
  std::string why;    // why it ended, if not well
  bool live = false;
  double seconds = 0;  // the run's
  std::vector<TopRole> roles;
  std::vector<TopProcess> processes;  // in the plan's order
  RoleReports metrics;                // the newest of each role, while it goes on
};

// CPU, memory and last lines are left out of both.
TopState TopStateOf(const ControlAnswer& answer, const std::string& run_dir);
TopState TopStateOf(const Report& report);

// Counts the roles and marks what is odd; call it when the processes are complete.
void CountRoles(TopState& state);

// One JSON object in one line, newline included.
std::string TopJson(const TopState& state);

}  // namespace muster
