// A stub: what a rehearsal starts in the place of each process. It looks at what the process would have found, greets
// the other stubs, and tells what it saw in one line of JSON on its standard output (stub/records/stub_account.h).
//
// Reads its own environment, as a training script would; knows neither plans nor Lua.
#pragma once

#include <span>

namespace muster {

// The first word by which muster-agent is one.
inline constexpr const char* kStubOption = "--stub";

// The words behind the name: --facts FILE --process N [--beside DIR]… [--shell] [-- COMMAND …], or, for somebody who
// calls it by hand, [--json] [-- COMMAND …]. 0: it has told what it found, whatever that is; by hand 1 if something is
// wrong. 2: wrong words or facts. 3: it could not tell.
int StubMain(std::span<char* const> words);

inline constexpr const char* kStubHelp =
    R"(Looks at what it finds in the place of a process: files that the command names, devices, its context, room on
disks. Within a rehearsal also at everything that the contract promises, and greets the other stubs.

Usage: muster stub [--json] [-- COMMAND …]

  --json  one line of JSON instead of a text
  --help  show this text

Exit code: 0 nothing is wrong, 1 something is, 2 wrong usage, 3 it could not tell.
example: muster stub -- python3 train.py --data data/digits.csv
)";

}  // namespace muster
