// Reads the stacks of the processes of a dump with py-spy and gdb, a few processes at a time.
//
// Chooses the tool for each process and the order of processes; independent of the deadline.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "agent/dump/dump_notes.h"
#include "agent/dump/dump_subject.h"
#include "agent/dump/tool_finder.h"
#include "agent/dump/tool_processes.h"

namespace muster {

class StackTools {
 public:
  // Maximum number of processes per subject that are inspected with tools.
  static constexpr std::size_t kMostProcesses = 8;
  // The time that a tool has after Stop() to detach from its process.
  static constexpr std::chrono::milliseconds kGrace{500};

  // The references must outlive this object. `subjects` may be replaced only after Clear(). `inspected` is called with
  // the index of a subject when its last tool is done.
  StackTools(ToolProcesses& processes, const ToolFinder& finder, DumpNotes& notes, std::vector<DumpSubject>& subjects,
             std::function<void(std::size_t subject)> inspected);

  // Chooses the tools for all subjects and sets their `tools_left`; adds notes about missing tools. Call after the
  // lookup of the tools is complete.
  void Choose();
  // Starts as many of the chosen tools as may run at once; the others start when these exit.
  void Start();
  // Handles the exit of a tool: adds its stacks to the subject. Other processes are ignored.
  void Exited(const ToolProcesses::Exit& exit);

  // Kills the subject's tools; no more are started for it.
  void LetGo(const DumpSubject::Key& key);
  // Number of tools that are waiting or running.
  std::size_t left() const { return waiting_.size() + running_.size(); }
  // Starts no more tools and stops the running ones, which have kGrace to exit.
  void Stop();
  // Call after the subject's file was written: its outputs no longer count against the memory limit.
  void Written(const DumpSubject& subject);
  // Clears all state. Call after all processes were killed.
  void Clear();

 private:
  // A tool for one process of a subject.
  struct Inspection {
    std::size_t subject = 0;
    std::size_t process = 0;  // index into DumpSubject::found
    StackTool tool = StackTool::kGdb;
  };
  struct Running {
    Inspection inspection;
    bool stopped = false;  // by this class
  };

  bool StartOne(const Inspection& inspection);
  // True if the output contains stacks.
  bool TakeStacks(const Running& tool, const ToolProcesses::Exit& exit);
  void Done(std::size_t subject);

  ToolProcesses& processes_;
  const ToolFinder& finder_;
  DumpNotes& notes_;
  std::vector<DumpSubject>& subjects_;
  std::function<void(std::size_t)> inspected_;
  std::deque<Inspection> waiting_;
  std::map<std::uint32_t, Running> running_;  // by process number
  std::size_t kept_ = 0;                      // bytes of tool output of processes whose files are not written yet
  std::set<StackTool> refused_;               // tools that the kernel refused
  std::set<StackTool> succeeded_;
};

}  // namespace muster
