// Which files of a run directory a host brings home: those of the attempts that it was given, of dumps, and the log of
// its activation. The agent sends no others, and the head takes no others from it.
//
// Pure: knows paths, opens nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace muster {

// All paths are relative to the run directory.
class CollectedFiles {
 public:
  // So many files may come for each thing that was given: an attempt, a dump of a process, an activation.
  static constexpr std::size_t kMostOfOne = 8;

  // Of an attempt, by its log: "logs/worker.3.0.log". Its files are those named like it in logs/, errors/ and metrics/,
  // and those named like its process in context/.
  void AddAttempt(std::string_view log);
  // That one.
  void AddFile(std::string_view path);

  // Whether the file is one of them. It is counted: of files in excess none is.
  bool Take(const std::string& path);

 private:
  struct Attempts {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  bool IsOfAttempt(std::string_view path) const;

  std::map<std::string, Attempts, std::less<>> attempts_;  // "worker.3"
  std::set<std::string, std::less<>> files_;
  std::set<std::string> taken_;
  std::size_t given_ = 0;
};

}  // namespace muster
