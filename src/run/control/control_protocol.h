// A run's control socket (docs/control.md) for those that send requests to a head: its address, its protocol, which
// is one JSON object per line in both directions, and the client's connection, which blocks with a timeout. Both
// directions are untrusted: every peer that may connect can send anything, and the server in a folder need not be
// muster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <tl/expected.hpp>

#include "base/system/private_files.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// The address of a run's control socket. The path of a socket is limited to 107 bytes, and that of a run directory may
// be longer: the address uses the descriptor of the folder instead.

// `folder` is a descriptor of the run directory; the address is valid while it is open.
inline sockaddr_un ControlAddress(int folder) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/control", folder);
  return address;
}

// The protocol of a run's control socket (docs/control.md): one JSON object per line, in both directions.
//
// Converts between texts and values; opens no socket. Both directions are untrusted: every peer that may connect can
// send anything, and the server in a folder need not be muster.

inline constexpr std::int64_t kControlFormat = 1;
inline constexpr std::size_t kMaxControlRequest = 4096;    // longest line to the head in bytes, newline included
inline constexpr std::size_t kMaxControlLine = 16U << 20;  // … and from the head

struct ControlRequest {
  enum class Ask : std::uint8_t { kStatus, kStop, kWatch, kDump, kProcesses, kOpen, kSteer, kFault, kEdit };
  Ask ask = Ask::kStatus;
  bool now = false;   // kStop only: kill at once
  bool dump = false;  // kStop only: take a dump first
  // Required for kOpen, otherwise absent: the running trial of a sweep whose control socket the head must create now.
  std::optional<std::uint64_t> trial = {};
  // For kSteer, which has at least one of these: trials of a sweep at a time, how many more trials it gets, points that
  // are the next trials, and values that are no longer skipped ("x=4").
  std::optional<std::uint32_t> slots = {};
  std::uint64_t add_trials = 0;
  std::vector<Value::Map> points = {};
  std::vector<std::string> unskip = {};
  std::optional<double> device_hours = {};  // likewise: that all trials may take
  // For kFault: what happens, to which process ("worker.3"), host, file system ("n2:/scratch") or "head", and for how
  // long; 0: for good.
  std::string fault = {};  // a name of kFaultKindNames
  std::string target = {};
  std::uint64_t lasts_ms = 0;
  // Required for kEdit, otherwise absent: which edit of the sweep the head is to carry out (sweep/record/sweep_edit.h).
  std::string edit = {};

  bool operator==(const ControlRequest&) const = default;
};

// What becomes of a kFault that is not refused.
enum class FaultAnswer : std::uint8_t {
  kInjected,
  kUnderWay  // whether it can be injected is not known yet: ask again
};

// The limits of a sweep that a user can change while it runs.
struct SweepLimits {
  std::optional<double> max_device_hours;   // of all trials
  std::optional<std::uint64_t> max_trials;  // started at most
  std::optional<std::uint32_t> slots;       // trials at a time
  std::uint64_t trials = 0;                 // of its sampler

  bool operator==(const SweepLimits&) const = default;
};

struct RoleStatus {
  std::string name;
  std::uint32_t waiting = 0;  // not started, or between two attempts
  std::uint32_t running = 0;  // started, and their end has not been seen
  std::uint32_t ended = 0;
  std::uint64_t restarts = 0;

  bool operator==(const RoleStatus&) const = default;
};

struct RunStatus {
  std::string run;
  std::string plan;
  std::string name;
  std::int32_t pid = 0;  // the head's
  std::string phase;     // as in the journal
  std::uint64_t records = 0;
  std::uint32_t stops = 0;  // number of stop requests so far: 0, 1 gracefully, 2 and more at once
  std::vector<RoleStatus> roles;
  std::string waits = {};  // devices that the run waits for and their holders; empty if it waits for none

  bool operator==(const RunStatus&) const = default;
};

// The current state of a process, in its latest attempt.
struct ProcessStatus {
  std::string role;
  std::uint32_t index = 0;
  std::optional<std::uint32_t> rank = {};
  std::string host = {};   // its own host name
  std::string state = {};  // "waiting", "starting", "running", "stopping", "resting" (between attempts), "ended"
  std::uint32_t attempt = 0;
  std::int32_t pid = 0;           // 0 unless running
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat; 0 unless running
  std::uint64_t ran_ms = 0;       // until now, or until its end
  // How it ended; if none of these is set, it has not ended.
  std::optional<std::int32_t> exit_code = {};
  std::string signal = {};       // "SIGKILL"
  std::string spawn_stage = {};  // stage in which its start failed

  bool operator==(const ProcessStatus&) const = default;
};

struct ProcessStatuses {
  std::uint64_t ran_ms = 0;  // of the run, until now
  std::vector<ProcessStatus> processes;

  bool operator==(const ProcessStatuses&) const = default;
};

struct ControlAnswer {
  std::string error;     // why the request was refused; the rest is empty then
  bool already = false;  // the stop changed nothing: the run was already stopping, or over
  RunStatus status;      // after the request
  // kDump, and kStop with a dump: the number of the dump in progress; 0: none.
  std::uint32_t dump = 0;
  std::optional<ProcessStatuses> processes = {};  // only for kProcesses
  std::optional<SweepLimits> limits = {};         // only for kSteer and kEdit: those now
  bool under_way = false;                         // only for kFault: FaultAnswer::kUnderWay

  bool operator==(const ControlAnswer&) const = default;
};

// Parses a line, given without its newline. The error is a sentence for the sender.
tl::expected<ControlRequest, std::string> ParseControlRequest(std::string_view line);
tl::expected<ControlAnswer, std::string> ParseControlAnswer(std::string_view line);

// The schemas (wire/archive/json_schema.h) of requests and of answers.
std::string ControlRequestSchema();
std::string ControlAnswerSchema();

// Lines, newline included.
std::string ControlRequestLine(const ControlRequest& request);
std::string ControlAnswerLine(const ControlAnswer& answer);

// The client side of a run's control socket, for commands that send requests to a head.
//
// Handles one connection and its lines; does not interpret answers. Blocks, with a timeout.
class ControlConnection {
 public:
  // Kind "control", blame kMachine, if the head does not answer there.
  static Result<ControlConnection> Open(const std::string& run_dir);

  // Sends the request and waits at most ten seconds for its answer: a head answers from its loop, immediately. A
  // refused request is a failure, too.
  Result<ControlAnswer> Ask(const ControlRequest& request);

  // Sends the request; its answer is the next line. Fails with kind "control" if the head does not accept it.
  Result<void> Send(const ControlRequest& request);

  // --- after a kWatch: lines of the journal as they are written; after Send(): answers ---
  // The next received line, without its newline.
  std::optional<std::string> TakeLine();
  // Reads some of the received bytes, without waiting. Returns false once the connection has ended.
  bool Receive();
  int fd() const { return socket_.get(); }

 private:
  UniqueFd socket_;
  std::string input_;
};

}  // namespace muster
