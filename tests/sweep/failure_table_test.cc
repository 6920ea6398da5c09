#include "sweep/record/failure_table.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

// Trials of micro_batch_size × tensor_parallel_size × further values, over three hosts; `fails` says which class.
class Table {
 public:
  template <class Fails>
  void Run(std::int64_t further, Fails fails) {
    for (std::int64_t size : {1, 2, 4}) {
      for (std::int64_t parallel : {1, 2}) {
        for (std::int64_t i = 0; i < further; ++i) {
          const Point point = {{"lr", 0.1 * static_cast<double>(i + 1)},
                               {"micro_batch_size", size},
                               {"steps", std::int64_t{100}},
                               {"tensor_parallel_size", parallel}};
          table.Add(next, fails(size, parallel), {"n" + std::to_string(next % 3)}, point);
          ++next;
        }
      }
    }
  }

  FailureTable table;
  TrialNumber next = 0;
};

TEST(FailureTable, NamesTheValueThatFailsEverywhere) {
  Table made;
  made.Run(3, [](std::int64_t size, std::int64_t) { return size == 4 ? TrialClass::kOomDevice : TrialClass::kOk; });
  const auto findings = made.table.Findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(FindingText(findings[0]),
            "micro_batch_size=4: 6 of 6 trials ended with oom_device, on 3 hosts; other values: 0 of 12");
  EXPECT_NEAR(findings[0].chance, (3 + 2 + 3 + 3) / 18564.0, 1e-9) << "by the number of values, over 18 choose 6";
}

TEST(FailureTable, CountsByValueAndClass) {
  Table made;
  made.Run(2, [](std::int64_t size, std::int64_t parallel) {
    if (size != 4) return TrialClass::kOk;
    return parallel == 1 ? TrialClass::kOomDevice : TrialClass::kCrash;
  });
  const auto by = made.table.by();
  EXPECT_FALSE(by.contains("steps")) << "all have the same";
  const FailureTable::Count expected{4, 4, {{TrialClass::kOomDevice, 2}, {TrialClass::kCrash, 2}}};
  EXPECT_EQ(by.at("micro_batch_size").at("4"), expected);
  EXPECT_EQ(by.at("host").size(), 3U);
  EXPECT_TRUE(made.table.Findings().empty()) << "two classes are not one cause";
}

TEST(FailureTable, SortsNumbersByTheirSize) {
  FailureTable table;
  const std::vector<Value> values = {std::int64_t{16}, std::int64_t{2}, "sgd", 1e-05, 0.001, "adam", std::int64_t{-3}};
  for (TrialNumber trial = 0; trial < values.size(); ++trial) {
    table.Add(trial, TrialClass::kCrash, {}, {{"x", values[trial]}});
  }
  std::vector<std::string> order;
  const auto by = table.by();
  for (const auto& [value, count] : by.at("x")) order.push_back(value);
  EXPECT_EQ(order, (std::vector<std::string>{"-3", "1e-05", "0.001", "2", "16", "adam", "sgd"}));
}

TEST(FailureTable, DoesNotBlameAValueThatWasTriedWithOneOtherValueOnly) {
  Table made;
  made.Run(6, [](std::int64_t size, std::int64_t) { return size == 4 ? TrialClass::kOomDevice : TrialClass::kOk; });
  FailureTable part;
  for (TrialNumber trial = 0; trial < 30; ++trial) {  // of size 4 those without parallelism
    const std::int64_t size = trial < 12 ? 1 : trial < 24 ? 2 : 4;
    const std::int64_t parallel = trial % 12 < 6 ? 1 : 2;
    const Point point = {{"lr", 0.1 * static_cast<double>(trial % 6)}, {"size", size}, {"parallel", parallel}};
    part.Add(trial, size == 4 ? TrialClass::kOomDevice : TrialClass::kOk, {}, point);
  }
  EXPECT_EQ(made.table.Findings().size(), 1U);
  EXPECT_TRUE(part.Findings().empty()) << "size 4 may fit with parallel=2";
}

