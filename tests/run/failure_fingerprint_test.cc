// Tests the fingerprints of failures: which texts are the same failure, and the classes of ends.
#include "run/report/failure_fingerprint.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <signal.h>

namespace muster {
namespace {

using Lines = std::vector<std::string>;

FailureSigns Exited(std::int32_t code, Lines lines = {}) {
  FailureSigns signs;
  signs.exited.emplace().code = code;
  signs.lines = std::move(lines);
  return signs;
}

FailureSigns Signalled(std::int32_t signal, Lines lines = {}) {
  FailureSigns signs = Exited(signal, std::move(lines));
  signs.exited->signalled = true;
  return signs;
}

TEST(FailureFingerprint, LeavesOutWhatDiffersFromTimeToTime) {
  EXPECT_EQ(SameText("worker 17 at 0x7f3a00c1 lost 10.0.0.3:29500 after 1.5e-7 s"), "worker # at # lost # after # s");
  EXPECT_EQ(SameText("2026-11-28 20:25:15,004 run 3f9ac01bd2 failed"), "# # run # failed");
  EXPECT_EQ(SameText("deadbeef is a word, n03 is a host"), "deadbeef is a word, n# is a host");
  EXPECT_EQ(SameText("  several\t\tblanks \n"), "several blanks");
  EXPECT_EQ(SameText("\x1b[31mred"), "\\x1b[#mred");
  EXPECT_EQ(SameText(std::string(5'000, 'x')).size(), kMaxFingerprintText);
  EXPECT_EQ(SameText(""), "");
}

TEST(FailureFingerprint, OfAnExceptionHasItsInnermostFrameAndMessage) {
  const auto lines = [](const std::string& line, const std::string& size) {
    return Lines{"step 12",
                 "Traceback (most recent call last):",
                 "  File \"/home/a/train.py\", line 90, in <module>",
                 "    main()",
                 "  File \"/home/a/train.py\", line " + line + ", in step",
                 "    y = model(x)",
                 "RuntimeError: size " + size + " does not fit"};
  };
  const FailureFingerprint one = FingerprintOf(Exited(1, lines("31", "4096")));
  EXPECT_EQ(one.Text(), "exception (code 1) at train.py: step: RuntimeError: size # does not fit");
  EXPECT_EQ(one.Id(), FingerprintOf(Exited(1, lines("32", "77"))).Id());
  EXPECT_EQ(one.Id().size(), 16U);
  FailureSigns noted = Exited(1, lines("31", "1"));
  noted.note.emplace();
  noted.note->message = "ValueError('loss is nan')\nmore";
  noted.note->traceback = {"  File \"x/loss.py\", line 3, in check"};
  EXPECT_EQ(FingerprintOf(noted).Text(), "exception (code 1) at loss.py: check: ValueError('loss is nan')");
  EXPECT_NE(FingerprintOf(noted).Id(), one.Id());
}

TEST(FailureFingerprint, HasAClassForEachKindOfEnd) {
  EXPECT_EQ(FingerprintOf(Exited(3, {"step 5", "giving up after 7 tries"})).Text(),
            "exit (code 3): giving up after # tries");
  EXPECT_EQ(FingerprintOf(Exited(3)).Text(), "exit (code 3)");
  EXPECT_EQ(FingerprintOf(Signalled(SIGSEGV)).of, FailureClass::kCrash);
  EXPECT_EQ(FingerprintOf(Signalled(SIGKILL)).Text(), "killed (SIGKILL)");
  EXPECT_EQ(FingerprintOf(Exited(1, {"write: No space left on device"})).of, FailureClass::kDisk);
  EXPECT_EQ(FingerprintOf(Exited(1, {"bind: Address already in use"})).of, FailureClass::kPort);
  EXPECT_EQ(
      FingerprintOf(Exited(1, {"  File \"a.py\", line 3, in f", "torch.OutOfMemoryError: CUDA out of memory"})).of,
      FailureClass::kMemory);
  for (const auto& [kind, of] : std::vector<std::pair<const char*, FailureClass>>{
           {"memory", FailureClass::kMemory}, {"disk", FailureClass::kDisk}, {"port", FailureClass::kPort}}) {
    FailureSigns signs = Signalled(SIGKILL);
    signs.evidence = {"core", kind};
    EXPECT_EQ(FingerprintOf(signs).of, of) << kind;
  }
  FailureSigns early = Exited(0);
  early.ready = false;
  EXPECT_EQ(FingerprintOf(early).of, FailureClass::kUnready);
  FailureSigns spawn;
  spawn.spawn_failed.emplace().stage = "exec";
  spawn.spawn_failed->detail = "/usr/bin/train2";
  EXPECT_EQ(FingerprintOf(spawn).Text(), "spawn (exec): /usr/bin/train#");
  FailureSigns lost;
  lost.host_lost = true;
  EXPECT_EQ(FingerprintOf(lost).Text(), "host");
}

// What was written before a limit passed has no part in it: it differs with the step.
TEST(FailureFingerprint, OfALimitIsTheLimitAlone) {
  for (const auto& [limit, of] :
       std::vector<std::pair<const char*, FailureClass>>{{"time", FailureClass::kTime},
                                                         {"ready", FailureClass::kUnready},
                                                         {"silent", FailureClass::kSilent},
                                                         {"silent_job", FailureClass::kSilent}}) {
    FailureSigns signs = Signalled(SIGTERM, {"loss is 3", "saving"});
    signs.limit = limit;
    EXPECT_EQ(FingerprintOf(signs).Text(), std::string(FailureClassName(of)) + " (" + limit + ")");
  }
}

TEST(FailureFingerprint, IsBoundedWhateverAProcessWrites) {
  std::string name(100'000, 'A');
  const FailureFingerprint made = FingerprintOf(
      Exited(1, {"  File \"" + name + "\", line 1, in " + name, name + "Error: " + std::string(9'000, '\x01')}));
  EXPECT_LE(made.frame.size(), kMaxFingerprintText);
  EXPECT_LE(made.line.size(), kMaxFingerprintText);
}

}  // namespace
}  // namespace muster
