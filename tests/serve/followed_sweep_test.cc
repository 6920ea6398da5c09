// Tests the patches that the page of a sweep gets while its journal and the metrics of its trials grow.
#include "serve/live/followed_sweep.h"

#include <filesystem>
#include <fstream>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "metrics/metrics_watch.h"
#include "plan/sample_plan.h"
#include "plan/text/plan_json.h"
#include "serve/http/http_server.h"
#include "serve/live/event_hub.h"
#include "support/temp_dir.h"
#include "sweep/record/sweep_journal.h"

namespace muster::testing {
namespace {

using nlohmann::json;

// What one page has got.
class Page : public EventStream {
 public:
  void Send(std::shared_ptr<const std::string> bytes) override {
    const std::size_t data = bytes->find("\ndata: ");
    events.push_back(bytes->substr(0, data));
    patches.push_back(json::parse(bytes->substr(data + 7)));
  }
  void OnClosed(std::function<void()>) override {}

  // The points of the curve of a trial, as the page has them.
  std::vector<double> Curve(int trial, const std::string& metric) const {
    std::vector<double> points;
    for (const json& patch : patches) {
      for (const json& curve : patch.value("curves", json::array())) {
        if (curve["key"] != "0:" + std::to_string(trial) || curve["metric"] != metric) continue;
        if (curve.contains("replace")) points.clear();
        for (const json& y : curve["y"]) points.push_back(y);
      }
    }
    return points;
  }
  json Value(int trial, const std::string& name) const {
    json value;
    for (const json& patch : patches) {
      for (const json& row : patch.value("rows", json::array())) {
        if (row["key"] == "0:" + std::to_string(trial) && row["values"].contains(name)) value = row["values"][name];
      }
    }
    return value;
  }

  std::vector<std::string> events;  // their first lines
  std::vector<json> patches;
};

class FollowedSweepTest : public ::testing::Test {
 protected:
  FollowedSweepTest() : paths_(io_), metrics_(io_) {}

  void SetUp() override {
    dir_ = home_ / "sweeps/job/20261120-120616-aaaa";
    std::filesystem::create_directories(dir_);
    auto held = HoldSweepDirectory(dir_);
    ASSERT_TRUE(held);
    held_.emplace(*std::move(held));
    std::ofstream(dir_ + "/sweep.json") << R"({"format": 1, "sweep": "aaaa", "name": "job", "names": ["lr"],
      "objective": {"metric": "loss", "maximize": false}})";
    SweepBegan began;
    began.sweep_id = "aaaa";
    began.name = "job";
    began.trials = 3;
    Write(began);
    Write(PointsJudged{0, 3, {}});
    ASSERT_TRUE(paths_.Start());
  }
  void Write(const SweepEntry& entry) {
    std::ofstream(dir_ + "/journal.jsonl", std::ios::app)
        << SweepJournalLine({++seq_, "2026-11-20T12:06:16.000000Z", entry});
  }
  void Begin(TrialNumber trial) {
    AttemptBegan began;
    began.trial = trial;
    began.id = "00ff1c2b4d5e6f7" + std::to_string(trial);
    began.point = {{"lr", muster::Value(0.5)}};
    Write(began);
  }
  // The folder of its metrics appears after the entry.
  void Report(TrialNumber trial, const std::string& line) {
    const std::string folder = dir_ + "/t/00/00ff1c2b4d5e6f7" + std::to_string(trial) + ".0/metrics";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/worker.0.0.jsonl", std::ios::app) << line << '\n';
  }
  void End(TrialNumber trial, double loss) {
    AttemptEnded ended;
    ended.trial = trial;
    ended.loss = loss;
    ended.metrics = {{"loss", muster::Value(loss)}};
    Write(ended);
  }
  void Follow() {
    sweep_.emplace(io_, dir_, paths_, metrics_);
    ASSERT_TRUE(sweep_->Start());
  }
  void Await(const std::function<bool()>& what) {
    while (!what()) io_.run_one();
  }

  TempDir home_;
  std::string dir_;
  std::optional<RunDirectory> held_;
  std::uint64_t seq_ = 0;
  boost::asio::io_context io_;
  PathWatch paths_;
  MetricsWatch metrics_;
  std::optional<FollowedSweep> sweep_;
};

