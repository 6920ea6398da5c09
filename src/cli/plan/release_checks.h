// A recipe for other MindSpore releases than its own: evaluates it for them and reports differences
// (settings/schema/schema_text.h defines these), and rewrites its text with the newer functions of a release
// (muster check --rewrite).
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command/command_output.h"
#include "cli/options/recipe_options.h"
#include "settings/schema/schema_text.h"

namespace muster {

// Checks a recipe against other MindSpore releases: evaluates it for them, and reports differences.
// settings/schema/schema_text.h defines the differences.

struct ReleaseCheck {
  Release release;
  bool own = false;                     // the recipe's own release
  std::string reservation;              // Schema::ReservationAbout
  Diagnostics findings;                 // all findings for that release
  Diagnostics fresh;                    // those that the recipe's own release does not have
  std::size_t gone = 0;                 // findings of the recipe's own release that this one does not have
  std::vector<DefaultChange> defaults;  // also empty if the recipe itself is invalid
};

struct ReleaseChecks {
  std::string own_release;  // "1.6.2"; empty: the recipe has none, or is invalid
  std::vector<ReleaseCheck> checks;
};

// `wanted` is a release as in a recipe, or "all": every described one. Kind "release": unknown release. `as_it_stands`
// is the recipe's own evaluation. Evaluates nothing if a valid recipe names no release.
Result<ReleaseChecks> CheckReleases(const RecipeOptions& options, const Result<Evaluation>& as_it_stands,
                                    const std::string& wanted);

// Prints them as text: findings on standard error, the rest on standard output.
void PrintReleaseChecks(const ReleaseChecks& checks, const Result<Evaluation>& as_it_stands);
void PrintReleaseTable(const ReleaseChecks& checks);

// The defaults alone, with a heading; nothing if there are none.
void PrintDefaults(std::FILE* to, const std::vector<DefaultChange>& defaults);

// What a release says of the recipe: an element of the member "releases" of the text below.
struct JudgedFinding {
  Diagnostic finding;
  bool is_new = false;  // … to the recipe's own release
};
template <class V>
void Parts(V& v, const JudgedFinding& judged) {
  FindingParts(v, judged.finding, &judged.is_new);
}
template <class V>
void Parts(V& v, const DefaultChange& change) {
  v("after", change.after), v("before", change.before), v("function", change.function), v("name", change.name);
}
std::vector<JudgedFinding> JudgedFindings(const ReleaseCheck& check);
template <class V>
void Parts(V& v, const ReleaseCheck& check) {
  v("defaults", check.defaults), v("diagnostics", JudgedFindings(check)), v("ok", !HasErrors(check.findings));
  v("own", check.own), v("release", ReleaseText(check.release));
  v("reservation", As<NullIfNone>(check.reservation));
}
// {"format": 1, "ok": …, "mindspore": …, "diagnostics": […], "releases": […]}
std::string ReleaseChecksJson(const ReleaseChecks& checks, const Diagnostics& as_it_stands);

// muster check --rewrite: the recipe's text with the newer functions of a MindSpore release.

struct RewriteChoice {
  enum class Output : std::uint8_t { kText, kDiff, kInPlace };
  std::string release;  // as on the command line
  Output output = Output::kText;
  bool json = false;
};

// Prints the text, or the difference, or replaces the file; on standard error what stays as it is, and why. Returns the
// exit code: 0 also if something stays. `as_it_stands` is the recipe's own evaluation; a recipe with errors is not
// rewritten.
int ReportRewrite(const RecipeOptions& options, const Result<Evaluation>& as_it_stands, const RewriteChoice& choice);

}  // namespace muster
