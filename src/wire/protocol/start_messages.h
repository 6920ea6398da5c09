// Messages of the agent protocol: starting, watching and stopping processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "wire/protocol/terminal_messages.h"

namespace muster {

// Variables that processes inherit from the host: the agent adds those of its own environment whose names match `take`
// and not `leave` (NAME, PREFIX* or *), unless the head sets them. Never those that begin with MUSTER_.
struct HostVariables {
  std::vector<std::string> take;
  std::vector<std::string> leave;

  bool operator==(const HostVariables&) const = default;
};

// A numbered block of environment variables ("NAME=value"), sent once and used by many starts.
struct DefineEnvironment {
  std::uint32_t block = 0;
  std::vector<std::string> variables;
  HostVariables of_host = {};
};

// Text that a process can read at descriptor `number` (3 or more), from its beginning. It is never stored in a file.
struct PassedText {
  std::int32_t number = 0;
  std::string content;
};

// The readiness condition to watch for after a start: the kinds of Readiness in muster/plan.h that the agent has to
// observe. The agent answers with ProcessReady.
struct ReadyWhen {
  enum class Kind : std::uint8_t { kNothing, kPort, kFile, kLine, kCommand };
  Kind kind = Kind::kNothing;
  std::uint16_t port = 0;
  std::string text;               // kFile: a path, relative to the process's cwd; kLine: text that a line of its log
                                  // contains
  std::vector<std::string> argv;  // kCommand: started like the process itself, its output discarded
  std::uint32_t every_ms = 0;     // kCommand: the interval between two attempts
};

struct StartProcess {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::vector<std::string> argv;         // argv[0] without a slash is looked up on the PATH of `env`, …
  std::vector<std::string> search_dirs;  // … then in these folders
  std::string cwd;                       // absolute
  std::uint32_t environment = 0;         // number of a block; `env` adds to it and overrides it
  std::vector<std::string> env;          // "NAME=value"
  std::string log_path;                  // absolute, in run_dir; created exclusively, mode 0600: stdout and stderr
  std::uint64_t log_limit = 0;           // bytes; beyond it the beginning of the log is dropped. 0: no limit
  std::vector<std::string> release_ports;
  std::vector<std::string> own_ports;  // of these, ports on which only this process listens: held again after its exit
  std::vector<PassedText> passed;
  std::vector<std::uint32_t> cores;  // cores that it may run on; empty: those of the agent
  ReadyWhen ready;
  // A pseudo-terminal with a window of this size becomes stdin, stdout, stderr and the controlling terminal. The agent
  // sends PtyOpened, copies the output to the log and to the head, and sends PtyClosed before the exit.
  std::optional<PtySize> pty;
  // The command that removes the run's containers on this host, run in the environment of the agent when everything
  // else has been killed, unless all processes with this command exited with 0. Empty: it leaves nothing to remove.
  std::vector<std::string> remove;
  std::vector<std::string> devices;  // names on this host, for samples of their memory
};

struct ProcessAttempt {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
};

// Sends `signal` (and SIGCONT) to the process groups immediately, and SIGKILL to remaining processes after `grace_ms`.
// grace_ms 0: SIGKILL only. A later StopProcesses for the same process can only shorten the grace period.
struct StopProcesses {
  std::vector<ProcessAttempt> processes;
  std::int32_t signal = 0;
  std::uint32_t grace_ms = 0;
};

// Requests the number of bytes that each running process has written. Answered by OutputSeen.
struct RequestOutput {
  bool unused = false;
};

}  // namespace muster
