// muster test: compares the plans of folders of recipes with golden files beside them.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/small_file.h"
#include "cli/plan/golden_cases.h"
#include "cli/plan/plan_causes.h"

namespace muster {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxLines = 40;  // of changed errors and warnings

struct TestOptions {
  std::string folder;
  std::vector<std::string> names;
  std::string mindspore;  // another release than the recipes'; empty: none
  bool update = false;
  bool json = false;
};

enum class Verdict {
  kOk,
  kDiffers,
  kMissing,  // there is no golden file
  kFails,    // it gives no plan, but should
  kWorks,    // it gives a plan, but should not
  kWritten,  // written by --update
};

const char* VerdictName(Verdict verdict) {
  switch (verdict) {
    case Verdict::kOk:
      return "ok";
    case Verdict::kDiffers:
      return "differs";
    case Verdict::kMissing:
      return "missing";
    case Verdict::kFails:
      return "fails";
    case Verdict::kWorks:
      return "works";
    case Verdict::kWritten:
      return "written";
  }
  return "";
}

bool IsSuccess(Verdict verdict) { return verdict == Verdict::kOk || verdict == Verdict::kWritten; }

struct Tested {
  GoldenCase of;
  Verdict verdict = Verdict::kOk;
  std::string why;       // one line; empty on success
  std::string detail;    // the difference or error, as text
  Diagnostics problems;  // of the recipe, including warnings
  std::optional<PlanDifference> diff;
};

struct Skipped {
  std::string file;
  std::string why;
};

struct Outcome {
  std::vector<Tested> cases;
  std::vector<std::string> stale;
  std::vector<std::string> removed;  // by --update
  std::vector<Skipped> skipped;
};

// The name of a file of the folder for the caller.
std::string Shown(const TestOptions& options, const std::string& file) {
  return options.folder == "." ? file : (fs::path(options.folder) / file).lexically_normal().string();
}

std::string Indented(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += line.empty() ? "\n" : "  " + line + "\n";
  return out;
}

std::optional<std::string> Kept(const std::string& file) {
  auto text = ReadSmallFileHere(file, 256U << 20);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

class Tester {
 public:
  explicit Tester(const TestOptions& options) : options_(options), waiting_("testing " + options.folder) {}

  Result<Outcome> Run() {
    const std::vector<std::string> files = LuaFilesHere();
    std::vector<std::string> recipes;
    std::vector<GoldenCase> cases;
    for (const std::string& file : files) {
      Tick("reading " + file);
      auto some = CasesOf(file);
      if (!some) {
        problems_.insert(problems_.end(), some.error().begin(), some.error().end());
        continue;
      }
      if (!some->empty()) recipes.push_back(file);
      for (GoldenCase& one : *some) cases.push_back(std::move(one));
    }
    if (!problems_.empty()) return Fail(problems_);
    if (auto apart = CheckNames(cases); !apart) return Fail(apart.error());
    std::set<std::string> names;
    for (const GoldenCase& one : cases) names.insert(one.name);
    if (!options_.names.empty()) {
      if (auto chosen = Choose(cases); !chosen) return Fail(chosen.error());
    }
    if (cases.empty()) {
      return Fail(Error("usage", {}, "there is no recipe in " + Quoted(options_.folder),
                        files.empty() ? "a recipe is a Lua file" : "none of its Lua files returns one"));
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
      Tick(std::to_string(i) + " of " + std::to_string(cases.size()) + " cases");
      Result<void> tested = Test(cases[i]);
      if (!tested) return Fail(tested.error());
    }
    if (options_.names.empty()) {
      if (auto reported = ReportStale(names, recipes); !reported) return Fail(reported.error());
    } else {
      outcome_.skipped.clear();  // not selected
    }
    waiting_.Clear();
    return std::move(outcome_);
  }

 private:
  Result<Evaluation> Evaluate(const GoldenCase& one, bool describe_only, const std::vector<Override>& more = {}) {
    return EvaluateCase(
        one, describe_only, more, [&](unsigned) { Tick(one.name); }, options_.mindspore);
  }

  void Tick(const std::string& detail) {
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const auto seconds = static_cast<unsigned>((MonotonicNowNs() - began_) / kSecond);
    if (seconds > 0) waiting_.Show(seconds, detail);
  }

  // Empty for a module.
  Result<std::vector<GoldenCase>> CasesOf(const std::string& file) {
    auto cases = WrittenCases(file);
    if (!cases) return cases;
    GoldenCase plain{GoldenName(file), file, {}, {}};
    const bool is_kept = Kept(plain.plan()) || Kept(plain.problems());
    auto described = Evaluate(plain, true);
    if (!described) {
      const Diagnostics& problems = described.error();
      if (ExitCodeFor(problems) == kExitMachine) return Fail(problems);
      const bool is_module = problems.size() == 1 && problems.front().kind == "no_recipe";
      if (is_module && !is_kept && cases->empty()) {
        outcome_.skipped.push_back({file, "it returns no recipe"});
        return cases;
      }
      unknown_.push_back(plain.name + ".");
      cases->insert(cases->begin(), std::move(plain));
      return cases;
    }
    std::vector<GoldenCase> all;
    std::string wanted;
    for (const ParameterState& state : described->parameters) {
      if (state.active && !state.value) wanted += (wanted.empty() ? "" : ", ") + state.parameter.name;
    }
    if (wanted.empty() || is_kept) {
      all.push_back(plain);
    } else {
      outcome_.skipped.push_back({file, "it needs a value for " + wanted});
    }
    std::set<std::string> names;
    for (const ProfileFacts& profile : described->profiles) {
      all.push_back({plain.name + "." + profile.name, file, {"--profile", profile.name}, {}});
      names.insert(all.back().name);
    }
    for (GoldenCase& one : *cases) {
      if (names.contains(one.name)) {
        return Fail(
            Error("cases", one.place, "a profile of the recipe has the name of this case", "give it another one"));
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  // Golden files of different cases must not have the same name.
  Result<void> CheckNames(const std::vector<GoldenCase>& cases) const {
    Diagnostics problems;
    std::map<std::string, const GoldenCase*> by_name;
    const auto text = [&](const GoldenCase& one) {
      std::string reported = Quoted(Shown(options_, one.recipe));
      for (const std::string& word : one.words) reported += " " + word;
      return reported;
    };
    for (const GoldenCase& one : cases) {
      const auto [other, is_new] = by_name.emplace(one.name, &one);
      if (is_new) continue;
      problems.push_back(
          Error("cases", one.place,
                Shown(options_, one.plan()) + " would be kept of " + text(*other->second) + " and of " + text(one),
                "rename one of the recipes, or the profile or case"));
    }
    if (!problems.empty()) return Fail(std::move(problems));
    return {};
  }

  // The selected cases: "gpt" is all of gpt.lua, "gpt.smoke" one.
  Result<void> Choose(std::vector<GoldenCase>& cases) const {
    for (const std::string& name : options_.names) {
      const bool is_there = std::any_of(cases.begin(), cases.end(), [&](const GoldenCase& one) {
        return one.name == name || GoldenName(one.recipe) == name;
      });
      if (!is_there) {
        std::vector<std::string> known;
        for (const GoldenCase& one : cases) known.push_back(one.name);
        return Fail(Error("usage", {}, "there is no case " + Quoted(name), DidYouMean(name, known)));
      }
    }
    std::erase_if(cases, [&](const GoldenCase& one) {
      return std::none_of(options_.names.begin(), options_.names.end(),
                          [&](const std::string& name) { return one.name == name || GoldenName(one.recipe) == name; });
    });
    return {};
  }

  Result<void> Test(const GoldenCase& one) {
    Tested& tested = outcome_.cases.emplace_back();
    tested.of = one;
    const auto kept = Kept(one.plan());
    const auto kept_problems = Kept(one.problems());
    const bool must_fail = kept_problems && !kept;
    const auto evaluation = Evaluate(one, false);
    tested.problems = evaluation ? evaluation->warnings : evaluation.error();
    if (ExitCodeFor(tested.problems) == kExitMachine) return Fail(tested.problems);
    const std::string problems = DiagnosticsText(tested.problems);
    if (!evaluation && !must_fail) {
      tested.verdict = Verdict::kFails;
      tested.why = "it gives no plan; if that is intended: " +
                   (kept ? "rm " + Shown(options_, one.plan()) + " && " : std::string()) + "touch " +
                   Shown(options_, one.problems());
      tested.detail = problems;
      return {};
    }
    if (evaluation && must_fail) {
      tested.verdict = Verdict::kWorks;
      tested.why = "it must fail, according to " + Shown(options_, one.problems()) +
                   ", but it gives a plan; if that is intended, remove that file";
      return {};
    }
    const std::string plan = evaluation ? KeptPlan(evaluation->plan) : "";
    const bool same = plan == kept.value_or("") && problems == kept_problems.value_or("");
    if (same) return {};
    if (options_.update) {
      tested.verdict = Verdict::kWritten;
      tested.why = Shown(options_, evaluation ? one.plan() : one.problems());
      if (auto written = Write(one.plan(), plan); !written) return written;
      return Write(one.problems(), problems);
    }
    tested.verdict = evaluation && !kept ? Verdict::kMissing : Verdict::kDiffers;
    if (tested.verdict == Verdict::kMissing) {
      tested.why = "there is no " + Shown(options_, one.plan()) + "; --update writes it";
    } else {
      tested.why = Shown(options_, plan == kept.value_or("") ? one.problems() : one.plan());
      ReportDifference(tested, kept.value_or(""), plan, evaluation ? &*evaluation : nullptr);
    }
    if (problems != kept_problems.value_or("")) {
      if (plan == kept.value_or(""))
        tested.detail += "its " + std::string(evaluation ? "warnings" : "errors") + " differ from the golden file\n";
      tested.detail += LinesOfDiff(kept_problems.value_or(""), problems, kMaxLines);
    }
    return {};
  }

  void ReportDifference(Tested& tested, const std::string& kept, const std::string& said, const Evaluation* now) {
    if (kept == said || now == nullptr) return;
    tested.diff = DiffOfKept(kept, said, *now);
    if (!tested.diff || (tested.diff->changes.empty() && tested.diff->causes.empty())) {
      tested.diff.reset();
      tested.detail = LinesOfDiff(kept, said, kMaxLines);
      return;
    }
    PlanDifference& diff = *tested.diff;
    diff.a.name = Shown(options_, tested.of.plan());
    diff.b.name = "now";
    if (diff.causes.size() > 1) TryAlone(tested.of, *now, diff);
    tested.detail = DiffText(diff);
  }

  // The effect of each parameter alone: the plan with its old value, with all others as they are now.
  void TryAlone(const GoldenCase& one, const Evaluation& now, PlanDifference& diff) {
    for (PlanCause& cause : diff.causes) {
      const auto kept = cause.before && cause.after ? ValueFromJsonText(*cause.before) : tl::unexpected(std::string());
      if (!kept) {
        cause.why_not = cause.before && cause.after ? "its golden value cannot be read" : "";
        continue;
      }
      Tick(one.name + ": what " + cause.name + " changes");
      const auto other = Evaluate(one, false, {ValueOverride(cause.name, *kept)});
      if (other) {
        cause.alone = DiffPlans(other->plan, now.plan);
      } else {
        cause.why_not = other.error().front().message;
      }
    }
  }

  // An empty text means no file.
  static Result<void> Write(const std::string& name, const std::string& text) {
    std::error_code error;
    if (text.empty()) {
      fs::remove(name, error);
      return {};
    }
    fs::create_directories(fs::path(name).parent_path(), error);
    if (LeadsOutOfHere(name)) return Fail(Error("golden", {name, 0}, "it is a link that leads out of the folder"));
    std::ofstream file(name, std::ios::binary | std::ios::trunc);
    file << text;
    file.close();
    if (!file) return Fail(SystemError("test", Quoted(name) + " cannot be written", errno));
    return {};
  }

  Result<void> ReportStale(const std::set<std::string>& names, const std::vector<std::string>& recipes) {
    for (const std::string& file : StaleGoldens(names, recipes)) {
      // The profiles of an invalid recipe are unknown.
      const std::string name = fs::path(file).lexically_relative(kGoldenFolder);
      const bool unknown = std::any_of(unknown_.begin(), unknown_.end(),
                                       [&](const std::string& begin) { return name.starts_with(begin); });
      if (unknown) continue;
      if (!options_.update || file.ends_with(".cases")) {  // written by the user
        outcome_.stale.push_back(file);
        continue;
      }
      std::error_code error;
      fs::remove(file, error);
      if (error) return Fail(SystemError("test", Quoted(file) + " cannot be removed", error.value()));
      outcome_.removed.push_back(file);
    }
    return {};
  }

  const TestOptions& options_;
  WaitLine waiting_;
  std::uint64_t began_ = MonotonicNowNs();
  Outcome outcome_;
  Diagnostics problems_;
  std::vector<std::string> unknown_;  // prefixes of the names of cases that may exist
};

bool AllWell(const Outcome& outcome) {
  return outcome.stale.empty() && std::all_of(outcome.cases.begin(), outcome.cases.end(),
                                              [](const Tested& one) { return IsSuccess(one.verdict); });
}

std::string Summary(const Outcome& outcome) {
  std::map<Verdict, std::size_t> counts;
  for (const Tested& one : outcome.cases) ++counts[one.verdict];
  std::string text = std::to_string(outcome.cases.size()) + (outcome.cases.size() == 1 ? " case:" : " cases:");
  bool first = true;
  const auto add = [&](std::size_t count, const std::string& what) {
    text += (first ? " " : ", ") + std::to_string(count) + " " + what;
    first = false;
  };
  for (const auto& [verdict, count] : counts) add(count, VerdictName(verdict));
  if (!outcome.stale.empty()) add(outcome.stale.size(), "stale");
  if (!outcome.removed.empty()) add(outcome.removed.size(), "removed");
  if (!outcome.skipped.empty()) add(outcome.skipped.size(), "skipped");
  return text;
}

void PrintOutcome(const TestOptions& options, const Outcome& outcome) {
  std::size_t width = 0;
  for (const Tested& one : outcome.cases) width = std::max(width, Columns(Printable(one.of.name)));
  std::string out;
  const auto line = [&](const std::string& what, const std::string& name, const std::string& why) {
    std::string head = what;
    head.resize(9, ' ');
    head += Printable(name);
    const std::size_t end = 9 + width;
    if (!why.empty() && Columns(head) < end) head.append(end - Columns(head), ' ');
    out += head + (why.empty() ? "" : "  " + Printable(why)) + '\n';
  };
  for (const Tested& one : outcome.cases) {
    line(VerdictName(one.verdict), one.of.name, one.why);
    out += Indented(one.detail);
  }
  for (const std::string& file : outcome.stale) {
    line("stale", Shown(options, file),
         file.ends_with(".cases") ? "no recipe has that name" : "no case has that name; --update removes it");
  }
  for (const std::string& file : outcome.removed) line("removed", Shown(options, file), "");
  for (const Skipped& one : outcome.skipped) line("skipped", Shown(options, one.file), one.why);
  out += Summary(outcome) + '\n';
  std::fputs(PrintableLines(out).c_str(), stdout);
}

Json OutcomeJson(const Outcome& outcome) {
  Json cases = Json::array();
  for (const Tested& one : outcome.cases) {
    cases.push_back({{"name", one.of.name},
                     {"recipe", one.of.recipe},
                     {"words", one.of.words},
                     {"verdict", VerdictName(one.verdict)},
                     {"why", one.why},
                     {"diff", one.diff ? Json::parse(DiffJson(*one.diff)) : Json(nullptr)},
                     {"diagnostics", DiagnosticsAsJson(one.problems)}});
  }
  Json skipped = Json::array();
  for (const Skipped& one : outcome.skipped) skipped.push_back({{"file", one.file}, {"why", one.why}});
  return {{"format", 1},
          {"ok", AllWell(outcome)},
          {"cases", std::move(cases)},
          {"stale", outcome.stale},
          {"removed", outcome.removed},
          {"skipped", std::move(skipped)},
          {"summary", Summary(outcome)}};
}

// The folders of a call, each with its own names of cases: a word that is a folder begins another one, a word that is a
// Lua file is the case of that recipe in its folder.
std::vector<TestOptions> FoldersOf(const TestOptions& given) {
  std::vector<TestOptions> folders;
  const auto folder = [&](const std::string& name) -> TestOptions& {
    for (TestOptions& known : folders) {
      if (known.folder == name) return known;
    }
    TestOptions& made = folders.emplace_back(given);
    made.folder = name;
    made.names.clear();
    return made;
  };
  std::vector<std::string> words = {given.folder};
  words.insert(words.end(), given.names.begin(), given.names.end());
  std::string current;
  for (const std::string& word : words) {
    std::error_code error;
    if (fs::is_directory(word, error) || current.empty()) {
      if (!fs::is_directory(word, error) && word.ends_with(".lua")) {
        const fs::path path(word);
        current = path.has_parent_path() ? path.parent_path().string() : ".";
        folder(current).names.push_back(GoldenName(path.filename()));
        continue;
      }
      current = word;
      folder(word).names.clear();
    } else if (word.ends_with(".lua")) {
      const fs::path path(word);
      const std::string parent = path.has_parent_path() ? path.parent_path().string() : ".";
      folder(parent).names.push_back(GoldenName(path.filename()));
    } else {
      folder(current).names.push_back(word);
    }
  }
  return folders;
}

// Tests one folder; from then on, it is the current one. Relative to it, all names are the same on every machine and
// for every caller.
Result<Outcome> TestFolder(const TestOptions& options) {
  if (chdir(options.folder.c_str()) != 0) {
    return Fail(Error("usage", {}, Quoted(options.folder) + ": " + std::strerror(errno), "a folder of recipes"));
  }
  return Tester(options).Run();
}

int RunTest(const TestOptions& given) {
  const std::vector<TestOptions> folders = FoldersOf(given);
  const bool many = folders.size() > 1;
  std::error_code error;
  const fs::path began = fs::current_path(error);
  int code = kExitOk;
  Json all = Json::array();
  std::vector<std::pair<std::string, std::string>> table;
  for (const TestOptions& options : folders) {
    if (many) fs::current_path(began, error);
    auto outcome = TestFolder(options);
    if (!outcome && !many) return Refuse(outcome.error(), options.json);
    const int own = outcome ? (AllWell(*outcome) ? kExitOk : kExitDiffer) : ExitCodeFor(outcome.error());
    code = std::max(code, own);
    if (options.json) {
      all.push_back(outcome ? OutcomeJson(*outcome)
                            : Json{{"format", 1}, {"ok", false}, {"diagnostics", DiagnosticsAsJson(outcome.error())}});
      if (many) all.back()["folder"] = options.folder;
      continue;
    }
    if (outcome) {
      PrintOutcome(options, *outcome);
    } else {
      PrintDiagnostics(outcome.error());
    }
    table.emplace_back(Printable(options.folder), outcome ? Summary(*outcome) : "not tested: it has errors");
  }
  if (given.json) {
    const Json json = many ? Json{{"format", 1}, {"ok", code == kExitOk}, {"folders", std::move(all)}} : all.front();
    std::printf("%s\n", SerializedJson(json, 1).c_str());
  } else if (many) {
    std::size_t width = 0;
    for (const auto& [folder, unused] : table) width = std::max(width, Columns(folder));
    std::puts("");
    for (const auto& [folder, summary] : table) {
      const std::string line = folder + std::string(width - Columns(folder), ' ') + "  " + summary;
      std::printf("%s\n", PrintableLines(line).c_str());
    }
  }
  return code;
}

}  // namespace

std::function<int()> SetupTest(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<TestOptions>();
  (void)invocation;
  app.add_option("DIR", options->folder, "folder of recipes, or FILE.lua in it; golden files are in DIR/golden")
      ->type_name("")
      ->required();
  app.add_option("CASES", options->names,
                 "only these: gpt (all of gpt.lua), gpt.smoke (one profile or case); or more folders and files")
      ->type_name("NAME|DIR|FILE");
  CLI::Option* const mindspore =
      app.add_option("--mindspore", options->mindspore, "as if each recipe specified that MindSpore release")
          ->type_name("RELEASE");
  app.add_flag("--update", options->update, "write the golden files again, and remove those without a recipe")
      ->excludes(mindspore);
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunTest(*options); };
}

}  // namespace muster
