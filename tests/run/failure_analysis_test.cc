// Tests the analysis of a first failure, from journals and folders created here: the other failures, times, and
// messages of the processes.
#include "run/report/failure_analysis.h"

#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "run/directory/process_output.h"
#include "run/history_of.h"
#include "run/milliseconds.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"

namespace muster {
namespace {

constexpr MonotonicNs kBegin = 60'000 * kMs;

class FailureAnalysisTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(scratch / "logs");
    std::filesystem::create_directories(scratch / "errors");
    folder = UniqueFd(::open(scratch.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }

  void Say(JournalEntry entry, double at_ms) {
    journal.records.push_back({journal.records.size() + 1, "", At(at_ms), std::move(entry)});
  }
  static MonotonicNs At(double ms) { return kBegin + static_cast<MonotonicNs>(ms * 1e6); }
  void Exit(ProcessId process, int code, double at_ms, bool signalled = false, std::uint64_t rss_kib = 0) {
    ProcessExited exited;
    exited.process = process;
    exited.code = code;
    exited.signalled = signalled;
    exited.max_rss_kib = rss_kib;
    exited.at = At(at_ms);
    Say(exited, at_ms + 0.05);
  }
  void Signal(ProcessId process, int signal, double at_ms, int error = 0) {
    Say(SignalSent{process, 0, signal, error, At(at_ms)}, at_ms + 0.05);
  }
  void Log(const std::string& name, const std::string& text) { PutFile(scratch / ("logs/" + name + ".0.log"), text); }
  void ErrorFile(const std::string& name, const std::string& text) {
    PutFile(scratch / ("errors/" + name + ".0.json"), text);
  }
  FailureAnalysis Made(const Plan& plan, ProcessId origin) {
    RunHistory history = HistoryOf(plan, journal);
    EXPECT_EQ(history.damage, "");
    if (!clocks.empty()) history.clocks = clocks;
    return AnalyseFailure(plan, history, {origin, 0}, folder.get());
  }

  ScratchFolder scratch;
  UniqueFd folder;
  JournalContents journal;
  HostClocks clocks;
};

using Words = std::vector<std::string>;

TEST_F(FailureAnalysisTest, FoldsMessagesOfOtherRanks) {
  const Plan plan = SamplePlan({{"server", 1, Ending::kNever}, {"worker", 8}});
  Exit(3, 1, 0);  // worker.2
  Log("worker.2", "ValueError: bad\n");
  for (const ProcessId worker : {1U, 2U, 4U, 6U}) {
    Exit(worker, 1, 10);
    Log("worker." + std::to_string(worker - 1), "peer lost\n");
  }
  Exit(5, 1, 11);
  Log("worker.4", "something else\n");
  Exit(7, 3, 11);
  Log("worker.6", "peer lost\n");
  Signal(8, SIGTERM, 12);
  Exit(8, SIGTERM, 13, true);
  Log("worker.7", "peer lost\n");
  Exit(0, 0, 14);
  const FailureAnalysis analysis = Made(plan, 3);
  ASSERT_EQ(analysis.others.size(), 3U) << "who ended by muster's signal, or well, has not failed";
  EXPECT_EQ(MembersText({analysis.others[0].who}), "worker.0-1, 3, 5");
  EXPECT_EQ(analysis.others[0].lines, Words{"peer lost"});
  EXPECT_FALSE(analysis.others[0].alike);
  EXPECT_EQ(MembersText({analysis.others[1].who}), "worker.4");
  EXPECT_EQ(analysis.others[2].why, "exited with code 3");
}

TEST_F(FailureAnalysisTest, OmitsAttemptsThatWereRestarted) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Exit(1, 1, -2);
  Say(StartOrdered{1, 0}, -3);
  Say(StartOrdered{1, 1}, -1);
  Say(ProcessStarted{1, 1, 7, 7, At(-1)}, -1);
  Exit(0, 1, 0);
  EXPECT_TRUE(Made(plan, 0).others.empty());
  EXPECT_TRUE(Made(plan, 0).unordered.empty());
}

TEST_F(FailureAnalysisTest, FoldsLinesThatDifferOnlyInNumbers) {
  const Plan plan = SamplePlan({{"worker", 3}});
  Exit(0, 1, 0);
  for (const ProcessId worker : {1U, 2U}) {
    Exit(worker, 1, 20);
    Log("worker." + std::to_string(worker), "[rank" + std::to_string(worker) + "]: lost 0x7f0" +
                                                std::to_string(worker) + "ab after 1" + std::to_string(worker) +
                                                " s\n");
  }
  const FailureAnalysis analysis = Made(plan, 0);
  ASSERT_EQ(analysis.others.size(), 1U);
  EXPECT_TRUE(analysis.others[0].alike);
  EXPECT_EQ(analysis.others[0].lines, Words{"[rank1]: lost 0x7f01ab after 11 s"});
  EXPECT_NE(FailureDetails(analysis, "worker.0", {})
                .find("worker.1-2, which exited with code 1 (they differ only in numbers"),
            std::string::npos);
}

TEST_F(FailureAnalysisTest, HasATimeLineAroundTheFirstFailure) {
  const Plan plan = SamplePlan({{"server", 1, Ending::kNever}, {"worker", 4}});
  Exit(1, 0, -60'000);  // long before: outside the time line
  Exit(2, 0, -1'200);
  Exit(3, SIGKILL, 0, true);
  Signal(0, SIGTERM, 0.2);
  Signal(4, SIGTERM, 0.3);
  Exit(4, 0, 12);
  Exit(0, SIGTERM, 30, true);
  Exit(0, 0, 30'000);
  const FailureAnalysis analysis = Made(plan, 3);
  EXPECT_EQ(FailureDetails(analysis, "worker.2", {}),
            "  around the first failure, that of worker.2:\n"
            "    -1.2 s    worker.1 exited with code 0\n"
            "    0         worker.2 was killed by SIGKILL\n"
            "    +0.2 ms   server.0, worker.3 were sent SIGTERM\n"
            "    +12 ms    worker.3 exited with code 0\n"
            "    +30 ms    server.0 was killed by SIGTERM\n");
}

TEST_F(FailureAnalysisTest, FoldsAThousandStoppedProcessesIntoAFewLines) {
  const Plan plan = SamplePlan({{"worker", 1'000}});
  Exit(0, 1, 0);
  for (ProcessId worker = 1; worker < 1'000; ++worker) Signal(worker, SIGTERM, 1 + worker * 0.01);
  for (ProcessId worker = 1; worker < 1'000; ++worker) Exit(worker, SIGTERM, 20 + worker * 0.02, true);
  const FailureAnalysis analysis = Made(plan, 0);
  EXPECT_EQ(analysis.timeline.size(), 3U);
  EXPECT_NE(
      FailureDetails(analysis, "worker.0", {}).find("+1.0 ms   worker.1-999 were sent SIGTERM, the last at +11 ms\n"),
      std::string::npos)
      << FailureDetails(analysis, "worker.0", {});
}

TEST_F(FailureAnalysisTest, NamesProcessesWhoseOrderIsUnknown) {
  const Plan plan = SamplePlan({{"worker", 5}});
  Exit(1, 1, 0);
  Exit(3, 1, 0.4);  // the kernel may have reported it late
  Exit(4, 1, 3'000);
  Signal(0, SIGTERM, 0.5);
  Exit(0, 1, 0.6);  // stopped on request
  Signal(2, SIGTERM, 0.6, ESRCH);
  Exit(2, 1, 0.7);  // had exited before the signal
  EXPECT_EQ(MembersText(Made(plan, 1).unordered), "worker.2-3");
  EXPECT_NE(FailureHeadline(Made(plan, 1)).find("unknown whether worker.2-3 failed first"), std::string::npos);
}

TEST_F(FailureAnalysisTest, AllowsForTheLateReportOfAProcessWithMuchMemory) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Exit(0, 1, 0);
  Exit(1, 1, 400, false, 1U << 20);
  EXPECT_EQ(MembersText(Made(plan, 0).unordered), "worker.1");
  journal.records.clear();
  Exit(0, 1, 0);
  Exit(1, 1, 400, false, 1U << 10);
  EXPECT_TRUE(Made(plan, 0).unordered.empty());
}

TEST_F(FailureAnalysisTest, DoesNotDoubtAKillFromOutside) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Exit(0, SIGKILL, 0, true);
  Exit(1, 1, 0.2);
  EXPECT_TRUE(Made(plan, 0).unordered.empty()) << "to exit is a reaction, to be killed is none";
}

TEST_F(FailureAnalysisTest, AllowsForClockErrorsOfOtherHosts) {
  const Plan plan = SamplePlan({{"worker", 2}}, 2);
  Exit(0, 1, 0);
  Exit(1, 1, 50);
  EXPECT_EQ(MembersText(Made(plan, 0).unordered), "worker.1") << "nobody has compared the clocks";
  clocks = {HostClock{}, HostClock{0, 10 * kMs}};
  EXPECT_TRUE(Made(plan, 0).unordered.empty());
  clocks = {HostClock{}, HostClock{0, 100 * kMs}};
  EXPECT_EQ(MembersText(Made(plan, 0).unordered), "worker.1");
}

TEST_F(FailureAnalysisTest, HasOnlyTheEvidenceOfTheFirstFailure) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Say(EndEvidence{1, 0, "core", "core dump of 8 KiB in /tmp/core.2", At(0)}, 0);
  Exit(1, SIGSEGV, 0, true);
  Say(EndEvidence{0, 0, "core", "core dump of 8 KiB in /tmp/core.1", At(3)}, 3);
  Exit(0, SIGSEGV, 3, true);
  EXPECT_EQ(Made(plan, 1).evidence, Words{"core dump of 8 KiB in /tmp/core.2"});
  EXPECT_EQ(FailureHeadline(Made(plan, 1)), "  evidence  core dump of 8 KiB in /tmp/core.2\n");
}

TEST_F(FailureAnalysisTest, ShowsErrorFilesOfProcesses) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Exit(0, 1, 0);
  Log("worker.0",
      "step 1\nTraceback (most recent call last):\n  File \"t.py\", line 3, in <module>\n    raise ValueError('no')\n"
      "ValueError: no\n");
  ErrorFile("worker.0", R"({"message": "data\u001b[2J is gone", "shard": 7})");
  const FailureAnalysis analysis = Made(plan, 0);
  ASSERT_TRUE(analysis.error);
  EXPECT_EQ(analysis.hint, "ValueError: no");
  EXPECT_EQ(FailureHeadline(analysis),
            "  error     data\\x1b[2J is gone\n"
            "            shard: 7\n"
            "  hint      ValueError: no\n");
}

TEST_F(FailureAnalysisTest, DoubtsAnOriginIfAnErrorFileOfAStoppedProcessIsOlder) {
  const Plan plan = SamplePlan({{"worker", 3}});
  Exit(0, 1, 0);
  Signal(1, SIGTERM, 1);
  Exit(1, SIGTERM, 2'000, true);
  Signal(2, SIGTERM, 1);
  Exit(2, SIGTERM, 3, true);
  const std::uint64_t wall = 1'800'000'000'000'000'000;  // of the origin's end
  journal.records.front().wall = UtcText(wall + kMs / 20);
  ErrorFile("worker.1", R"({"message": "loss is nan"})");
  ErrorFile("worker.2", R"({"message": "the peer is gone"})");
  const auto write_at = [&](const char* name, std::uint64_t ns) {
    const timespec at = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    const timespec times[] = {at, at};
    ASSERT_EQ(::utimensat(AT_FDCWD, (scratch / ("errors/" + std::string(name) + ".0.json")).c_str(), times, 0), 0);
  };
  write_at("worker.1", wall - 50 * kMs);
  write_at("worker.2", wall + 2 * kMs);
  const FailureAnalysis analysis = Made(plan, 0);
  ASSERT_EQ(analysis.signs.size(), 1U);
  EXPECT_EQ(MembersText({analysis.signs[0].who}), "worker.1");
  EXPECT_EQ(analysis.signs[0].what, "its error file is older: loss is nan");
  ASSERT_TRUE(analysis.signs[0].before);
  EXPECT_NEAR(*analysis.signs[0].before, 0.05, 0.001);
  EXPECT_NE(FailureHeadline(analysis).find("doubt     worker.1 may have failed first"), std::string::npos);
  ASSERT_EQ(analysis.others.size(), 2U) << "no error file is missing";
  const std::string details = FailureDetails(analysis, "worker.0", {});
  EXPECT_NE(details.find("loss is nan"), std::string::npos) << details;
  EXPECT_NE(details.find("the peer is gone"), std::string::npos) << details;
}

// Error files of three workers, with their times relative to the end of worker.0, which ended first.
TEST_F(FailureAnalysisTest, ProvesAnOriginByAnErrorFileThatIsOlderThanAllOfTheFirstToEnd) {
  const Plan plan = SamplePlan({{"worker", 3}});
  const std::uint64_t wall = 1'800'000'000'000'000'000;
  struct File {
    const char* message;
    double at_ms;
  };
  const auto proven = [&](ProcessExited first, std::optional<File> own, File other, int code = 1) {
    journal.records.clear();
    first.at = At(0);
    Say(first, 0.05);
    Exit(1, code, 2'000);
    journal.records.front().wall = UtcText(wall + kMs / 20);
    std::filesystem::remove(scratch / "errors/worker.0.0.json");
    const auto write = [&](const char* name, const File& file) {
      ErrorFile(name, std::string(R"({"message": ")") + file.message + "\"}");
      const auto ns = static_cast<std::uint64_t>(static_cast<double>(wall) + file.at_ms * 1e6);
      const timespec at = {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
      const timespec times[] = {at, at};
      ASSERT_EQ(::utimensat(AT_FDCWD, (scratch / ("errors/" + std::string(name) + ".0.json")).c_str(), times, 0), 0);
    };
    if (own) write("worker.0", *own);
    write("worker.1", other);
    const auto found = FindProvenOrigin(plan, HistoryOf(plan, journal), {0, 0}, folder.get());
    return found ? static_cast<int>(found->exit.process) : -1;
  };
  ProcessExited exit;
  exit.code = 1;
  ProcessExited crash = exit;
  crash.signalled = true;
  crash.code = SIGSEGV;
  EXPECT_EQ(proven(exit, {}, {"loss is nan", -500}), 1);
  EXPECT_EQ(proven(exit, {}, {"loss is nan", -5}), -1) << "times of files are those of the kernel's ticks";
  EXPECT_EQ(proven(exit, {}, {"loss is nan", 50}), -1);
  EXPECT_EQ(proven(exit, {}, {"connection closed by peer", -500}), -1) << "it may have lost the first one";
  EXPECT_EQ(proven(exit, {}, {"loss is nan", -500}, 0), -1) << "it succeeded";
  EXPECT_EQ(proven(crash, {}, {"loss is nan", -500}), -1) << "a crash is no reaction";
  EXPECT_EQ(proven(exit, File{"shapes do not fit", -600}, {"loss is nan", -500}), -1) << "its own is older";
  EXPECT_EQ(proven(exit, File{"shapes do not fit", -400}, {"loss is nan", -500}), 1);
  EXPECT_EQ(proven(exit, File{"connection reset by rank 1", -6}, {"loss is nan", -5}), 1) << "it only lost a peer";
}

TEST_F(FailureAnalysisTest, FindsWhatProcessesLeftInTheRunDirectory) {
  const Plan plan = SamplePlan({{"worker", 4}});
  std::filesystem::create_directories(scratch / "rank_2/om");
  std::filesystem::create_directories(scratch / "recipe");
  PutFile(scratch / "asan.4711",
          "==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x10\n"
          "SUMMARY: AddressSanitizer: heap-use-after-free a.cc:3 in f\n");
  PutFile(scratch / "recipe/asan.4711", "==4711==ERROR: AddressSanitizer: of the recipe\n");
  PutFile(scratch / "core.4712", std::string("\x7f"
                                             "ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0",
                                             18) +
                                     std::string(2'000, '\0'));
  PutFile(scratch / "program", std::string("\x7f"
                                           "ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0",
                                           18));
  PutFile(scratch / "nccl_trace_rank_3", std::string("\x80\4\x95", 3));
  PutFile(scratch / "rank_2/om/analyze_fail.ir", "subgraph @1\n");
  PutFile(scratch / "stacks.txt",
          "Timeout (0:00:30)!\nThread 0x1 (most recent call first):\n  File \"a.py\", line 1 in f\n");
  PutFile(scratch / "logs/train.txt",
          "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\n    x()\nKeyError: 1\n");
  PutFile(scratch / "logs/worker.0.0.log",
          "Traceback (most recent call last):\n  File \"t.py\", line 3, in f\nKeyError: 2\n");
  PutFile(scratch / "notes.txt", "epoch 1\n");
  std::filesystem::create_symlink("/etc/passwd", scratch / "asan.1");
  std::string text;
  for (const EvidenceFile& file : FindEvidenceFiles(folder.get(), plan, {{4711, 1}, {4712, 0}})) {
    text += file.path + (file.process ? " of " + std::to_string(*file.process) : "") + ": " + file.what + "\n";
  }
  EXPECT_EQ(text,
            "asan.4711 of 1: AddressSanitizer: heap-use-after-free a.cc:3 in f\n"
            "core.4712 of 0: a core dump of 2 KiB\n"
            "logs/train.txt: KeyError: 1\n"
            "nccl_trace_rank_3 of 3: a dump of the collective calls (torchfrtrace reads it)\n"
            "rank_2/om/analyze_fail.ir of 2: MindSpore could not compile a graph\n"
            "stacks.txt: Timeout (0:00:30)!\n");
}

TEST_F(FailureAnalysisTest, DoubtsAnOriginIfASanitizersLogIsOlder) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Exit(0, 1, 0);
  Exit(1, 1, 2'000);
  const std::uint64_t wall = 1'800'000'000'000'000'000;
  journal.records.front().wall = UtcText(wall + kMs / 20);
  const std::vector<EvidenceFile> files = {{"asan.7", "AddressSanitizer: x", ProcessId{1}, wall - 100 * kMs}};
  const FailureAnalysis analysis = AnalyseFailure(plan, HistoryOf(plan, journal), {0, 0}, folder.get(), files);
  ASSERT_EQ(analysis.signs.size(), 1U);
  EXPECT_EQ(analysis.signs[0].what, "asan.7 is older: AddressSanitizer: x");
}

TEST_F(FailureAnalysisTest, DoubtsAnOriginWhoseMessageNamesAnotherRank) {
  const Plan plan = SamplePlan({{"worker", 3}});
  for (const auto& [message, named] : {std::pair("connection closed by peer rank 2", "worker.2"),
                                       {"[rank 1]: Connection reset", "worker.1"},
                                       {"ranks 1 and rank 2 timed out", ""},
                                       {"rank 2 has 7 layers", ""},
                                       {"connection of rank 0 closed", ""}}) {
    journal.records.clear();
    Exit(0, 1, 0);
    Exit(1, 1, 2'000);
    Exit(2, 1, 2'000);
    ErrorFile("worker.0", std::string(R"({"message": ")") + message + "\"}");
    std::vector<Members> who;
    for (const EarlierSign& sign : Made(plan, 0).signs) who.push_back(sign.who);
    EXPECT_EQ(MembersText(who), named) << message;
  }
}

TEST_F(FailureAnalysisTest, DoubtsAnOriginBesideACrashWhoseCoreTookTime) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Exit(0, 1, 0);
  ProcessExited crash;
  crash.process = 1;
  crash.code = SIGSEGV;
  crash.signalled = crash.core_dumped = true;
  crash.at = At(3'000);
  Say(EndEvidence{1, 0, "core", "core dump of 8 KiB in /tmp/core.1", At(3'000)}, 3'000);
  Say(crash, 3'000);
  const FailureAnalysis analysis = Made(plan, 0);
  ASSERT_EQ(analysis.signs.size(), 1U);
  EXPECT_EQ(analysis.others.front().evidence, Words{"core dump of 8 KiB in /tmp/core.1"});
}

TEST_F(FailureAnalysisTest, IsNotMisledByErrorFiles) {
  const Plan plan = SamplePlan({{"worker", 6}});
  Exit(0, 1, 0);
  const auto note = [&](ProcessId worker) { return ReadErrorNote(folder.get(), plan, worker, 0); };
  PutFile(scratch / "secret", R"({"message": "not for the report"})");
  std::filesystem::create_symlink(scratch / "secret", scratch / "errors/worker.0.0.json");
  EXPECT_FALSE(note(0)->unreadable.empty());
  EXPECT_EQ(note(0)->message, "");
  ErrorFile("worker.1", "{\"message\": \"" + std::string(2U << 20, 'x') + "\"}");
  EXPECT_FALSE(note(1)->unreadable.empty());
  ASSERT_EQ(::mkfifo((scratch / "errors/worker.2.0.json").c_str(), 0600), 0);
  EXPECT_FALSE(note(2)->unreadable.empty()) << "and nobody waits for a writer";
  ErrorFile("worker.3", std::string(100'000, '['));
  EXPECT_FALSE(note(3)->unreadable.empty());
  std::filesystem::create_directory(scratch / "errors/worker.4.0.json");
  EXPECT_FALSE(note(4)->unreadable.empty());
  EXPECT_FALSE(note(5)) << "it left none";
  std::filesystem::rename(scratch / "errors", scratch / "elsewhere");
  std::filesystem::create_directory_symlink(scratch / "elsewhere", scratch / "errors");
  EXPECT_FALSE(note(3)) << "the folder is a link";
}

TEST(ErrorNote, ParsesPyTorchsFormat) {
  // The format of torch.distributed.elastic.multiprocessing.errors.ErrorHandler.
  const auto note = ParseErrorNote(R"({"message": {"message": "RuntimeError: shapes do not fit", "errorCode": 5,
    "extraInfo": {"py_callstack": "Traceback (most recent call last):\n  File \"t.py\", line 1\n", "timestamp": "1795176376"}}})");
  ASSERT_TRUE(note) << note.error();
  EXPECT_EQ(note->message, "RuntimeError: shapes do not fit");
  EXPECT_EQ(note->at, "2026-11-20T12:06:16.000000Z");
  EXPECT_EQ(note->traceback, (Words{"Traceback (most recent call last):", "  File \"t.py\", line 1"}));
  EXPECT_EQ(note->more, (std::map<std::string, Value>{{"errorCode", Value(5)}}));
}

TEST(ErrorNote, ParsesThePlainFormat) {
  const auto note = ParseErrorNote(R"({"message": "out of data", "timestamp": 1795176376.5, "epoch": 3})");
  ASSERT_TRUE(note);
  EXPECT_EQ(note->message, "out of data");
  EXPECT_EQ(note->at, "2026-11-20T12:06:16.000000Z");
  EXPECT_EQ(note->more, (std::map<std::string, Value>{{"epoch", Value(3)}}));
}

TEST(ErrorNote, IsBoundedAndTyped) {
  for (const char* none :
       {"", "7", "[]", "{}", R"({"message": 7})", R"({"message": {"message": []}})", "{\"message\""}) {
    EXPECT_FALSE(ParseErrorNote(none)) << none;
  }
  std::string members = R"({"message": ")" + std::string(5'000, 'm') + R"(", "traceback": 7, "timestamp": "soon")";
  for (int i = 0; i < 100; ++i) members += ", \"k" + std::to_string(i) + "\": \"" + std::string(3'000, 'v') + "\"";
  const auto note = ParseErrorNote(members + "}");
  ASSERT_TRUE(note) << note.error();
  EXPECT_LT(note->message.size(), 2'010U);
  EXPECT_EQ(note->at, "");
  EXPECT_TRUE(note->traceback.empty());
  EXPECT_EQ(note->more.size(), 20U);
  for (const auto& [name, value] : note->more) EXPECT_LT(ToText(value).size(), 1'020U);
  for (const char* time : {"-1", "1e300", "99999999999999", "\"\"", "null"}) {
    const auto odd = ParseErrorNote(std::string(R"({"message": "m", "timestamp": )") + time + "}");
    ASSERT_TRUE(odd) << time;
    EXPECT_EQ(odd->at, "") << time;
  }
}

TEST(FailureHint, IsTheLastLineOfATraceback) {
  EXPECT_EQ(FailureHint({"Traceback (most recent call last):", "  File \"a.py\", line 1, in f", "    x()", "    ^^^",
                         "torch.OutOfMemoryError: no memory"}),
            "torch.OutOfMemoryError: no memory");
  EXPECT_EQ(
      FailureHint({"[rank3]:   File \"a.py\", line 1, in f", "[rank3]:     x()", "[rank3]: KeyError: 'a'", "bye"}),
      "KeyError: 'a'");
  EXPECT_EQ(FailureHint({"Fatal Python error: Segmentation fault", "", "Current thread 0x1 (most recent call first):",
                         "  File \"a.py\", line 1 in f", "Extension modules: numpy (total: 1)"}),
            "Fatal Python error: Segmentation fault");
  EXPECT_EQ(
      FailureHint({"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 at pc 0x2", "READ of size 4",
                   "SUMMARY: AddressSanitizer: heap-use-after-free a.cc:3 in f", "Shadow bytes", "==7==ABORTING"}),
      "AddressSanitizer: heap-use-after-free a.cc:3 in f");
  EXPECT_EQ(FailureHint({"a.cc:3:5: runtime error: signed integer overflow: 1 + 2", "done"}),
            "a.cc:3:5: runtime error: signed integer overflow: 1 + 2");
  EXPECT_EQ(FailureHint({"a.cc:3:5: runtime error: shift",
                         "Traceback (most recent call last):", "  File \"a.py\", line 1, in f", "KeyError: 'a'"}),
            "KeyError: 'a'")
      << "the program went on after the other";
  EXPECT_EQ(FailureHint({"step: 1", "done"}), "") << "words with a colon are no exception";
  EXPECT_EQ(FailureHint({"ValueError: printed by somebody"}), "") << "without frames it is only a line";
  std::vector<std::string> old = {"  File \"a.py\", line 1, in f", "    x()", "ValueError: was survived"};
  old.insert(old.end(), 30, "went on");
  EXPECT_EQ(FailureHint(old), "");
  EXPECT_EQ(FailureHint({}), "");
}

TEST(EventOrder, IsKnownIfIntervalsDoNotOverlap) {
  const HostClocks clocks = {HostClock{}, HostClock{-1'000, 10}, std::nullopt};
  EXPECT_EQ(OrderOf({0, 100, 0}, {0, 101, 0}, clocks), Order::kBefore);
  EXPECT_EQ(OrderOf({0, 101, 0}, {0, 100, 0}, clocks), Order::kAfter);
  EXPECT_EQ(OrderOf({0, 100, 0}, {0, 100, 0}, clocks), Order::kUnknown);
  EXPECT_EQ(OrderOf({0, 100, 0}, {0, 120, 20}, clocks), Order::kUnknown);
  EXPECT_EQ(OrderOf({0, 100, 20}, {0, 120, 19}, clocks), Order::kBefore);
  EXPECT_EQ(OrderOf({1, 1'100, 0}, {1, 1'101, 0}, clocks), Order::kBefore) << "one clock has no error against itself";
  EXPECT_EQ(OrderOf({0, 100, 0}, {1, 1'111, 0}, clocks), Order::kBefore);
  EXPECT_EQ(OrderOf({0, 100, 0}, {1, 1'110, 0}, clocks), Order::kUnknown);
  EXPECT_EQ(OrderOf({0, 100, 0}, {2, 900, 0}, clocks), Order::kUnknown);
  EXPECT_EQ(OrderOf({2, 100, 0}, {2, 900, 0}, clocks), Order::kBefore);
  EXPECT_EQ(OnHead({1, 1'100, 0}, clocks), 100U);
  EXPECT_FALSE(OnHead({2, 1'100, 0}, clocks));
}

}  // namespace
}  // namespace muster
