// The state of a run at one moment: the head's answer, or the report of a run that is over, with CPU and memory from
// /proc for processes of this host and the last lines of all logs.
//
// Reads files and answers; sends no request to the head and draws nothing.
#pragma once

#include <string>

#include "muster/result.h"
#include "run/control/control_protocol.h"
#include "top/last_words.h"
#include "top/load.h"
#include "top/load_meter.h"
#include "top/top_state.h"

namespace muster {

class TopSnapshots {
 public:
  explicit TopSnapshots(std::string run_dir);

  TopState Living(const ControlAnswer& answer);
  // For a run that is over. Fails as MakeReport does.
  Result<TopState> Ended();

  const std::string& run_dir() const { return run_dir_; }
  // The path of the attempt's log, whether it exists or not.
  std::string LogPath(const TopProcess& process, std::uint32_t attempt) const;

 private:
  void AddLastLines(TopState& state);

  std::string run_dir_;
  std::string own_host_;
  LoadMeter loads_;
  LastWords last_words_;
};

// A single look. Fails with kind "control" if a process holds the run and does not answer.
Result<TopState> ReadTopState(const std::string& run_dir);

}  // namespace muster
