// With which hosts and with which values the trials of a sweep failed, and which value fails everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sweep/record/sweep_events.h"
#include "sweep/record/sweep_progress.h"

namespace muster {

// A value with which all trials failed in the same way, while those with other values did not: see
// FailureTable::Findings().
struct FailureFinding {
  std::string name;  // of a parameter; empty: of hosts
  std::string value;
  TrialClass trial_class = TrialClass::kCrash;
  std::uint64_t failed = 0;        // all that have the value
  std::uint64_t hosts = 0;         // on which these ran; 0: on this machine
  std::uint64_t other_failed = 0;  // with other values, in the same way
  std::uint64_t other_over = 0;
  double chance = 0;  // of so clear a difference, if the value had nothing to do with the failures

  bool operator==(const FailureFinding&) const = default;
};

// "micro_batch_size=4: 6 of 6 trials ended with oom_device, on 3 hosts; other values: 0 of 20".
std::string FindingText(const FailureFinding& finding);

// The same of a value that is skipped: "micro_batch_size=4 is skipped: 6 of 6 trials ended with …".
std::string SkipReason(const ValueSkipped& skipped);

// The value as texts of the table have it.
std::string TableValue(const Value& value);

// Classes of failures that say nothing about the values of a trial: what it ran on was lost, or it was ended from
// outside.
constexpr bool IsTransient(TrialClass trial_class) {
  return trial_class == TrialClass::kHostLost || trial_class == TrialClass::kPreempted;
}

// The finished trials of a sweep by host and by value. Of a trial that was retried the result that it keeps counts.
class FailureTable {
 public:
  static constexpr std::size_t kMaxValues = 24;  // of a name; one with more is useless for grouping

  struct Count {
    std::uint64_t over = 0;
    std::uint64_t failed = 0;
    std::map<TrialClass, std::uint64_t> classes = {};  // of these

    bool operator==(const Count&) const = default;
  };
  // The order of texts of values: numbers by their size, and before other texts.
  struct NumbersFirst {
    bool operator()(const std::string& one, const std::string& other) const;
  };
  using ByValue = std::map<std::string, Count, NumbersFirst>;

  // A trial has ended, for the first time or again.
  void Add(TrialNumber trial, TrialClass trial_class, const std::vector<std::string>& hosts, const Point& point);
  // Adds the trials that end, in the order of the journal.
  void Take(const SweepEntry& entry);

  // By "host" and by the names of parameters (of one that is called so: "param.host"): those that have from two to
  // `kMaxValues` values.
  std::map<std::string, ByValue> by() const;

  // The values, by name, for which all of this holds:
  // - at least `least` trials have the value, and all of them failed with the same class; of a parameter one that is
  //   not transient;
  // - trials with other values have not failed, and the chance of so clear a difference without a cause is below 1 %:
  //   Fisher's exact test, one-sided, times the number of values that as many trials have (Bonferroni);
  // - the failed ones have no value of another name in common that could be the cause as well, alone or together with
  //   this one. A value that no trial has without this one does not count; nor does a host, if other trials
  //   succeeded there.
  std::vector<FailureFinding> Findings(std::uint64_t least = SkipAfterChoice().failures) const;
  // The value of a finding about a parameter; null: of one about a host.
  const Value* Find(const FailureFinding& finding) const;

 private:
  struct Failed {
    TrialClass trial_class = TrialClass::kCrash;
    std::vector<std::string> hosts;
    std::map<std::string, std::string> values;
    Point point = {};
  };
  struct Running {
    std::vector<std::string> hosts;
    Point point;
  };
  struct Named {
    ByValue values;
    std::uint64_t over = 0;  // trials that have one
    bool too_many = false;
  };

  void CountOne(const std::string& name, const std::string& value, const TrialClass* failed, bool add);
  void CountAll(const Failed& trial, bool failed, bool add);
  bool IsAlone(const FailureFinding& finding) const;
  std::size_t TestsOf(std::uint64_t least) const;

  std::map<std::string, Named> names_;  // hosts without a name
  std::map<TrialNumber, Failed> failed_;
  TrialSet well_;  // the others
  std::map<TrialNumber, Running> running_;
};

}  // namespace muster
