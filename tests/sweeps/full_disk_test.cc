// Tests sweeps and runs on a full disk: a small file system in a mount namespace that exists for the duration of the
// test.
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

class SmallDisk {
 public:
  SmallDisk(const SweepCase& sweep, const std::string& size) : path_(sweep / "disk") {
    std::filesystem::create_directory(path_);
    std::filesystem::create_directory(sweep / "ready");
    holder_.emplace(Words{"/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c",
                          "mount -t tmpfs -o mode=700,size=" + size + " small '" + path_ + "' && : >'" +
                              (sweep / "ready/yes") + "' && exec sleep infinity"},
                    Words{"PATH=/usr/bin:/bin"}, "/", sweep / "disk.err");
    // Without privileges the process exits and the file never appears.
    made_ = AwaitFileOrEnd(sweep / "ready/yes");
  }
  bool made() const { return made_; }
  const std::string& path() const { return path_; }
  // Prefix of commands that see the disk; other programs use SeenFromHere().
  Words Enter() const {
    return {"/usr/bin/nsenter", "--mount=/proc/" + std::to_string(holder_->pid()) + "/ns/mnt",
            "--wd=" + std::filesystem::path(path_).parent_path().string()};
  }
  std::string SeenFromHere() const { return "/proc/" + std::to_string(holder_->pid()) + "/root" + path_; }
  // Fills that many KiB of it, or all of it if less is free.
  void Fill(int kib) const {
    RunCommand(
        {{"dd", "if=/dev/zero", "of=" + SeenFromHere() + "/ballast", "bs=1024", "count=" + std::to_string(kib)}});
  }
  void MakeSpace() const { std::filesystem::remove(SeenFromHere() + "/ballast"); }

