// Looks up which stack tools, py-spy and gdb, are installed on the PATH of each process.
//
// The folders of a PATH may be on a file system that does not respond, so they are searched by child processes.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/dump/tool_processes.h"

namespace muster {

enum class StackTool : std::uint8_t { kPySpy, kGdb };

// The name of the tool's program.
const char* StackToolName(StackTool tool);

class ToolFinder {
 public:
  // `processes` must outlive this object.
  explicit ToolFinder(ToolProcesses& processes) : processes_(processes) {}

  // Searches each of these PATHs once. `done` is called after the last one, possibly before this returns.
  void Find(const std::vector<std::string>& search_paths, std::function<void()> done);
  // Whether a search is in progress.
  bool searching() const { return !running_.empty(); }
  // Kills the searches in progress; `done` is not called.
  void Cancel();
  // Clears all state. Call after all processes were killed.
  void Clear();

  // Handles the exit of a search and starts the next ones. False if the process is not a search.
  bool Exited(const ToolProcesses::Exit& exit);
  // Whether the tool is on that PATH, according to the searches so far.
  bool Has(const std::string& search_path, StackTool tool) const;

 private:
  void StartNext();

  ToolProcesses& processes_;
  std::function<void()> done_;
  std::deque<std::string> to_search_;
  std::map<std::uint32_t, std::string> running_;      // process number -> the PATH that it searches
  std::map<std::string, std::set<StackTool>> found_;  // by PATH
};

}  // namespace muster
