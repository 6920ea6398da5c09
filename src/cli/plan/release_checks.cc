#include "cli/plan/release_checks.h"

#include <algorithm>
#include <map>
#include <optional>

#include <unistd.h>

#include "base/values/line_diff.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_text.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/command/small_file.h"
#include "lua/state/own_data.h"
#include "reference/context_topics.h"
#include "rewrite/recipe_rewriter.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

const Diagnostics& FindingsOf(const Result<Evaluation>& evaluation) {
  return evaluation ? evaluation->warnings : evaluation.error();
}

// The attributes that the recipe sets, over all its processes.
Value::Map SetAttributes(const Plan& plan) {
  Value::Map set;
  for (const Process& process : plan.processes) {
    for (const auto& [key, value] : EffectiveContext(plan, process)) set.emplace(key, value);
  }
  return set;
}

std::size_t Errors(const Diagnostics& diagnostics) {
  return static_cast<std::size_t>(std::count_if(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& each) {
    return each.severity == Severity::kError;
  }));
}

std::string CountText(const Diagnostics& diagnostics) {
  const std::size_t errors = Errors(diagnostics);
  const std::size_t warnings = diagnostics.size() - errors;
  std::string text;
  if (errors > 0) text = Counted(errors, "error");
  if (warnings > 0) text += (text.empty() ? "" : " and ") + Counted(warnings, "warning");
  return text;
}

void PrintReservation(const ReleaseCheck& check) {
  if (!check.reservation.empty()) std::puts(PrintableLines(check.reservation).c_str());
}

std::string PlacePrefix(const Place& place) {
  if (place.file.empty()) return "";
  return place.file + (place.line > 0 ? ":" + std::to_string(place.line) : "") + ": ";
}

}  // namespace

Result<ReleaseChecks> CheckReleases(const RecipeOptions& options, const Result<Evaluation>& as_it_stands,
                                    const std::string& wanted) {
  const auto schema = OwnSchema();
  if (!schema) return Fail(schema.error());
  std::vector<Release> releases;
  if (wanted == "all") {
    for (const ReleaseFacts& facts : schema->releases()) {
      if (facts.described) releases.push_back(facts.release);
    }
  } else {
    const auto release = schema->FindRelease(wanted, {});
    if (!release) return Fail(release.error());
    releases = {*release};
  }

  ReleaseChecks checks;
  if (as_it_stands) {
    checks.own_release = as_it_stands->plan.mindspore;
    if (checks.own_release.empty()) return checks;
  }
  const auto own = ParseRelease(checks.own_release);
  const Value::Map set = as_it_stands ? SetAttributes(as_it_stands->plan) : Value::Map();
  for (const Release& release : releases) {
    ReleaseCheck& check = checks.checks.emplace_back();
    check.release = release;
    check.reservation = schema->ReservationAbout(release);
    check.own = own == release;
    check.findings = FindingsOf(check.own ? as_it_stands : EvaluateForRelease(options, ReleaseText(release)));
    if (check.own) continue;
    check.fresh = NewFindings(FindingsOf(as_it_stands), check.findings);
    check.gone = NewFindings(check.findings, FindingsOf(as_it_stands)).size();
    if (own) check.defaults = DefaultChanges(*schema, *own, release, set);
  }
  return checks;
}

void PrintDefaults(std::FILE* to, const std::vector<DefaultChange>& defaults) {
  if (defaults.empty()) return;
  std::size_t width = 0;
  for (const DefaultChange& change : defaults) width = std::max(width, change.name.size());
  std::fputs("other defaults, of attributes that the recipe does not set (set them to keep what was):\n", to);
  for (const DefaultChange& change : defaults) {
    const std::string pad(width - change.name.size(), ' ');
    std::fprintf(to, "  %s%s  %s -> %s\n", PrintableLines(change.name).c_str(), pad.c_str(),
                 PrintableLines(change.before).c_str(), PrintableLines(change.after).c_str());
  }
}

