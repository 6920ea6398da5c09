// A drill: runs of a recipe into which faults are injected, and what they show (docs/drill.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "muster/result.h"
#include "run/session/run_request.h"
#include "transport/transport.h"

namespace muster {

struct DrillOptions {
  std::vector<std::string> inject;  // faults
  std::string faults;               // a file of such texts
  std::string failures;             // a trace
  double faster = 1;                // than the trace
  std::string between;              // mean time between failures of a host
  double shape = 1;
  std::string down = "0";
  std::uint64_t seed = 1;
  std::string time;  // after which the run is stopped; empty: it ends by itself
  std::uint32_t resumes = 0;
  bool stub = false;
  std::string step = "100ms";
  std::uint64_t steps = 0;  // 0: until after the last fault
  bool json = false;
};

void AddDrillOptions(CLI::App& app, DrillOptions& options);

// Runs, each in a head of its own that is a child of this process, until all faults are injected and the last run has
// ended.
class Drill {
 public:
  explicit Drill(DrillOptions options);
  ~Drill();
  Drill(const Drill&) = delete;
  Drill& operator=(const Drill&) = delete;

  // One run, or what is wrong with the faults before anything is started. The request is complete.
  Result<void> Run(RunRequest request, Transport& transport);
  // The run directory from which another run has to continue; empty: the drill is over.
  std::string ToResume() const;
  // Records that the run of ToResume() cannot continue. False if there was none.
  bool CannotResume(const Diagnostics& why);
  // Prints what happened. 0: all as promised; 1: not so; or the exit code of a run that never began.
  int Finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace muster
