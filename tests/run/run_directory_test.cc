#include "run/directory/run_directory.h"

#include <filesystem>
#include <optional>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/scratch_folder.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

// Creates a run for ResolveRun, without a live head.
std::string PutRun(const ScratchFolder& runs, const std::string& name, const std::string& leaf) {
  const std::string folder = runs / (name + "/" + leaf);
  fs::create_directories(folder);
  PutFile(folder + "/plan.json", "{}");
  PutFile(folder + "/journal.jsonl", "{}");
  return folder;
}

std::string Why(const Diagnostics& diagnostics) { return diagnostics.front().message; }

TEST(RunDirectory, IsPrivateForAnyUmask) {
  const ScratchFolder scratch;
  for (const mode_t mask : {mode_t{0}, mode_t{0777}}) {
    const mode_t before = ::umask(mask);
    const std::string id = mask == 0 ? "aaaa" : "bbbb";
    const Result<RunDirectory> made = RunDirectory::MakeBelow(scratch / ("runs" + id), "job", "20261120-120616", id);
    const bool wrote = made && WriteNewFile(made->folder(), "context/worker.0.json", "{}") &&
                       WriteNewFile(made->folder(), "plan.json", "{}");
    ::umask(before);
    ASSERT_TRUE(wrote) << "umask " << mask;
    EXPECT_EQ(made->path(), scratch / ("runs" + id + "/job/20261120-120616-" + id));
    for (const auto& entry : fs::recursive_directory_iterator(made->path())) {
      EXPECT_EQ(ModeOf(entry.path()), entry.is_directory() ? 0700U : 0600U) << entry.path();
    }
    EXPECT_EQ(ModeOf(made->path()), 0700U);
  }
}

TEST(RunDirectory, PointsLatestToTheNewestRun) {
  const ScratchFolder scratch;
  for (const char* id : {"aaaa", "bbbb"}) {
    ASSERT_TRUE(RunDirectory::MakeBelow(scratch / "runs", "job", "20261120-120616", id));
    EXPECT_EQ(fs::read_symlink(scratch / "runs/job/latest"), std::string("20261120-120616-") + id);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch / "runs/job"), fs::directory_iterator()), 3);
}

TEST(RunDirectory, WithoutABeginningIsMeantByNoName) {
  const ScratchFolder runs;
  const std::string good = PutRun(runs, "job", "20261120-120616-aaaaaaaaaaaa");
  const std::string left = PutRun(runs, "job", "20261120-120617-bbbbbbbbbbbb");
  fs::remove(left + "/journal.jsonl");
  for (const char* word : {"", "job", "~0"}) EXPECT_EQ(*ResolveRun(word, runs.path()), good) << word;
  EXPECT_FALSE(ResolveRun("job~1", runs.path()));
  EXPECT_FALSE(ResolveRun("bbbbbbbb", runs.path()));
  const std::vector<FoundRun> all = RunsBelow(runs.path());
  ASSERT_EQ(all.size(), 2U) << "for muster clean";
  EXPECT_TRUE(all[0].begun);
  EXPECT_FALSE(all[1].begun);
  PutFile(left + "/job.json", "{}");
  EXPECT_EQ(*ResolveRun("job", runs.path()), left) << "a submitted run";
}

TEST(RunDirectory, LeavesNoDanglingLatestWhenItIsDiscarded) {
  const ScratchFolder scratch;
  const auto made = RunDirectory::MakeBelow(scratch / "runs", "job", "20261120-120616", "aaaa");
  ASSERT_TRUE(made && WriteNewFile(made->folder(), "plan.json", "{}") &&
              WriteNewFile(made->folder(), "journal.jsonl", "{}"));
  const auto refused = RunDirectory::MakeBelow(scratch / "runs", "job", "20261120-120617", "bbbb");
  ASSERT_TRUE(refused);
  DiscardDirectory(refused->path());
  EXPECT_FALSE(fs::exists(refused->path()));
  EXPECT_EQ(fs::read_symlink(scratch / "runs/job/latest"), "20261120-120616-aaaa");
  DiscardDirectory(made->path());
  EXPECT_FALSE(fs::is_symlink(scratch / "runs/job/latest"));
}

TEST(RunDirectory, IsCreatedEvenIfLatestCannotBe) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "runs/job/latest/full");
  EXPECT_TRUE(RunDirectory::MakeBelow(scratch / "runs", "job", "20261120-120616", "aaaa"));
  EXPECT_TRUE(fs::is_directory(scratch / "runs/job/latest/full"));
}

TEST(RunDirectory, HasOneHolderThatIsNamedToOthers) {
  const ScratchFolder scratch;
  std::optional<Result<RunDirectory>> held = RunDirectory::MakeAt(scratch / "mine");
  ASSERT_TRUE(*held);
  const Result<RunDirectory> second = RunDirectory::MakeAt(scratch / "mine");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().front().blame, Blame::kBusy);
  EXPECT_NE(Why(second.error()).find("pid " + std::to_string(::getpid()) + " on "), std::string::npos)
      << Why(second.error());
  held.reset();
  EXPECT_TRUE(RunDirectory::MakeAt(scratch / "mine")) << "a lock ends with its holder, its file does not matter";
}

