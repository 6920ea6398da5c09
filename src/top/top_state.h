// What `muster top` shows, as values: a run, its roles and its processes at one moment.
//
// Converts a head's answer or a report; CPU times, last lines and drawing are elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "metrics/metric_history.h"
#include "run/control/control_protocol.h"
#include "run/report/report.h"

namespace muster {

// What a running trial has besides: a row of a sweep.
struct TopTrial {
  std::optional<double> step;
  std::optional<double> value;  // of the objective; NaN: not finite
  std::vector<double> curve;    // the objective in the order of the reports
  std::string devices;          // "0,1", "node1:0 node2:0,1"; empty: none
  std::string point;            // safe for a terminal
};

struct TopProcess {
  std::string name;  // "worker.2"
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank;
  std::string host;
  // As in docs/control.md; of a process that has ended: "exit 1", "SIGKILL", "not started"; "lost" if the exit was not
  // seen.
  std::string state;
  std::uint32_t attempt = 0;
  std::int32_t pid = 0;  // 0 unless it runs
  std::uint64_t start_ticks = 0;
  std::optional<double> seconds;  // duration of the attempt so far, or in all
  std::optional<double> cpu;      // percent of one core
  std::optional<std::uint64_t> memory_kib;
  std::string last_line;   // safe for a terminal
  std::string log_folder;  // of a trial of a sweep, with logs outside the run; else empty
  std::optional<TopTrial> trial;
  bool ended = false;
  bool bad = false;  // ended with a failure
  // Failed, restarted, or in another state than most of its role.
  bool outlier = false;
};

struct TopRole {
  std::string name;
  std::uint64_t running = 0;
  std::uint64_t waiting = 0;
  std::uint64_t ended = 0;
  std::uint64_t bad = 0;  // of those, failed
  std::uint64_t restarts = 0;
  double cpu = 0;
  std::uint64_t memory_kib = 0;
};

struct TopState {
  bool is_sweep = false;  // processes are running trials, the id is that of a sweep
  std::string name;
  std::string run;
  std::string plan;
  std::string run_dir;
  std::string phase;  // as in the journal while it is running, then its outcome
  std::string why;    // why it failed
  bool live = false;
  double seconds = 0;  // duration of the run
  std::vector<TopRole> roles;
  std::vector<TopProcess> processes;  // in the plan's order
  RoleReports metrics;                // the latest of each role, while it is running
  // Of a sweep.
  std::string objective;               // its metric; empty: none
  std::string best;                    // "loss 0.31 (trial 4)"; empty: none yet. Safe for a terminal
  std::optional<double> seconds_left;  // estimated
};

// Both leave out CPU, memory and last lines.
TopState TopStateOf(const ControlAnswer& answer, const std::string& run_dir);
TopState TopStateOf(const Report& report);

// Counts the roles and marks outliers; call it when the processes are complete.
void CountRoles(TopState& state);

// One JSON object in one line, newline included.
std::string TopJson(const TopState& state);

}  // namespace muster
