// The files that a command names: its program, its script, and whatever else looks like a path. Reads them; starts
// nothing.
#pragma once

#include <string>
#include <vector>

#include "stub/records/stub_account.h"

namespace muster {

struct RehearsedCommand {
  std::vector<std::string> words;
  bool shell = false;               // the last word is a text for a shell, which is not looked into
  std::vector<std::string> beside;  // where bare names are looked for after PATH
  bool read = false;                // whether contents are hashed
};

// What is read of a file at most; of a longer one only the length is told.
inline constexpr std::uint64_t kMaxHashedBytes = std::uint64_t{64} << 20;

// Fills `files`, and adds findings of kFiles: the program and the script have to be there, and what else is there has
// to be readable. Whether it may be missing is told by comparing hosts: nobody can say here whether the job would write
// it.
void LookAtCommand(const RehearsedCommand& command, StubAccount& account);

}  // namespace muster
