// Tests ownership of run directories: what names mean, what is allowed with another user's directory, and where own
// ones are created. Needs root to act as two users.
#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/directory/run_directory.h"
#include "run/directory/runtime_directory.h"
#include "run/scratch_folder.h"
#include "support/as_user.h"

namespace muster {
namespace {

namespace fs = std::filesystem;
using testing::AsUser;

constexpr uid_t kAna = 60'001;
constexpr uid_t kBen = 60'002;
constexpr gid_t kLab = 60'000;

class Owners : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::CanBecomeOthers()) GTEST_SKIP() << "only root becomes somebody else";
    fs::permissions(scratch.path(), fs::perms(0755));
  }

  // A run with nothing but a plan and a beginning.
  std::string PutRun(const std::string& name, const std::string& leaf, uid_t owner) {
    const std::string folder = scratch / ("runs/" + name + "/" + leaf);
    fs::create_directories(folder);
    PutFile(folder + "/plan.json", "{}");
    PutFile(folder + "/journal.jsonl", "{}");
    EXPECT_EQ(::chown(folder.c_str(), owner, kLab), 0);
    return folder;
  }

  std::string Found(const std::string& run, DirectoryUse use) {
    const Result<std::string> found = ResolveRun(run, scratch / "runs", kRunDirectories, use);
    return found ? *found : found.error().front().kind + ": " + found.error().front().message;
  }

  Result<RunDirectory> Make(const std::string& id, bool for_group = false) {
    return RunDirectory::MakeBelow(scratch / "runs", "gpt", "20261120-120616", id, for_group);
  }

  ScratchFolder scratch;
};

TEST_F(Owners, NamesMeanOwnRunsForCommandsThatAct) {
  const std::string mine = PutRun("gpt", "20261119-000000-aaaa1111", kAna);
  const std::string foreign = PutRun("gpt", "20261120-000000-bbbb2222", kBen);
  const AsUser ana(kAna, kLab);
  ASSERT_TRUE(ana.became());
  for (const char* run : {"", "gpt", "~0"}) {
    EXPECT_EQ(Found(run, DirectoryUse::kRead), foreign) << run;
    for (const DirectoryUse use : {DirectoryUse::kExecute, DirectoryUse::kControl, DirectoryUse::kWrite}) {
      EXPECT_EQ(Found(run, use), mine) << run;
    }
  }
  EXPECT_EQ(Found("bbbb", DirectoryUse::kRead), foreign);
  EXPECT_EQ(Found("gpt~1", DirectoryUse::kExecute), "run: \"gpt~1\" goes back too far");
  EXPECT_EQ(Found("bbbb", DirectoryUse::kExecute), "run: no run \"bbbb\" in \"" + scratch / "runs" + "\" is yours");
}

TEST_F(Owners, NamesOfOthersSuggestThePath) {
  const std::string foreign = PutRun("gpt", "20261120-000000-bbbb2222", kBen);
  const AsUser ana(kAna, kLab);
  for (const char* run : {"", "gpt", "bbbb"}) {
    const auto found = ResolveRun(run, scratch / "runs", kRunDirectories, DirectoryUse::kExecute);
    ASSERT_FALSE(found) << run;
    EXPECT_EQ(found.error().front().hint, foreign + " belongs to uid 60002: give its path to use it");
  }
}

TEST_F(Owners, OthersAreExecutedByTheirPathAndNotChanged) {
  const std::string foreign = PutRun("gpt", "20261120-000000-bbbb2222", kBen);
  const AsUser ana(kAna, kLab);
  EXPECT_EQ(Found(foreign, DirectoryUse::kRead), foreign);
  EXPECT_EQ(Found(foreign, DirectoryUse::kExecute), foreign);
  EXPECT_EQ(Found(foreign, DirectoryUse::kControl), "owner: the run \"" + foreign +
                                                        "\" belongs to uid 60002: only uid 60002 and root can stop, "
                                                        "dump or clean it");
  EXPECT_EQ(Found(foreign, DirectoryUse::kWrite),
            "owner: the run \"" + foreign + "\" belongs to uid 60002: only uid 60002 can change it");
}

