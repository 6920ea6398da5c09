// Tests the paths that processes write because of their contexts, and which processes share them.
#include <deque>

#include <gtest/gtest.h>

#include "settings/check/job_check.h"
#include "settings/real_schema.h"

namespace muster {
namespace {

class WrittenPathsTest : public ::testing::Test {
 protected:
  // `rank`: the value of RANK_ID; empty: not set
  WritingProcess& Add(const std::string& name, std::uint32_t host, const std::string& rank) {
    processes_.push_back({name, &context_, host, "", [rank](const std::string& variable) {
                            return variable == "RANK_ID" ? rank : std::string();
                          }});
    return processes_.back();
  }
  void Workers(std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) Add("worker." + std::to_string(i), 0, std::to_string(i));
  }
  void Set(const Value::Map& arguments, std::uint32_t line) {
    EXPECT_FALSE(HasErrors(context_.Apply("set_context", arguments, At(line))));
  }
  void SetOwn(WritingProcess& process, const Value::Map& arguments, std::uint32_t line) {
    Context& own = overlays_.emplace_back(context_.Overlay());
    EXPECT_FALSE(HasErrors(own.Apply("set_context", arguments, At(line))));
    process.context = &own;
  }
  // "save_graphs_path worker.0 graphs/rank_0"
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const WrittenPaths& written : PredictWrittenPaths(context_, processes_)) {
      for (const WrittenPath& path : written.paths)
        lines.push_back(written.attribute->name + " " + processes_[path.process].name + " " + path.path);
    }
    return lines;
  }
  Diagnostics Check() const { return CheckWrittenPaths(PredictWrittenPaths(context_, processes_), processes_); }

  Context context_{RealSchema(), Release16()};
  std::vector<WritingProcess> processes_;
  std::deque<Context> overlays_;
};

using Texts = std::vector<std::string>;

TEST_F(WrittenPathsTest, FollowTheRankThatMindSporeAdds) {
  Workers(2);
  Set({{"save_graphs", true}, {"save_graphs_path", "./graphs/"}, {"compile_cache_path", "/cache"}}, 3);
  EXPECT_EQ(Lines(), (Texts{"save_graphs_path worker.0 graphs/rank_0", "save_graphs_path worker.1 graphs/rank_1"}))
      << "the cache is not switched on";
  Set({{"enable_compile_cache", true}}, 4);
  EXPECT_EQ(Lines().at(0), "compile_cache_path worker.0 /cache/rank_0");
  EXPECT_TRUE(Check().empty());
}

TEST_F(WrittenPathsTest, AreThoseOfTheDefaultIfOnlyTheSwitchIsSet) {
  Workers(1);
  Set({{"save_graphs", true}, {"enable_compile_cache", true}}, 3);
  processes_[0].cwd = "job";
  EXPECT_EQ(Lines(), (Texts{"compile_cache_path worker.0 job/rank_0", "save_graphs_path worker.0 job/rank_0"}));
}

TEST_F(WrittenPathsTest, AreNothingWithoutTheSwitch) {
  Workers(3);
  Set({{"save_graphs", false}, {"save_graphs_path", "graphs"}}, 3);
  EXPECT_EQ(Lines(), Texts{});
}

TEST_F(WrittenPathsTest, AreSharedByProcessesThatHaveNoRankId) {
  Add("server.0", 0, "");
  Add("server.1", 0, "");
  Add("server.2", 1, "");
  Workers(2);
  Set({{"save_graphs", true}, {"save_graphs_path", "graphs"}}, 3);
  const Diagnostic only = Only(Check());
  EXPECT_EQ(only.kind, "shared_path");
  EXPECT_EQ(only.severity, Severity::kWarning);
  EXPECT_EQ(only.place, At(3));
  EXPECT_EQ(
      only.message,
      "save_graphs_path: server.0, server.1 and worker.0 of one host would write to the same folder, graphs/rank_0");
  ASSERT_EQ(only.notes.size(), 1U);
  EXPECT_EQ(only.notes[0].message, "MindSpore adds rank_N below the path, and RANK_ID is not set for server.0: N is 0");
}

TEST_F(WrittenPathsTest, AreReportedAtTheSwitchWhereNoPathIsSet) {
  Add("worker.0", 0, "");
  Add("worker.1", 0, "");
  Set({{"save_graphs", true}}, 9);
  EXPECT_EQ(Only(Check()).place, At(9));
}

TEST_F(WrittenPathsTest, MayDifferByProcess) {
  Add("worker.0", 0, "");
  Add("worker.1", 0, "");
  Set({{"save_graphs", true}}, 3);
  SetOwn(processes_[0], {{"save_graphs_path", "g0"}}, 4);
  SetOwn(processes_[1], {{"save_graphs_path", "g1"}}, 4);
  EXPECT_EQ(Lines(), (Texts{"save_graphs_path worker.0 g0/rank_0", "save_graphs_path worker.1 g1/rank_0"}));
  EXPECT_TRUE(Check().empty());
}

TEST_F(WrittenPathsTest, OnOtherHostsAndInOtherFoldersAreOthers) {
  Add("worker.0", 0, "");
  Add("worker.1", 1, "");
  Add("worker.2", 0, "").cwd = "elsewhere";
  Set({{"save_graphs", true}, {"save_graphs_path", "graphs"}}, 3);
  EXPECT_TRUE(Check().empty());
  Set({{"save_graphs_path", "/graphs"}}, 4);
  EXPECT_EQ(Only(Check()).place, At(4)) << "an absolute path is the same from every folder";
  Set({{"save_graphs_path", "${muster:run_dir}/graphs"}}, 5);
  EXPECT_EQ(Only(Check()).place, At(5)) << "and so is the run directory";
}

TEST_F(WrittenPathsTest, OfPrintHaveNoRankAndAreAlwaysShared) {
  Workers(6);
  Set({{"device_target", "Ascend"}, {"print_file_path", "out/print.txt"}}, 3);
  const Diagnostic only = Only(Check());
  EXPECT_EQ(only.message,
            "print_file_path: worker.0, worker.1, worker.2, worker.3 and 2 more of one host would write to the same "
            "file, out/print.txt");
  EXPECT_EQ(only.hint, "set print_file_path inside each");
  EXPECT_TRUE(only.notes.empty());
}

TEST_F(WrittenPathsTest, ThatOneLineMakesOnManyHostsAreReportedOnce) {
  for (std::uint32_t host = 0; host < 3; ++host) {
    Add("worker." + std::to_string(2 * host), host, "");
    Add("worker." + std::to_string(2 * host + 1), host, "");
  }
  Set({{"save_graphs", true}, {"save_graphs_path", "g"}}, 3);
  EXPECT_NE(Only(Check()).message.find("and so for 2 other folders"), std::string::npos);
}

}  // namespace
}  // namespace muster