TEST(FailureTable, TakesTogetherWhatGoesTogether) {
  FailureTable table;
  for (TrialNumber trial = 0; trial < 24; ++trial) {
    const bool sgd = trial % 4 == 0;
    Point point = {{"optimizer", sgd ? "sgd" : "adam"}, {"lr", 0.1 * static_cast<double>(trial % 3)}};
    if (!sgd) point["optimizer.beta1"] = 0.9 + 0.01 * static_cast<double>(trial % 2);
    point["pair"] = sgd ? "a" : "b";
    table.Add(trial, sgd ? TrialClass::kDiverged : TrialClass::kOk, {}, point);
  }
  const auto findings = table.Findings();
  ASSERT_EQ(findings.size(), 2U) << "a zipped value fails as often";
  EXPECT_EQ(FindingText(findings[0]), "optimizer=sgd: 6 of 6 trials ended with diverged; other values: 0 of 18");
  EXPECT_EQ(findings[1].name, "pair");
}

TEST(FailureTable, BlamesTheHostAndNotTheValueThatOnlyItHad) {
  FailureTable table;
  for (TrialNumber trial = 0; trial < 24; ++trial) {
    const bool bad = trial % 4 == 0;
    table.Add(trial, bad ? TrialClass::kCrash : TrialClass::kOk, {bad ? "n3" : "n1"},
              {{"size", std::int64_t{bad ? 4 : 1}}, {"lr", 0.1 * static_cast<double>(trial)}});
  }
  const auto findings = table.Findings();
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(FindingText(findings[0]), "host n3: 6 of 6 trials ended with crash; other hosts: 0 of 18");
}

TEST(FailureTable, NeverBlamesAValueForLostHosts) {
  Table made;
  made.Run(3, [](std::int64_t size, std::int64_t) { return size == 4 ? TrialClass::kHostLost : TrialClass::kOk; });
  EXPECT_TRUE(made.table.Findings().empty());
}

TEST(FailureTable, NeedsEnoughTrialsAndOthersThatSucceed) {
  Table few;
  few.Run(1, [](std::int64_t size, std::int64_t) { return size == 4 ? TrialClass::kOomDevice : TrialClass::kOk; });
  EXPECT_TRUE(few.table.Findings(1).empty()) << "2 of 6 may be chance";
  Table all;
  all.Run(3, [](std::int64_t, std::int64_t) { return TrialClass::kOomDevice; });
  EXPECT_TRUE(all.table.Findings().empty());
}

TEST(FailureTable, CountsTheResultThatATrialKeeps) {
  FailureTable table;
  const auto run = [&](TrialNumber trial, std::int64_t x, TrialClass trial_class, bool again) {
    table.Take(AttemptBegan{
        .trial = trial, .attempt = 0, .id = {}, .point = {{"x", x}}, .plan = {}, .run_id = {}, .hosts = {"n1"}});
    AttemptEnded ended;
    ended.trial = trial;
    ended.trial_class = trial_class;
    ended.again = again;
    table.Take(ended);
  };
  run(0, 1, TrialClass::kCrash, true);
  run(0, 1, TrialClass::kCrash, false);
  run(1, 2, TrialClass::kOk, false);
  EXPECT_EQ(table.by().at("x").at("1"), (FailureTable::Count{1, 1, {{TrialClass::kCrash, 1}}})) << "not its attempts";
  run(0, 1, TrialClass::kOk, false);
  run(1, 2, TrialClass::kCrash, false);
  EXPECT_EQ(table.by().at("x").at("1"), (FailureTable::Count{1, 0, {}}));
  EXPECT_EQ(table.by().at("x").at("2"), (FailureTable::Count{1, 0, {}})) << "a result is kept";
}

}  // namespace
}  // namespace muster