void PrintReleaseChecks(const ReleaseChecks& checks, const Result<Evaluation>& as_it_stands) {
  for (const ReleaseCheck& check : checks.checks) {
    const std::string release = ReleaseText(check.release);
    if (check.own) {
      std::printf("MindSpore %s is the recipe's own release\n", PrintableLines(release).c_str());
      PrintReservation(check);
      continue;
    }
    std::string said = check.fresh.empty() ? "nothing" : CountText(check.fresh);
    if (!FindingsOf(as_it_stands).empty()) said += " more";
    if (check.gone > 0) said += ", and " + Counted(check.gone, "finding") + " less";
    std::printf("on MindSpore %s%s: %s\n", PrintableLines(release).c_str(),
                checks.own_release.empty() ? "" : (" instead of " + checks.own_release).c_str(),
                PrintableLines(said).c_str());
    PrintReservation(check);
    std::fflush(stdout);  // keeps the order if both streams go to the same file
    PrintDiagnostics(check.fresh);
    PrintDefaults(stdout, check.defaults);
    if (!as_it_stands) std::puts("changed defaults are listed once the recipe has no errors");
  }
}

void PrintReleaseTable(const ReleaseChecks& checks) {
  std::printf("%-11s  %6s  %8s  %8s  %s\n", "release", "errors", "warnings", "defaults", "first error");
  for (const ReleaseCheck& check : checks.checks) {
    const std::size_t errors = Errors(check.findings);
    const auto first = std::find_if(check.findings.begin(), check.findings.end(),
                                    [](const Diagnostic& each) { return each.severity == Severity::kError; });
    std::string line = ReleaseText(check.release) + (check.own ? " *" : "");
    line.resize(std::max<std::size_t>(line.size(), 11), ' ');
    char numbers[64];
    std::snprintf(numbers, sizeof numbers, "  %6zu  %8zu  %8s", errors, check.findings.size() - errors,
                  checks.own_release.empty() ? "?" : std::to_string(check.defaults.size()).c_str());
    line += numbers;
    if (first != check.findings.end()) line += "  " + PlacePrefix(first->place) + first->message;
    std::printf("%s\n", Printable(line).c_str());
  }
  std::puts("* the recipe's own; defaults: attributes that it does not set and that are others there");
  for (const ReleaseCheck& check : checks.checks) PrintReservation(check);
}

std::vector<JudgedFinding> JudgedFindings(const ReleaseCheck& check) {
  std::vector<JudgedFinding> judged;
  for (const Diagnostic& finding : check.findings) {
    judged.push_back({finding, std::find(check.fresh.begin(), check.fresh.end(), finding) != check.fresh.end()});
  }
  return judged;
}

namespace {

struct PrintedReleases {
  const ReleaseChecks& checks;
  const Diagnostics& as_it_stands;
};
template <class V>
void Parts(V& v, const PrintedReleases& printed) {
  bool ok = !HasErrors(printed.as_it_stands);
  for (const ReleaseCheck& check : printed.checks.checks) ok = ok && !HasErrors(check.findings);
  v("diagnostics", printed.as_it_stands), v("format", 1), v("mindspore", As<NullIfNone>(printed.checks.own_release));
  v("ok", ok), v("releases", printed.checks.checks);
}

}  // namespace

std::string ReleaseChecksJson(const ReleaseChecks& checks, const Diagnostics& as_it_stands) {
  return JsonOf<PartForms>(PrintedReleases{checks, as_it_stands}, 2) + "\n";
}

std::string ReleasesSchema() { return SchemaOf<PartForms>(PrintedReleases{{}, {}}); }

template <class V>
void Parts(V& v, const RewrittenSetting& setting) {
  v("line", setting.line), v("setting", setting.what), v("to", setting.to);
}
template <class V>
void Parts(V& v, const LeftSetting& setting) {
  v("line", setting.line), v("reason", setting.reason), v("setting", setting.what);
}

