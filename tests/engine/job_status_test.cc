// Tests reading the states of jobs.
#include <gtest/gtest.h>

#include "engine/engine_calls.h"
#include "engine/own_page.h"

namespace muster {
namespace {

using testing::AnswerOf;
using testing::OwnPage;
using Words = std::vector<std::string>;

// "job state word code reason", one a line.
std::string Reported(const std::string& engine, std::size_t query, const Words& jobs, const JobAnswer& answer) {
  const EnginePage page = OwnPage(engine);
  const auto states = JobStates(page, page.queries.at(query), jobs, answer);
  if (!states) return "no answer: " + states.error().front().message;
  std::string text;
  for (const auto& [job, status] : *states) {
    text += job + " " + std::string(JobStateName(status.state)) + " " + status.word +
            (status.exit_code ? " " + std::to_string(*status.exit_code) : "") +
            (status.reason.empty() ? "" : " (" + status.reason + ")") +
            (status.hosts.empty() ? "" : " on " + status.hosts) + "\n";
  }
  return text;
}

TEST(JobStates, OfSlurmsQueue) {
  EXPECT_EQ(Reported("slurm", 0, {"2", "3", "4", "5", "6", "77"}, {AnswerOf("slurm_squeue.txt"), "", 0}),
            "2 failed FAILED (NonZeroExitCode) on en[1-2]\n"
            "3 queued PENDING (Resources)\n"
            "4 running RUNNING on en[1-3]\n"
            "5 queued PENDING (JobHeldUser)\n"
            "6 failed FAILED (JobLaunchFailure) on en1\n"
            "77 vanished \n");
}

TEST(JobStates, OfSlurmsControllerAndAccounting) {
  EXPECT_EQ(Reported("slurm", 1, {"2"}, {AnswerOf("slurm_scontrol.txt"), "", 0}),
            "2 failed FAILED 5 (NonZeroExitCode) on en1\n");
  EXPECT_EQ(Reported("slurm", 2, {"2", "3", "6", "7", "8"},
                     {"2|FAILED|3:0|en[1-2]\n6|FAILED|0:9|en1\n3|CANCELLED by "
                      "0|0:0|(null)\n7|TIMEOUT|0:15|en1\n8|NODE_FAIL|0:0|en1\n",
                      "", 0}),
            "2 failed FAILED 3 on en[1-2]\n"
            "3 cancelled CANCELLED 0\n"
            "6 failed FAILED 137 on en1\n"
            "7 time_limit TIMEOUT 143 on en1\n"
            "8 node_failed NODE_FAIL 0 on en1\n");
}

TEST(JobStates, ThatNeverEndAreSaidToBeSuch) {
  const std::string never = ", so that it cannot start as it was requested";
  for (const char* reason : {"PartitionTimeLimit", "PartitionNodeLimit", "BadConstraints",
                             "QOSMaxWallDurationPerJobLimit", "AssocMaxWallDurationPerJobLimit"}) {
    const std::string queue = std::string("2|PENDING|") + reason + "|\n";
    EXPECT_EQ(Reported("slurm", 0, {"2"}, {queue, "", 0}), "2 queued PENDING (" + (reason + never) + ")\n");
    const std::string job = std::string("JobId=2 JobState=PENDING Reason=") + reason + " Dependency=(null)\n";
    EXPECT_EQ(Reported("slurm", 1, {"2"}, {job, "", 0}), "2 queued PENDING (" + (reason + never) + ")\n");
  }
  for (const char* reason : {"Resources", "Priority", "QOSMaxJobsPerUserLimit", "ReqNodeNotAvail", "BeginTime"}) {
    const std::string queue = std::string("2|PENDING|") + reason + "|\n";
    EXPECT_EQ(Reported("slurm", 0, {"2"}, {queue, "", 0}), std::string("2 queued PENDING (") + reason + ")\n");
  }
  EXPECT_EQ(Reported("slurm", 0, {"2"}, {"2|CANCELLED|PartitionTimeLimit|\n", "", 0}),
            "2 cancelled CANCELLED (PartitionTimeLimit)\n")
      << "it has ended";
}

TEST(JobStates, OneThatSlurmHasForgottenIsVanishedAndAnOutageIsNoAnswer) {
  EXPECT_EQ(Reported("slurm", 0, {"77"}, {"", "slurm_load_jobs error: Invalid job id specified\n", 1}),
            "77 vanished \n");
  EXPECT_EQ(Reported("slurm", 0, {"77"},
                     {"", "slurm_load_jobs error: Unable to contact slurm controller (connect failure)\n", 1}),
            "no answer: slurm does not answer: squeue exited with 1: slurm_load_jobs error: Unable to contact slurm "
            "controller (connect failure)");
}

TEST(JobStates, AWordThatThePageDoesNotKnowIsAnUnknownState) {
  EXPECT_EQ(Reported("slurm", 0, {"2"}, {"2|DANCING|None|n1\n", "", 0}), "2 unknown DANCING on n1\n");
}

TEST(JobStates, GarbledAnswersLeaveJobsVanishedAndNothingElse) {
  EXPECT_EQ(Reported("slurm", 0, {"2"}, {"|||\n2\n\n|RUNNING|\n", "", 0}), "2 unknown \n");
  EXPECT_EQ(Reported("slurm", 1, {"2"}, {"JobId= =x JobId\n", "", 0}), "2 vanished \n");
  EXPECT_EQ(Reported("pbs", 0, {"2"}, {"job_state = R\n = \nJob Id:\n", "", 0}), "2 vanished \n");
}

TEST(JobStates, OfPbs) {
  EXPECT_EQ(
      Reported("pbs", 0, {"12.head", "13.head", "14.head", "15.head", "16.head"}, {AnswerOf("pbs_qstat.txt"), "", 0}),
      "12.head running R (Job run at Tue Nov 24 at 02:00 on (n1:ncpus=64)+(n2:ncpus=64))\n"
      "13.head succeeded F 0\n"
      "14.head time_limit F -29 (Job run at Tue Nov 24 at 01:00 and exceeded resource walltime)\n"
      "15.head failed F 143\n"
      "16.head cancelled F (Not Running: Job was deleted before it was started)\n");
}

TEST(JobStates, OfLsf) {
  EXPECT_EQ(Reported("lsf", 0, {"101", "102", "103", "104", "105", "106"}, {AnswerOf("lsf_bjobs.txt"), "", 0}),
            "101 running RUN\n"
            "102 succeeded DONE\n"
            "103 time_limit EXIT 140 (TERM_RUNLIMIT: job killed after reaching LSF run time limit)\n"
            "104 failed EXIT 3\n"
            "105 cancelled EXIT 143 (TERM_OWNER: job killed by owner)\n"
            "106 queued PEND\n");
}

TEST(JobStates, OfFlux) {
  EXPECT_EQ(Reported("flux", 0, {"f2Cz9hKd", "f2Cz9hKe", "f2Cz9hKf", "f2Cz9hKg", "f2Cz9hKh"},
                     {AnswerOf("flux_jobs.txt"), "", 0}),
            "f2Cz9hKd running RUN on n[1-4]\n"
            "f2Cz9hKe succeeded COMPLETED 0 on n[1-4]\n"
            "f2Cz9hKf node_failed FAILED 1 (node-failure) on n[1-4]\n"
            "f2Cz9hKg time_limit TIMEOUT 142 (timeout) on n[1-4]\n"
            "f2Cz9hKh cancelled CANCELED (cancel)\n");
}

TEST(JobStates, OfGridEngine) {
  EXPECT_EQ(Reported("gridengine", 0, {"31", "32", "33", "34"}, {AnswerOf("gridengine_qstat.txt"), "", 0}),
            "31 running r\n32 queued qw\n33 failed Eqw\n34 vanished \n");
  EXPECT_EQ(Reported("gridengine", 1, {"34"}, {AnswerOf("gridengine_qacct.txt"), "", 0}),
            "34 time_limit  137 (37  : qmaster enforced h_rt, h_cpu, or h_vmem limit)\n");
  EXPECT_EQ(Reported("gridengine", 1, {"35"}, {"", "error: job id 35 not found\n", 1}), "35 vanished \n");
}

TEST(JobStates, TwoSourcesComeToWhatIsKnown) {
  const JobStatus vanished = {JobState::kVanished, "", "", {}, ""};
  const JobStatus failed = {JobState::kFailed, "FAILED", "NonZeroExitCode", {}, "n1"};
  const JobStatus code = {JobState::kFailed, "FAILED", "", 3, ""};
  EXPECT_EQ(CombinedStatus(failed, code), (JobStatus{JobState::kFailed, "FAILED", "NonZeroExitCode", 3, "n1"}));
  EXPECT_EQ(CombinedStatus(failed, vanished), failed);
  EXPECT_EQ(CombinedStatus(vanished, vanished), vanished);
  EXPECT_TRUE(IsOver(JobState::kVanished));
  EXPECT_TRUE(IsOver(JobState::kTimeLimit));
  EXPECT_FALSE(IsOver(JobState::kEnding));
  EXPECT_FALSE(IsOver(JobState::kUnknown));
}

TEST(JobStatus, TheLastWordsOfAnEngineInAnOutputAreTheEnd) {
  const EnginePage page = OwnPage("slurm");
  const auto end = [&](const std::string& output) { return EndInOutput(page, output); };
  const std::string begin = "step 1\nslurmstepd-n1: error: *** JOB 1 ON n1 CANCELLED AT 2026-11-25T16:55:29";
  EXPECT_EQ(end("step 1\n"), std::nullopt);
  EXPECT_EQ(end(begin + " ***\nTerminated\n"), JobState::kCancelled);
  EXPECT_EQ(end(begin + " DUE TO PREEMPTION ***\n"), JobState::kPreempted);
  EXPECT_EQ(end(begin + " DUE TO TIME LIMIT ***"), JobState::kTimeLimit);
  EXPECT_EQ(end(begin + " DUE TO PREEMPTION ***\n" + begin + " ***\n"), JobState::kCancelled);
  EXPECT_EQ(end(std::string("\0\xff\n", 3)), std::nullopt);
}

}  // namespace
}  // namespace muster
