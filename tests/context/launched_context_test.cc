// Tests how launched Pythons apply the context, from the recipe to the report: applied settings, changes by the script,
// and the report if the context was not applied.
#include <algorithm>

#include "context/python_job.h"

namespace muster::testing {
namespace {

using Words = std::vector<std::string>;

class LaunchedContext : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasPython()) GTEST_SKIP() << "python3 is missing";
  }
};

constexpr char kOld[] = "mindspore = \"1.6\",";
constexpr char kNew[] = "mindspore = \"2.3\",";

// One worker with Python, besides a scheduler and workers without it, so that each test concerns one process.
std::string OneWorker(const std::string& command, const std::string& settings = "mode = 0, max_call_depth = 500") {
  return "context.set_context { device_target = \"CPU\", " + settings +
         " }\njob:scheduler { command = { \"true\" } }\njob:workers { count = 1, command = { " + command + " } }";
}

TEST_F(LaunchedContext, IsAppliedInBothShapesOfTheApi) {
  for (const auto& [standin, fields] : {std::pair("old", kOld), std::pair("new", kNew)}) {
    SCOPED_TRACE(standin);
    PythonJob job(standin, OneWorker("\"python3\", \"train.py\""), fields);
    job.Put("train.py", "import mindspore\n");
    const CommandResult result = job.Run({"--verbose"});
    ASSERT_EQ(result.exit_code, 0) << result.err << job.Log("worker.0");
    EXPECT_EQ(job.SettersCalled(),
              (Words{"set_context(device_target)", "set_context(mode)", "set_context(max_call_depth)"}));
    const nlohmann::json context = job.ContextOf();
    EXPECT_EQ(context.at("state"), "applied");
    EXPECT_EQ(context.at("release"), context.at("expected"));
    EXPECT_TRUE(job.ContextOf(0, "scheduler").is_null()) << "a program that is no Python is not nagged";
    EXPECT_NE(result.err.find("  context   worker.0: applied (MindSpore "), std::string::npos) << result.err;
  }
}

TEST_F(LaunchedContext, OfManyRanksIsReportedOnce) {
  PythonJob job("old",
                "context.set_context { device_target = \"CPU\", mode = 0 }\njob:scheduler { command = { \"true\" } }\n"
                "job:workers { count = 5, command = { \"python3\", \"train.py\" } }",
                kOld);
  job.Put("train.py",
          "import os, mindspore.context\n"
          "if os.environ['MUSTER_RANK'] == '3': mindspore.context.set_context(mode=1)\n");
  ASSERT_EQ(job.Run().exit_code, 0);
  EXPECT_NE(job.ReportText().find("  context   worker.0-2, 4: applied (MindSpore 1.6.2)\n"
                                  "            worker.3: applied (MindSpore 1.6.2), and changed by the script:\n"
                                  "              set_context: mode was 0, and 1 at the end\n"),
            std::string::npos)
      << job.ReportText();
  EXPECT_EQ(job.ContextOf(0).at("indices"), (nlohmann::json{0, 1, 2, 4}));
}

TEST_F(LaunchedContext, WaitsForANetworkToWrap) {
  const std::string body =
      "require 'muster.mindspore'.parallel { mode = 'semi_auto', pipeline = { stages = 1 } }\n"
      "context.set_context { mode = 0 }\njob:scheduler { command = { \"true\" } }\n"
      "job:workers { count = 1, command = { \"python3\", \"train.py\" } }";
  PythonJob wraps("functions_26", body, "mindspore = \"2.6\",");
  wraps.Put("train.py",
            "import mindspore, muster_context\nmindspore.communication.init()\n"
            "print(muster_context.parallel(object()).get_pipeline_stages(), 'stage')\n");
  ASSERT_EQ(wraps.Run().exit_code, 0) << wraps.Log("worker.0");
  EXPECT_EQ(wraps.Log("worker.0"), "1 stage\n");
  EXPECT_EQ(wraps.ContextOf().at("state"), "applied");
  PythonJob forgets("functions_26", body, "mindspore = \"2.6\",");
  forgets.Put("train.py", "import mindspore\n");
  ASSERT_EQ(forgets.Run().exit_code, 0) << forgets.Log("worker.0");
  EXPECT_EQ(forgets.ContextOf().at("state"), "not_wrapped");
  EXPECT_NE(forgets.ReportText().find("without parallel: the script did not call muster_context.parallel(network)"),
            std::string::npos);
}