TEST(RunDirectory, HidesItsLockFromChildren) {
  const ScratchFolder scratch;
  const Result<RunDirectory> held = RunDirectory::MakeAt(scratch / "mine");
  ASSERT_TRUE(held);
  int inside = 0;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = fs::read_symlink(entry.path(), error).string();
    if (!target.starts_with(scratch.path())) continue;
    ++inside;
    EXPECT_NE(::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC, 0) << target;
  }
  EXPECT_EQ(inside, 2);
}

TEST(RunDirectory, RefusesANonemptyFolder) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "full");
  PutFile(scratch / "full/thesis.tex", "mine");
  const Result<RunDirectory> made = RunDirectory::MakeAt(scratch / "full");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().front().blame, Blame::kRecipe);
  EXPECT_EQ(ContentOf(scratch / "full/thesis.tex"), "mine");
}

TEST(RunDirectory, UsesAnEmptyFolderAndMakesItPrivate) {
  const ScratchFolder scratch;
  fs::create_directory(scratch / "empty");
  fs::permissions(scratch / "empty", fs::perms(0755));
  ASSERT_TRUE(RunDirectory::MakeAt(scratch / "empty"));
  EXPECT_EQ(ModeOf(scratch / "empty"), 0700U);
}

TEST(RunDirectory, FollowsNoPlantedLink) {
  const ScratchFolder scratch;
  fs::create_directories(scratch / "victim");
  fs::create_directories(scratch / "runs");
  fs::create_symlink(scratch / "victim", scratch / "runs/job");
  EXPECT_FALSE(RunDirectory::MakeBelow(scratch / "runs", "job", "20261120-120616", "aaaa"));
  fs::create_directories(scratch / "mine");
  fs::create_symlink(scratch / "victim/pid", scratch / "mine/lock");
  EXPECT_FALSE(RunDirectory::MakeAt(scratch / "mine"));
  fs::remove(scratch / "mine/lock");
  ASSERT_EQ(::mkfifo((scratch / "mine/lock").c_str(), 0600), 0);
  EXPECT_FALSE(RunDirectory::MakeAt(scratch / "mine"));
  EXPECT_TRUE(fs::is_empty(scratch / "victim"));
}

TEST(RunDirectory, ReportsWhyAFolderCannotBeUsed) {
  const ScratchFolder scratch;
  PutFile(scratch / "file", "");
  for (const std::string place : {"file", "file/below", "no/such/parent"}) {
    const Result<RunDirectory> made = RunDirectory::MakeAt(scratch / place);
    ASSERT_FALSE(made) << place;
    EXPECT_EQ(made.error().front().blame, Blame::kMachine) << place;
  }
}

TEST(PrivateFiles, StayBelowTheirFolder) {
  const ScratchFolder scratch;
  const UniqueFd folder(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  fs::create_directories(scratch / "outside");
  fs::create_directory_symlink(scratch / "outside", scratch / "link");
  fs::create_symlink(scratch / "outside/x", scratch / "dangling");
  for (const std::string path : {"", "/etc/x", "../x", "a/../x", "a//b", "./a", "a/.", "link/x", "dangling"}) {
    EXPECT_FALSE(WriteNewFile(folder.get(), path, "x")) << path;
  }
  EXPECT_FALSE(WriteNewFile(folder.get(), std::string("a\0b", 3), "x"));
  EXPECT_TRUE(fs::is_empty(scratch / "outside"));
  EXPECT_TRUE(WriteNewFile(folder.get(), "a/b/c.txt", "x"));
  EXPECT_FALSE(WriteNewFile(folder.get(), "a/b/c.txt", "y")) << "nothing is overwritten";
  EXPECT_EQ(ContentOf(scratch / "a/b/c.txt"), "x");
}

TEST(PrivateFiles, ReplaceAFileAsAWhole) {
  const ScratchFolder scratch;
  const UniqueFd folder(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  PutFile(scratch / ".report.json.new", "left by a writer that died");
  ASSERT_TRUE(ReplaceFile(folder.get(), "report.json", "1"));
  ASSERT_TRUE(ReplaceFile(folder.get(), "report.json", "2"));
  EXPECT_EQ(ContentOf(scratch / "report.json"), "2");
  EXPECT_EQ(ModeOf(scratch / "report.json"), 0600U);
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()), 1);
}

TEST(FolderName, IsAlwaysASinglePathComponent) {
  EXPECT_EQ(FolderName("parameter-server_2.1"), "parameter-server_2.1");
  EXPECT_EQ(FolderName(""), "_");
  EXPECT_EQ(FolderName("."), "_");
  EXPECT_EQ(FolderName(".."), "_.");
  EXPECT_EQ(FolderName("../../etc"), "_._.._etc");
  EXPECT_EQ(FolderName("-rf"), "_rf");
  EXPECT_EQ(FolderName("a b\n\x1b[1m"), "a_b___1m");
  EXPECT_EQ(FolderName(std::string(500, 'x')), std::string(64, 'x'));
}

