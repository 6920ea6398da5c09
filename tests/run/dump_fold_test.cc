// Tests grouping of dumps over processes, and their text.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/report/dump_report.h"
#include "run/sample_plan.h"

namespace muster {
namespace {

using Frames = std::vector<StackFrame>;

ProcessDumped ReportedDump(ProcessId process, Frames frames, const std::string& wait = "futex_wait_queue",
                           const std::string& state = "sleeping") {
  ProcessDumped reported;
  reported.dump = 1;
  reported.process = process;
  reported.window_ns = 200'000'000;
  SystemProcessState own;
  own.pid = 100 + static_cast<std::int32_t>(process);
  own.program = "python3";
  own.by = frames.empty() ? "" : "py-spy";
  own.threads = {{own.pid, 1, "MainThread", state, wait, "futex", "", std::move(frames)}};
  reported.states = {own};
  return reported;
}

// Returns entries such as "worker.0-2, worker.3 odd".
std::string Who(const std::vector<DumpGroup>& groups) {
  std::string text;
  for (const DumpGroup& group : groups) {
    text += (text.empty() ? "" : "; ") + MembersText({group.who}) + (group.outlier ? " odd" : "");
  }
  return text;
}

const Frames kReduce = {{"all_reduce", "train.py", 41}, {"<module>", "train.py", 60}};
const Frames kLoad = {{"read", "loader.py", 12}, {"<module>", "train.py", 40}};

TEST(DumpFold, ListsTheOutlierFirst) {
  const Plan plan = SamplePlan({{"worker", 8}});
  std::vector<ProcessDumped> reported;
  for (ProcessId process = 0; process < 8; ++process)
    reported.push_back(ReportedDump(process, process == 6 ? kLoad : kReduce));
  const std::vector<DumpGroup> groups = FoldDump(plan, reported);
  EXPECT_EQ(Who(groups), "worker.6 odd; worker.0-5, 7");
  EXPECT_EQ(groups[0].thread()->frames, kLoad);
  EXPECT_EQ(Who(FoldDump(plan, {reported.rbegin(), reported.rend()})), Who(groups))
      << "in whatever order they are told";
}

TEST(DumpFold, MarksNoOutlierWithoutAMajority) {
  const Plan plan = SamplePlan({{"scheduler", 1}, {"worker", 4}});
  std::vector<ProcessDumped> reported = {ReportedDump(0, kLoad), ReportedDump(1, kLoad), ReportedDump(2, kLoad),
                                         ReportedDump(3, kReduce), ReportedDump(4, kReduce)};
  EXPECT_EQ(Who(FoldDump(plan, reported)), "scheduler.0; worker.0-1; worker.2-3");
  reported[2] = ReportedDump(2, {{"x", "y.py", 1}});
  EXPECT_EQ(Who(FoldDump(plan, reported)), "scheduler.0; worker.0; worker.1; worker.2-3")
      << "half of them are no majority";
}

TEST(DumpFold, ListsTheRarestPlacesFirst) {
  const Plan plan = SamplePlan({{"worker", 9}});
  std::vector<ProcessDumped> reported;
  for (ProcessId process = 0; process < 9; ++process) {
    reported.push_back(ReportedDump(process, process < 2 ? kLoad : process == 5 ? Frames{{"x", "y.py", 1}} : kReduce));
  }
  EXPECT_EQ(Who(FoldDump(plan, reported)), "worker.5 odd; worker.0-1 odd; worker.2-4, 6-8");
}

// A polling process is at varying places in the kernel.
TEST(DumpFold, GroupsByFramesIfKnown) {
  const Plan plan = SamplePlan({{"worker", 3}});
  const std::vector<ProcessDumped> reported = {ReportedDump(0, kReduce), ReportedDump(1, kReduce, "", "running"),
                                               ReportedDump(2, kReduce, "nfs_wait", "uninterruptible")};
  EXPECT_EQ(Who(FoldDump(plan, reported)), "worker.2 odd; worker.0-1");
}

TEST(DumpFold, GroupsByTheKernelsPlaceWithoutFrames) {
  const Plan plan = SamplePlan({{"worker", 3}});
  EXPECT_EQ(Who(FoldDump(plan, {ReportedDump(0, {}), ReportedDump(1, {}, "pipe_read"), ReportedDump(2, {})})),
            "worker.1 odd; worker.0, 2");
}

// Tools have a deadline: a process without frames because of it is not an outlier.
TEST(DumpFold, GroupsProcessesWithoutFramesByTheKernelsPlace) {
  const Plan plan = SamplePlan({{"worker", 4}});
  const std::vector<ProcessDumped> reported = {ReportedDump(0, {}), ReportedDump(1, kReduce), ReportedDump(2, kReduce),
                                               ReportedDump(3, {}, "pipe_read")};
  const std::vector<DumpGroup> groups = FoldDump(plan, reported);
  EXPECT_EQ(Who(groups), "worker.3 odd; worker.0-2");
  EXPECT_EQ(groups[1].thread()->frames, kReduce);
  EXPECT_EQ(Who(FoldDump(plan, {ReportedDump(0, {}), ReportedDump(1, kReduce), ReportedDump(2, kLoad)})),
            "worker.0; worker.1; worker.2")
      << "it could be either";
}

TEST(DumpFold, ShowsTheChildThatAShellWaitsFor) {
  const Plan plan = SamplePlan({{"worker", 2}});
  ProcessDumped shell = ReportedDump(0, kReduce);
  SystemProcessState sh;
  sh.pid = 7;
  sh.program = "sh";
  sh.threads = {{7, 1, "sh", "sleeping", "do_wait", "wait4", "", {}}};
  shell.states.insert(shell.states.begin(), sh);
  shell.states[1].parent = 7;
  EXPECT_EQ(PlaceOf(shell.states), 1U);
  EXPECT_EQ(Who(FoldDump(plan, {shell, ReportedDump(1, kReduce)})), "worker.0-1");
  // A process whose child is missing is shown itself; a cycle of parents does not hang.
  shell.states[1].parent = 99;
  EXPECT_EQ(PlaceOf(shell.states), 0U);
  EXPECT_EQ(PlaceOf({}), 0U);
  sh.parent = 7;
  EXPECT_EQ(PlaceOf({sh, sh}), 1U);
}

TEST(DumpFold, ShowsRequestedProcessesAndCountsTheOthers) {
  const Plan plan = SamplePlan({{"worker", 4}});
  const std::vector<ProcessDumped> reported = {ReportedDump(0, kReduce), ReportedDump(1, kLoad),
                                               ReportedDump(2, kReduce), ReportedDump(3, kReduce)};
  const auto one = [](ProcessId process) { return [process](ProcessId id) { return id == process; }; };
  EXPECT_EQ(Who(FoldDump(plan, reported, one(1))), "worker.1 odd");
  const std::vector<DumpGroup> alone = FoldDump(plan, reported, one(3));
  EXPECT_EQ(Who(alone), "worker.3");
  EXPECT_EQ(alone.front().first.process, 3U);
}

TEST(DumpFold, ToleratesInvalidReportsOfAgents) {
  const Plan plan = SamplePlan({{"worker", 2}});
  ProcessDumped empty;
  empty.process = 1;
  ProcessDumped no_threads = ReportedDump(0, {});
  no_threads.states[0].threads.clear();
  const std::vector<DumpGroup> groups = FoldDump(plan, {ReportedDump(77, kLoad), no_threads, empty});
  EXPECT_EQ(Who(groups), "worker.0; worker.1");
  EXPECT_EQ(groups[0].thread(), nullptr);
  EXPECT_EQ(groups[1].state(), nullptr);
  EXPECT_TRUE(FoldDump(plan, {}).empty());
}

TEST(DumpText, IsReadable) {
  const Plan plan = SamplePlan({{"worker", 4}});
  std::vector<ProcessDumped> reported;
  for (ProcessId process = 0; process < 4; ++process)
    reported.push_back(ReportedDump(process, process == 2 ? kLoad : kReduce));
  reported[2].states[0].threads[0].wait = "pipe_read";
  reported[2].states[0].threads[0].call = "read";
  reported[2].states[0].threads[0].target = "pipe";
  reported[2].log_bytes = 12;
  reported[2].silent_ms = 900'000;
  reported[3].states[0].cpu_ns = 196'000'000;
  SystemProcessState child = reported[2].states[0];
  child.pid = 1;
  reported[2].states.push_back(child);
  DumpReport dump;
  dump.number = 2;
  dump.why = "silent_job";
  dump.ended = dump.complete = true;
  dump.folder = "dumps/2";
  dump.groups = FoldDump(plan, reported);
  dump.groups[0].last_line = "step 41\x1b";
  dump.notes = {{"node-1", {"no_py_spy", ""}}, {"node-2", {"no_py_spy", ""}}, {"node-2", {"late", "3 things"}}};
  dump.unheard = {{"server", {0}, {}}};
  EXPECT_EQ(DumpText(dump, 10),
            "  dump      2, taken before the silent job was stopped, stacks by py-spy; all of it in dumps/2/\n"
            "    worker.2, unlike most of its role: in read (loader.py:12), waiting in pipe_read (read of a pipe)\n"
            "      from <module> (train.py:40)\n"
            "      wrote last 15 min 0 s before: step 41\\x1b\n"
            "      beside python3: 1 python3\n"
            "    worker.0-1, 3: in all_reduce (train.py:41), waiting in futex_wait_queue (futex), 98 % of a processor\n"
            "      from <module> (train.py:60)\n"
            "      wrote nothing\n    server.0: no data\n"
            "    node-1, node-2: no py-spy on the PATH of the processes, so Python's own frames are not seen; pip "
            "install py-spy\n"
            "    node-2: timed out before tools had shown the stacks of 3 things\n");
  EXPECT_NE(DumpText(dump, 1).find("… and 1 more places, in report.json"), std::string::npos);
}

}  // namespace
}  // namespace muster
