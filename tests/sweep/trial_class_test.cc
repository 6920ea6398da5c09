// Tests the classification of outcomes, as a table.
#include "sweep/trial/trial_class.h"

#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>

namespace muster {
namespace {

const std::vector<std::string> kHosts = {"n1", "n2"};

FailureFacts Exited(std::int32_t code, std::vector<std::string> lines = {}) {
  FailureFacts facts;
  facts.why = "worker.0 failed";
  facts.origin.emplace();
  facts.origin->machine = 1;
  facts.origin->exit = ProcessExited{.code = code};
  facts.origin->last_lines = std::move(lines);
  return facts;
}

FailureFacts Killed(std::int32_t signal, std::vector<std::string> lines = {}) {
  FailureFacts facts = Exited(signal, std::move(lines));
  facts.origin->exit->signalled = true;
  return facts;
}

FailureFacts With(FailureFacts facts, const char* kind, const char* detail) {
  facts.origin->evidence.push_back({.kind = kind, .detail = detail, .at = 0});
  return facts;
}

FailureFacts NotStarted(const char* stage, int error) {
  FailureFacts facts = Exited(0);
  facts.cause = Cause::kSpawn;
  facts.origin->exit.reset();
  facts.origin->spawn = SpawnFailed{.stage = stage, .error = error, .detail = "train"};
  return facts;
}

FailureFacts Limited(const char* limit) {
  FailureFacts facts = Killed(SIGKILL);
  facts.origin->limit = LimitPassed{.limit = limit, .ms = 1'000};
  return facts;
}

FailureFacts Ended(Cause cause, std::optional<std::uint32_t> lost = {}) {
  FailureFacts facts;
  facts.cause = cause;
  facts.why = "it ended";
  facts.lost = lost;
  return facts;
}

TEST(TrialClasses, FollowFromTheKnownFactsOfTheEnd) {
  const struct {
    const char* what;
    FailureFacts facts;
    TrialClass trial_class;
    const char* blamed;
    const char* words;  // expected in the message
  } rows[] = {
      {"well", Ended(Cause::kNone), TrialClass::kOk, "", ""},
      {"stopped", Ended(Cause::kStopped), TrialClass::kStopped, "", "it ended"},
      {"limits.time of the job", Ended(Cause::kTimeLimit), TrialClass::kTimeout, "", "it ended"},
      {"agent lost", Ended(Cause::kLost, 0), TrialClass::kHostLost, "n1", "it ended"},
      {"agent never came", Ended(Cause::kUnready, 1), TrialClass::kHostLost, "n2", "it ended"},
      {"could not be prepared, somewhere", Ended(Cause::kUnready), TrialClass::kHostLost, "", "it ended"},
      {"a process outlived SIGKILL", Ended(Cause::kOverdue), TrialClass::kHostLost, "", "it ended"},
      {"limits.time of a role", Limited("time"), TrialClass::kTimeout, "", "worker.0"},
      {"never ready", Limited("ready"), TrialClass::kTimeout, "", "worker.0"},
      {"silent role", Limited("silent"), TrialClass::kStalled, "", "worker.0"},
      {"silent job", Limited("silent_job"), TrialClass::kStalled, "", "worker.0"},
      {"exit 1", Exited(1), TrialClass::kCrash, "", "worker.0 failed"},
      {"a traceback",
       Exited(1, {"Traceback (most recent call last):", "  File \"a.py\", line 1, in <module>",
                  "RuntimeError: shapes do not fit"}),
       TrialClass::kCrash, "", "worker.0 failed: RuntimeError: shapes do not fit"},
      {"exit 2", Exited(2), TrialClass::kUserError, "", "worker.0 failed"},
      {"a shell without the program", Exited(127), TrialClass::kUserError, "", ""},
      {"a shell with one it may not run", Exited(126), TrialClass::kUserError, "", ""},
      {"program not found", NotStarted("exec", ENOENT), TrialClass::kUserError, "", "worker.0"},
      {"no program", NotStarted("exec", ENOEXEC), TrialClass::kUserError, "", ""},
      {"folder not there", NotStarted("directory", ENOENT), TrialClass::kUserError, "", ""},
      {"a secret is missing", NotStarted("binding", 0), TrialClass::kUserError, "", ""},
      {"no more processes", NotStarted("clone", EAGAIN), TrialClass::kHostLost, "n2", ""},
      {"no more descriptors", NotStarted("descriptors", EMFILE), TrialClass::kHostLost, "n2", ""},
      {"the log's disk is full", NotStarted("log", ENOSPC), TrialClass::kHostLost, "n2", ""},
      {"a stale file system", NotStarted("exec", ESTALE), TrialClass::kHostLost, "n2", ""},
      {"no memory to start", NotStarted("exec", ENOMEM), TrialClass::kHostLost, "n2", ""},
      {"could not be started, nobody knows who", Ended(Cause::kSpawn), TrialClass::kHostLost, "", ""},
      {"crash", Killed(SIGSEGV), TrialClass::kCrash, "", ""},
      {"abort", Killed(SIGABRT), TrialClass::kCrash, "", ""},
      {"SIGTERM from outside", Killed(SIGTERM), TrialClass::kPreempted, "", "SIGTERM came from outside"},
      {"SIGKILL from outside", Killed(SIGKILL), TrialClass::kPreempted, "", "SIGKILL came from outside"},
      {"SIGUSR1 from outside", Killed(SIGUSR1), TrialClass::kPreempted, "", "SIGUSR1"},
      {"a shell's command was terminated", Exited(143), TrialClass::kPreempted, "", "SIGTERM"},
      {"a shell's command was killed", Exited(137), TrialClass::kPreempted, "", "SIGKILL"},
      {"a shell's command crashed", Exited(139), TrialClass::kCrash, "", ""},
      {"killed for memory", With(Killed(SIGKILL), "memory", "the kernel killed it: out of memory"),
       TrialClass::kOomHost, "", "worker.0 failed: the kernel killed it: out of memory"},
      {"a core", With(Killed(SIGSEGV), "core", "core.1"), TrialClass::kCrash, "", ""},
      {"a full disk", With(Exited(1), "disk", "/scratch is full"), TrialClass::kCrash, "n2", "/scratch is full"},
      {"CUDA", Exited(1, {"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.", ""}),
       TrialClass::kOomDevice, "", "Tried to allocate 2.00 GiB"},
      {"NPU", Exited(1, {"RuntimeError: NPU out of memory. Tried to allocate 22.00 MiB (NPU 0; 60.97 GiB)"}),
       TrialClass::kOomDevice, "", "NPU"},
      {"MindSpore", Exited(1, {"Device(id:0) memory isn't enough and alloc failed, kernel name: Add, alloc size: 8B."}),
       TrialClass::kOomDevice, "", "alloc failed"},
      {"CANN", Exited(1, {"Memory_Allocation_Failure(EL0004): Failed to allocate memory requested by GE module."}),
       TrialClass::kOomDevice, "", "EL0004"},
      {"JAX",
       Exited(1, {"jaxlib.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 1 bytes."}),
       TrialClass::kOomDevice, "", "XlaRuntimeError"},
      {"a device's memory, and then an abort", Killed(SIGABRT, {"CUDA error: out of memory"}), TrialClass::kOomDevice,
       "", "CUDA error"},
      {"C++", Killed(SIGABRT, {"terminate called after throwing an instance of 'std::bad_alloc'"}),
       TrialClass::kOomHost, "", "bad_alloc"},
      {"Python", Exited(1, {"Traceback (most recent call last):", "MemoryError"}), TrialClass::kOomHost, "",
       "MemoryError"},
      {"failed, nobody knows who", Ended(Cause::kFailed), TrialClass::kCrash, "", "it ended"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const TrialEnding ending = ClassOf(row.facts, {}, kHosts);
    EXPECT_EQ(TrialClassName(ending.trial_class), TrialClassName(row.trial_class));
    EXPECT_EQ(ending.blamed, row.blamed);
    EXPECT_NE(ending.why.find(row.words), std::string::npos) << ending.why;
  }
}

TEST(TrialClasses, AreThoseOfMatchingUserPatterns) {
  auto patterns = ClassPatterns::Of({{TrialClass::kOomDevice, "no room"}, {TrialClass::kPreempted, "queue says"}}, {});
  ASSERT_TRUE(patterns);
  EXPECT_EQ(ClassOf(Exited(1, {"no room left"}), *patterns, {}).trial_class, TrialClass::kOomDevice);
  EXPECT_EQ(ClassOf(Exited(2, {"queue says: bye"}), *patterns, {}).trial_class, TrialClass::kPreempted);
  EXPECT_EQ(ClassOf(Exited(2, {"usage: train"}), *patterns, {}).trial_class, TrialClass::kUserError);
  // A trial on a lost host is lost, whatever its processes reported.
  EXPECT_EQ(ClassOf(Ended(Cause::kLost, 0), *patterns, kHosts).trial_class, TrialClass::kHostLost);
}

TEST(TrialClasses, AttributePreparationFailuresToTheOnlyHost) {
  EXPECT_EQ(ClassOf(Ended(Cause::kUnready), {}, {"n7"}).blamed, "n7");
  EXPECT_EQ(ClassOf(Ended(Cause::kUnready), {}, {}).blamed, "");
}

TEST(TrialClasses, HaveShortMessagesSafeForATerminal) {
  const std::string line = "\x1b[31mCUDA out of memory " + std::string(1000, 'x');
  const TrialEnding ending = ClassOf(Exited(1, {line}), {}, {});
  EXPECT_EQ(ending.why.find('\x1b'), std::string::npos);
  EXPECT_LT(ending.why.size(), 300U);
}

TEST(TrialClasses, ReadNoLogsOfASuccessfulRun) {
  RunOutcome outcome;
  outcome.run_dir = "/nowhere";
  outcome.outcome = "ok";
  EXPECT_EQ(ClassOfRun({}, outcome, {}, {}), TrialEnding{});
  outcome.outcome = "lost";
  outcome.why = "the agent was lost";
  EXPECT_EQ(ClassOfRun({}, outcome, {}, {}).trial_class, TrialClass::kHostLost);
}

// Processes and agents see signals, or just end: the engine knows why.
TEST(TrialClasses, FollowTheEndOfTheEnginesJob) {
  const auto of = [](FailureFacts facts, JobState end) {
    facts.job_end = end;
    return ClassOf(facts, ClassPatterns(), kHosts);
  };
  EXPECT_EQ(of(Ended(Cause::kLost, 1), JobState::kCancelled).trial_class, TrialClass::kPreempted);
  EXPECT_EQ(of(Ended(Cause::kLost, 1), JobState::kCancelled).blamed, "");
  EXPECT_EQ(of(Exited(7), JobState::kPreempted).trial_class, TrialClass::kPreempted);
  EXPECT_EQ(of(Killed(SIGTERM), JobState::kTimeLimit).trial_class, TrialClass::kTimeout);
  EXPECT_EQ(of(Ended(Cause::kLost, 1), JobState::kNodeFailed).trial_class, TrialClass::kHostLost);
  EXPECT_EQ(of(Ended(Cause::kLost, 1), JobState::kNodeFailed).blamed, "n2");
  EXPECT_EQ(of(Ended(Cause::kStopped), JobState::kCancelled).trial_class, TrialClass::kStopped);
  // Its agents have reported the engine's signal, and the run was stopped for that.
  FailureFacts signalled = Ended(Cause::kStopped);
  signalled.stopped_by_engine = true;
  EXPECT_EQ(of(signalled, JobState::kPreempted).trial_class, TrialClass::kPreempted);
  EXPECT_EQ(of(signalled, JobState::kTimeLimit).trial_class, TrialClass::kTimeout);
  EXPECT_EQ(ClassOf(signalled, ClassPatterns(), kHosts).trial_class, TrialClass::kPreempted) << "the engine is silent";
}

TEST(ClassPatterns, UseTheLastMatchingLine) {
  auto patterns = ClassPatterns::Of({{TrialClass::kOomDevice, "no room"}, {TrialClass::kDiverged, "loss is nan"}}, {});
  ASSERT_TRUE(patterns);
  const auto match = patterns->Find({"loss is nan", "no room on device", "bye"});
  ASSERT_TRUE(match);
  EXPECT_EQ(match->trial_class, TrialClass::kOomDevice);
  EXPECT_EQ(match->line, "no room on device");
  EXPECT_FALSE(patterns->Find({"all well"}));
  EXPECT_FALSE(ClassPatterns().Find({"no room"}));
}

TEST(ClassPatterns, CannotYieldSuccess) {
  const auto refused = ClassPatterns::Of({{TrialClass::kOk, "done"}}, {"sweep.lua", 3});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().at(0).message, "ok is not a failure, so it has no patterns");
}

}  // namespace
}  // namespace muster
