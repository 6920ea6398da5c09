// Tests the progress rows of a run, which stay below other output.
#include <chrono>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/values/utf8_text.h"
#include "run/console/console.h"
#include "run/loop/output.h"
#include "run/report/metrics_report.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"
#include "support/await.h"

namespace muster {
namespace {

using Lines = std::vector<std::string>;

Progress Sample() {
  Progress progress;
  progress.phase = "running";
  progress.seconds = 63;
  progress.roles = {
      {{"scheduler", 0, 1, 0, 0}, ""}, {{"server", 1, 0, 0, 0}, ""}, {{"worker", 0, 6, 2, 1}, "worker.3: Loss is NaN"}};
  return progress;
}

TEST(ProgressRows, ShowEachRole) {
  Progress progress = Sample();
  EXPECT_EQ(ProgressRows(progress, 100, 5),
            (Lines{"scheduler  1 running  1 min 3 s", "server     0 running, 1 waiting  1 min 3 s",
                   "worker     6 running, 2 ended, 1 restart  1 min 3 s  worker.3: Loss is NaN"}));
  progress.phase = "stopping";
  EXPECT_EQ(ProgressRows(progress, 100, 2), (Lines{"scheduler  1 running  1 min 3 s stopping", "… and 2 more roles"}));
  EXPECT_EQ(ProgressRows({}, 80, 5), Lines{});
  progress.roles[2].metrics = "step 100, loss 0.25";
  EXPECT_EQ(ProgressRows(progress, 120, 5)[2],
            "worker     6 running, 2 ended, 1 restart  1 min 3 s stopping  step 100, loss 0.25  worker.3: Loss is NaN");
}

TEST(ProgressRows, FitIntoAnyTerminal) {
  Progress progress = Sample();
  progress.roles[0].last_line = std::string(500, 'x');
  for (const std::size_t columns : {1U, 2U, 7U, 40U, 300U}) {
    for (const std::size_t most : {1U, 2U, 9U}) {
      const Lines rows = ProgressRows(progress, columns, most);
      EXPECT_LE(rows.size(), most);
      for (const std::string& row : rows) EXPECT_LE(Columns(row), std::max<std::size_t>(columns - 1, 1));
    }
  }
}

// Prevents: metrics are visible only after the run.
TEST(Progress, HasTheNewestMetricsOfARole) {
  const Plan plan = SamplePlan({{"worker", 2}});
  const Supervisor supervisor(plan);
  const RunProcessTable process_table(plan);
  const ScratchFolder folder;
  ASSERT_EQ(::mkdir((folder / "metrics").c_str(), 0700), 0);
  PutFile(folder / MetricsPath(plan, 0, 0),
          "{\"step\": 1, \"loss\": 2.5}\n{\"acc\": 0.5, \"loss\": 0.123456789, \"step\": 200, \"tag\": \"x\"}\n");
  const UniqueFd open(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const Progress progress = ProgressNow(plan, supervisor, process_table, open.get(), 0, 1);
  ASSERT_EQ(progress.roles.size(), 1U);
  EXPECT_EQ(progress.roles[0].metrics, "step 200, acc 0.5, loss 0.12346");
}

// --- the outlier of a role ----------------------------------------------------------------------------

TEST(RunProcessTable, NamesTheOutlierOfARole) {
  const Plan plan = SamplePlan({{"server"}, {"worker", 4}});
  Supervisor supervisor(plan);
  RunProcessTable process_table(plan);
  std::vector<ProcessId> workers;
  const std::uint32_t role = plan.processes.back().role;
  for (ProcessId id = 0; id < plan.processes.size(); ++id) {
    if (plan.processes[id].role == role) workers.push_back(id);
  }
  ASSERT_GE(workers.size(), 2U);
  EXPECT_EQ(process_table.StrongestOutlier(plan, supervisor, role), workers[0]);
  process_table.Saw(ProcessStarted{workers[1], 1, 7, 70, 5}, 1'000);
  EXPECT_EQ(process_table.StrongestOutlier(plan, supervisor, role), workers[1]) << "it was started again";
  process_table.Saw(ProcessExited{workers[0], 0, false, 0, false, 0, 0, 0, 9}, 2'000);
  EXPECT_EQ(process_table.StrongestOutlier(plan, supervisor, role), workers[1]) << "the other has ended well";
  process_table.Saw(ProcessExited{workers[0], 0, true, 9, false, 0, 0, 0, 9}, 3'000);
  EXPECT_EQ(process_table.StrongestOutlier(plan, supervisor, role), workers[0]) << "the other has ended badly";
  EXPECT_EQ(process_table.StrongestOutlier(plan, supervisor, 77), std::nullopt);
}

// --- below other output -------------------------------------------------------------------------------

struct RawTerminal {
  RawTerminal() {
    master = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    EXPECT_EQ(::grantpt(master.get()), 0);
    EXPECT_EQ(::unlockpt(master.get()), 0);
    screen = UniqueFd(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios modes{};
    EXPECT_EQ(::tcgetattr(screen.get(), &modes), 0);
    modes.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    EXPECT_EQ(::tcsetattr(screen.get(), TCSANOW, &modes), 0);
  }
  // Returns the available output; the kernel delivers it a moment after it was written.
  std::string Written() const {
    std::string text;
    char some[4096];
    for (ssize_t got = ::read(master.get(), some, sizeof some); got > 0;
         got = ::read(master.get(), some, sizeof some)) {
      text.append(some, static_cast<std::size_t>(got));
    }
    return text;
  }
  // Waits for as many bytes as `expected` has, and returns them.
  std::string Next(const std::string& expected) const {
    std::string text(expected.size(), '\0');
    std::size_t at = 0;
    while (at < text.size() && testing::AwaitReadable(master.get())) {
      const ssize_t got = ::read(master.get(), text.data() + at, text.size() - at);
      if (got > 0) at += static_cast<std::size_t>(got);
    }
    text.resize(at);
    return text;
  }
  void Shows(const std::string& expected) const { EXPECT_EQ(Next(expected), expected); }
  UniqueFd master;
  UniqueFd screen;
};

// Prevents: rows that are redrawn ten times a second are mostly invisible if processes write more often.
TEST(Output, KeepsRowsBelowOtherOutput) {
  boost::asio::io_context io;
  const RawTerminal terminal;
  Output out(io, terminal.screen.get());
  int covered = 0;
  out.OnCovered([&] { ++covered; });
  out.ShowBelow({"one", "two"});
  terminal.Shows("one\r\ntwo");
  out.Write("text\n");
  terminal.Shows("\x1b[1A\r\x1b[Jtext\none\r\ntwo");
  out.Write("more\n");
  terminal.Shows("\x1b[1A\r\x1b[Jmore\none\r\ntwo");
  EXPECT_EQ(covered, 0);
  out.Write("a line that goes on");
  terminal.Shows("\x1b[1A\r\x1b[Ja line that goes on");
  EXPECT_EQ(covered, 1) << "they cannot stand below a line that is not over";
  out.ShowBelow({"one"});
  out.ShowBelow({"eins"});
  terminal.Shows("one\r\x1b[Jeins");
  out.ShowBelow({});
  terminal.Shows("\r\x1b[J");
  out.ShowBelow({"one"});
  out.ForgetBelow();
  out.Write("text\n");
  terminal.Shows("onetext\n");
}

TEST(Output, ShowsNoRowsOnABlockedTerminal) {
  boost::asio::io_context io;
  const RawTerminal terminal;
  Output out(io, terminal.screen.get());
  const std::string block(64U << 10, 'x');
  while (out.empty()) out.Write(block);  // nobody reads
  std::string before;
  for (int frame = 0; frame < 1'000; ++frame) out.ShowBelow({"row"});
  out.ShowBelow({});
  while (!out.empty()) {
    before += terminal.Written();
    io.run_one_for(std::chrono::milliseconds(20));
  }
  out.ShowBelow({"row"});
  while (!before.ends_with("row") && testing::AwaitReadable(terminal.master.get())) {
    before += terminal.Written();
  }
  EXPECT_EQ(before.find_first_not_of('x'), before.find("row")) << "none of the thousand was kept for later";
  EXPECT_EQ(before.size() % block.size(), 3U);
}

TEST(Output, WritesNoRowsToAFile) {
  boost::asio::io_context io;
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const UniqueFd read(ends[0]);
  const UniqueFd write(ends[1]);
  Output out(io, write.get());
  out.ShowBelow({"row"});
  out.Write("text\n");
  char some[64];
  EXPECT_EQ(::read(read.get(), some, sizeof some), 5);
}

}  // namespace
}  // namespace muster
