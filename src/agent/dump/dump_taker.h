// Takes dumps: inspects processes and their descendants with data of the kernel and, if installed, with py-spy and gdb;
// writes each process's file and reports a bounded summary.
//
// Handles the order of a dump's steps and the deadline; its parts look up the tools (tool_finder.h), run them
// (stack_tools.h) and own their processes (tool_processes.h). Independent of protocol frames and policy. Nothing here
// blocks the loop or the agent's exit: one process is inspected per turn, tools are child processes, few at a time,
// with one deadline for all.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/dump/dump_notes.h"
#include "agent/dump/dump_subject.h"
#include "agent/dump/stack_tools.h"
#include "agent/dump/tool_finder.h"
#include "agent/dump/tool_processes.h"

namespace muster {

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