TEST_F(Owners, RootMayQueryAndStopButNotChange) {
  const std::string foreign = PutRun("gpt", "20261120-000000-bbbb2222", kBen);
  EXPECT_EQ(Found(foreign, DirectoryUse::kControl), foreign);
  EXPECT_TRUE(Found(foreign, DirectoryUse::kWrite).starts_with("owner: "));
  EXPECT_TRUE(Found("gpt", DirectoryUse::kControl).starts_with("run: none of the runs in ")) << "not by a name";
}

// A folder `gpt` of another user within the caller's folder is not the caller's run `gpt`.
TEST_F(Owners, AForeignFolderIsNotFoundByName) {
  const std::string mine = PutRun("gpt", "20261119-000000-aaaa1111", kAna);
  fs::create_directories(scratch / "here/gpt");
  PutFile(scratch / "here/gpt/plan.json", "{}");
  ASSERT_EQ(::chown((scratch / "here/gpt").c_str(), kBen, kLab), 0);
  const fs::path before = fs::current_path();
  fs::current_path(scratch / "here");
  {
    const AsUser ana(kAna, kLab);
    EXPECT_EQ(Found("gpt", DirectoryUse::kExecute), mine);
    EXPECT_EQ(Found("./gpt", DirectoryUse::kExecute), "./gpt");
    EXPECT_EQ(Found("gpt", DirectoryUse::kRead), "gpt");
  }
  fs::current_path(before);
}

TEST_F(Owners, CreateNoRunInAFolderOfAnotherUser) {
  for (const char* folder : {"runs", "runs/gpt"}) {
    fs::remove_all(scratch / "runs");
    fs::create_directories(scratch / "runs/gpt");
    ASSERT_EQ(::chown((scratch / "runs").c_str(), kAna, kLab), 0);
    ASSERT_EQ(::chown((scratch / "runs/gpt").c_str(), kAna, kLab), 0);
    ASSERT_EQ(::chown((scratch / folder).c_str(), kBen, kLab), 0);
    ASSERT_EQ(::chmod((scratch / folder).c_str(), 0777), 0);
    const AsUser ana(kAna, kLab);
    for (const bool for_group : {false, true}) {
      const auto made = Make("aaaa", for_group);
      ASSERT_FALSE(made) << folder;
      EXPECT_EQ(made.error().front().message, "the folder \"" + scratch / folder +
                                                  "\" belongs to uid 60002, and run directories in it could be "
                                                  "replaced");
    }
  }
  ASSERT_EQ(::chown((scratch / "runs/gpt").c_str(), 0, 0), 0);
  const AsUser ana(kAna, kLab);
  EXPECT_TRUE(Make("aaaa")) << "root's is nobody's to fear";
}

TEST_F(Owners, CreateNoRunBehindALinkOfAnotherUser) {
  fs::create_directories(scratch / "mine");
  fs::create_directory_symlink(scratch / "mine", scratch / "runs");
  ASSERT_EQ(::chown((scratch / "mine").c_str(), kAna, kLab), 0);
  ASSERT_EQ(::lchown((scratch / "runs").c_str(), kBen, kLab), 0);
  const AsUser ana(kAna, kLab);
  const auto made = Make("aaaa");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().front().message, "\"" + scratch / "runs" + "\" is a link of uid 60002");
  EXPECT_TRUE(fs::is_empty(scratch / "mine"));
}

TEST_F(Owners, ShareFoldersWithTheStickyBit) {
  ASSERT_EQ(::chown(scratch.path().c_str(), kAna, kLab), 0);
  std::string mine;
  {
    const AsUser ana(kAna, kLab);
    const auto made = Make("aaaa", true);
    ASSERT_TRUE(made) << made.error().front().message;
    mine = made->path();
  }
  EXPECT_EQ(ModeOf(scratch / "runs"), 03770U);
  EXPECT_EQ(ModeOf(scratch / "runs/gpt"), 03770U);
  EXPECT_EQ(ModeOf(mine), 02750U);
  const AsUser ben(kBen, kLab);
  const auto beside = Make("bbbb", true);
  ASSERT_TRUE(beside) << beside.error().front().message;
  EXPECT_NE(::rename(mine.c_str(), (mine + ".away").c_str()), 0) << "ben moves ana's run";
  EXPECT_FALSE(Make("cccc", false)) << "not for the group, in a folder of another user";
}

