// Messages of the agent protocol: starting, watching and stopping processes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/event.h"
#include "wire/protocol/terminal_messages.h"

namespace muster {

// A named block of environment variables ("NAME=value"), sent once and referred to by many starts.
struct DefineEnvironment {
  std::uint32_t block = 0;
  std::vector<std::string> variables;
};

// What a process finds to read at descriptor `number` (100 or more), from its beginning. It is in no file.
struct PassedText {
  std::int32_t number = 0;
  std::string content;
};

// What to look out for after a start (see Readiness in muster/plan.h, whose kinds these are but for those that need
// no looking). The agent answers with ProcessReady.
struct ReadyWhen {
  enum class Kind : std::uint8_t { kNothing, kPort, kFile, kLine, kCommand };
  Kind kind = Kind::kNothing;
  std::uint16_t port = 0;
  std::string text;               // kFile: a path, relative to the process's cwd; kLine: what a line of its log holds
  std::vector<std::string> argv;  // kCommand: started like the process itself, its output dropped
  std::uint32_t every_ms = 0;     // kCommand: the pause between two
};

struct StartProcess {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
  std::vector<std::string> argv;         // argv[0] without a slash is looked up on the PATH of `env`, …
  std::vector<std::string> search_dirs;  // … then in these folders
  std::string cwd;                       // absolute
  std::uint32_t environment = 0;         // block; `env` adds to it and overrides it
  std::vector<std::string> env;          // "NAME=value"
  std::string log_path;                  // absolute, in run_dir; created exclusively, mode 0600: stdout and stderr
  std::uint64_t log_limit = 0;           // bytes; from then on the log loses its beginning. 0: none
  std::vector<std::string> release_ports;
  std::vector<std::string> own_ports;  // of those: nobody else listens there, so they are held again at its end
  std::vector<PassedText> passed;
  std::vector<std::uint32_t> cores;  // that it may run on; empty: those that the agent may
  ReadyWhen ready;
  // A pseudo-terminal with a window of this size becomes stdin, stdout, stderr and the controlling terminal. The agent
  // tells PtyOpened, copies what is written there to the log and to the head, and tells PtyClosed before the end.
  std::optional<PtySize> pty;
};

struct ProcessAttempt {
  ProcessId process = 0;
  std::uint32_t attempt = 0;
};

// Sends `signal` (and CONT) to the process groups at once, SIGKILL to what is left after `grace_ms`.
// grace_ms 0: SIGKILL only. A later StopProcesses for the same process can only shorten the grace.
struct StopProcesses {
  std::vector<ProcessAttempt> processes;
  std::int32_t signal = 0;
  std::uint32_t grace_ms = 0;
};

// How much have the running processes written? Answered by OutputSeen.
struct RequestOutput {
  bool unused = false;
};

}  // namespace muster
