// The files of a run directory that are copied from a host to the head: those of the host's attempts, of dumps, and its
// activation log. The agent sends no other files, and the head accepts no others from it.
//
// Pure: works on paths and opens nothing.
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
  // Maximum number of files per added item: an attempt, a dump of a process, or an activation.
  static constexpr std::size_t kMostOfOne = 8;

  // Adds an attempt by its log, "logs/worker.3.0.log". Its files are those of the same name in logs/, errors/ and
  // metrics/, and those named after its process in context/.
  void AddAttempt(std::string_view log);
  // Adds a single file.
  void AddFile(std::string_view path);

  // Whether the file may be copied. Counts the accepted files: beyond the maximum all others are rejected.
  bool Take(const std::string& path);

 private:
  struct Attempts {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  bool IsOfAttempt(std::string_view path) const;

  std::map<std::string, Attempts, std::less<>> attempts_;  // by process, such as "worker.3"
  std::set<std::string, std::less<>> files_;
  std::set<std::string> taken_;
  std::size_t given_ = 0;
};

}  // namespace muster
