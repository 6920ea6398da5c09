// Tests mutated plans with recomputed ids in every reader of a run directory's plan.json.
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "hostile/mutation.h"
#include "plan/environment/environment.h"
#include "plan/plan/roles.h"
#include "plan/sample_plan.h"
#include "plan/text/folded_texts.h"
#include "plan/text/plan_diff.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "run/journal/journal.h"
#include "run/report/report.h"
#include "support/command.h"
#include "support/file_content.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

using nlohmann::json;

std::vector<json> SamplePlans() {
  std::mt19937 random(7);
  std::vector<Plan> plans = {ParameterServerPlan()};
  for (int i = 0; i < 12; ++i) plans.push_back(RandomPlan(random));
  std::vector<json> texts;
  for (Plan& plan : plans) {
    Fold(plan);
    texts.push_back(json::parse(PlanToJson(plan)));
  }
  return texts;
}

// A journal that matches most plans.
std::string Journal() {
  RunBegan began;
  began.run_id = "3f9a1c2b4d5e";
  std::string journal;
  std::uint64_t seq = 0;
  for (const JournalEntry& entry :
       std::vector<JournalEntry>{began, PlanBound{"/x", {}, {}}, StartOrdered{0, 0}, ProcessStarted{0, 0, 1, 1, 1'000},
                                 FirstFailure{0, 0}, ProcessExited{}, RunEnded{Cause::kFailed, 1, "x", 0, 0}}) {
    ++seq;
    journal += JournalLine({seq, "2026-11-20T12:06:16.000000Z", 1'000'000 * seq, entry});
  }
  return journal;
}

// Returns the text of the plan with its id recomputed, if it is a plan.
std::string Named(json plan) {
  const auto text = [&] { return plan.dump(-1, ' ', false, json::error_handler_t::replace); };
  const auto read = PlanFromJson(text());
  if (read) return text();
  constexpr std::string_view kBefore = ", the computed one ";
  const std::string& message = read.error().front().message;
  const std::size_t at = message.rfind(kBefore);
  if (at != std::string::npos && plan.is_object()) plan["id"] = message.substr(at + kBefore.size());
  return text();
}

std::string MutatedPlan(const std::vector<json>& plans, Dice& dice, CaseStory& reported) {
  const std::size_t which = dice.Below(plans.size());
  json plan = plans[which];
  reported.Did("plan " + std::to_string(which));
  for (std::uint64_t changes = 1 + dice.Below(3); changes > 0; --changes) reported.Did(ChangeOne(plan, dice));
  std::string text = Named(std::move(plan));
  if (dice.OneIn(20)) reported.Did(ChangeBytes(text, dice));
  return text;
}

// Uses an accepted plan in every way. Returns what is wrong.
std::string UseOf(const Plan& plan) {
  const auto again = PlanFromJson(PlanToJson(plan));
  if (!again || *again != plan) return "it is not the same when it is written and read again";
  (void)PlanText(plan);
  (void)PlanNotesText(plan);
  std::vector<std::uint32_t> all;
  for (std::uint32_t process = 0; process < plan.processes.size(); ++process) {
    all.push_back(process);
    (void)ComposeEnvironment({"HOME=/"}, plan, plan.processes[process], Binding{}, 0);
  }
  (void)ProcessesText(plan, all);
  (void)DiffPlans(plan, {}, ParameterServerPlan(), {});
  return {};
}

TEST(HostilePlans, AreReadAsPlansOrRefused) {
  const TempDir folder;
  PutContent(folder / "run/journal.jsonl", Journal());
  const std::vector<json> plans = SamplePlans();
  std::uint64_t accepted = 0;
  const auto wrong = TryCases(1, CasesOf(2'000, 10), [&](Dice& dice, CaseStory& reported) -> std::string {
    const std::string text = MutatedPlan(plans, dice, reported);
    PutContent(folder / "run/plan.json", text);
    const auto plan = PlanFromJson(text);
    if (const auto report = MakeReport(folder / "run")) {
      (void)ReportText(*report);
      (void)ReportJson(*report);
    }
    return plan ? UseOf(*plan) : "";
  });
  EXPECT_TRUE(wrong.empty()) << Lines(wrong);
  // Some mutations must still be valid plans, otherwise the test covers only the reader.
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Dice dice(seed);
    CaseStory reported;
    accepted += PlanFromJson(MutatedPlan(plans, dice, reported)) ? 1 : 0;
  }
  EXPECT_GT(accepted, 4U);
}

TEST(HostilePlans, AreReadByTheCommands) {
  const TempDir folder;
  const std::vector<json> plans = SamplePlans();
  PutContent(folder / "run/journal.jsonl", Journal());
  PutContent(folder / "other/journal.jsonl", Journal());
  PutContent(folder / "other/plan.json", plans.front().dump());
  for (std::uint64_t seed = 100'001; seed < 100'001 + CasesOf(100, 25); ++seed) {
    Dice dice(seed);
    CaseStory reported;
    PutContent(folder / "run/plan.json", MutatedPlan(plans, dice, reported));
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"report", folder / "run"},
                                               {"ls", folder / "run", "--columns", "id,lr"},
                                               {"diff", folder / "run", folder / "other"}}) {
      std::vector<std::string> argv = {MusterProgram()};
      argv.insert(argv.end(), words.begin(), words.end());
      const CommandResult result = RunCommand({argv, {"PATH=/usr/bin:/bin"}, folder.path()});
      EXPECT_LE(result.exit_code, 4) << "seed " << seed << ": " << reported.text() << words.front() << "\n"
                                     << result.err;
    }
  }
}

}  // namespace
}  // namespace muster::testing
