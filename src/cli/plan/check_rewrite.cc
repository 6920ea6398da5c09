#include "cli/plan/check_rewrite.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/values/json_text.h"
#include "base/values/line_diff.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/command/small_file.h"
#include "cli/plan/check_releases.h"
#include "cli/plan/replace_recipe.h"
#include "lua/state/own_data.h"
#include "reference/outline.h"
#include "rewrite/recipe_rewriter.h"

namespace muster {
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
  auto text = ReadSmallFile(options.recipe, kMostLuaBytes);
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
  const auto count = [](std::size_t number, const char* what) {
    return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
  };
  std::string text =
      count(rewritten.made.moved.size(), "setting") + " moved, " + std::to_string(rewritten.made.left.size()) + " left";
  if (rewritten.made.names_release) {
    text +=
        "; the recipe names MindSpore " + ReleaseText(rewritten.release) + " instead of " + ReleaseText(rewritten.own);
  }
  return text;
}

std::string RewriteJson(const Rewritten& rewritten, const std::string& file, RewriteOutput output) {
  auto moved = nlohmann::json::array();
  for (const RewrittenSetting& setting : rewritten.made.moved) {
    moved.push_back({{"line", setting.line}, {"setting", setting.what}, {"to", setting.to}});
  }
  auto left = nlohmann::json::array();
  for (const LeftSetting& setting : rewritten.made.left) {
    left.push_back({{"line", setting.line}, {"setting", setting.what}, {"reason", setting.reason}});
  }
  auto defaults = nlohmann::json::array();
  for (const DefaultChange& change : rewritten.defaults) {
    defaults.push_back(
        {{"function", change.function}, {"name", change.name}, {"before", change.before}, {"after", change.after}});
  }
  nlohmann::json whole = {
      {"format", 1},
      {"ok", true},
      {"mindspore", ReleaseText(rewritten.own)},
      {"release", ReleaseText(rewritten.release)},
      {"reservation", rewritten.reservation.empty() ? nlohmann::json() : nlohmann::json(rewritten.reservation)},
      {"changed", rewritten.made.text != rewritten.before},
      {"moved", std::move(moved)},
      {"left", std::move(left)},
      {"defaults", std::move(defaults)}};
  if (output == RewriteOutput::kText) whole["text"] = Readable(rewritten.made.text);
  if (output == RewriteOutput::kDiff) whole["diff"] = Readable(DiffText(file, rewritten));
  return SerializedJson(whole, 2) + "\n";
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
