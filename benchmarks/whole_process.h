// Times whole processes and prints the figures: shared by the benchmarks of commands. Independent of muster, except for
// the location of its programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "figures.h"

namespace muster::benchmark {

// Runs the command to its end in the folder `cwd` (empty: the current one) and discards its output. Returns wall time
// in seconds, or nothing if it did not end within the limit (it is killed then) or failed.
std::optional<double> TimeCommand(const std::vector<std::string>& argv, const std::string& cwd,
                                  std::chrono::seconds limit);

// Nanoseconds of the monotonic clock, which all processes of this machine share.
std::uint64_t MonotonicNow();
double SecondsBetween(std::uint64_t from, std::uint64_t to);

// Prints FiguresText and RatioText immediately.
void Print(const std::string& label, const Figures& figures);
void PrintRatio(const std::string& label, double ratio, const std::string& wanted);

// A variant to be timed against another, in turns, so that drift of the machine affects both alike.
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

// A temporary folder, removed by the destructor.
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
