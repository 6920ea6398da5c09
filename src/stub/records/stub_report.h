// The findings of one stub, as a line of JSON in the process's log. The head reads it there and accepts only valid
// lines within these bounds, whatever else the log contains.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The checks of a rehearsal, in the order of the report.
enum class Check : std::uint8_t {
  kStart,               // it was started and has reported
  kRanks,               // every rank once
  kCounts,              // world size, workers, servers, device_num
  kPorts,               // it can listen on its ports
  kRendezvousEndpoint,  // the rendezvous endpoint can be reached
  kHello,               // its peers can be reached
  kDevices,             // its devices are visible
  kFiles,               // program, script, files
  kVersions,            // … are the same on all hosts, and so are packages
  kDisk,
  kClock,
};
inline constexpr int kChecks = 11;
std::string_view CheckName(Check check);

struct StubFinding {
  enum class Outcome : std::uint8_t { kOk, kFailed, kNotChecked, kNote };
  Check check = Check::kStart;
  Outcome outcome = Outcome::kOk;
  std::string text;  // why it failed or was not checked, or a remark
  std::string hint;
  std::vector<std::uint32_t> peers;  // for kHello and kRendezvousEndpoint: the processes that it could not reach

  bool operator==(const StubFinding&) const = default;
};

// A file of the command.
struct CheckedFile {
  enum class Kind : std::uint8_t { kProgram, kScript, kPath };
  Kind kind = Kind::kPath;
  std::string word;  // as in the command
  std::string path;  // absolute, links resolved; empty: it does not exist, or is a script that cannot be read
  std::string why;   // … for this reason; with a path: it cannot be read or examined
  std::uint64_t bytes = 0;
  std::string hash;  // of its content; empty: not read

  bool operator==(const CheckedFile&) const = default;
};

// A peer's wall clock minus our own, and the uncertainty of that.
struct ClockDifference {
  std::uint32_t peer = 0;
  std::int64_t offset_ns = 0;
  std::int64_t error_ns = 0;

  bool operator==(const ClockDifference&) const = default;
};

struct StubReport {
  std::uint32_t process = 0;              // index in the plan
  std::optional<std::int64_t> says_rank;  // the rank in the contract's variable, if it is a number
  std::uint32_t greeted = 0;              // peers that answered
  bool stopped = false;                   // by a signal, before it was done
  std::vector<StubFinding> findings;
  std::vector<CheckedFile> files;
  std::vector<ClockDifference> clocks;

  bool operator==(const StubReport&) const = default;
};

inline constexpr std::size_t kMaxReportBytes = 1U << 20;

// The schema (wire/archive/json_schema.h) of the line.
std::string StubReportSchema();
// One line, without its end. Bytes that are not UTF-8 are written as \xNN.
std::string StubReportLine(const StubReport& report);

// Nothing unless the line is a valid report with lists of at most 4096 entries. Texts are cut to 4096 bytes.
std::optional<StubReport> ParseStubReport(std::string_view line);

// For people, one check a line.
std::string StubReportText(const StubReport& report);

}  // namespace muster