TEST_F(LaunchedContext, RunsAShadowedSitecustomize) {
  PythonJob job("new", OneWorker("\"python3\", \"train.py\""), kNew);
  job.Put("site/sitecustomize.py", "import sys\nsys.stdout.write('the user\\'s own, %s\\n' % __file__)\n");
  job.AddToPythonPath("site");
  job.Put("train.py", "import sitecustomize, mindspore; print('trained')\n");
  ASSERT_EQ(job.Run().exit_code, 0) << job.Log("worker.0");
  EXPECT_EQ(job.Log("worker.0"), "the user's own, " + (job / "site/sitecustomize.py") + "\ntrained\n");
  EXPECT_EQ(job.ContextOf().at("state"), "applied");
}

TEST_F(LaunchedContext, IsNeverReadByAnIsolatedPython) {
  PythonJob job("new", OneWorker("\"python3\", \"-I\", \"train.py\""), kNew);
  job.Put("train.py", "print('trained')\n");
  const CommandResult result = job.Run();
  EXPECT_EQ(result.exit_code, 0) << job.Log("worker.0");
  EXPECT_EQ(job.ContextOf().at("state"), "never_read");
  EXPECT_NE(result.err.find("  context   worker.0: never read: no Python with muster's sitecustomize was started"),
            std::string::npos)
      << result.err;
}

TEST_F(LaunchedContext, IsNeverAppliedWhereMindSporeIsNotImported) {
  PythonJob job("new", OneWorker("\"python3\", \"train.py\""), kNew);
  job.Put("train.py", "print('trained')\n");
  ASSERT_EQ(job.Run().exit_code, 0);
  EXPECT_EQ(job.ContextOf().at("state"), "never_imported");
  EXPECT_NE(job.ReportText().find("worker.0: never applied: the script did not import mindspore"), std::string::npos);
}

TEST_F(LaunchedContext, ThatTheScriptChangesIsReportedWithBothValues) {
  PythonJob job("new", OneWorker("\"python3\", \"train.py\""), kNew);
  job.Put("train.py", "import mindspore as ms\nms.set_context(max_call_depth=2000)\n");
  ASSERT_EQ(job.Run().exit_code, 0);
  const nlohmann::json context = job.ContextOf();
  EXPECT_EQ(context.at("state"), "overridden");
  EXPECT_EQ(context.at("overridden"), nlohmann::json::parse(R"([{"function": "set_context",
      "attribute": "max_call_depth", "planned": 500, "found": 2000}])"));
}

TEST_F(LaunchedContext, OfAnotherReleaseEndsTheProcess) {
  PythonJob job("other", OneWorker("\"python3\", \"train.py\""), kOld);
  job.Put("train.py", "import mindspore; print('trained')\n");
  const CommandResult result = job.Run();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(job.Log("worker.0").find("trained"), std::string::npos);
  const nlohmann::json context = job.ContextOf();
  EXPECT_EQ(context.at("state"), "failed");
  EXPECT_EQ(context.at("errors").at(0).at("kind"), "release");
  EXPECT_NE(result.err.find("worker.0: not applied: the recipe is for MindSpore 1.6.2, but 1.9.0 was imported"),
            std::string::npos)
      << result.err;
}

