// Timing whole processes and printing the figures: what the benchmarks that measure a command share. Knows
// nothing of muster but where its programs are.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "figures.h"

namespace muster::benchmark {

// Runs the command to its end, output thrown away, in the folder `cwd` (empty: this one). Seconds of wall
// time, or nothing if it did not end within the limit (it is killed then) or did not exit with 0.
std::optional<double> TimeCommand(const std::vector<std::string>& argv, const std::string& cwd,
                                  std::chrono::seconds limit);

// Nanoseconds of the clock that all processes of this machine share.
std::uint64_t MonotonicNow();
double SecondsBetween(std::uint64_t from, std::uint64_t to);

// FiguresText and RatioText, at once.
void Print(const std::string& label, const Figures& figures);
void PrintRatio(const std::string& label, double ratio, const std::string& wanted);

// One line of its answers is timed against another, in turns, so that a drifting machine hits both alike.
struct Contestant {
  std::string label;
  std::vector<std::string> argv;
  std::vector<double> seconds;
  std::size_t failures = 0;
};
void TakeTurns(std::vector<Contestant>& contestants, std::size_t rounds, const std::string& cwd,
               std::chrono::seconds limit);

// Path of a program of this build.
std::string Program(const std::string& name);
// Path of a file of the source tree.
std::string Source(const std::string& name);

// A folder of its own, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace muster::benchmark
