// Checks the files of a command: its program, its script, and other words that look like paths. Reads them; starts
// nothing.
#pragma once

#include <string>
#include <vector>

#include "stub/records/stub_report.h"

namespace muster {

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
void CheckCommandFiles(const RehearsedCommand& command, StubReport& account);

}  // namespace muster
