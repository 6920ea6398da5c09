// Tests the report about contexts, from records of launched Pythons and from forged records.
#include "run/report/context_report.h"

#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/private_files.h"
#include "plan/environment/inherited_environment.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"

namespace muster {
namespace {

constexpr AttemptEnd kEnded{true, true, false, false, 0};

// Returns a record of worker.INDEX that was applied and kept, with `changes` replacing its fields ("" removes nothing).
std::string Record(std::uint32_t index, const std::string& release = "1.6.2", const std::string& overridden = "[]",
                   const std::string& more = R"("errors": [])", std::uint32_t attempt = 0) {
  return R"({"format": 1, "process": "run/worker.)" + std::to_string(index) + "." + std::to_string(attempt) +
         R"(", "imported": true, "complete": true, "release": ")" + release + R"(", "overridden": )" + overridden +
         ", " + more + "}";
}

class ContextReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(scratch / "context");
    plan.mindspore = "1.6.2";
    plan.roles[0].context = {{"set_context.mode", 0}};
    plan.roles[0].env["PYTHONPATH"] = PythonPath(PythonUse::kApplied);
    ends.assign(6, kEnded);
  }
  std::string PathOf(std::uint32_t index) const {
    return scratch / ("context/worker." + std::to_string(index) + ".applied.json");
  }
  void Put(std::uint32_t index, const std::string& record) { PutFile(PathOf(index), record); }
  std::vector<ContextReport> Read() {
    const UniqueFd folder(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return ReadContextReports(folder.get(), plan, "run", ends);
  }
  std::string Text() { return ContextText(Read()); }
  // Returns the reported state of worker.0 with this record; "" if it is not reported.
  std::string StateOf(const std::string& record, AttemptEnd end = kEnded) {
    Put(0, record);
    ends.assign(1, end);
    const auto reports = Read();
    return reports.empty() ? "" : reports.front().state;
  }

  ScratchFolder scratch;
  Plan plan = SamplePlan({{"worker", 6}});
  std::vector<AttemptEnd> ends;
};

TEST_F(ContextReportTest, FoldsEqualProcesses) {
  for (const std::uint32_t index : {0U, 1U, 2U, 3U, 5U}) Put(index, Record(index));
  Put(4, Record(4, "1.6.2",
                R"([{"function": "set_context", "attribute": "mode", "applied": 0, "at_exit": 1},)"
                R"( {"function": "set_context", "attribute": "x", "applied": "a", "at_exit": null}])"));
  EXPECT_EQ(Text(),
            "  context   worker.0-3, 5: applied (MindSpore 1.6.2)\n"
            "            worker.4: applied (MindSpore 1.6.2), and changed by the script:\n"
            "              set_context: mode was 0, and 1 at the end\n"
            "              set_context: x was \"a\", and null at the end\n");
  const auto reports = Read();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].indices, (std::vector<std::uint32_t>{0, 1, 2, 3, 5}));
  EXPECT_EQ(reports[1].overridden.at(0), (ContextReport::Change{"set_context", "mode", Value(0), Value(1)}));
}

TEST_F(ContextReportTest, ReportsContextsNeverReadOrNeverImported) {
  Put(1, R"({"format": 1, "process": "run/worker.1.0", "imported": false, "errors": []})");
  ends.resize(2);
  EXPECT_EQ(
      Text(),
      "  context   worker.0: never read: no Python with muster's sitecustomize was started (python3 -I, -E and -S "
      "disable it)\n"
      "            worker.1: never applied: the script did not import mindspore\n");
}

TEST_F(ContextReportTest, OmitsProcessesThatNeedNotApplyIt) {
  plan.roles[0].env.clear();
  EXPECT_EQ(Text(), "") << "programs in C++";
  plan.roles[0].env["PYTHONPATH"] = PythonPath(PythonUse::kOffered);
  EXPECT_EQ(Text(), "") << "apply_context is off";
  Put(0, Record(0));
  EXPECT_EQ(Text(), "  context   worker.0: applied (MindSpore 1.6.2)\n") << "by an explicit call";
  std::filesystem::remove(PathOf(0));
  plan.roles[0].env["PYTHONPATH"] = PythonPath(PythonUse::kApplied);
  plan.roles[0].context.clear();
  EXPECT_EQ(Text(), "") << "nothing was set";
  plan.roles[0].context = {{"set_context.mode", 0}};
  EXPECT_NE(Text(), "");
  plan.mindspore.clear();
  EXPECT_EQ(Text(), "") << "no release, no context";
}

TEST_F(ContextReportTest, ExpectsNothingOfProcessesThatEndedTooEarly) {
  AttemptEnd end = kEnded;
  end.cut_short = end.ordered_to_stop = true;
  const std::string started = R"({"format": 1, "process": "run/worker.0.0", "imported": false, "errors": []})";
  EXPECT_EQ(StateOf(started, end), "");
  EXPECT_EQ(StateOf(started, {true, false, false, false, 0}), "") << "it still runs";
  EXPECT_EQ(StateOf(started, {}), "") << "it never started";
  EXPECT_EQ(StateOf(Record(0, "1.6.2", "null"), end), "applied") << "whoever is killed by muster tells no last values";
  EXPECT_EQ(StateOf(Record(0, "1.6.2", "null"), {true, false, false, false, 0}), "applied");
  EXPECT_EQ(StateOf(Record(0, "1.6.2", "null")), "unknown");
  EXPECT_EQ(StateOf(R"({"format": 1, "process": "run/worker.0.0", "imported": true, "complete": false})"),
            "incomplete");
}

