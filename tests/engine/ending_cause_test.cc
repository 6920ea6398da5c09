// Tests what an engine's answers say about the end of a run: which questions are asked, and the phrases for reports.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/engine_calls.h"
#include "engine/own_page.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;

const EnginePage& Slurm() {
  static const EnginePage page = testing::OwnPage("slurm");
  return page;
}

// The phrases of the questions, each answered by the text at its place.
Words Phrases(const std::vector<EngineQuestion>& questions, const Words& answers) {
  Words phrases;
  for (std::size_t i = 0; i < questions.size(); ++i) phrases.push_back(questions[i].phrase({answers.at(i), "", 0}));
  return phrases;
}

TEST(EndingCause, AsksSlurmAboutALostHostAndItsJob) {
  const auto questions = QuestionsAboutHost(Slurm(), "12", "n3");
  ASSERT_EQ(questions.size(), 2U);
  EXPECT_EQ(questions[0].call.words, (Words{"sinfo", "--noheader", "--Node", "--nodes=n3", "--format=%T|%E"}));
  EXPECT_EQ(questions[0].call.clear, Slurm().query_clear);
  EXPECT_EQ(questions[1].call.words.front(), "squeue");
  EXPECT_EQ(Phrases(questions, {"down*|Not responding\n", "12|NODE_FAIL|NodeDown|n[1-4]\n"}),
            (Words{"slurm reports n3 as down* (Not responding)", "slurm job 12 lost a node"}));
  // The star behind a state is the news.
  for (const char* state : {"allocated*|none\n", "mixed*|none\n", "idle*\n"}) {
    EXPECT_EQ(Phrases(questions, {state, "12|RUNNING|None|n[1-4]\n"}),
              (Words{"slurm reports that n3 does not respond", ""}))
        << state;
  }
  EXPECT_EQ(Phrases(questions, {"allocated*|Not responding\n", ""}),
            (Words{"slurm reports that n3 does not respond (Not responding)", ""}));
  EXPECT_EQ(Phrases(questions, {"drained|none\n", "12|RUNNING|None|n[1-4]\n"}),
            (Words{"slurm reports n3 as drained", ""}));
}

TEST(EndingCause, SaysNothingOfAHostThatIsAsUsual) {
  const auto questions = QuestionsAboutHost(Slurm(), "12", "n3");
  for (const char* state : {"allocated|none\n", "mixed|none\n", "", "\n"}) {
    EXPECT_EQ(questions[0].phrase({state, "", 0}), "") << state;
  }
  EXPECT_EQ(questions[0].phrase({"down|x\n", "slurm_load_node error: Unable to contact slurm controller\n", 1}), "");
  EXPECT_EQ(questions[1].phrase({"", "slurm_load_jobs error: Unable to contact slurm controller\n", 1}), "");
}