// The one who comes second finds no folder that is not ready yet.
TEST_F(Owners, ShareNewFoldersAtTheSameTime) {
  ASSERT_EQ(::chown(scratch.path().c_str(), kAna, kLab), 0);
  fs::permissions(scratch.path(), fs::perms(0770));
  for (int round = 0; round < 20; ++round) {
    std::array<int, 2> go = {-1, -1};
    ASSERT_EQ(::pipe(go.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const AsUser ben(kBen, kLab);
      ::close(go[1]);
      char byte = 0;
      static_cast<void>(!::read(go[0], &byte, 1));
      ::_exit(Make("bbbb", true) ? 0 : 1);
    }
    ::close(go[0]);
    {
      const AsUser ana(kAna, kLab);
      ::close(go[1]);
      const auto made = Make("aaaa", true);
      EXPECT_TRUE(made) << made.error().front().message;
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "round " << round;
    EXPECT_EQ(ModeOf(scratch / "runs/gpt"), 03770U);
    fs::remove_all(scratch / "runs");
  }
}

TEST_F(Owners, RequireTheStickyBitOnOlderSharedFolders) {
  fs::create_directories(scratch / "runs/gpt");
  for (const char* folder : {"runs", "runs/gpt"}) {
    ASSERT_EQ(::chown((scratch / folder).c_str(), kAna, kLab), 0);
    ASSERT_EQ(::chmod((scratch / folder).c_str(), 02770), 0);
  }
  {
    const AsUser ben(kBen, kLab);
    const auto made = Make("bbbb", true);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().front().hint, "as uid 60001: chmod +t " + scratch / "runs");
  }
  {
    const AsUser ana(kAna, kLab);
    EXPECT_TRUE(Make("aaaa", true));
  }
  EXPECT_EQ(ModeOf(scratch / "runs"), 03770U) << "their owner's next run sets it";
  EXPECT_EQ(ModeOf(scratch / "runs/gpt"), 03770U);
  const AsUser ben(kBen, kLab);
  EXPECT_TRUE(Make("bbbb", true));
}

// Where others can rename a folder above a run directory, they can put their own in its place while the run lasts.
TEST_F(Owners, KnowAWayThatOthersCanExchange) {
  const std::string team = scratch / "team";
  const std::string run = team + "/runs/gpt/1";
  fs::create_directories(run);
  for (const std::string& folder : {team, team + "/runs", team + "/runs/gpt", run}) {
    ASSERT_EQ(::chown(folder.c_str(), kAna, kLab), 0);
  }
  const AsUser ana(kAna, kLab);
  ASSERT_TRUE(ana.became());
  const auto with_mode = [&](mode_t mode) {
    EXPECT_EQ(::chmod(team.c_str(), mode), 0);
    return OpenWayTo(run);
  };
  EXPECT_EQ(with_mode(0755), std::nullopt);
  EXPECT_EQ(with_mode(0700), std::nullopt);
  for (const mode_t mode : {02770, 02775, 0770}) {
    const auto way = with_mode(mode);
    ASSERT_TRUE(way) << mode;
    EXPECT_EQ(way->why, "members of the group gid 60000 can replace folders in \"" + team + "\"");
    EXPECT_EQ(way->hint, "chmod +t " + team);
  }
  EXPECT_EQ(with_mode(0777)->why, "every user can replace folders in \"" + team + "\"");
  EXPECT_EQ(with_mode(03770), std::nullopt) << "sticky: nobody but the owners renames";
  EXPECT_EQ(with_mode(01777), std::nullopt);
  ASSERT_EQ(::chmod(run.c_str(), 0777), 0);
  EXPECT_EQ(OpenWayTo(run), std::nullopt) << "the directory itself is held by its descriptor";
}

TEST_F(Owners, KnowAWayThatBelongsToAnother) {
  const std::string run = scratch / "bens/runs";
  fs::create_directories(run);
  ASSERT_EQ(::chown((scratch / "bens").c_str(), kBen, kLab), 0);
  ASSERT_EQ(::chown(run.c_str(), kAna, kLab), 0);
  const AsUser ana(kAna, kLab);
  ASSERT_TRUE(ana.became());
  const auto way = OpenWayTo(run);
  ASSERT_TRUE(way);
  EXPECT_EQ(way->why, "uid 60002 can replace folders in \"" + scratch / "bens" + "\"");
  EXPECT_NE(way->hint.find("--run-dir"), std::string::npos) << way->hint;
}

}  // namespace
}  // namespace muster
