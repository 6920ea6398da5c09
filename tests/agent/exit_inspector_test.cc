// Tests evidence about exits in a host's files, with kernel texts as input.
#include "agent/processes/exit_inspector.h"

#include <csignal>
#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace muster {
namespace {

CorePlace PlaceOf(std::string_view pattern, bool uses_pid = false) {
  return CorePlaceOf(pattern, uses_pid, {4711, 11, 1000, 100, "node-1", "/job"});
}

TEST(CorePlace, FollowsThePattern) {
  using Kind = CorePlace::Kind;
  EXPECT_EQ(PlaceOf("core\n"), (CorePlace{Kind::kFile, "/job/core"}));
  EXPECT_EQ(PlaceOf("core", true), (CorePlace{Kind::kFile, "/job/core.4711"}));
  EXPECT_EQ(PlaceOf("core.%p", true), (CorePlace{Kind::kFile, "/job/core.4711"}));
  EXPECT_EQ(PlaceOf("/var/crash/%h/%u.%g.%s.%%.%p%"), (CorePlace{Kind::kFile, "/var/crash/node-1/1000.100.11.%.4711"}));
  EXPECT_EQ(PlaceOf("/cores/%e[%t].%p"), (CorePlace{Kind::kGlob, "/cores/*\\[*].4711"}));
  EXPECT_EQ(PlaceOf("|/usr/share/apport/apport -p%p -s%s"), (CorePlace{Kind::kProgram, "/usr/share/apport/apport"}));
  EXPECT_EQ(PlaceOf("|/bin/catch"), (CorePlace{Kind::kProgram, "/bin/catch"}));
  EXPECT_EQ(PlaceOf(""), CorePlace{});
}

TEST(MemoryKills, FindsTheCounterOfTheGroup) {
  EXPECT_EQ(MemoryCounterFileOf("0::/user.slice/a\n").path, "/sys/fs/cgroup/user.slice/a/memory.events");
  EXPECT_EQ(MemoryCounterFileOf("0::/\n").path, "/sys/fs/cgroup/memory.events");
  EXPECT_EQ(MemoryCounterFileOf("9:name=systemd:/\n4:cpu,memory:/job:1\n0::/\n").path,
            "/sys/fs/cgroup/memory/job:1/memory.oom_control");
  EXPECT_EQ(MemoryCounterFileOf("4:memory:/hidden\n").fallback, "/sys/fs/cgroup/memory/memory.oom_control");
  EXPECT_EQ(MemoryCounterFileOf("3:cpuset:/\n").path, "");
  EXPECT_EQ(MemoryCounterFileOf("no colon\n:\n").path, "");
}

TEST(MemoryKills, ReadsTheCounter) {
  EXPECT_EQ(MemoryKillsIn("low 0\nhigh 0\nmax 3\noom 2\noom_kill 12\noom_group_kill 0\n"), 12U);
  EXPECT_EQ(MemoryKillsIn("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n"), 1U);
  EXPECT_FALSE(MemoryKillsIn("oom_kill_disable 0\n"));
  EXPECT_FALSE(MemoryKillsIn(""));
}

TEST(MemoryKills, ParsesTheKernelLog) {
  const auto record = MemoryKillIn(
      "3,1234,567890123,-;Memory cgroup out of memory: Killed process 4711 (python3) total-vm:9kB\n SUBSYSTEM=x\n");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->pid, 4711);
  EXPECT_EQ(record->at_us, 567'890'123U);
  EXPECT_EQ(record->words, "Memory cgroup out of memory: Killed process 4711 (python3) total-vm:9kB");
  EXPECT_FALSE(MemoryKillIn("6,1,2,-;eth0: link up"));
  EXPECT_FALSE(MemoryKillIn("6,1;Killed process 7 (x)"));
  EXPECT_FALSE(MemoryKillIn("6,1,2,-;Killed process x"));
  EXPECT_FALSE(MemoryKillIn(""));
}

TEST(ExitInspector, ReportsNothingForAProcessThatMusterKilled) {
  MemoryKills memory;
  ExitInspector inspector(memory);
  ProcessExited exited;
  exited.process = 1;
  exited.signalled = true;
  exited.code = SIGKILL;
  inspector.Started({1, 0, 1, 1, 1}, "/", "/dev/null");
  inspector.Signalled({1, 0, SIGKILL, 0, 2});
  EXPECT_TRUE(inspector.Ended(exited).empty()) << "muster killed it";
  EXPECT_TRUE(inspector.Ended(exited).empty()) << "it is forgotten";
}

TEST(ExitInspector, FindsTheLogOfASanitizer) {
  const testing::TempDir folder;
  const std::string path = folder / "asan.7";
  MemoryKills memory;
  ExitInspector inspector(memory);
  ProcessExited exited;
  exited.process = 1;
  exited.code = 1;
  const auto said = [&](const std::string& text) {
    std::ofstream(path) << text;
    inspector.Started({1, 0, 7, 7, 1}, "/", "/dev/null", {path, folder / "absent.7"});
    const std::vector<EndEvidence> evidence = inspector.Ended(exited);
    return evidence.empty() ? std::string() : evidence.front().kind + ": " + evidence.front().detail;
  };
  EXPECT_EQ(said("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x10\n    #0 0x1 in f a.cc:3\n"
                 "SUMMARY: AddressSanitizer: heap-use-after-free a.cc:3 in f\n"),
            "sanitizer: AddressSanitizer: heap-use-after-free a.cc:3 in f, in " + path);
  EXPECT_EQ(said("a.cc:3:5: runtime error: signed integer overflow\n"),
            "sanitizer: a.cc:3:5: runtime error: signed integer overflow, in " + path);
  EXPECT_EQ(said("nothing of interest\n"), "");
  exited.code = 0;
  EXPECT_EQ(said("==7==ERROR: LeakSanitizer: detected memory leaks\n"), "") << "it succeeded";
}

}  // namespace
}  // namespace muster
