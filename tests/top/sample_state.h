// A run of three roles with an outlier.
#pragma once

#include <string>
#include <utility>

#include "top/top_state.h"

namespace muster {

inline TopProcess SampleProcess(const std::string& role, std::uint32_t index, std::string state,
                                std::string last_line) {
  TopProcess process;
  process.name = role + "." + std::to_string(index);
  process.role = role;
  process.index = index;
  process.state = std::move(state);
  process.last_line = std::move(last_line);
  if (process.state == "running") {
    process.pid = 100;
    process.cpu = 12.4 * (index + 1);
    process.memory_kib = 1'500 * (index + 1);
    process.seconds = 61;
  }
  return process;
}

inline TopState SampleState() {
  TopState state;
  state.name = "job";
  state.run = "3f9a1c2b4d5e";
  state.run_dir = "/runs/job/1";
  state.phase = "running";
  state.live = true;
  state.seconds = 63.2;
  state.processes = {SampleProcess("scheduler", 0, "running", "listening"), SampleProcess("server", 0, "waiting", "")};
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    state.processes.push_back(SampleProcess("worker", rank, "running", "step " + std::to_string(rank)));
    state.processes.back().rank = rank;
  }
  TopProcess& again = state.processes[3];
  again.attempt = 2;
  TopProcess& failed = state.processes.back();
  failed = SampleProcess("worker", 3, "SIGSEGV", "Loss is NaN");
  failed.rank = 3;
  failed.ended = failed.bad = true;
  failed.seconds = 0.25;
  CountRoles(state);
  return state;
}

}  // namespace muster
