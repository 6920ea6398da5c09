// Tests dumps of whole runs: by a limit of silence, before a stop, and during a run.
#include <filesystem>

#include "supervision/job.h"
#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

// Four workers that wait, one of them at another place. Tools are searched on the workers' own PATH, which has none.
std::string Workers(const std::string& more) {
  return "job:workers { count = 4, " + more +
         " env = { PATH = '/nowhere' }, stop = { grace = '10s' }, ready = { line = 'up' },"
         " command = { probe, 'print', 'up', 'wait' }, each = function(process) if process.rank == 2 then"
         " process.command = { probe, 'print', 'up', 'await', '/tmp/there-is-no-such-file' } end end }";
}

void ExpectOutlier(const json& dump) {
  ASSERT_EQ(dump["groups"].size(), 2U) << dump.dump(1);
  const json& outlier = dump["groups"][0];
  EXPECT_EQ(outlier["ranks"], json({2}));
  EXPECT_EQ(outlier["outlier"], true);
  EXPECT_EQ(outlier["last_line"], "up");
  const json& thread = outlier["system_processes"][0]["threads"][0];
  EXPECT_EQ(thread["call"], "read");
  EXPECT_EQ(thread["target"], "inotify");
  EXPECT_EQ(dump["groups"][1]["ranks"], json({0, 1, 3}));
  EXPECT_EQ(dump["groups"][1]["outlier"], false);
  EXPECT_EQ(dump["notes"][0]["kind"], "no_tools");
  EXPECT_EQ(dump["complete"], true);
}

TEST(Dump, IsTakenBeforeASilentJobIsStopped) {
  const Job job(Workers(""), "limits = { silent = '400ms' },");
  EXPECT_EQ(job.result.exit_code, 1);
  ASSERT_EQ(job.report["dumps"].size(), 1U) << job.Text();
  EXPECT_EQ(job.report["dumps"][0]["why"], "silent_job");
  EXPECT_EQ(job.report["first_failure"]["rank"], 2) << "the one that the others wait for";
  EXPECT_EQ(job.report["first_failure"]["why"],
            "is in another place than most of its role; none of its job wrote for 400 ms");
  ExpectOutlier(job.report["dumps"][0]);
  const std::string text = job.Text();
  EXPECT_NE(text.find("worker.2, unlike most of its role: waiting"), std::string::npos) << text;
  const std::string wait = job.report["dumps"][0]["groups"][0]["system_processes"][0]["threads"][0].value("wait", "");
  EXPECT_NE(text.find("waiting in " + wait + " (read of inotify)"), std::string::npos) << text;
  EXPECT_NE(text.find("only what the kernel shows"), std::string::npos) << text;
}

TEST(Dump, IsTakenBeforeAStopThatRequestsIt) {
  StartedMuster muster(Workers(""));
  muster.Start();
  ASSERT_TRUE(AwaitLine(muster / "out", "worker.3 | up")) << muster.Output();
  ASSERT_TRUE(AwaitLine(muster / "out", "worker.2 | up")) << muster.Output();
  const CommandResult stopped = muster.Muster({"stop", muster.run_dir(), "--dump"});
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_NE(stopped.out.find("after the dump of its processes"), std::string::npos) << stopped.out;
  EXPECT_EQ(muster.End(), 143);
  const json report = json::parse(StartedMuster::Content(muster.run_dir() + "/report.json"));
  EXPECT_EQ(report["dumps"][0]["why"], "stop");
  ExpectOutlier(report["dumps"][0]);
  EXPECT_LT(muster.Journal("dump_ended").at(0)["seq"], muster.Journal("stop_ordered").at(0)["seq"]);
  EXPECT_EQ(muster.Journal("stop_requested").at(0)["dump"], true);
  EXPECT_TRUE(muster.Left().empty());

  const CommandResult last = muster.Muster({"dump", muster.run_dir(), "--json"});
  EXPECT_EQ(json::parse(last.out)["groups"], report["dumps"][0]["groups"]) << "of a run that is over: the last one";
}