TEST(EndingCause, MakesTheEnginesWordsPrintable) {
  const auto questions = QuestionsAboutHost(Slurm(), "12", "n3");
  const std::string phrase = questions[0].phrase({"down|\x1b[31mred " + std::string(1'000, 'x') + "\n", "", 0});
  EXPECT_EQ(phrase.find('\x1b'), std::string::npos);
  EXPECT_LT(phrase.size(), 300U);
}

TEST(EndingCause, AnnouncesATimeLimitThatIsNear) {
  const auto questions = QuestionsAboutStop(Slurm(), "12");
  ASSERT_EQ(questions.size(), 3U);
  EXPECT_EQ(Phrases(questions, {"12|RUNNING|None|n1\n", "JobId=12 PreemptTime=None StartTime=x\n", "1:58\n"}),
            (Words{"", "", "slurm job 12 reaches its time limit in 1 min 58 s"}));
  for (const char* left : {"3:01\n", "1:00:00\n", "1-00:00:00\n", "UNLIMITED\n", "INVALID\n", ""}) {
    EXPECT_EQ(questions[2].phrase({left, "", 0}), "") << left;
  }
  EXPECT_EQ(questions[0].phrase({"12|COMPLETING|None|n1\n", "", 0}), "slurm is ending job 12");
  EXPECT_EQ(questions[0].phrase({"12|PREEMPTED|None|n1\n", "", 0}), "slurm job 12 was preempted");
  EXPECT_EQ(questions[0].phrase({"12|TIMEOUT|TimeLimit|n1\n", "", 0}), "slurm job 12 reached its time limit");
  EXPECT_EQ(questions[0].phrase({"12|CANCELLED by 0|None|n1\n", "", 0}), "slurm job 12 was cancelled");
}

// In its grace time the job is RUNNING for squeue, and its steps have had SIGTERM.
TEST(EndingCause, KnowsAPreemptionWithinItsGraceTime) {
  for (const auto& questions : {QuestionsAboutStop(Slurm(), "12"), QuestionsAboutNotice(Slurm(), "12")}) {
    const EngineQuestion& question = questions.size() > 1 ? questions[1] : questions[0];
    EXPECT_EQ(question.call.words, (Words{"scontrol", "show", "job", "--oneliner", "12"}));
    const JobAnswer yes{
        "JobId=12 JobState=RUNNING PreemptEligibleTime=2026-11-27T11:40:00 "
        "PreemptTime=2026-11-27T11:49:27 LastSchedEval=x\n",
        "", 0};
    EXPECT_EQ(question.phrase(yes), "slurm job 12 was preempted");
    EXPECT_EQ(question.state(yes), JobState::kPreempted);
    for (const char* no : {"JobId=12 PreemptTime=None X=y\n", "JobId=12 PreemptTime=Unknown\n", "JobId=12\n",
                           "JobId=12 PreemptTime=", "JobId=12 PreemptEligibleTime=2026-11-27T11:40:00\n", ""}) {
      EXPECT_EQ(question.phrase({no, "", 0}), "") << no;
      EXPECT_EQ(question.state({no, "", 0}), std::nullopt) << no;
    }
    EXPECT_EQ(question.phrase({yes.out, "slurm_load_jobs error", 1}), "") << "the controller did not answer";
  }
}

TEST(EndingCause, AsksWhetherAJobIsSuspended) {
  const auto question = QuestionAboutPause(Slurm(), "12");
  ASSERT_TRUE(question);
  EXPECT_EQ(question->call.words.front(), "squeue");
  EXPECT_EQ(question->phrase({"12|SUSPENDED|None|n[1-2]\n", "", 0}), "slurm job 12 is suspended");
  EXPECT_EQ(question->phrase({"12|RUNNING|None|n[1-2]\n", "", 0}), "");
  EXPECT_EQ(question->phrase({"", "Unable to contact slurm controller\n", 1}), "");
}

TEST(EndingCause, ReadsClocks) {
  EXPECT_EQ(SecondsInClock("0:00"), 0U);
  EXPECT_EQ(SecondsInClock("59:59"), 3'599U);
  EXPECT_EQ(SecondsInClock("1:00:01\n"), 3'601U);
  EXPECT_EQ(SecondsInClock("365-23:59:59"), 366U * 86'400 - 1);
  for (const char* wrong : {"", "5", "60:00", "1:60", "1-2", "1-2:03", "1:-2", "a:b", ":1", "1:", "-1:02:03", "1:2:3:4",
                            "1-1-1:00:00", "18446744073709551616:00"}) {
    EXPECT_EQ(SecondsInClock(wrong), std::nullopt) << wrong;
  }
}

TEST(EndingCause, RecognisesWhatSrunPrintsWhenAStepIsEnded) {
  const auto phrase = [](const std::string& words) { return PhraseOfWords(Slurm(), "12", words); };
  const std::string begin =
      "srun: Job step aborted: Waiting up to 5 seconds for job step to finish.\nslurmstepd-n1: error: *** "
      "STEP 12.0 ON n1 CANCELLED AT 2026-11-25T16:43:18";
  EXPECT_EQ(phrase(begin + " DUE TO PREEMPTION ***\n"), "slurm job 12 was preempted");
  EXPECT_EQ(phrase(begin + " DUE TO TIME LIMIT ***\n"), "slurm job 12 reached its time limit");
  EXPECT_EQ(phrase(begin + " DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***\n"), "slurm job 12 lost a node");
  EXPECT_EQ(phrase(begin + " ***\n"), "slurm job 12 was cancelled");
  EXPECT_EQ(phrase("srun: error: n1: task 0: Exited with exit code 3\n"), "");
  EXPECT_EQ(phrase(""), "");
}

// Its states say that a job is deleted, and its time limit deletes it as qdel does.
TEST(EndingCause, OfAJobThatGridEngineDeletesIsItsTimeLimitOrACancellation) {
  const EnginePage page = testing::OwnPage("gridengine");
  const auto stop = QuestionsAboutStop(page, "3");
  ASSERT_EQ(stop.size(), 2U);
  const std::string deleted = "      3 0.55500 train  ann  dr  11/28/2026 01:30:02 main.q@n1  3\n";
  EXPECT_EQ(stop[0].phrase({deleted, "", 0}), "gridengine job 3 was cancelled");
  EXPECT_EQ(stop[0].phrase({deleted, "", 0}), EndingPhrase(page, "3")) << "if nothing better is found";
  EXPECT_EQ(stop[0].state({deleted, "", 0}), JobState::kEnding);
  EXPECT_EQ(stop[1].phrase({"0:00:00\n", "", 0}), "gridengine job 3 reaches its time limit in 0.0 ms");
  EXPECT_EQ(stop[1].phrase({"1:00:00\n", "", 0}), "");
  EXPECT_EQ(stop[1].phrase({"", "", 0}), "") << "it has no limit";
}

TEST(EndingCause, AnEngineWithoutTheseQuestionsIsAskedForItsJobAlone) {
  const EnginePage page = testing::OwnPage("lsf");
  EXPECT_EQ(QuestionsAboutHost(page, "7", "h1").size(), 1U);
  const auto stop = QuestionsAboutStop(page, "7");
  ASSERT_EQ(stop.size(), 1U);
  EXPECT_EQ(stop[0].phrase({"7|EXIT|143|TERM_RUNLIMIT: job killed after reaching LSF run time limit\n", "", 0}),
            "lsf job 7 reached its time limit");
  EXPECT_EQ(PhraseOfWords(page, "7", "CANCELLED AT"), "");
}

}  // namespace
}  // namespace muster
