// Takes dumps: inspects processes and their descendants with data of the kernel and, if installed on their PATH, with
// py-spy and gdb, a few processes at a time and until a deadline; writes each process's file and reports a bounded
// summary.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/dump/dump_summary.h"
#include "agent/dump/tool_processes.h"

namespace muster {

// Looks up which stack tools, py-spy and gdb, are installed on the PATH of each process.
//
// The folders of a PATH may be on a file system that does not respond, so they are searched by child processes.

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

// Reads the stacks of the processes of a dump with py-spy and gdb, a few processes at a time.
//
// Chooses the tool for each process and the order of processes; independent of the deadline.
class StackTools {
 public:
  // Maximum number of processes per subject that are inspected with tools.
  static constexpr std::size_t kMaxProcesses = 8;
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

// Takes dumps: inspects processes and their descendants with data of the kernel and, if installed, with py-spy and gdb;
// writes each process's file and reports a bounded summary.
//
// Handles the order of a dump's steps and the deadline; its parts look up the tools, run them
// and own their processes (tool_processes.h). Independent of protocol frames and policy. Nothing here
// blocks the loop or the agent's exit: one process is inspected per turn, tools are child processes, few at a time,
// with one deadline for all.
class DumpTaker {
 public:
  using Key = DumpSubject::Key;
  using Target = DumpSubject::Target;

  struct Observer {
    std::function<void(const ProcessDumped&)> reported;  // called once for each target
    std::function<void(HostDumped)> done;                // called after all of them; `host` is not set
    std::function<void()> idle;                          // called when no tool is running any more
  };

  // The window in which processor time is measured.
  static constexpr std::chrono::milliseconds kWindow{200};

  DumpTaker(boost::asio::io_context& io, Launcher& launcher, Observer observer);
  DumpTaker(const DumpTaker&) = delete;
  DumpTaker& operator=(const DumpTaker&) = delete;

  // Starts a dump. Cancels one that is still in progress.
  void Take(std::uint32_t dump, std::chrono::milliseconds within, std::vector<Target> targets);
  // The process is about to be stopped: no tool may stay attached to it, now or later in this dump.
  void LetGo(const Key& key);
  // Kills all tools; nothing is reported any more.
  void Clear();

  // For the tools, as in ChildSet.
  bool Owns(pid_t pid) const { return processes_.Owns(pid); }
  bool Ended(pid_t pid) { return processes_.Ended(pid); }
  bool empty() const { return processes_.empty(); }
  std::size_t size() const { return processes_.size(); }
  // Cancels everything; tools are forgotten, to be killed by other means.
  void Abandon();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;

  // Calls `step` for each subject, one per turn of the loop, and then `after`.
  void ForEachSubject(void (DumpTaker::*step)(DumpSubject&), void (DumpTaker::*after)(), std::size_t next = 0);
  void LookFirst(DumpSubject& subject);
  void AwaitWindow();
  void LookAgain(DumpSubject& subject);
  // Looks up the available tools, then continues with InspectStacks().
  void FindTools();
  // Runs the tools that were found; after the deadline, reports without stacks.
  void InspectStacks();
  void OnDeadline();
  void Report(std::size_t subject);
  void ReportNext();

  boost::asio::io_context& io_;
  Observer observer_;
  Timer window_;
  Timer deadline_;
  std::uint64_t round_ = 0;  // callbacks of an earlier or cleared dump are ignored
  bool late_ = false;
  std::uint32_t dump_ = 0;
  std::chrono::milliseconds within_{0};
  std::vector<DumpSubject> subjects_;
  DumpNotes notes_;
  ToolProcesses processes_;
  ToolFinder finder_;
  StackTools stacks_;
  std::deque<std::size_t> to_report_;
  std::size_t untold_ = 0;
};

}  // namespace muster
