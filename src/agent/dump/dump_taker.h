// Takes dumps: finds out what processes and those below them are doing, from the kernel and, where they are installed,
// by py-spy and gdb; writes each process's file and tells what can be compared.
//
// Knows processes, tools and the clock; knows no protocol frames and no policy. Nothing here can hold up the loop or an
// end: processes are looked at one per turn, tools are commands like any other, few at a time, and have one deadline
// together; even the folders of a PATH, which may lie on a file system that does not answer, are looked at by a
// command. A process is looked at, never signalled, but for the SIGCONT that undoes what a killed tool left.
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

  // A running process that is to be looked at.
  struct Target {
    Key key;
    pid_t pid = 0;
    std::string title;  // what its file begins with
    FileBelow file;     // that file: not there yet
    FileBelow log;
    std::string search_path;  // PATH, on which tools are looked for
  };

  struct Observer {
    std::function<void(const ProcessDumped&)> told;  // once for each target
    std::function<void(HostDumped)> done;            // after all of them; `host` is not set
    std::function<void()> idle;                      // no tool runs any more
  };

  // How long processor time is measured.
  static constexpr std::chrono::milliseconds kWindow{200};
  // What a tool has after the deadline to let go of its process.
  static constexpr std::chrono::milliseconds kToolGrace{500};

  DumpTaker(boost::asio::io_context& io, Launcher& launcher, Observer observer);
  DumpTaker(const DumpTaker&) = delete;
  DumpTaker& operator=(const DumpTaker&) = delete;

  // Begins. A dump that is still being taken is given up for it.
  void Take(std::uint32_t dump, std::chrono::milliseconds within, std::vector<Target> targets);
  // The process is to end: no tool may hold it, now or later in this dump.
  void LetGo(const Key& key);
  // Ends all tools; nothing is told any more.
  void Clear();

  // Of the tools, as in ChildSet.
  bool Owns(pid_t pid) const { return tools_.Owns(pid); }
  bool Ended(pid_t pid) { return tools_.Ended(pid); }
  bool empty() const { return tools_.empty(); }
  std::size_t size() const { return tools_.size(); }
  // Gives up everything; tools are forgotten, to be ended by other means.
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
    std::size_t tools_left = 0;  // to run or running
    bool let_go = false;
  };
  // A tool for one system process of a subject.
  struct Look {
    std::size_t subject = 0;
    std::size_t process = 0;  // of Subject::found
    Tool tool = Tool::kGdb;
  };
  struct RunningTool {
    Look look;
    UniqueFd output;
    bool stopped = false;  // by us
  };

  // A command that looks for tools.
  struct Finder {
    std::string search_path;
    UniqueFd output;
  };

  // A process that a tool holds, or may hold.
  struct Held {
    ProcessIdentity identity;
    bool was_stopped = false;  // before
  };

  // Calls `step` for each subject, one per turn of the loop, and then `after`.
  void ForEachSubject(void (DumpTaker::*step)(Subject&), void (DumpTaker::*after)(), std::size_t next = 0);
  void LookFirst(Subject& subject);
  void AwaitWindow();
  void LookAgain(Subject& subject);
  // Finds out which tools there are, and goes on with ChooseTools().
  void FindTools();
  void StartFinders();
  void FinderDone(const Finder& finder);
  void ChooseTools();
  bool Has(const std::string& search_path, Tool tool) const;
  // A command of ours, on that PATH, that says what it has to say to `output`.
  tl::expected<ProcessStarted, SpawnError> Command(std::uint32_t number, const std::vector<std::string>& argv,
                                                   const std::string& search_path, int output);
  void StartTools();
  bool StartTool(const Look& look);
  void OnToolExited(const ProcessExited& event);
  // True if there are stacks.
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
  std::uint64_t round_ = 0;  // what belongs to an earlier dump, or a cleared one, is not done any more
  bool taking_ = false;
  bool late_ = false;
  std::uint32_t dump_ = 0;
  std::chrono::milliseconds within_{0};
  std::vector<Subject> subjects_;
  std::deque<Look> looks_;
  std::map<std::uint32_t, RunningTool> running_;  // by the number under which tools_ has it
  std::map<std::uint32_t, Held> held_;            // the same, and those of dumps that were given up
  std::uint32_t next_tool_ = 0;
  std::map<std::string, std::set<Tool>> found_;  // by the PATH
  std::deque<std::string> to_find_;
  std::map<std::uint32_t, Finder> finders_;  // as running_
  std::size_t kept_ = 0;                     // bytes of what tools said, of processes whose files are not written yet
  std::set<Tool> refused_;                   // the kernel let them look into nothing
  std::set<Tool> succeeded_;
  std::deque<std::size_t> to_report_;
  std::size_t untold_ = 0;
  std::vector<DumpNote> notes_;
};

}  // namespace muster