namespace {

using RewriteOutput = RewriteChoice::Output;

struct Rewritten {
  std::string before;
  Rewriting made;
  Release own;
  Release release;
  std::vector<DefaultChange> defaults;
  std::string reservation;  // Schema::ReservationAbout the release
};

// Settings of every process, in a context of its own.
std::vector<Value::Map> ContextsOf(const Plan& plan) {
  std::vector<Value::Map> contexts;
  for (const Process& process : plan.processes) {
    Value::Map context;
    for (const auto& [key, value] : EffectiveContext(plan, process)) context.emplace(key, value);
    if (std::find(contexts.begin(), contexts.end(), context) == contexts.end()) contexts.push_back(std::move(context));
  }
  return contexts;
}

Value::Map AllSet(const std::vector<Value::Map>& contexts) {
  Value::Map all;
  for (const Value::Map& context : contexts) all.insert(context.begin(), context.end());
  return all;
}

// The first release that has one of the functions.
Release FirstWithFunctions(const Schema& schema) {
  std::optional<Release> first;
  for (const auto& [name, unused] : schema.calls()) {
    const auto since = schema.FirstRelease(name);
    if (since && (!first || *since < *first)) first = since;
  }
  return first.value_or(Release{});
}

// The functions of the context API that the release deprecates without a counterpart in recipes.
Result<std::map<std::string, std::string>> StayingFunctions(const Release& release) {
  const auto record = OwnData("muster/schema/outline.lua");
  if (!record) return Fail(record.error());
  const auto outline = OutlineFromValue(*record);
  if (!outline) return Fail(outline.error());
  std::map<std::string, std::string> staying;
  for (const Outline::Entry& function : outline->functions) {
    const auto since = ParseRelease(function.deprecated);
    if (!since || release < *since) continue;
    staying.emplace(function.name, "it cannot be replaced in the recipe alone (" + DeprecationText(function) + ")");
  }
  return staying;
}

// The Lua files that the recipe read, without its own.
std::map<std::string, std::string> OtherFiles(const Evaluation& evaluation, const std::string& own) {
  std::map<std::string, std::string> others;
  for (const auto& [path, text] : evaluation.sources) {
    if (path.ends_with(".lua") && text != own) others.emplace(path, text);
  }
  return others;
}

Result<Rewritten> Rewrite(const RecipeOptions& options, const Evaluation& own, const std::string& wanted) {
  const auto schema = OwnSchema();
  if (!schema) return Fail(schema.error());
  const auto release = schema->FindRelease(wanted, {});
  if (!release) return Fail(release.error());
  if (const Release first = FirstWithFunctions(*schema); *release < first) {
    return Fail(Error("usage", {},
                      "--rewrite: MindSpore " + ReleaseText(*release) + " has no functions that replace set_context",
                      "they are in MindSpore " + ReleaseText(first) + " and later"));
  }
  const auto own_release = ParseRelease(own.plan.mindspore);
  if (!own_release) {
    return Fail(
        Error("release", {options.recipe, 0}, "the recipe names no MindSpore release, so there is nothing to rewrite"));
  }
  auto staying = StayingFunctions(*release);
  if (!staying) return Fail(staying.error());
  auto text = ReadSmallFile(options.recipe, kMaxLuaBytes);
  if (!text) {
    return Fail(Error("usage", {}, "--rewrite needs the file of a recipe: " + text.error(),
                      "for example: muster check recipe.lua --mindspore 2.7 --rewrite"));
  }
  // What its processes have on the other release; the recipe's own, where that release refuses something.
  const auto there =
      own_release == *release ? Result<Evaluation>(own) : EvaluateForRelease(options, ReleaseText(*release));
  RewriteTarget target;
  target.schema = &*schema;
  target.release = *release;
  target.release_text = wanted;
  target.own_release = *own_release;
  target.contexts = ContextsOf(there ? there->plan : own.plan);
  target.other_files = OtherFiles(own, *text);
  target.staying = *std::move(staying);
  auto made = RewriteRecipe(*text, options.recipe, target);
  if (!made) return Fail(made.error());
  Rewritten rewritten{
      *std::move(text), *std::move(made), *own_release, *release, {}, schema->ReservationAbout(*release)};
  if (rewritten.made.names_release) {
    rewritten.defaults = DefaultChanges(*schema, *own_release, *release, AllSet(ContextsOf(own.plan)));
  }
  return rewritten;
}

std::string PlaceText(const std::string& file, std::uint32_t line) {
  return file + (line > 0 ? ":" + std::to_string(line) : "");
}

std::string DiffText(const std::string& file, const Rewritten& rewritten) {
  const std::vector<std::string> lines = UnifiedDiff(rewritten.before, rewritten.made.text);
  if (lines.empty()) return "";
  std::string text = "--- " + file + "\n+++ " + file + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::string SummaryText(const Rewritten& rewritten) {
  std::string text = Counted(rewritten.made.moved.size(), "setting") + " moved, " +
                     std::to_string(rewritten.made.left.size()) + " left";
  if (rewritten.made.names_release) {
    text +=
        "; the recipe names MindSpore " + ReleaseText(rewritten.release) + " instead of " + ReleaseText(rewritten.own);
  }
  return text;
}

// Members are in the order of their names.
struct PrintedRewrite {
  Rewritten rewritten;
  std::optional<std::string> text, diff;
};

template <class V>
void Parts(V& v, const PrintedRewrite& printed) {
  const Rewritten& rewritten = printed.rewritten;
  v("changed", rewritten.made.text != rewritten.before), v("defaults", rewritten.defaults);
  v("diff", As<UnlessNone>(printed.diff)), v("format", 1), v("left", rewritten.made.left);
  v("mindspore", ReleaseText(rewritten.own)), v("moved", rewritten.made.moved), v("ok", true);
  v("release", ReleaseText(rewritten.release)), v("reservation", As<NullIfNone>(rewritten.reservation));
  v("text", As<UnlessNone>(printed.text));
}

std::string RewriteJson(const Rewritten& rewritten, const std::string& file, RewriteOutput output) {
  PrintedRewrite printed{rewritten, {}, {}};
  if (output == RewriteOutput::kText) printed.text = rewritten.made.text;
  if (output == RewriteOutput::kDiff) printed.diff = DiffText(file, rewritten);
  return JsonOf<PartForms>(printed, 2) + "\n";
}

void PrintLeft(const Rewritten& rewritten, const std::string& file) {
  for (const LeftSetting& setting : rewritten.made.left) {
    const std::string line = PlaceText(file, setting.line) + ": left: " + setting.what + ": " + setting.reason;
    std::fprintf(stderr, "%s\n", Printable(line).c_str());
  }
}

int RefuseRewrite(const Diagnostics& errors, bool json) {
  if (json) std::fputs(DiagnosticsJson(errors).c_str(), stdout);
  if (!json) PrintDiagnostics(errors);
  return ExitCodeFor(errors);
}

}  // namespace

std::string RewriteSchema() { return SchemaOf<PartForms>(PrintedRewrite()); }

int ReportRewrite(const RecipeOptions& options, const Result<Evaluation>& as_it_stands, const RewriteChoice& choice) {
  if (!as_it_stands) return RefuseRewrite(as_it_stands.error(), choice.json);
  const auto rewritten = Rewrite(options, *as_it_stands, choice.release);
  if (!rewritten) return RefuseRewrite(rewritten.error(), choice.json);
  const bool changed = rewritten->made.text != rewritten->before;
  if (choice.output == RewriteOutput::kInPlace && changed) {
    if (auto replaced = ReplaceRecipe(options.recipe, rewritten->before, rewritten->made.text); !replaced) {
      return RefuseRewrite(replaced.error(), choice.json);
    }
  }
  if (choice.json) {
    std::fputs(RewriteJson(*rewritten, options.recipe, choice.output).c_str(), stdout);
    return kExitOk;
  }
  if (choice.output == RewriteOutput::kText) {
    const bool on_terminal = ::isatty(STDOUT_FILENO) == 1;
    const std::string text = on_terminal ? PrintableLines(rewritten->made.text) : rewritten->made.text;
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (choice.output == RewriteOutput::kDiff)
    std::fputs(PrintableLines(DiffText(options.recipe, *rewritten)).c_str(), stdout);
  std::fflush(stdout);
  PrintLeft(*rewritten, options.recipe);
  PrintDefaults(stderr, rewritten->defaults);
  std::FILE* const to = choice.output == RewriteOutput::kInPlace ? stdout : stderr;
  const std::string summary = options.recipe + ": " + (changed ? "" : "unchanged: ") + SummaryText(*rewritten);
  std::fprintf(to, "%s\n", Printable(summary).c_str());
  if (!rewritten->reservation.empty()) std::fprintf(to, "%s\n", PrintableLines(rewritten->reservation).c_str());
  return kExitOk;
}

}  // namespace muster