TEST_F(LaunchedContext, OfAnotherReleaseIsAppliedIfTheRecipeAllowsIt) {
  PythonJob job("other", OneWorker("\"python3\", \"train.py\""), std::string(kOld) + " accept_release = true,");
  job.Put("train.py", "import mindspore; print('trained')\n");
  ASSERT_EQ(job.Run().exit_code, 0) << job.Log("worker.0");
  EXPECT_EQ(job.ContextOf().at("state"), "applied");
  EXPECT_EQ(job.ContextOf().at("release"), "1.9.0");
  EXPECT_NE(job.ReportText().find("worker.0: applied to MindSpore 1.9.0, though the recipe is for 1.6.2"),
            std::string::npos);
}

TEST_F(LaunchedContext, ThatMindSporeRefusesEndsTheProcess) {
  PythonJob job("refusing", OneWorker("\"python3\", \"train.py\""), kOld);
  job.Put("train.py", "import mindspore; print('trained')\n");
  EXPECT_EQ(job.Run().exit_code, 1);
  EXPECT_EQ(job.ContextOf().at("state"), "failed");
  EXPECT_EQ(job.ContextOf().at("errors").at(0).at("kind"), "setter");
}

TEST_F(LaunchedContext, WaitsForAnExplicitCallIfTheRecipeRequiresIt) {
  for (const bool calls : {true, false}) {
    PythonJob job("new", OneWorker("\"python3\", \"train.py\""), std::string(kNew) + " apply_context = false,");
    job.Put("train.py", calls ? "import muster_context; print(muster_context.apply())\n" : "import mindspore\n");
    ASSERT_EQ(job.Run().exit_code, 0) << job.Log("worker.0");
    EXPECT_EQ(job.SettersCalled().size(), calls ? 3U : 0U);
    EXPECT_EQ(job.ContextOf().is_null(), !calls) << "who did not want it is not nagged";
    if (calls) {
      EXPECT_EQ(job.ContextOf().at("state"), "applied");
    }
  }
}

TEST_F(LaunchedContext, ReachesPythonStartedByAShellIfTheRoleAllowsIt) {
  PythonJob job(
      "new",
      "context.set_context { device_target = \"CPU\", mode = 0 }\njob:scheduler { command = { \"true\" } }\n"
      "job:workers { count = 1, apply_context = true, command = muster.shell \"cd . && exec python3 train.py\" }",
      kNew);
  job.Put("train.py", "import mindspore\n");
  ASSERT_EQ(job.Run().exit_code, 0) << job.Log("worker.0");
  EXPECT_EQ(job.ContextOf().at("state"), "applied");
}

TEST_F(LaunchedContext, IsNotAppliedByThePythonThatStartsMuster) {
  PythonJob job("new", OneWorker("\"python3\", \"train.py\""), kNew);
  job.Put("train.py", "import mindspore\n");
  ASSERT_EQ(job.Run({}, {"MUSTER_CONTEXT_HOLDER=1.1 other/worker.0.0", "MUSTER_CONTEXT=/gone"}).exit_code, 0);
  EXPECT_EQ(job.ContextOf().at("state"), "applied");
}

TEST_F(LaunchedContext, FindsThePythonSideInThePrivateRunDirectory) {
  PythonJob job("new", OneWorker("\"python3\", \"train.py\""), kNew);
  job.Put("train.py", "import mindspore, muster_context, sys; print(muster_context.__file__); print(sys.path)\n");
  ASSERT_EQ(job.Run().exit_code, 0);
  EXPECT_TRUE(job.Log("worker.0").starts_with(job.run_dir() + "/python/muster_context/__init__.py\n"));
  EXPECT_EQ(job.Log("worker.0").find("''"), std::string::npos) << "no empty entry: " << job.Log("worker.0");
  for (const auto& entry : std::filesystem::recursive_directory_iterator(job.run_dir() + "/python")) {
    EXPECT_EQ(static_cast<unsigned>(entry.status().permissions()) & 0777U, entry.is_directory() ? 0700U : 0600U)
        << entry.path();
  }
}

}  // namespace
}  // namespace muster::testing
