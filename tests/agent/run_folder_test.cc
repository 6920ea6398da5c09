// Tests the agent's access to the run directory.
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/host_folder.h"
#include "support/as_user.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

class Held : public ::testing::Test {
 protected:
  Held() { fs::create_directories(folder_ / "run/logs"); }
  std::string Open(RunFolder::Owner owner = RunFolder::Owner::kSelf) { return held_.Open(folder_ / "run", owner); }

  testing::TempDir folder_;
  RunFolder held_;
};

TEST_F(Held, CreatesFilesOnlyBelowIt) {
  EXPECT_FALSE(CreateLogFile(held_.At(folder_ / "run/logs/a.log"))) << "it holds none yet";
  ASSERT_EQ(Open(), "");
  EXPECT_TRUE(CreateLogFile(held_.At(folder_ / "run/logs/a.log")));
  EXPECT_TRUE(fs::exists(folder_ / "run/logs/a.log"));
  for (const std::string& path :
       {folder_ / "a.log", folder_ / "run", folder_ / "run/../a.log", folder_ / "runner/a.log", std::string("a.log")}) {
    EXPECT_FALSE(CreateLogFile(held_.At(path))) << path;
  }
}

TEST_F(Held, DetectsThatItsPathWasReplaced) {
  ASSERT_EQ(Open(), "");
  EXPECT_TRUE(held_.IsInPlace());
  fs::rename(folder_ / "run", folder_ / "moved");
  EXPECT_FALSE(held_.IsInPlace());
  fs::create_directories(folder_ / "run/logs");
  EXPECT_FALSE(held_.IsInPlace());
  EXPECT_TRUE(CreateLogFile(held_.At(folder_ / "run/logs/a.log")));
  EXPECT_TRUE(fs::exists(folder_ / "moved/logs/a.log"));
  fs::remove_all(folder_ / "run");
  fs::create_directory_symlink(folder_ / "moved", folder_ / "run");
  EXPECT_FALSE(held_.IsInPlace()) << "a link to it";
  EXPECT_NE(Open().find("cannot be opened"), std::string::npos) << "a link is opened";
  fs::remove(folder_ / "run");
  fs::rename(folder_ / "moved", folder_ / "run");
  EXPECT_TRUE(held_.IsInPlace());
}

TEST_F(Held, MustBelongToTheAgentsUser) {
  if (!testing::CanBecomeOthers()) GTEST_SKIP() << "only root becomes somebody else";
  constexpr uid_t kBen = 60'002;
  ASSERT_EQ(::chown((folder_ / "run").c_str(), kBen, kBen), 0);
  EXPECT_NE(Open().find("it belongs to uid 60002, and this agent runs as uid 0"), std::string::npos);
  EXPECT_FALSE(held_.held());
  EXPECT_EQ(Open(RunFolder::Owner::kAnyIfRoot), "");
  fs::permissions(folder_.path(), fs::perms(0755));
  fs::permissions(folder_ / "run", fs::perms(0755));
  const testing::AsUser ana(60'001, 60'000);
  EXPECT_NE(Open(RunFolder::Owner::kAnyIfRoot).find("it belongs to uid 60002"), std::string::npos);
}

// root@host, in the folder of a user whose head could not read the logs otherwise.
TEST_F(Held, FilesInItBelongToItsOwnerIfTheAgentIsOfRoot) {
  if (!testing::CanBecomeOthers()) GTEST_SKIP() << "only root becomes somebody else";
  constexpr uid_t kBen = 60'002;
  for (const char* folder : {"run", "run/logs"}) ASSERT_EQ(::chown((folder_ / folder).c_str(), kBen, kBen), 0);
  ASSERT_EQ(Open(RunFolder::Owner::kAnyIfRoot), "");
  ASSERT_TRUE(CreateLogFile(held_.At(folder_ / "run/logs/a.log")));
  struct stat status {};
  ASSERT_EQ(::stat((folder_ / "run/logs/a.log").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, kBen);
  EXPECT_EQ(status.st_gid, kBen);
  EXPECT_EQ(status.st_mode & 07777U, 0600U);
}

}  // namespace
}  // namespace muster
