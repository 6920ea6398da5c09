// Tests a sweep whose journal is truncated, as by a power failure: exactly the lost part is repeated.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

constexpr int kCutPoints = 180;  // so that its journal is longer than 64 KiB
constexpr std::uintmax_t kTail = 64U << 10;

TEST(Sweep, ContinuesWhereverItsJournalWasCut) {
  const SweepCase sweep("x = muster.int { 1 }", "job:workers { count = 1, command = { \"true\" } }");
  ASSERT_EQ(sweep.Sweep({"--grid", "x=1.." + std::to_string(kCutPoints), "--slots", "2", "-q"}).exit_code, 0);
  const std::uintmax_t whole = fs::file_size(sweep.journal());
  ASSERT_GT(whole, kTail);
  const int cuts = std::getenv("MUSTER_LONG") != nullptr ? 200 : 25;
  const fs::path at = fs::path(sweep.sweep()).parent_path() / "20200101-000000-cut";
  for (int cut = 0; cut < cuts; ++cut) {
    // Cuts evenly over the tail, with a step that reaches every position within a line; the latest cuts come first.
    const std::uintmax_t left = whole - 1 - static_cast<std::uintmax_t>(cut) * (kTail - 1) / cuts;
    SCOPED_TRACE("cut to " + std::to_string(left) + " of " + std::to_string(whole) + " bytes");
    fs::remove_all(at);
    fs::copy(sweep.sweep(), at, fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    fs::resize_file(at / "journal.jsonl", left);
    if (cut % 2 == 1) fs::remove(at / "index.sqlite");  // otherwise the index knows more than the journal
    const CommandResult resumed = sweep.Muster({"resume", at, "-q", "--no-progress"});
    EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
    ASSERT_EQ(sweep.WrongIn(at, kCutPoints), "") << resumed.err;
    // Everything before the cut must be unchanged.
    const std::string before = ContentOf(sweep.journal());
    const std::string now = ContentOf(at / "journal.jsonl");
    const std::size_t kept = before.rfind('\n', left - 1) + 1;
    ASSERT_EQ(now.substr(0, kept), before.substr(0, kept));
  }
}

TEST(Sweep, StartsIfItsHeadDiedBeforeCreatingTheJournal) {
  const SweepCase sweep("x = muster.int { 1 }", "job:workers { count = 1, command = { \"true\" } }");
  ASSERT_EQ(sweep.Sweep({"--grid", "x=1..3", "-q"}).exit_code, 0);
  fs::remove_all(sweep.sweep() + "/t");
  fs::remove(sweep.sweep() + "/index.sqlite");
  fs::remove(sweep.journal());
  const CommandResult resumed = sweep.Muster({"resume", sweep.sweep(), "-q"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(sweep.Wrong(3), "");
}

}  // namespace
}  // namespace muster::testing
