// Tests which trials are retried, and which hosts are quarantined.
#include <gtest/gtest.h>

#include "sweep/scheduler/trial_hosts.h"

namespace muster {
namespace {

TEST(AfterFailure, RetriesUntilTheRetriesAreUsedUp) {
  const RetryChoice choice{.max = 2};
  EXPECT_EQ(AfterFailure(choice, TrialClass::kCrash, 0, 0), (RetryVerdict{true, true}));
  EXPECT_EQ(AfterFailure(choice, TrialClass::kCrash, 1, 0), (RetryVerdict{true, true}));
  EXPECT_EQ(AfterFailure(choice, TrialClass::kCrash, 2, 0), (RetryVerdict{false, true}));
}

TEST(AfterFailure, DoesNotRetryDeterministicFailures) {
  const RetryChoice choice{.max = 2};
  EXPECT_FALSE(AfterFailure(choice, TrialClass::kDiverged, 0, 0).again);
  EXPECT_FALSE(AfterFailure(choice, TrialClass::kUserError, 0, 0).again);
  EXPECT_FALSE(AfterFailure(choice, TrialClass::kOk, 0, 0).again);
  EXPECT_FALSE(AfterFailure(choice, TrialClass::kStopped, 0, 0).again);
}

TEST(AfterFailure, FollowsTheList) {
  const RetryChoice choice{.max = 1, .on = {TrialClass::kTimeout}};
  EXPECT_TRUE(AfterFailure(choice, TrialClass::kTimeout, 0, 0).again);
  EXPECT_FALSE(AfterFailure(choice, TrialClass::kCrash, 0, 0).again);
}

TEST(AfterFailure, DoesNotCountFailuresCausedByTheHost) {
  const RetryChoice choice;  // the default: no list
  EXPECT_EQ(AfterFailure(choice, TrialClass::kHostLost, 0, 0), (RetryVerdict{true, false}));
  EXPECT_EQ(AfterFailure(choice, TrialClass::kPreempted, 0, kMaxUncounted - 1), (RetryVerdict{true, false}));
  EXPECT_FALSE(AfterFailure(choice, TrialClass::kHostLost, 0, kMaxUncounted).again);
}

TEST(HostRecord, QuarantinesAHostWithRepeatedFailures) {
  HostRecord record(2);
  EXPECT_TRUE(record.Failed("n2", 1, TrialClass::kCrash).empty());
  record.Succeeded("n1");
  EXPECT_EQ(record.Failed("n2", 5, TrialClass::kCrash), (std::vector<TrialNumber>{1, 5}));
}

TEST(HostRecord, QuarantinesNoHostIfEverythingFails) {
  HostRecord record(2);
  for (TrialNumber trial = 0; trial < 10; ++trial) {
    EXPECT_TRUE(record.Failed(trial % 2 == 0 ? "n1" : "n2", trial, TrialClass::kCrash).empty());
  }
}

TEST(HostRecord, ForgetsFailuresAfterASuccess) {
  HostRecord record(2);
  record.Failed("n2", 1, TrialClass::kCrash);
  record.Succeeded("n2");
  record.Succeeded("n1");
  EXPECT_TRUE(record.Failed("n2", 2, TrialClass::kCrash).empty());
}

TEST(HostRecord, DoesNotAttributeAPointsFailuresToHosts) {
  HostRecord record(1);
  record.Succeeded("n1");
  EXPECT_TRUE(record.Failed("n2", 1, TrialClass::kOomDevice).empty());
  EXPECT_TRUE(record.Failed("n2", 2, TrialClass::kUserError).empty());
}

TEST(HostRecord, CountsATrialThatFailsAgainOnce) {
  HostRecord record(2);
  record.Failed("n2", 1, TrialClass::kCrash);
  record.Succeeded("n1");
  EXPECT_TRUE(record.Failed("n2", 1, TrialClass::kCrash).empty());
}

}  // namespace
}  // namespace muster
