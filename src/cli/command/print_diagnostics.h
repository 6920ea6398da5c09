// Prints diagnostics on the terminal and as JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "muster/diagnostic.h"

namespace muster {

// The text that PrintDiagnostics writes.
std::string DiagnosticsText(const Diagnostics& diagnostics, bool colour = false);

// Writes them to stderr with their source lines, coloured on a terminal.
void PrintDiagnostics(const Diagnostics& diagnostics);

// [{"severity": …, "kind": …, "file": …, "line": …, "message": …, "hint": …, "notes": […]}]
nlohmann::json DiagnosticsAsJson(const Diagnostics& diagnostics);

// {"format": 1, "ok": …, "diagnostics": […]} (product documentation: docs/diagnostics.md)
std::string DiagnosticsJson(const Diagnostics& diagnostics);

// Ends a command by errors: writes them to stderr, with `json` also as JSON to stdout, and returns the exit code.
int Refuse(const Diagnostics& errors, bool json = false);

}  // namespace muster
