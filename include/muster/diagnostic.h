// A diagnostic as a value: a problem, its place in the user's files, a hint, and the sources of other values in the
// message. Independent of Lua, processes and terminals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

enum class Severity : std::uint8_t { kError, kWarning };

// A place in a user's file. `line` counts from 1; 0 means the file as a whole. An empty `file` means that the cause is
// not in a file (the command line, the environment, the machine).
struct Place {
  std::string file;
  std::uint32_t line = 0;

  bool operator==(const Place&) const = default;
};

// Additional information for a diagnostic, usually where another value in the message was set.
struct Note {
  std::string message;
  Place place;

  bool operator==(const Note&) const = default;
};

// Who can fix the problem: determines the exit code (docs/glossary.md, "exit code").
enum class Blame : std::uint8_t {
  kRecipe,   // the recipe or the command line: exit 2
  kMachine,  // spawning, files, hosts: exit 3
  kBusy,     // the run directory is in use: exit 75
};

struct Diagnostic {
  Severity severity = Severity::kError;
  Blame blame = Blame::kRecipe;
  // A stable word for programs: "unknown_key", "range", … docs/diagnostics.md lists all of them.
  std::string kind;
  Place place;
  std::string message;
  std::string hint;  // empty if there is none
  std::vector<Note> notes;

  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

bool HasErrors(const Diagnostics& diagnostics);

// Merges equal diagnostics (many ranks, one mistake); keeps the order of first occurrence.
Diagnostics Folded(const Diagnostics& diagnostics);

// Factory functions: Error("range", place, "…").
Diagnostic Error(std::string kind, Place place, std::string message, std::string hint = {});
Diagnostic Warning(std::string kind, Place place, std::string message, std::string hint = {});
Diagnostic MachineError(std::string kind, std::string message, std::string hint = {});

// MachineError for a failed system call: "message: strerror(error_number)".
Diagnostic SystemError(std::string kind, std::string message, int error_number);

}  // namespace muster
