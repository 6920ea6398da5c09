// Runs the tools of a dump as child processes with resource limits, keeps their output in memory files, continues
// processes that a killed tool may have left stopped, and notes why results are missing. Independent of the commands;
// their output is not trusted. Inspected processes are never signalled, except for the SIGCONT that undoes the effect
// of a killed tool.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <sys/types.h>

#include "agent/dump/kernel_state.h"
#include "agent/processes/child_set.h"
#include "base/system/unique_fd.h"
#include "muster/event.h"

namespace muster {

// The notes of a dump: why stacks or files are missing.

// Bounded. Each kind once: a note about one process usually holds for all.
class DumpNotes {
 public:
  // `detail` is truncated to a bounded length. Further notes of the same kind are dropped.
  void Add(const std::string& kind, std::string detail);
  // Returns the notes in the order in which they were added, and clears them.
  std::vector<DumpNote> Take() { return std::exchange(notes_, {}); }

 private:
  std::vector<DumpNote> notes_;
};

// Runs the child processes of a dump with resource limits, keeps their output in memory files, and continues processes
// that a killed tool may have left stopped.
//
// Independent of the commands; their output is not trusted. Inspected processes are never signalled, except for the
// SIGCONT that undoes the effect of a killed tool.
class ToolProcesses {
 public:
  struct Exit {
    std::uint32_t number = 0;  // from Start()
    UniqueFd output;           // its stdout and stderr
    bool signalled = false;
    std::int32_t code = 0;  // exit code, or signal number
  };

  struct Observer {
    std::function<void(Exit)> exited;  // not called for processes killed by KillAll()
    std::function<void()> idle;        // called when no process is running any more
  };

  // The references must outlive this object.
  ToolProcesses(boost::asio::io_context& io, Launcher& launcher, DumpNotes& notes, Observer observer);

  // Maximum number of processes at once; at most the number of processors.
  static std::size_t MostAtOnce();
  // The output, truncated to 1 MiB.
  static std::string OutputOf(const Exit& exit);

  // Starts a command of muster's own on that PATH and returns its number. Nothing if it cannot be started; a failed
  // spawn adds a note. `attaches_to`: the process that it attaches to with ptrace(2), if any.
  std::optional<std::uint32_t> Start(const std::vector<std::string>& argv, const std::string& search_path,
                                     const KernelProcess* attaches_to = nullptr);
  // Sends SIGTERM, and SIGKILL after `grace`; if `grace` is 0, SIGKILL at once.
  void Stop(std::uint32_t number, std::chrono::milliseconds grace);
  // Kills all processes and discards their outputs.
  void KillAll();

  // As in ChildSet.
  bool Owns(pid_t pid) const { return children_.Owns(pid); }
  bool Ended(pid_t pid) { return children_.Ended(pid); }
  bool empty() const { return children_.empty(); }
  std::size_t size() const { return children_.size(); }
  void Abandon() { children_.Abandon(); }

 private:
  // A process to which a tool is, or may be, attached.
  struct Held {
    ProcessIdentity identity;
    bool was_stopped = false;  // before the tool was started
  };

  void OnExited(const ProcessExited& event);
  static void Resume(const Held& held);

  DumpNotes& notes_;
  Observer observer_;
  ChildSet children_;
  std::uint32_t next_ = 0;
  std::map<std::uint32_t, UniqueFd> outputs_;  // by number, of processes whose exit will be reported
  std::map<std::uint32_t, Held> held_;         // by number, including those of cancelled dumps
};

}  // namespace muster
