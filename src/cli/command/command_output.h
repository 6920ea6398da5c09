// What every command writes on the terminal: diagnostics, as text and as JSON, with the exit code that they mean; the
// line that shows what muster is waiting for; and the terminal's width and characters.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "base/values/text_plot.h"
#include "muster/diagnostic.h"
#include "muster/exit_code.h"
#include "wire/archive/json_fields.h"

namespace muster {

// The terminal behind standard output: its width, and the characters that it shows.

// `otherwise` if standard output is no terminal, or one without a width.
std::size_t OutputColumns(std::size_t otherwise);

// The same of standard error; 0 if it is no terminal.
std::size_t ErrorColumns();

// By the caller's locale.
PlotGlyphs OutputGlyphs();

// A line on the terminal that shows what muster is waiting for, and for how long.

// Removed by the destructor. Does nothing if stderr is no terminal.
class WaitLine {
 public:
  explicit WaitLine(const std::string& what);
  WaitLine(const WaitLine&) = delete;
  WaitLine& operator=(const WaitLine&) = delete;
  ~WaitLine() { Clear(); }

  void Clear();
  // "WHAT, DETAIL, 3 s …"; `detail` may be empty.
  void Show(unsigned seconds, const std::string& detail = {});

 private:
  std::string what_;
  bool shown_;
  bool written_ = false;
};

// The exit code of a command that ends by errors of its own.

// The code of a command that ends by errors of its own, not of a process: that of the first diagnostic.
int ExitCodeFor(const Diagnostics& diagnostics);

// Prints diagnostics on the terminal and as JSON.

// The text that PrintDiagnostics writes.
std::string DiagnosticsText(const Diagnostics& diagnostics, bool colour = false);

// Writes them to stderr with their source lines, coloured on a terminal.
void PrintDiagnostics(const Diagnostics& diagnostics);

// {"severity": …, "kind": …, "file": …, "line": …, "message": …, "hint": …, "notes": […]}, in the order of the names;
// `is_new`, if it is not null, is one more member, "new".
template <class V>
void FindingParts(V& v, const Diagnostic& finding, const bool* is_new = nullptr);
template <class V>
void Parts(V& v, const Note& note) {
  v("file", As<NullIfNone>(note.place.file)), v("line", As<NullIfNone>(note.place.line)), v("message", note.message);
}
template <class V>
void Parts(V& v, const Diagnostic& finding) {
  FindingParts(v, finding);
}
template <class V>
void FindingParts(V& v, const Diagnostic& finding, const bool* is_new) {
  constexpr std::array<std::string_view, 2> kSeverities = {"error", "warning"};
  Severity severity = finding.severity;
  v("file", As<NullIfNone>(finding.place.file)), v("hint", As<NullIfNone>(finding.hint)), v("kind", finding.kind);
  v("line", As<NullIfNone>(finding.place.line)), v("message", finding.message);
  if (is_new != nullptr) v("new", *is_new);
  v("notes", finding.notes), v("severity", WithNames(severity, kSeverities));
}
// The same as a value of another library.
nlohmann::json DiagnosticsAsJson(const Diagnostics& diagnostics);

// {"format": 1, "ok": …, "diagnostics": […]} (product documentation: docs/diagnostics.md)
std::string DiagnosticsJson(const Diagnostics& diagnostics);

// The call has the option --json: from now on Refuse writes JSON if its caller does not say otherwise.
void RequestJson();
bool JsonIsRequested();

// Ends a command by errors: writes them to stderr, with `json` also as JSON to stdout, and returns the exit code. The
// command must not have printed JSON before, so that a program reads one document.
int Refuse(const Diagnostics& errors, bool json = JsonIsRequested());

}  // namespace muster
