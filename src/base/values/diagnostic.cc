#include "muster/diagnostic.h"

#include <algorithm>
#include <cstring>

#include "base/values/diagnostic_text.h"
#include "base/values/shell_quote.h"

namespace muster {

bool HasErrors(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

Diagnostics Folded(const Diagnostics& diagnostics) {
  Diagnostics folded;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (std::find(folded.begin(), folded.end(), diagnostic) == folded.end()) folded.push_back(diagnostic);
  }
  return folded;
}

Diagnostic Error(std::string kind, Place place, std::string message, std::string hint) {
  return {Severity::kError, Blame::kRecipe, std::move(kind), std::move(place), std::move(message), std::move(hint), {}};
}

Diagnostic Warning(std::string kind, Place place, std::string message, std::string hint) {
  Diagnostic diagnostic = Error(std::move(kind), std::move(place), std::move(message), std::move(hint));
  diagnostic.severity = Severity::kWarning;
  return diagnostic;
}

Diagnostic MachineError(std::string kind, std::string message, std::string hint) {
  Diagnostic diagnostic = Error(std::move(kind), {}, std::move(message), std::move(hint));
  diagnostic.blame = Blame::kMachine;
  return diagnostic;
}

Diagnostic SystemError(std::string kind, std::string message, int error_number) {
  return MachineError(std::move(kind), message + ": " + std::strerror(error_number));
}

namespace {

std::string PlaceText(const Place& place) {
  if (place.file.empty()) return {};
  const std::string file = Printable(place.file);
  return place.line == 0 ? file : file + ":" + std::to_string(place.line);
}

}  // namespace

std::string DiagnosticText(const Diagnostic& diagnostic, const SourceLine& source_line, bool colour) {
  const bool error = diagnostic.severity == Severity::kError;
  const char* mark = colour ? (error ? "\033[1;31m" : "\033[1;33m") : "";
  const char* soft = colour ? "\033[36m" : "";
  const char* plain = colour ? "\033[0m" : "";

  std::string text;
  const std::string place = PlaceText(diagnostic.place);
  text += place.empty() ? "muster" : place;
  text +=
      std::string(": ") + mark + (error ? "error" : "warning") + plain + ": " + Printable(diagnostic.message) + "\n";
  if (diagnostic.place.line > 0 && source_line) {
    if (const auto line = source_line(diagnostic.place)) {
      const std::string number = std::to_string(diagnostic.place.line);
      text += std::string(number.size() < 5 ? 5 - number.size() : 0, ' ') + number + " | " + Printable(*line) + "\n";
    }
  }
  if (!diagnostic.hint.empty()) text += std::string(soft) + "hint" + plain + ": " + Printable(diagnostic.hint) + "\n";
  for (const Note& note : diagnostic.notes) {
    const std::string where = PlaceText(note.place);
    text += std::string(soft) + "note" + plain + ": " + Printable(note.message);
    if (!where.empty()) text += " (" + where + ")";
    text += "\n";
  }
  return text;
}

std::string Sentence(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (!text.empty()) text += "; ";
    text += diagnostic.message;
    if (!diagnostic.hint.empty()) text += " (" + diagnostic.hint + ")";
  }
  return text;
}

}  // namespace muster
