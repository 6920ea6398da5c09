// What one stub has found, and its one line of JSON in the process's log. The head reads it there: whatever else a log
// holds, nothing of it is believed that is not of this form and within these bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// What a rehearsal looks at, in the order in which it is told.
enum class Check : std::uint8_t {
  kStart,     // it was started and has told what it found
  kRanks,     // every rank once
  kCounts,    // world size, workers, servers, device_num
  kPorts,     // its ports can be listened at
  kMeeting,   // the meeting point can be reached
  kHello,     // the others can
  kDevices,   // its devices can be seen
  kFiles,     // program, script, files
  kVersions,  // … are the same on all hosts, and so are packages
  kDisk,
  kClock,
};
inline constexpr int kChecks = 11;
std::string_view CheckName(Check check);

struct StubFinding {
  enum class Outcome : std::uint8_t { kOk, kFailed, kNotChecked, kNote };
  Check check = Check::kStart;
  Outcome outcome = Outcome::kOk;
  std::string text;  // why it failed or was not checked; what is noteworthy
  std::string hint;
  std::vector<std::uint32_t> peers;  // of kHello and kMeeting: the processes that it could not greet

  bool operator==(const StubFinding&) const = default;
};

// A file that the command names.
struct SeenFile {
  enum class Kind : std::uint8_t { kProgram, kScript, kPath };
  Kind kind = Kind::kPath;
  std::string word;  // of the command
  std::string path;  // absolute, links resolved; empty: it is not there, or is a script that cannot be read
  std::string why;   // … for this reason; with a path: it cannot be read, or not even looked for
  std::uint64_t bytes = 0;
  std::string hash;  // of its content; empty: it was not read

  bool operator==(const SeenFile&) const = default;
};

// A peer's wall clock less one's own, and how much that may be wrong.
struct SeenClock {
  std::uint32_t peer = 0;
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;

  bool operator==(const SeenClock&) const = default;
};

struct StubAccount {
  std::uint32_t process = 0;              // index into the plan's
  std::optional<std::int64_t> says_rank;  // what the contract's variable for it holds, if that is a number
  std::uint32_t greeted = 0;              // peers that answered
  bool stopped = false;                   // it was told to end before it was done
  std::vector<StubFinding> findings;
  std::vector<SeenFile> files;
  std::vector<SeenClock> clocks;

  bool operator==(const StubAccount&) const = default;
};

inline constexpr std::size_t kMaxAccountBytes = 1U << 20;

// One line, without its end. Texts that are not UTF-8 are made so.
std::string StubAccountLine(const StubAccount& account);

// Nothing unless the line is an account. Texts are cut to 4096 bytes, lists to 4096 entries.
std::optional<StubAccount> ReadStubAccount(std::string_view line);

// For people, one check a line.
std::string StubAccountText(const StubAccount& account);

}  // namespace muster
