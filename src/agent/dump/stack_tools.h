// Reads the stacks of the processes of a dump with py-spy and gdb, a few processes at a time.
//
// Chooses the tool for each process and the order of processes; does not know the deadline.
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
  // Processes of a subject that are inspected with tools.
  static constexpr std::size_t kMostProcesses = 8;
  // The time that a tool has after Stop() to detach from its process.
  static constexpr std::chrono::milliseconds kGrace{500};

  // All must outlive this object. `subjects` may be replaced only after Clear(). `inspected` is called with the index
  // of a subject once no tool is left for it.
  StackTools(ToolProcesses& processes, const ToolFinder& finder, DumpNotes& notes, std::vector<DumpSubject>& subjects,
             std::function<void(std::size_t subject)> inspected);

  // Chooses the tools for all subjects and sets their `tools_left`; notes missing tools. Call once the tools are found.
  void Choose();
  // Starts as many of the chosen tools as may run now; the others follow.
  void Start();
  // One of the tools has exited: its stacks are added to the subject.
  void Exited(const ToolProcesses::Exit& exit);

  // Kills the tools of the subject, and starts none for it any more.
  void LetGo(const DumpSubject::Key& key);
  // How many tools are waiting or running.
  std::size_t left() const { return waiting_.size() + running_.size(); }
  // Starts nothing more, and ends the running tools.
  void Stop();
  // The outputs of the subject's tools were written: the memory for them may be used again.
  void Written(const DumpSubject& subject);
  // Forgets everything, once all processes were killed.
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
  std::map<std::uint32_t, Running> running_;  // by number of the process
  std::size_t kept_ = 0;                      // bytes of output of subjects whose files are not written yet
  std::set<StackTool> refused_;               // tools that the kernel refused
  std::set<StackTool> succeeded_;
};

}  // namespace muster
