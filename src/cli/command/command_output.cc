#include "cli/command/command_output.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/system/terminal_size.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "cli/command/printed_schemas.h"
#include "cli/command/small_file.h"
#include "lua/state/own_data.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {

std::size_t OutputColumns(std::size_t otherwise) {
  const std::size_t columns = SizeOfTerminal(STDOUT_FILENO).columns;
  return columns > 0 ? columns : otherwise;
}

std::size_t ErrorColumns() { return SizeOfTerminal(STDERR_FILENO).columns; }

PlotGlyphs OutputGlyphs() {
  return GlyphsOfLocale(std::getenv("LC_ALL"), std::getenv("LC_CTYPE"), std::getenv("LANG"));
}

WaitLine::WaitLine(const std::string& what) : what_(Printable(what)), shown_(isatty(STDERR_FILENO) == 1) {}

void WaitLine::Clear() {
  if (std::exchange(written_, false)) std::fputs("\r\x1b[K", stderr);
}

void WaitLine::Show(unsigned seconds, const std::string& detail) {
  if (!shown_) return;
  const std::string text = detail.empty() ? what_ : what_ + ", " + Printable(detail);
  std::fprintf(stderr, "\r%s, %u s …\x1b[K", text.c_str(), seconds);
  std::fflush(stderr);
  written_ = true;
}

namespace {

// Source lines for diagnostics; each file is read once.
class Sources {
 public:
  std::optional<std::string> Line(const Place& place) {
    const auto [entry, is_new] = files_.try_emplace(place.file);
    if (is_new) {
      const std::string text = place.file.starts_with('@') ? OwnRecipe(place.file.substr(1)).value_or("")
                                                           : ReadSmallFile(place.file).value_or("");
      for (const std::string_view line : TextLines(text)) entry->second.emplace_back(line);
    }
    if (place.line == 0 || place.line > entry->second.size()) return std::nullopt;
    constexpr std::size_t kMax = 200;  // a data file may be one line
    const std::string& line = entry->second[place.line - 1];
    return line.size() <= kMax ? line : std::string(Utf8Prefix(line, kMax)) + " …";
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

struct Findings {
  Diagnostics diagnostics;
};
template <class V>
void Parts(V& v, const Findings& findings) {
  v("diagnostics", findings.diagnostics), v("format", 1), v("ok", !HasErrors(findings.diagnostics));
}

}  // namespace

int ExitCodeFor(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    switch (diagnostic.blame) {
      case Blame::kRecipe:
        return kExitRecipe;
      case Blame::kMachine:
        return kExitMachine;
      case Blame::kBusy:
        return kExitBusy;
    }
  }
  return kExitOk;
}

std::string DiagnosticsText(const Diagnostics& diagnostics, bool colour) {
  Sources sources;
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics) {
    text += DiagnosticText(
        diagnostic,
        [&](const Place& place) {
          // Hides the line if any diagnostic on it concerns a secret: terminals are logged.
          const bool secret = std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& other) {
            return other.kind == "secret_literal" && other.place == place;
          });
          return secret ? std::nullopt : sources.Line(place);
        },
        colour);
  }
  return text;
}

void PrintDiagnostics(const Diagnostics& diagnostics) {
  const bool colour = isatty(STDERR_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  std::fputs(FittedLines(DiagnosticsText(diagnostics, colour), ErrorColumns()).c_str(), stderr);
}

nlohmann::json DiagnosticsAsJson(const Diagnostics& diagnostics) {
  return nlohmann::json::parse(JsonOf<PartForms>(diagnostics));
}

std::string DiagnosticsJson(const Diagnostics& diagnostics) {
  return JsonOf<PartForms>(Findings{diagnostics}, 2) + "\n";
}

std::string DiagnosticsSchema() { return SchemaOf<PartForms>(Findings()); }
std::string FindingSchema() { return SchemaOf<PartForms>(Diagnostic()); }

namespace {

bool json_is_requested = false;

}  // namespace

void RequestJson() { json_is_requested = true; }
bool JsonIsRequested() { return json_is_requested; }

int Refuse(const Diagnostics& errors, bool json) {
  if (json) std::fputs(DiagnosticsJson(errors).c_str(), stdout);
  PrintDiagnostics(errors);
  return ExitCodeFor(errors);
}

}  // namespace muster
