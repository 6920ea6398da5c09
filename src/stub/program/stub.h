// The stub program: replaces each process in a rehearsal. It checks what the process would find, connects to the other
// stubs, and reports in one line of JSON on its standard output (stub/records/stub_report.h).
//
// Reads its own environment, as a training script would; independent of plans and Lua.
#pragma once

#include <span>

namespace muster {

// The first argument that makes muster-agent a stub.
inline constexpr const char* kStubOption = "--stub";

// Arguments: --facts FILE --process N [--beside DIR]… [--shell] [-- COMMAND …], or, when run by hand, [--json] [--
// COMMAND …]. 0: it has reported its findings, whatever they are; by hand 1 if there are problems. 2: invalid arguments
// or facts. 3: it could not report.
int StubMain(std::span<char* const> words);

inline constexpr const char* kStubHelp =
    R"(Checks the conditions that a process would find: the files named by its command, devices, its context, disk space.
In a rehearsal it also checks the variables of the contract and connects to the other stubs.

Usage: muster stub [--json] [-- COMMAND …]

  --json  one line of JSON instead of a text
  --help  show this text

Exit code: 0 no problems, 1 problems found, 2 wrong usage, 3 could not report.
example: muster stub -- python3 train.py --data data/digits.csv
)";

}  // namespace muster