TEST(RunsFolder, IsBelowMusterHomeIfThereIsOne) {
  EXPECT_EQ(RunsFolder("/here", ""), "/here/runs");
  EXPECT_EQ(RunsFolder("/here", "/home/me/muster"), "/home/me/muster/runs");
}

class Resolving : public ::testing::Test {
 protected:
  std::string Found(const std::string& run) {
    const Result<std::string> found = ResolveRun(run, runs.path());
    return found ? *found : "error: " + found.error().front().message + " / " + found.error().front().hint;
  }

  ScratchFolder runs;
  std::string gpt_old = PutRun(runs, "gpt", "20261119-080000-aaaa11112222");
  std::string gpt_new = PutRun(runs, "gpt", "20261120-080000-aaaa33334444");
  std::string ps = PutRun(runs, "parameter-server", "20261120-070000-bbbb11112222");
};

TEST_F(Resolving, FindsTheNewestByDefault) { EXPECT_EQ(Found(""), gpt_new); }

TEST_F(Resolving, FindsByNameAndAge) {
  EXPECT_EQ(Found("gpt"), gpt_new);
  EXPECT_EQ(Found("gpt~0"), gpt_new);
  EXPECT_EQ(Found("gpt~1"), gpt_old);
  EXPECT_EQ(Found("~1"), ps);
  EXPECT_EQ(Found("~2"), gpt_old);
  EXPECT_EQ(Found("gpt~2"), "error: \"gpt~2\" goes back too far / there are 2");
}

TEST_F(Resolving, FindsByAPrefixOfTheId) {
  EXPECT_EQ(Found("bbbb"), ps);
  EXPECT_EQ(Found("aaaa3"), gpt_new);
  EXPECT_TRUE(Found("aaaa").starts_with("error: \"aaaa\" begins 2 ids")) << Found("aaaa");
  EXPECT_TRUE(Found("bbb").starts_with("error: ")) << "too short to mean an id";
}

TEST_F(Resolving, FindsByPath) {
  EXPECT_EQ(Found(ps), ps);
  EXPECT_TRUE(Found("/no/such/run").starts_with("error: \"/no/such/run\" is not a run directory"));
}

TEST_F(Resolving, OrdersRunsOfOneSecondByCreation) {
  const std::string first = PutRun(runs, "fast", "20261121-080000-ffff00000000");
  const std::string second = PutRun(runs, "fast", "20261121-080000-000000000000");
  const timespec times[2] = {{2'000'000'000, 5}, {2'000'000'000, 5}};
  const timespec later[2] = {{2'000'000'000, 6}, {2'000'000'000, 6}};
  ::utimensat(AT_FDCWD, (first + "/plan.json").c_str(), times, 0);
  ::utimensat(AT_FDCWD, (second + "/plan.json").c_str(), later, 0);
  EXPECT_EQ(Found("fast"), second);
  EXPECT_EQ(Found("fast~1"), first);
}

TEST_F(Resolving, SuggestsCorrectionsAndSurvivesHostileNames) {
  EXPECT_NE(Found("gtp").find("gpt"), std::string::npos);
  for (const std::string hostile : {"..", ".", "~", "~99999999999999999999", "gpt~-1", "gpt~1x", "\x1b[31m", "a\nb"}) {
    const std::string said = Found(hostile);
    EXPECT_TRUE(said.starts_with("error: ")) << said;
    EXPECT_EQ(said.find('\x1b'), std::string::npos);
    EXPECT_EQ(said.find('\n'), std::string::npos);
  }
}

TEST_F(Resolving, SkipsFoldersThatAreNoRuns) {
  fs::create_directories(runs / "gpt/20271120-080000-cccc");            // has no plan
  fs::create_directories(runs / "gpt/notes");                           // its name is not an id
  fs::create_directory_symlink(ps, runs / "gpt/20281120-080000-dddd");  // is a link
  PutFile(runs / "README", "");
  EXPECT_EQ(Found("gpt"), gpt_new);
}

TEST(ResolveRun, ReportsThatThereAreNoRuns) {
  const ScratchFolder empty;
  EXPECT_FALSE(ResolveRun("", empty / "runs"));
  EXPECT_FALSE(ResolveRun("gpt", empty.path()));
}

TEST(IsRunLive, IsTrueExactlyWhileTheDirectoryIsHeld) {
  const ScratchFolder scratch;
  EXPECT_FALSE(IsRunLive(scratch / "none"));
  std::optional<Result<RunDirectory>> held = RunDirectory::MakeAt(scratch / "mine");
  ASSERT_TRUE(*held);
  PutFile(scratch / "mine/journal.jsonl", "");
  EXPECT_TRUE(IsRunLive(scratch / "mine"));
  held.reset();
  EXPECT_FALSE(IsRunLive(scratch / "mine"));
}

}  // namespace
}  // namespace muster
