// The child processes that a dump needs: they are started within limits, their output is kept in memory files, and
// processes that a killed tool may have left stopped are continued.
//
// Independent of what the commands are. Their output is not trusted. Processes are never signalled, except for the
// SIGCONT that undoes the effect of a killed tool.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <sys/types.h>

#include "agent/dump/dump_notes.h"
#include "agent/dump/kernel_state.h"
#include "agent/processes/child_set.h"
#include "base/system/unique_fd.h"

namespace muster {

class ToolProcesses {
 public:
  struct Exit {
    std::uint32_t number = 0;  // from Start()
    UniqueFd output;           // its stdout and stderr
    bool signalled = false;
    std::int32_t code = 0;  // exit code, or number of the signal
  };

  struct Observer {
    std::function<void(Exit)> exited;  // not called for those that KillAll() killed
    std::function<void()> idle;        // called when none is running any more
  };

  // All must outlive this object.
  ToolProcesses(boost::asio::io_context& io, Launcher& launcher, DumpNotes& notes, Observer observer);

  // How many may run at once: at most the number of processors.
  static std::size_t MostAtOnce();
  // At most as much of an output as is worth reading.
  static std::string OutputOf(const Exit& exit);

  // Starts a command of muster's own on that PATH and returns its number; nothing if it cannot be started, with a note.
  // `attaches_to`: the process that it attaches to with ptrace(2), if any.
  std::optional<std::uint32_t> Start(const std::vector<std::string>& argv, const std::string& search_path,
                                     const KernelProcess* attaches_to = nullptr);
  // Sends SIGTERM, and SIGKILL when `grace` has elapsed; without grace SIGKILL at once.
  void Stop(std::uint32_t number, std::chrono::milliseconds grace);
  // Kills all of them, and forgets their outputs.
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
  std::map<std::uint32_t, UniqueFd> outputs_;  // by number, of those that are awaited
  std::map<std::uint32_t, Held> held_;         // by number, including those of cancelled dumps
};

}  // namespace muster
