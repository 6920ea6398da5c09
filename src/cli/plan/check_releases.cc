#include "cli/plan/check_releases.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/values/json_text.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/print_diagnostics.h"
#include "lua/state/own_data.h"

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

std::string Count(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
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
  if (errors > 0) text = Count(errors, "error");
  if (warnings > 0) text += (text.empty() ? "" : " and ") + Count(warnings, "warning");
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
    if (check.gone > 0) said += ", and " + Count(check.gone, "finding") + " less";
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

nlohmann::json ReleasesAsJson(const ReleaseChecks& checks) {
  auto releases = nlohmann::json::array();
  for (const ReleaseCheck& check : checks.checks) {
    auto defaults = nlohmann::json::array();
    for (const DefaultChange& change : check.defaults) {
      defaults.push_back(
          {{"function", change.function}, {"name", change.name}, {"before", change.before}, {"after", change.after}});
    }
    auto findings = DiagnosticsAsJson(check.findings);
    for (std::size_t i = 0; i < check.findings.size(); ++i) {
      const bool is_new = std::find(check.fresh.begin(), check.fresh.end(), check.findings[i]) != check.fresh.end();
      findings[i]["new"] = is_new;
    }
    releases.push_back(
        {{"release", ReleaseText(check.release)},
         {"own", check.own},
         {"reservation", check.reservation.empty() ? nlohmann::json() : nlohmann::json(check.reservation)},
         {"ok", !HasErrors(check.findings)},
         {"diagnostics", std::move(findings)},
         {"defaults", std::move(defaults)}});
  }
  return releases;
}

std::string ReleaseChecksJson(const ReleaseChecks& checks, const Diagnostics& as_it_stands) {
  bool ok = !HasErrors(as_it_stands);
  for (const ReleaseCheck& check : checks.checks) ok = ok && !HasErrors(check.findings);
  const nlohmann::json whole = {
      {"format", 1},
      {"ok", ok},
      {"mindspore", checks.own_release.empty() ? nlohmann::json() : nlohmann::json(checks.own_release)},
      {"diagnostics", DiagnosticsAsJson(as_it_stands)},
      {"releases", ReleasesAsJson(checks)}};
  return SerializedJson(whole, 2) + "\n";
}

}  // namespace muster
