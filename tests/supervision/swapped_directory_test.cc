// Tests replacing a live run's directory by another one or a link: head and agent continue in the one they opened.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "run/directory/runtime_directory.h"
#include "supervision/started_muster.h"
#include "support/file_content.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

class SwappedDirectory : public ::testing::TestWithParam<bool> {};

TEST_P(SwappedDirectory, ReceivesNothingOfTheRun) {
  StartedMuster muster(R"(
    job:workers { count = 1, restart = { max = 1, backoff = 0 }, command = muster.shell("echo one; read line < " ..
      folder .. "/fifo; echo two; exit 1") })");
  ASSERT_EQ(::mkfifo((muster / "fifo").c_str(), 0600), 0);
  muster.Start();
  // open() waits for the other side.
  UniqueFd fifo(::open((muster / "fifo").c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(fifo);
  const std::string moved = muster / "moved";
  const std::string decoy = GetParam() ? muster / "elsewhere" : muster.run_dir();
  fs::rename(muster.run_dir(), moved);
  for (const char* folder : {"logs", "errors", "metrics"}) fs::create_directories(decoy + "/" + folder);
  if (GetParam()) fs::create_directory_symlink(decoy, muster.run_dir());
  fifo.reset();
  EXPECT_EQ(muster.End(), 3) << muster.Output();

  std::vector<std::string> made;
  for (const auto& entry : fs::recursive_directory_iterator(decoy)) {
    if (!entry.is_directory()) made.push_back(entry.path());
  }
  EXPECT_EQ(made, std::vector<std::string>());
  EXPECT_EQ(ContentOf(moved + "/logs/worker.0.0.log"), "one\ntwo\n");
  EXPECT_TRUE(fs::exists(moved + "/logs/worker.0.0.idx"));
  EXPECT_FALSE(fs::exists(moved + "/logs/worker.0.1.log"));
  const auto failed = RecordsOf(moved + "/journal.jsonl", "spawn_failed");
  ASSERT_EQ(failed.size(), 1U) << "what a second attempt opens by its path would not be muster's";
  EXPECT_EQ(failed[0]["stage"], "log");
  EXPECT_EQ(failed[0]["error"], ESTALE);
  EXPECT_NE(failed[0]["detail"].get<std::string>().find("was moved, removed or replaced"), std::string::npos);
  EXPECT_EQ(RecordsOf(moved + "/journal.jsonl", "run_ended").size(), 1U);
  EXPECT_TRUE(fs::exists(moved + "/report.json"));
  EXPECT_NE(muster.Output().find("was moved, removed or replaced"), std::string::npos) << muster.Output();
}

// A user who can rename a folder above the run directory can exchange it while a process runs.
// `GetParam`: nor can the user's runtime directory be trusted.
class SwappedWay : public ::testing::TestWithParam<bool> {};

TEST_P(SwappedWay, DoesNotChangeTheFilesThatProcessesExecute) {
  StartedMuster muster(R"(
    local step = job:file { "step.sh", text = "echo of the run\n" }
    job:workers { count = 1, command = { "sh", "-c", "echo ready; read line < " .. folder .. "/fifo; sh \"$1\"", "sh",
      step } })");
  ASSERT_EQ(::mkfifo((muster / "fifo").c_str(), 0600), 0);
  const std::string way = fs::path(muster.run_dir()).parent_path();
  ASSERT_EQ(::chmod(way.c_str(), 0777), 0);
  ASSERT_EQ(::mkdir((muster / "runtime").c_str(), 0700), 0);
  std::vector<std::string> before;
  if (GetParam()) before = {"/usr/bin/env", "XDG_RUNTIME_DIR=" + (muster / "runtime")};
  muster.Start({}, before);
  UniqueFd fifo(::open((muster / "fifo").c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(fifo);
  const std::string moved = muster.run_dir() + ".moved";
  fs::rename(muster.run_dir(), moved);
  fs::create_directories(muster.run_dir() + "/files");
  std::ofstream(muster.run_dir() + "/files/step.sh") << "echo of another\n";
  fifo.reset();
  muster.End();
  EXPECT_EQ(ContentOf(moved + "/logs/worker.0.0.log"), "ready\nof the run\n") << muster.Output();
  EXPECT_NE(muster.Output().find("every user can replace folders in"), std::string::npos) << muster.Output();
  EXPECT_NE(muster.Output().find("hint: chmod +t "), std::string::npos) << muster.Output();
  const std::string id = RecordsOf(moved + "/journal.jsonl", "run_began").at(0)["run"];
  EXPECT_FALSE(fs::exists(LiveHeadsFolder({}) + "/files-" + id));
  EXPECT_FALSE(fs::exists("/tmp/muster-files-" + id));
}

INSTANTIATE_TEST_SUITE_P(In, SwappedWay, ::testing::Bool(), [](const auto& temporary) {
  return std::string(temporary.param ? "TheFolderForTemporaryFiles" : "TheRuntimeDirectory");
});

TEST(KeptFolder, OfAKilledHeadIsRemovedByClean) {
  StartedMuster muster(R"(
    local step = job:file { "step.sh", text = "echo $0 > " .. folder .. "/fifo; exec sleep 1000" }
    job:workers { count = 1, command = { "sh", step } })");
  ASSERT_EQ(::mkfifo((muster / "fifo").c_str(), 0600), 0);
  ASSERT_EQ(::chmod(fs::path(muster.run_dir()).parent_path().c_str(), 0777), 0);
  muster.Start();
  std::string step = ContentOf(muster / "fifo");  // once the process runs
  step.erase(std::min(step.find('\n'), step.size()));
  const fs::path kept = fs::path(step).parent_path().parent_path();
  ASSERT_NE(kept, muster.run_dir());
  ASSERT_EQ(::kill(muster.head(), SIGKILL), 0);
  muster.End();
  EXPECT_TRUE(fs::exists(kept)) << kept;
  const CommandResult cleaned = muster.Muster({"clean", muster.run_dir()});
  EXPECT_EQ(cleaned.exit_code, 0) << cleaned.out << cleaned.err;
  EXPECT_FALSE(fs::exists(kept)) << kept;
}

INSTANTIATE_TEST_SUITE_P(By, SwappedDirectory, ::testing::Bool(),
                         [](const auto& link) { return std::string(link.param ? "ALink" : "ADirectory"); });

}  // namespace
}  // namespace muster::testing