TEST_F(ContextReportTest, ReportsThatNoNetworkWasWrapped) {
  const std::string waits = R"("errors": [], "waiting": ["parallel"])";
  EXPECT_EQ(StateOf(Record(0, "1.6.2", "[]", waits)), "not_wrapped");
  EXPECT_EQ(Text(),
            "  context   worker.0: applied (MindSpore 1.6.2) without parallel: the script did not call "
            "muster_context.parallel(network)\n");
  AttemptEnd end = kEnded;
  end.cut_short = end.ordered_to_stop = true;
  EXPECT_EQ(StateOf(Record(0, "1.6.2", "[]", waits), end), "") << "it was stopped before it came to that";
  EXPECT_EQ(StateOf(Record(0, "1.6.2", "[]", R"("errors": [], "waiting": [])")), "applied");
  plan.roles[0].plays = "scheduler";
  EXPECT_EQ(StateOf(Record(0, "1.6.2", "[]", waits)), "applied") << "it has no network";
}

TEST_F(ContextReportTest, IgnoresTheRecordOfAnotherAttempt) {
  EXPECT_EQ(StateOf(Record(0), {true, true, false, false, 1}), "never_read");
  EXPECT_EQ(StateOf(Record(0, "1.6.2", "[]", R"("errors": [])", 1), {true, true, false, false, 1}), "applied");
  EXPECT_EQ(StateOf(Record(1)), "never_read") << "somebody else's";
}

TEST_F(ContextReportTest, ReportsWhyItWasNotApplied) {
  Put(0, Record(0, "1.9.0", "null",
                R"("errors": [{"kind": "release", "function": null, "message": "for 1.6.2,\n but \u001b[31m1.9.0"}])"));
  ends.resize(1);
  EXPECT_EQ(Text(), "  context   worker.0: not applied: for 1.6.2,\\n but \\x1b[31m1.9.0\n");
  EXPECT_EQ(Read().at(0).errors.at(0).kind, "release");
}

TEST_F(ContextReportTest, NamesAnotherReleaseThatWasAccepted) {
  ends.resize(1);
  Put(0, Record(0, "1.9.0"));
  EXPECT_EQ(Text(), "  context   worker.0: applied to MindSpore 1.9.0, though the recipe is for 1.6.2\n");
  plan.mindspore = "2.3.0-rc2";
  for (const char* same : {"2.3.0rc2", "2.3.0-rc2", "v2.3.0.rc2", "2.3.0rc2.dev20240801"}) {
    Put(0, Record(0, same));
    EXPECT_FALSE(Read().at(0).other_release) << same;
  }
  for (const char* other : {"2.3.0", "2.3.0rc1", "2.3", "", "nonsense", "2.3.1rc2"}) {
    Put(0, Record(0, other));
    EXPECT_TRUE(Read().at(0).other_release) << other;
  }
}

TEST_F(ContextReportTest, DoesNotTrustARecord) {
  for (const std::string& record :
       {std::string(), std::string("{"), std::string("[]"), std::string("null"), std::string(R"({"format": 2})"),
        std::string(100'000, '['), std::string("\xff\xfe"), std::string((1U << 20) + 1, ' ')}) {
    EXPECT_EQ(StateOf(record), "unreadable") << record.substr(0, 20);
  }
  // Fields of wrong types are ignored.
  EXPECT_EQ(StateOf(R"({"format": 1, "process": 7})"), "never_read");
  EXPECT_EQ(StateOf(R"({"format": 1, "process": "run/worker.0.0", "imported": "yes", "errors": 7})"), "never_imported");
  EXPECT_EQ(StateOf(R"({"format": 1, "process": "run/worker.0.0", "imported": true, "complete": true, "release": {},)"
                    R"( "overridden": [7, {}, {"applied": 1}]})"),
            "applied");
}

TEST_F(ContextReportTest, FollowsNoLinkAndDoesNotBlockOnAPipe) {
  ends.resize(2);
  PutFile(scratch / "elsewhere", Record(0));
  std::filesystem::create_symlink(scratch / "elsewhere", PathOf(0));
  ASSERT_EQ(::mkfifo(PathOf(1).c_str(), 0600), 0);
  const auto reports = Read();
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].state, "unreadable");
  EXPECT_EQ(reports[1].state, "unreadable");

  std::filesystem::rename(scratch / "context", scratch / "moved");
  std::filesystem::create_directory_symlink(scratch / "moved", scratch / "context");
  EXPECT_TRUE(Read().empty());
}

TEST_F(ContextReportTest, IsLimitedInSize) {
  std::string overridden = "[";
  for (int i = 0; i < 500; ++i) {
    overridden += std::string(i == 0 ? "" : ",") + R"({"function": "set_context", "attribute": "a)" +
                  std::to_string(i) + R"(", "applied": ")" + std::string(1'500, 'x') + R"(ä", "at_exit": 1})";
  }
  Put(0, Record(0, "1.6.2", overridden + "]"));
  ends.resize(1);
  const auto reports = Read();
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].overridden.size(), 100U);
  EXPECT_LE(reports[0].overridden[0].planned.AsString()->size(), 1'010U);
  const std::string text = ContextText(reports);
  EXPECT_NE(text.find("and 90 more\n"), std::string::npos);
  EXPECT_LT(text.size(), 20'000U);
}

TEST(IndexRanges, JoinNeighbours) {
  EXPECT_EQ(IndexRanges({}), "");
  EXPECT_EQ(IndexRanges({7}), "7");
  EXPECT_EQ(IndexRanges({0, 1}), "0-1");
  EXPECT_EQ(IndexRanges({0, 1, 2, 4, 6, 7}), "0-2, 4, 6-7");
}

}  // namespace
}  // namespace muster