 private:
  bool AwaitFileOrEnd(const std::string& path) {
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    ::inotify_add_watch(watch.get(), std::filesystem::path(path).parent_path().c_str(), IN_CREATE);
    while (!std::filesystem::exists(path)) {
      pollfd ready[] = {{watch.get(), POLLIN, 0}, {holder_->pidfd(), POLLIN, 0}};
      if (::poll(ready, 2, 30'000) <= 0 || ready[1].revents != 0) return false;
      std::vector<char> events(4096);
      if (::read(watch.get(), events.data(), events.size()) < 0) return false;
    }
    return true;
  }

  std::string path_;
  std::optional<StartedProgram> holder_;
  bool made_ = false;
};

// muster and the checker see the disk directly, the test sees it through /proc.
struct OnSmallDisk {
  OnSmallDisk(const std::string& plan, const std::string& size)
      : sweep("x = muster.int { 1 }", plan), disk(sweep, size) {
    sweep.SetHome(disk.path());
    sweep.CallBy(disk.Enter());
  }
  std::string sweep_dir() const {
    for (const auto& entry : std::filesystem::directory_iterator(disk.SeenFromHere() + "/sweeps/job")) {
      if (!entry.is_symlink()) return entry.path();
    }
    return "";
  }
  SweepCase sweep;
  SmallDisk disk;
};

constexpr char kNothing[] = "job:workers { count = 1, command = { 'true' } }";

TEST(SweepOnAFullDisk, StopsWithAReasonAndContinuesOnceThereIsSpace) {
  OnSmallDisk on(kNothing, "4m");
  if (!on.disk.made()) GTEST_SKIP() << "a file system of its own cannot be mounted here";
  // The sweep fills the disk itself.
  const CommandResult full = on.sweep.Sweep({"--grid", "x=1..400", "--slots", "2"});
  EXPECT_EQ(full.exit_code, 3) << full.err;
  EXPECT_TRUE(Says(full.err, "error: the disk of ")) << full.err;
  EXPECT_TRUE(Says(full.err, "continue with: muster resume ")) << full.err;
  EXPECT_EQ(on.sweep.WrongIn(on.sweep_dir()), "");
  const CommandResult again = on.sweep.Muster({"resume"});
  EXPECT_EQ(again.exit_code, 3) << again.err;
  EXPECT_EQ(on.sweep.WrongIn(on.sweep_dir()), "");
  EXPECT_EQ(RunCommand({[&] {
              Words words = on.disk.Enter();
              words.insert(words.end(), {"mount", "-o", "remount,size=64m", on.disk.path()});
              return words;
            }()})
                .exit_code,
            0);
  const CommandResult resumed = on.sweep.Muster({"resume", "-q"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(on.sweep.WrongIn(on.sweep_dir(), 400), "");
}

TEST(SweepOnAFullDisk, RetriesTrialsThatRanWhenItFilled) {
  OnSmallDisk on(
      "job:workers { count = 1, command = { probe, 'file', here .. '/ready/' .. p.x, 'await', here .. '/go', 'flood', "
      "'10000', '200', 'w' } }",
      "6m");
  if (!on.disk.made()) GTEST_SKIP() << "a file system of its own cannot be mounted here";
  StartedProgram muster = on.sweep.StartSweep({"--grid", "x=1..4", "--slots", "2"});
  EXPECT_TRUE(AwaitFile(on.sweep / "ready/1"));
  EXPECT_TRUE(AwaitFile(on.sweep / "ready/2"));
  on.disk.Fill(1 << 20);
  on.sweep.Write("go", "");
  EXPECT_EQ(muster.End(), 3) << on.sweep.Errors();
  EXPECT_TRUE(Says(on.sweep.Errors(), "continue with: muster resume ")) << on.sweep.Errors();
  EXPECT_TRUE(on.sweep.NothingLeft());
  EXPECT_EQ(on.sweep.WrongIn(on.sweep_dir()), "") << on.sweep.Errors();
  // The disk was full, and yet the journal has the outcome.
  const std::string sweep_dir = on.sweep_dir();
  EXPECT_EQ(RecordsOf(sweep_dir + "/journal.jsonl", "attempt_ended").size(), 2U);
  EXPECT_EQ(RecordsOf(sweep_dir + "/journal.jsonl", "sweep_ended").size(), 1U);
  on.disk.MakeSpace();
  RunCommand({[&] {
    Words words = on.disk.Enter();
    words.insert(words.end(), {"mount", "-o", "remount,size=64m", on.disk.path()});
    return words;
  }()});
  const CommandResult resumed = on.sweep.Muster({"resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(on.sweep.WrongIn(on.sweep_dir(), 4), "");
}

TEST(SweepOnAFullDisk, DoesNotStart) {
  OnSmallDisk on(kNothing, "2m");
  if (!on.disk.made()) GTEST_SKIP() << "a file system of its own cannot be mounted here";
  on.disk.Fill(1 << 20);
  const CommandResult full = on.sweep.Sweep({"--grid", "x=1..4"});
  EXPECT_EQ(full.exit_code, 3) << full.err;
  EXPECT_TRUE(Says(full.err, "No space left on device")) << full.err;
  on.disk.MakeSpace();
  const CommandResult begun = on.sweep.Sweep({"--grid", "x=1..4"});
  EXPECT_EQ(begun.exit_code, 0) << begun.err;
}

TEST(RunOnAFullDisk, KeepsTheEndOfItsJournal) {
  OnSmallDisk on(
      "job:workers { count = 4, command = muster.shell 'head -c 4000000 /dev/zero | tr \"\\\\0\" x; exit 7' }", "4m");
  if (!on.disk.made()) GTEST_SKIP() << "a file system of its own cannot be mounted here";
  const CommandResult run = on.sweep.Muster({"run", "recipe.lua", "--quiet"});
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const CommandResult reported = on.sweep.Muster({"report", "--json"});
  ASSERT_EQ(reported.exit_code, 0) << reported.err;
  const json report = json::parse(reported.out);
  EXPECT_EQ(report["outcome"], "failed") << "as the terminal said";
  EXPECT_EQ(report["exit_code"], 1);
  std::string run_dir;
  for (const auto& entry : std::filesystem::directory_iterator(on.disk.SeenFromHere() + "/runs/job")) {
    if (!entry.is_symlink()) run_dir = entry.path();
  }
  EXPECT_EQ(RecordsOf(run_dir + "/journal.jsonl").back()["event"], "run_ended");
  EXPECT_TRUE(std::filesystem::exists(run_dir + "/report.json")) << "it has the room that the journal left";
  std::uintmax_t logs = 0;  // which process gets how much of the disk is random
  for (const auto& entry : std::filesystem::directory_iterator(run_dir + "/logs")) logs += entry.file_size();
  EXPECT_GT(logs, 3'000'000U) << "the disk was full";
}

TEST(RunOnAFullDisk, DoesNotStart) {
  OnSmallDisk on(kNothing, "1m");
  if (!on.disk.made()) GTEST_SKIP() << "a file system of its own cannot be mounted here";
  on.disk.Fill(940);
  const CommandResult run = on.sweep.Muster({"run", "recipe.lua", "--quiet"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_TRUE(Says(run.err, "the disk has no room for ")) << run.err;
}

}  // namespace
}  // namespace muster::testing
