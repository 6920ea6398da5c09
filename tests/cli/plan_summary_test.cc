// Tests which form muster plan prints on a terminal and elsewhere.
#include <algorithm>

#include <gtest/gtest.h>

#include "cli/muster_command.h"
#include "support/golden.h"
#include "support/on_terminal.h"

namespace muster::testing {
namespace {

std::ptrdiff_t LinesOf(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

// Prevents: a plan for 512 devices prints ten thousand lines on the terminal.
TEST(PlanCommand, PrintsOneScreenOnATerminal) {
  OnTerminal plan({MusterProgram(), "plan", "recipes/gpt_175b.lua"}, MUSTER_SOURCE_DIR);
  EXPECT_TRUE(plan.Shows("full plan: --full"));
  EXPECT_TRUE(plan.Shows("plan        gpt-175b")) << "and its beginning is still there";
}

TEST(PlanCommand, PrintsItsSummaryOnRequest) {
  const CommandResult summary = Muster({"plan", "--summary", "recipes/gpt_175b.lua"});
  ASSERT_EQ(summary.exit_code, 0) << summary.err;
  EXPECT_LE(LinesOf(summary.out), 24);
  ExpectGolden(summary.out, "tests/golden/summary/gpt_175b.txt");
}

// Prevents: commands that compare, store or search plans need a new option.
TEST(PlanCommand, PrintsTheCanonicalTextIntoPipes) {
  const CommandResult piped = Muster({"plan", "recipes/pipeline.lua"});
  const CommandResult full = Muster({"plan", "--full", "recipes/pipeline.lua"});
  EXPECT_EQ(piped.out, full.out);
  EXPECT_NE(piped.out.find("process worker.7 env RANK_ID=7\n"), std::string::npos);
}

TEST(PlanCommand, AcceptsOneFormAtATime) {
  for (const char* other : {"--json", "--id", "--full", "--shell"}) {
    EXPECT_EQ(Muster({"plan", "--summary", other, "recipes/hello.lua"}).exit_code, 2) << other;
  }
}

}  // namespace
}  // namespace muster::testing
