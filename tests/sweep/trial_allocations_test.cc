// Tests the allocations of single trials with an engine that is a part of the test.
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/system/unique_fd.h"
#include "support/run_folder.h"
#include "support/temp_dir.h"
#include "sweep/head/sweep_hosts.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;

class Engine : public TrialAllocator {
 public:
  class Job : public TrialAllocation {
   public:
    Job(Engine& engine, Calls calls) : engine_(engine), calls_(std::move(calls)) {}
    const std::string& job() const override { return job_; }
    const std::string& id() const override { return id_; }
    void Release() override { engine_.log.push_back("release " + id_); }

    void Know(const std::string& id) {
      id_ = id;
      job_ = "job " + id;
      calls_.known();
    }
    void Grant() { calls_.granted({}); }
    void End(const std::string& why, bool refused) { calls_.ended(why, refused); }

   private:
    Engine& engine_;
    const Calls calls_;
    std::string id_;
    std::string job_;
  };

  Result<std::unique_ptr<TrialAllocation>> Request(boost::asio::io_context&, std::uint32_t hosts,
                                                   TrialAllocation::Calls calls) override {
    log.push_back("request " + std::to_string(hosts));
    auto job = std::make_unique<Job>(*this, std::move(calls));
    jobs.push_back(job.get());
    return job;
  }
  Result<void> Cancel(const Words& ids) override {
    for (const std::string& id : ids) log.push_back("cancel " + id);
    if (!answers) return Fail(MachineError("engine", "it does not answer"));
    return {};
  }
  std::optional<std::uint32_t> most_hosts() const override { return std::nullopt; }

  bool answers = true;
  Words log;
  std::vector<Job*> jobs;
};

class TrialAllocationsTest : public ::testing::Test {
 protected:
  static TrialQueue::Start Trial(TrialNumber trial, std::size_t hosts = 1) {
    return {trial, TrialNeeds(hosts), std::vector<std::uint32_t>(hosts)};
  }
  std::string Kept() const { return testing::ContentOf(folder_.path() + "/jobs"); }
  void Handle() {
    io_.restart();
    io_.poll();
  }

  testing::TempDir folder_;
  UniqueFd opened_{::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  boost::asio::io_context io_;
  Engine engine_;
  Words log_;
  TrialAllocations allocations_{
      io_,
      engine_,
      opened_.get(),
      {.queued = [this](const std::string& job) { log_.push_back("queued " + job); },
       .granted = [this](TrialNumber trial, const std::string& job,
                         TrialPlace) { log_.push_back(std::to_string(trial) + " has " + job); },
       .refused = [this](TrialNumber trial,
                         const std::string& why) { log_.push_back(std::to_string(trial) + " refused: " + why); },
       .lost = [this](TrialNumber trial, const std::string& job,
                      const std::string& why) { log_.push_back(std::to_string(trial) + " lost " + job + ": " + why); },
       .changed = [this] { log_.emplace_back("changed"); },
       .say = [this](const std::string& line) { log_.push_back(line); }}};
};

TEST_F(TrialAllocationsTest, RecordsAJobUntilNothingIsLeftOfIt) {
  ASSERT_TRUE(allocations_.Request(Trial(3, 2)));
  ASSERT_TRUE(allocations_.Request(Trial(4)));
  EXPECT_EQ(engine_.log, (Words{"request 2", "request 1"}));
  EXPECT_EQ(Kept(), "");
  engine_.jobs[0]->Know("12");
  engine_.jobs[1]->Know("13");
  EXPECT_EQ(Kept(), "12\n13\n");
  engine_.jobs[0]->Grant();
  EXPECT_EQ(allocations_.waiting(), 1U);
  allocations_.Release(3, nullptr);
  EXPECT_EQ(engine_.log.back(), "release 12");
  EXPECT_EQ(allocations_.size(), 2U) << "it may still be in the queue of the engine";
  EXPECT_EQ(Kept(), "12\n13\n");
  engine_.jobs[0]->End("", false);
  Handle();
  EXPECT_EQ(Kept(), "13\n");
  EXPECT_EQ(log_, (Words{"queued job 12", "queued job 13", "3 has job 12", "changed"}));
}

TEST_F(TrialAllocationsTest, DistinguishesRefusedRequestsFromJobsThatEndInTheQueue) {
  ASSERT_TRUE(allocations_.Request(Trial(0)));
  ASSERT_TRUE(allocations_.Request(Trial(1)));
  engine_.jobs[0]->End("no such partition", true);
  engine_.jobs[1]->Know("7");
  engine_.jobs[1]->End("it was cancelled", false);
  EXPECT_EQ(log_, (Words{"0 refused: no such partition", "queued job 7", "1 lost job 7: it was cancelled"}));
  Handle();
  EXPECT_EQ(allocations_.size(), 0U);
}

TEST_F(TrialAllocationsTest, AWithdrawnRequestReportsNothingAnyMore) {
  ASSERT_TRUE(allocations_.Request(Trial(5)));
  ASSERT_TRUE(allocations_.Request(Trial(6)));
  engine_.jobs[0]->Know("1");
  engine_.jobs[0]->Grant();
  EXPECT_EQ(allocations_.ReleaseWaiting(), (std::vector<TrialNumber>{6}));
  engine_.jobs[1]->Know("2");
  engine_.jobs[1]->Grant();
  engine_.jobs[1]->End("revoked", false);
  EXPECT_EQ(log_, (Words{"queued job 1", "5 has job 1"}));
  bool done = false;
  allocations_.Finish([&] { done = true; });
  Handle();
  EXPECT_FALSE(done);
  allocations_.Release(5, nullptr);
  engine_.jobs[0]->End("", false);
  Handle();
  EXPECT_TRUE(done);
}

TEST_F(TrialAllocationsTest, CancelsOnlyWhatLooksLikeAnId) {
  std::ofstream(folder_.path() + "/jobs") << "12\n--all\n\n14_3\na b\n" << std::string(100, '9') << "\n15";
  allocations_.CancelLeft();
  EXPECT_EQ(engine_.log, (Words{"cancel 12", "cancel 14_3", "cancel 15"}));
  EXPECT_EQ(Kept(), "") << "and once";
}

TEST_F(TrialAllocationsTest, SaysWhichJobsMayBeLeft) {
  std::ofstream(folder_.path() + "/jobs") << "12\n";
  engine_.answers = false;
  allocations_.CancelLeft();
  EXPECT_EQ(log_, (Words{"warning: jobs that an earlier head has left may still be there (12): it does not answer"}));
  EXPECT_EQ(Kept(), "12\n");
}

}  // namespace
}  // namespace muster
