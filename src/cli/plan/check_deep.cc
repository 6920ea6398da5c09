#include "cli/plan/check_deep.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "base/system/clock.h"
#include "base/values/json_text.h"
#include "base/values/shell_quote.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/command/wait_line.h"
#include "explain/hidden_inputs.h"

namespace muster {
namespace {

std::string Joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

void PrintDeepCheck(const DeepCheck& check) {
  PrintDiagnostics(check.leaks);
  std::printf(
      "%s: %zu plans, in new interpreters, a second later, %s, with other variables and on other machines\n",
      check.leaks.empty() ? "nothing leaks in" : "compared", check.evaluations,
      check.locales.empty() ? "(this machine has no other locale)" : ("under " + Joined(check.locales, ", ")).c_str());
  Diagnostics problems;
  std::string profiles;
  for (const CheckedProfile& profile : check.profiles) {
    const bool failed = HasErrors(profile.problems);
    profiles += (profiles.empty() ? "" : ", ") + profile.name + (failed ? " gives no plan" : " ok");
    for (Diagnostic problem : profile.problems) {
      problem.notes.push_back({"with --profile " + profile.name, profile.place});
      problems.push_back(std::move(problem));
    }
  }
  PrintDiagnostics(problems);
  if (!profiles.empty()) std::printf("profiles: %s\n", Printable(profiles).c_str());
  if (!check.without_effect.empty()) {
    std::printf("no effect on the plan: %s\n", Printable(Joined(check.without_effect, ", ")).c_str());
  }
}

std::string DeepCheckJson(const DeepCheck& check, const Diagnostics& as_it_stands) {
  bool ok = !HasErrors(as_it_stands) && !HasErrors(check.leaks);
  auto profiles = nlohmann::json::array();
  for (const CheckedProfile& profile : check.profiles) {
    ok = ok && !HasErrors(profile.problems);
    profiles.push_back({{"profile", profile.name},
                        {"ok", !HasErrors(profile.problems)},
                        {"plan", profile.plan_id.empty() ? nlohmann::json() : nlohmann::json(profile.plan_id)},
                        {"diagnostics", DiagnosticsAsJson(profile.problems)}});
  }
  const nlohmann::json whole = {{"format", 1},
                                {"ok", ok},
                                {"diagnostics", DiagnosticsAsJson(as_it_stands)},
                                {"leaks", DiagnosticsAsJson(check.leaks)},
                                {"profiles", std::move(profiles)},
                                {"no_effect", check.without_effect},
                                {"locales", check.locales},
                                {"plans", check.evaluations}};
  return SerializedJson(whole, 2) + "\n";
}

}  // namespace

int ReportDeepCheck(const RecipeOptions& options, const Result<Evaluation>& as_it_stands, bool json) {
  if (!as_it_stands) {
    if (json) std::fputs(DiagnosticsJson(as_it_stands.error()).c_str(), stdout);
    return ExitCodeFor(as_it_stands.error());
  }
  const auto again = PrepareEvaluation(options);
  if (!again) return Refuse(again.error(), json);
  WaitLine waiting("checking " + options.recipe);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t began = MonotonicNowNs();
  const DeepCheck check = CheckDeeply(*again, *as_it_stands, [&](const std::string& step) {
    waiting.Show(static_cast<unsigned>((MonotonicNowNs() - began) / kSecond), step);
  });
  waiting.Clear();
  if (json) {
    std::fputs(DeepCheckJson(check, as_it_stands->warnings).c_str(), stdout);
  } else {
    PrintDeepCheck(check);
  }
  if (const int code = ExitCodeFor(check.leaks); code != kExitOk) return code;
  for (const CheckedProfile& profile : check.profiles) {
    if (const int code = ExitCodeFor(profile.problems); code != kExitOk) return code;
  }
  return kExitOk;
}

}  // namespace muster