TEST_F(FollowedSweepTest, PublishesTrialsAndTheirPoints) {
  Follow();
  const auto page = std::make_shared<Page>();
  sweep_->AddStream(page, sweep_->version());
  Begin(0);
  Await([&] { return page->Value(0, "state") == "running"; });
  EXPECT_EQ(page->Value(0, "lr"), 0.5);
  Report(0, R"({"step": 1, "loss": 0.5})");
  Report(0, R"({"step": 2, "loss": 0.25, "accuracy": 0.75})");
  Await([&] { return page->Curve(0, "loss").size() == 2; });
  EXPECT_EQ(page->Curve(0, "loss"), (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(page->Value(0, "value"), 0.25);
  EXPECT_EQ(page->Value(0, "accuracy"), 0.75);
  Report(0, R"({"step": 3, "loss": 0.125})");
  Await([&] { return page->Curve(0, "loss").size() == 3; });
  End(0, 0.125);
  Await([&] { return page->Value(0, "state") == "ok"; });
  EXPECT_EQ(page->patches.back()["state"]["counts"]["over"], 1);
  EXPECT_EQ(page->patches.back()["state"]["best"]["value"], 0.125);
}

TEST_F(FollowedSweepTest, PublishesWhatPatternsFindInTheLog) {
  std::ofstream(dir_ + "/sweep.json") << R"json({"format": 1, "sweep": "aaaa", "name": "job", "names": ["lr"],
    "description": {"metrics": {"stdout": {"loss": "loss: (\\S+)", "step": "step (\\d+)"}, "role": "worker"}},
    "objective": {"metric": "loss", "maximize": false}})json";
  Follow();
  const auto page = std::make_shared<Page>();
  sweep_->AddStream(page, sweep_->version());
  Begin(0);
  Await([&] { return page->Value(0, "state") == "running"; });
  const std::string run_dir = dir_ + "/t/00/00ff1c2b4d5e6f70.0";
  std::filesystem::create_directories(run_dir);
  std::ofstream(run_dir + "/plan.json") << PlanToJson(ParameterServerPlan());
  Report(0, R"({"accuracy": 0.75})");
  std::filesystem::create_directories(run_dir + "/logs");
  std::ofstream log(run_dir + "/logs/worker.0.0.log");
  log << "step 1 loss: 0.5\nstep 2 lo" << std::flush;
  Await([&] { return page->Curve(0, "loss").size() == 1; });
  log << "ss: 0.25\n" << std::flush;
  Await([&] { return page->Curve(0, "loss").size() == 2; });
  EXPECT_EQ(page->Curve(0, "loss"), (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(page->Value(0, "value"), 0.25);
  EXPECT_EQ(page->Value(0, "accuracy"), 0.75);
}

TEST_F(FollowedSweepTest, LosesAndRepeatsNothingForAPageThatConnectsAgain) {
  Follow();
  const auto first = std::make_shared<Page>();
  sweep_->AddStream(first, sweep_->version());
  Begin(0);
  Begin(1);
  Report(0, R"({"step": 1, "loss": 0.5})");
  Await([&] { return first->Curve(0, "loss").size() == 1; });
  const std::uint64_t seen = sweep_->version();
  Report(0, R"({"step": 2, "loss": 0.25})");
  End(1, 0.75);
  Await([&] { return first->Curve(0, "loss").size() == 2 && first->Value(1, "state") == "ok"; });

  const auto again = std::make_shared<Page>();
  sweep_->AddStream(again, seen);
  ASSERT_EQ(again->patches.size(), 1U);
  EXPECT_EQ(again->Curve(0, "loss"), (std::vector<double>{0.5, 0.25})) << "the whole curve, instead of the old one";
  EXPECT_EQ(again->Value(1, "state"), "ok");
  Report(0, R"({"step": 3, "loss": 0.125})");
  Await([&] { return again->Curve(0, "loss").size() == 3 && first->Curve(0, "loss").size() == 3; });
  EXPECT_EQ(again->Curve(0, "loss"), first->Curve(0, "loss"));

  const auto foreign = std::make_shared<Page>();
  sweep_->AddStream(foreign, sweep_->version() + 1000);
  EXPECT_NE(foreign->events.front().find("event: reload"), std::string::npos) << "a version that there was never";
}

TEST_F(FollowedSweepTest, ReportsThatItsHeadIsGone) {
  Begin(0);
  Follow();
  const auto page = std::make_shared<Page>();
  sweep_->AddStream(page, sweep_->version());
  EXPECT_TRUE(sweep_->live());
  held_.reset();
  Write(HostQuarantined{"n1", "it failed"});
  Await([&] { return page->Value(0, "state") == "lost"; });
  EXPECT_EQ(page->patches.back()["state"]["state"], "lost");
  EXPECT_EQ(page->patches.back()["live"], false);
}

}  // namespace
}  // namespace muster::testing
