// Takes dumps: inspects processes and their descendants with data of the kernel and, if installed, with py-spy and gdb;
// writes each process's file and reports a bounded summary.
//
// Handles processes, tools and the clock; independent of protocol frames and policy. Nothing here blocks the loop or
// the agent's exit: one process is inspected per turn, tools are child processes, few at a time, with one deadline for
// all; even the folders of a PATH, which may be on a file system that does not respond, are searched by a child
// process. Processes are never signalled, except for the SIGCONT that undoes the effect of a killed tool.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "agent/dump/dump_summary.h"
#include "agent/processes/child_set.h"
#include "base/system/open_below.h"
#include "base/system/unique_fd.h"

namespace muster {

class DumpTaker {
 public:
  using Key = std::pair<ProcessId, std::uint32_t>;  // process and attempt

  // A running process to inspect.
  struct Target {
    Key key;
    pid_t pid = 0;
    std::string title;  // first line of its file
    FileBelow file;     // the file to create
    FileBelow log;
    std::string search_path;  // PATH on which tools are looked up
  };

  struct Observer {
    std::function<void(const ProcessDumped&)> told;  // called once for each target
    std::function<void(HostDumped)> done;            // called after all of them; `host` is not set
    std::function<void()> idle;                      // called when no tool is running any more
  };

  // The window in which processor time is measured.
  static constexpr std::chrono::milliseconds kWindow{200};
  // The time that a tool has after the deadline to detach from its process.
  static constexpr std::chrono::milliseconds kToolGrace{500};

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
  bool Owns(pid_t pid) const { return tools_.Owns(pid); }
  bool Ended(pid_t pid) { return tools_.Ended(pid); }
  bool empty() const { return tools_.empty(); }
  std::size_t size() const { return tools_.size(); }
  // Cancels everything; tools are forgotten, to be killed by other means.
  void Abandon();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, LoopExecutor>;
  enum class Tool : std::uint8_t { kPySpy, kGdb };

  struct Subject {
    Target target;
    std::vector<FoundProcess> found;
    MonotonicNs first_look = 0;
    ProcessDumped told;
    std::size_t tools_left = 0;  // waiting or running
    bool let_go = false;
  };
  // A tool for one process of a subject.
  struct Look {
    std::size_t subject = 0;
    std::size_t process = 0;  // index into Subject::found
    Tool tool = Tool::kGdb;
  };
  struct RunningTool {
    Look look;
    UniqueFd output;
    bool stopped = false;  // by this class
  };

  // A child process that looks up tools.
  struct Finder {
    std::string search_path;
    UniqueFd output;
  };

  // A process to which a tool is, or may be, attached.
  struct Held {
    ProcessIdentity identity;
    bool was_stopped = false;  // before the tool was started
  };

  // Calls `step` for each subject, one per turn of the loop, and then `after`.
  void ForEachSubject(void (DumpTaker::*step)(Subject&), void (DumpTaker::*after)(), std::size_t next = 0);
  void LookFirst(Subject& subject);
  void AwaitWindow();
  void LookAgain(Subject& subject);
  // Looks up the available tools, then continues with ChooseTools().
  void FindTools();
  void StartFinders();
  void FinderDone(const Finder& finder);
  void ChooseTools();
  bool Has(const std::string& search_path, Tool tool) const;
  // Starts a command of muster's own on that PATH, with its stdout at `output`.
  tl::expected<ProcessStarted, SpawnError> Command(std::uint32_t number, const std::vector<std::string>& argv,
                                                   const std::string& search_path, int output);
  void StartTools();
  bool StartTool(const Look& look);
  void OnToolExited(const ProcessExited& event);
  // True if the output contains stacks.
  bool TakeStacks(const RunningTool& tool, const ProcessExited& event);
  void Resume(const Held& held);
  void ToolDone(std::size_t subject);
  void OnDeadline();
  void Report(std::size_t subject);
  void ReportNext();
  void Note(const std::string& kind, std::string detail);

  boost::asio::io_context& io_;
  Observer observer_;
  ChildSet tools_;
  std::size_t most_tools_ = 1;
  Timer window_;
  Timer deadline_;
  std::uint64_t round_ = 0;  // callbacks of an earlier or cleared dump are ignored
  bool taking_ = false;
  bool late_ = false;
  std::uint32_t dump_ = 0;
  std::chrono::milliseconds within_{0};
  std::vector<Subject> subjects_;
  std::deque<Look> looks_;
  std::map<std::uint32_t, RunningTool> running_;  // by its number in tools_
  std::map<std::uint32_t, Held> held_;            // the same, including those of cancelled dumps
  std::uint32_t next_tool_ = 0;
  std::map<std::string, std::set<Tool>> found_;  // by PATH
  std::deque<std::string> to_find_;
  std::map<std::uint32_t, Finder> finders_;  // by its number, like running_
  std::size_t kept_ = 0;                     // bytes of tool output of processes whose files are not written yet
  std::set<Tool> refused_;                   // tools that the kernel refused
  std::set<Tool> succeeded_;
  std::deque<std::size_t> to_report_;
  std::size_t untold_ = 0;
  std::vector<DumpNote> notes_;
};

}  // namespace muster
