// Tests each fault hook with each action in a small failing job: no process remains, nothing hangs (ctest has the
// deadline), and the outcome is reported.
#include <set>

#include "base/system/fault.h"
#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

// worker.0 fails; the others have a daemon each and wait until they are stopped.
constexpr const char* kFailingJob = R"(
  job:workers { count = 3, stop = { grace = "300ms" }, each = function(process)
    process.command = process.index == 0 and { probe, "exit", "3" } or { probe, "daemon", "wait" }
  end })";

struct Hook {
  std::size_t site;
  std::string order;  // such as "kill:1"
};

std::vector<Hook> Hooks() {
  std::vector<Hook> hooks;
  for (std::size_t site = 0; site < kFaultSites.size(); ++site) {
    for (const char* order : {"delay:50", "fail:1", "kill:1", "fail:2", "kill:2"}) hooks.push_back({site, order});
  }
  return hooks;
}

class FaultHooks : public ::testing::TestWithParam<Hook> {};

INSTANTIATE_TEST_SUITE_P(Every, FaultHooks, ::testing::ValuesIn(Hooks()), [](const auto& one) {
  std::string name = std::string(kFaultSites[one.param.site].name) + "_" + one.param.order;
  for (char& c : name) {
    if (c == '.' || c == ':') c = '_';
  }
  return name;
});

TEST_P(FaultHooks, LeaveNothingAndAreReported) {
  const std::string site(kFaultSites[GetParam().site].name);
  StartedMuster muster(kFailingJob);
  muster.Start({"--fault=" + site + ":" + GetParam().order});
  const int exit_code = muster.End();
  EXPECT_TRUE(muster.Left().empty()) << "something is left";
  const KillReport report = KillDescendants({});
  EXPECT_EQ(report.killed, 0U) << "something is left";

  if (GetParam().order.starts_with("delay")) {
    EXPECT_EQ(exit_code, 1) << muster.Output();
  } else if (site.starts_with("head.") && GetParam().order.starts_with("kill")) {
    // A hook that is passed only once does not kill at its second pass.
    EXPECT_TRUE(exit_code == 128 + SIGKILL || (GetParam().order == "kill:2" && exit_code == 1)) << exit_code;
  } else {
    EXPECT_TRUE(exit_code == 1 || exit_code == 3) << exit_code << "\n" << muster.Output();
  }
  // A head killed before its first record leaves no journal; any other run can be reported.
  if (muster.Journal("run_began").empty()) return;
  const CommandResult reported = muster.Muster({"report", muster.run_dir(), "--json"});
  ASSERT_EQ(reported.exit_code, 0) << reported.err;
  const std::string outcome = nlohmann::json::parse(reported.out)["outcome"];
  EXPECT_EQ(outcome, exit_code == 1                          ? "failed"
                     : exit_code == 3 && outcome == "failed" ? "failed"
                                                             : "lost")
      << reported.out;
}

TEST(FaultHook, ThatIsUnknownIsRefusedBeforeAnythingStarts) {
  StartedMuster muster(kFailingJob);
  const CommandResult result = muster.Muster({"run", "recipe.lua", "--fault=agent.clone:fail:1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("there is no such site"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace muster::testing
