// Tests the files about the job that a run was submitted as, and what a report makes of them.
#include "run/directory/job_record.h"

#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "run/report/report.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

using testing::TempDir;

const JobRecord kRecord = {.engine = "slurm",
                           .page = "",
                           .run = "a1b2c3d4e5f6",
                           .name = "gpt",
                           .submitted_at = "2026-11-25T16:00:00Z",
                           .first = "",
                           .requeue_on = {"node_fail", "time_limit"},
                           .requeue_max = 3,
                           .parent = "p",
                           .resumed = "r",
                           .checkpoint = "/c/step_1.pt"};

class JobFiles : public ::testing::Test {
 protected:
  std::string folder() const { return folder_.path(); }
  int fd() const { return fd_.get(); }
  void Write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

 private:
  TempDir folder_;
  UniqueFd fd_{::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(JobFiles, AreReadAsTheyWereWritten) {
  EXPECT_EQ(ReadJobRecord(folder()), std::nullopt);
  ASSERT_TRUE(WriteJobRecord(fd(), kRecord));
  EXPECT_EQ(ReadJobRecord(folder()), kRecord);
  EXPECT_EQ(ReadJobId(folder()), "");
  ASSERT_TRUE(WriteJobId(fd(), "12.pbs"));
  EXPECT_EQ(ReadJobId(folder()), "12.pbs");
  const std::vector<JobAttempt> attempts = {
      {"a", "/runs/a", "n1", 0, "time_limit", true, ""},
      {"b", "/runs/b", "n2", 1234, "", false, ""},
      {"c", "/runs/c", "n1", 99, "node_fail", true, "n2"},
      {"d", "/runs/d", "n1", 100, "failed", true, "", "exclude_host", "the last 2 failures happened on n3", "n3"}};
  ASSERT_TRUE(WriteAttempts(folder(), attempts));
  EXPECT_EQ(ReadAttempts(folder()), attempts);
  const JobEnd end = {"node_failed", "NodeDown", "n[1-2]", 137};
  ASSERT_TRUE(WriteJobEnd(folder(), end));
  EXPECT_EQ(ReadJobEnd(folder()), end);
  ASSERT_TRUE(WriteJobEnd(folder(), {"cancelled", "", "", std::nullopt}));
  EXPECT_EQ(ReadJobEnd(folder())->exit_code, std::nullopt);
}

TEST_F(JobFiles, ThatAreNotMustersAreNone) {
  for (const std::string text : {"", "[]", "{", "{\"engine\": 3}", "{\"engine\": \"\"}"}) {
    Write("job.json", text);
    EXPECT_EQ(ReadJobRecord(folder()), std::nullopt) << text;
  }
  for (const std::string text : {"", "-u root\n", "--all\n", "1 2\n", "\n"}) {
    Write("job_id", text);
    EXPECT_EQ(ReadJobId(folder()), "") << text;
  }
  Write("attempts.json", "{\"attempts\": [3, {\"run\": 4}]}");
  EXPECT_EQ(ReadAttempts(folder()), std::vector<JobAttempt>{JobAttempt{}});
  Write("attempts.json", "{\"attempts\": 3}");
  EXPECT_TRUE(ReadAttempts(folder()).empty());
  Write("job_end.json", "3");
  EXPECT_EQ(ReadJobEnd(folder()), std::nullopt);
}

TEST_F(JobFiles, ReportTheChainOfAttempts) {
  ASSERT_TRUE(WriteJobRecord(fd(), kRecord));
  ASSERT_TRUE(WriteJobId(fd(), "12"));
  ASSERT_TRUE(WriteAttempts(folder(), {{"x", "/runs/x", "n1", 0, "node_fail", true, ""},
                                       {kRecord.run, folder(), "n2", 5, "time_limit", false, ""}}));
  const auto report = MakeJobReport(folder());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->attempt, 2U);
  EXPECT_EQ(JobLines(*report),
            "  job       slurm job 12, attempt 2 of 2; it reached its time limit\n"
            "  attempt   1 on n1, job lost its node n1: /runs/x\n"
            "  attempt   2 on n2, job reached its time limit: " +
                folder() + "\n");
  EXPECT_EQ(LostText(*report), "slurm job 12 reached its time limit");
}

}  // namespace
}  // namespace muster
