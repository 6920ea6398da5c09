// What a stub checks by itself: the variables of its process against the contract and the plan, its devices, the
// files that its command names, and the free space where the job writes. Starts nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/contract.h"
#include "stub/records/stub_facts.h"
#include "stub/records/stub_report.h"

namespace muster {

// Whether a process in this role of the contract gets the variable.
bool GetsVariable(const ContractVariable& variable, std::string_view plays);

// Compares a process's environment with its contract and plan: ranks, counts, numbers in the context, devices. Pure
// except for the device nodes of this host.

// Returns the value of a variable; null if it is not set.
using StubVariable = std::function<const char*(const char* name)>;

// Adds findings of kRanks and kCounts, and the rank according to the environment. `context`: content of
// $MUSTER_CONTEXT; nothing if there is no such file.
void CheckPromises(const StubFacts& facts, std::uint32_t process, const StubVariable& variable,
                   const std::optional<std::string>& context, StubReport& report);

// Adds the finding of kDevices; none without devices. `root` contains /dev and /sys, and ends with a slash.
void CheckDevices(std::string_view kind, const StubVariable& variable, StubReport& report,
                  const std::string& root = "/");

// Checks the files of a command: its program, its script, and other words that look like paths. Reads them; starts
// nothing.

struct RehearsedCommand {
  std::vector<std::string> words;
  bool shell = false;               // the last word is a shell command, which is not searched for files
  std::vector<std::string> beside;  // folders in which bare names are looked for after PATH
  bool read = false;                // whether contents are hashed
};

// Longer files are not hashed; only their length is reported.
inline constexpr std::uint64_t kMaxHashedBytes = std::uint64_t{64} << 20;

// Fills `files`, and adds findings of kFiles: the program and the script must exist, and all existing files
// must be readable. Whether another file may be missing is decided by comparing hosts, since the job may create
// it.
void CheckCommandFiles(const RehearsedCommand& command, StubReport& report);

// Checks the free space where a job writes. Writes a few bytes into unnamed files, which vanish at once.

struct PlaceWritten {
  std::string what;  // "the run directory"
  std::string path;
  bool may_lack = false;  // ignored if it does not exist
};

// Less free space than this counts as full, as for muster doctor.
inline constexpr std::uint64_t kMinRoomBytes = std::uint64_t{100} << 20;
inline constexpr std::uint64_t kMinRoomInodes = 1'000;

// Adds the finding of kDisk.
void CheckPlaces(const std::vector<PlaceWritten>& places, StubReport& report);

}  // namespace muster
