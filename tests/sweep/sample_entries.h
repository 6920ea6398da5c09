// One of every entry of a sweep's journal, with values at the edges of their types.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/system/clock.h"
#include "sweep/record/sweep_journal.h"

namespace muster {

inline std::vector<SweepEntry> OneOfEach() {
  const std::uint64_t far = (1ULL << 53) - 1;
  SweepBegan began{"3f9a1c2b4d5e", "lr \"x\"\n", far,  4711, std::numeric_limits<std::uint64_t>::max(),
                   "b007",         "0.9.0",      "ab", true};
  SweepBegan repeats = began;
  repeats.seeds = {"train.seed", 3, true};
  PointsJudged raced{1003, 1, {{"racing: it is worse", "", {{1003, 1003}}}}, {{{"lr", 0.5}}}};
  raced.raced = true;
  AttemptBegan attempt{7,
                       2,
                       "00ff1c2b4d5e6f70",
                       {{"lr", 1e-05},
                        {"layers", std::int64_t{-3}},
                        {"name", "wörd, \"quoted\"\t"},
                        {"flag", true},
                        {"whole", 2.0},
                        {"none", Null()},
                        {"list", Value::List{1, 0.5, Value::Map{{"a b", "\x01"}}}}},
                       std::string(64, 'a'),
                       "0a1b2c3d4e5f",
                       {"n1", "n2"}};
  AttemptEnded failed;
  failed.trial = 7;
  failed.attempt = 2;
  failed.trial_class = TrialClass::kOomDevice;
  failed.again = true;
  failed.counted = false;
  failed.blamed = "n1";
  failed.why = "worker.3 was killed by signal 9 (KILL)";
  failed.ms = far;
  AttemptEnded well;
  well.trial = 7;
  well.attempt = 3;
  well.loss = -0.0625;
  well.metrics = {{"loss", 0.0625}, {"step", std::int64_t{100}}, {"note", "ä"}};
  well.losses = {{1, 0.5}, {2, 1e300}, {4.5, -0.0}};
  AttemptEnded interrupted;
  interrupted.trial = 8;
  interrupted.interrupted = true;
  interrupted.again = true;
  AttemptBegan resumed = attempt;
  resumed.attempt = 3;
  resumed.hosts.clear();
  resumed.job = "slurm job 12";
  resumed.devices = 16;
  resumed.warning = "its checkpoint is missing";
  resumed.resumed = {2, "/sweeps/a \"b\"/t/00/00ff1c2b4d5e6f70.2/checkpoints/step_30.pt"};
  return {began,
          PointsJudged{0, 1000, {{"pipeline_stages does not divide", "gpt.lua:26", {{0, 3}, {7, 7}}}, {"x", "", {}}}},
          attempt,
          AttemptBegan{},
          resumed,
          RungReached{7, 2, 16, 0.25, {1, 9, 3, 2, true}},
          RungReached{7, 2, 16, 0.25, {1, 9, 3, 2, true, true}},
          MedianStopped{7, 2, 16, 0.5, 12, 0.25},
          failed,
          well,
          interrupted,
          HostQuarantined{"n1", "3 failures in a row", true},
          TrialsReopened{{{7, 7}, {9, far}}},
          SweepSteered{far, far, 4'294'967'295U},
          SweepSteered{{}, {}, 1},
          SweepSteered{{}, {}, {}, {}, 0.25},
          SweepEnded{true, "all trials are over", 4},
          TrialPromoted{7, 1, 12, 3, 4},
          repeats,
          raced,
          SweepEdited{"0123456789ab", 12, far, "ab", true, {"train.seed", 3, true}},
          SweepEdited{},
          PointsJudged{9, 1, {{"size=4 is skipped: …", "", {{9, 9}}, "size=4"}}},
          ValueSkipped{"size", std::int64_t{4}, TrialClass::kOomDevice, 6, 3, 0, 20, 1e-5, {{10, 12}, {14, far}}},
          ValueSkipped{"optimizer.variant", "sgd", TrialClass::kDiverged, 4, 0, 1, 20, 0, {}},
          NoGainExpected{40, 0.0012, 0.0031},
          NoGainExpected{far, 0, 1e-300, true},
          ValueRestored{"size", std::int64_t{4}, {{9, 12}}}};
}

inline std::vector<SweepRecord> RecordsOf(const std::vector<SweepEntry>& entries) {
  std::vector<SweepRecord> records;
  for (const SweepEntry& entry : entries) {
    const std::uint64_t seq = records.size() + 1;
    records.push_back({seq, UtcText(1'795'176'376'000'000'000 + seq), entry});
  }
  return records;
}

}  // namespace muster