TEST(Dump, CanBeTakenDuringARun) {
  StartedMuster muster(Workers(""));
  muster.Start();
  ASSERT_TRUE(AwaitLine(muster / "out", "worker.3 | up")) << muster.Output();
  ASSERT_TRUE(AwaitLine(muster / "out", "worker.2 | up")) << muster.Output();
  const CommandResult all = muster.Muster({"dump", muster.run_dir(), "--json"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  EXPECT_EQ(json::parse(all.out)["format"], 1);
  EXPECT_EQ(json::parse(all.out)["dump"], 1);
  ExpectOutlier(json::parse(all.out));
  const CommandResult one = muster.Muster({"dump", muster.run_dir(), "--rank", "2"});
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_NE(one.out.find("worker.2, unlike most of its role"), std::string::npos) << one.out;
  EXPECT_NE(one.out.find("worker.2.0, "), std::string::npos) << "its file: " << one.out;
  EXPECT_EQ(one.out.find("worker.0"), std::string::npos) << one.out;
  struct stat file {};
  ASSERT_EQ(::stat((muster.run_dir() + "/dumps/2/worker.2.0.txt").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode, static_cast<mode_t>(S_IFREG | 0600));
  ASSERT_EQ(::stat((muster.run_dir() + "/dumps/2").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode, static_cast<mode_t>(S_IFDIR | 0700));
  EXPECT_EQ(muster.Muster({"dump", muster.run_dir(), "--rank", "9"}).exit_code, 2);
  EXPECT_EQ(muster.Muster({"dump", muster.run_dir(), "--rank", "x"}).exit_code, 2);
  EXPECT_EQ(muster.Muster({"stop", muster.run_dir()}).exit_code, 0);
  EXPECT_EQ(muster.End(), 143);
}

// Another stop request must not wait for a tool.
class ImpatientStop : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(With, ImpatientStop, ::testing::Values("", "--now"),
                         [](const auto& each) { return *each.param == 0 ? "NoWord" : "Now"; });

TEST_P(ImpatientStop, AbandonsADump) {
  StartedMuster muster(
      "job:workers { count = 2, env = { PATH = folder .. ':/usr/bin:/bin' },"
      " command = { probe, 'print', 'up', 'wait' } }");
  std::ofstream(muster / "gdb") << "#!/bin/sh\n: > \"$0.began\"\nexec " << MUSTER_TESTS_DIR
                                << "/probe child ignore-term file " << muster / "fifo"
                                << " wait\n";
  ::chmod((muster / "gdb").c_str(), 0700);
  ASSERT_EQ(::mkfifo((muster / "fifo").c_str(), 0600), 0);
  muster.Start();
  ASSERT_TRUE(AwaitLine(muster / "out", "worker.1 | up")) << muster.Output();
  EXPECT_EQ(muster.Muster({"stop", muster.run_dir(), "--dump"}).exit_code, 0);
  // open() waits for the tool.
  const UniqueFd tool(::open((muster / "fifo").c_str(), O_RDONLY | O_CLOEXEC));
  std::vector<std::string> again = {"stop", muster.run_dir()};
  if (*GetParam() != 0) again.emplace_back(GetParam());
  const CommandResult stopped = muster.Muster(again);
  EXPECT_EQ(stopped.exit_code, 0);
  EXPECT_EQ(stopped.out.find("already"), std::string::npos) << stopped.out;
  EXPECT_EQ(muster.End(), 143);
  EXPECT_LT(muster.Journal("stop_ordered").at(0)["seq"], muster.Journal("dump_ended").at(0)["seq"]);
  // Workers, tools and their children.
  const std::string folder = std::filesystem::path(muster.run_dir()).parent_path();
  EXPECT_TRUE(ProcessesWith("PATH=" + folder + ":").empty());
}

}  // namespace
}  // namespace muster::testing
