#include <gtest/gtest.h>

#include "wire/files/run_layout.h"

namespace muster {
namespace {

TEST(CollectedFiles, AreThoseOfTheGivenAttempts) {
  CollectedFiles files;
  files.AddAttempt("logs/worker.0.0.log");
  files.AddAttempt("logs/worker.1.2.log");
  files.AddAttempt("logs/worker.1.3.log");
  EXPECT_TRUE(files.Take("logs/worker.0.0.log"));
  EXPECT_TRUE(files.Take("logs/worker.0.0.idx"));
  EXPECT_TRUE(files.Take("errors/worker.1.2.json"));
  EXPECT_TRUE(files.Take("metrics/worker.1.3.jsonl"));
  EXPECT_TRUE(files.Take("context/worker.1.applied.json"));
  EXPECT_FALSE(files.Take("logs/worker.0.1.log")) << "an attempt that was not given";
  EXPECT_FALSE(files.Take("logs/worker.1.1.log")) << "it may have been on another host";
  EXPECT_FALSE(files.Take("logs/worker.2.0.log")) << "nobody's";
  EXPECT_FALSE(files.Take("logs/worker.0.log"));
  EXPECT_FALSE(files.Take("logs/worker.0.x.log"));
  EXPECT_FALSE(files.Take("logs/deep/worker.0.0.log"));
  EXPECT_FALSE(files.Take("logs/../worker.0.0.log"));
  EXPECT_FALSE(files.Take("dumps/1/worker.0.0.txt")) << "no dump was asked for";
  EXPECT_FALSE(files.Take("journal.jsonl"));
  EXPECT_FALSE(files.Take("recipe/worker.0.0.log"));
  EXPECT_FALSE(files.Take("logs/"));
  EXPECT_FALSE(files.Take(""));
}

TEST(CollectedFiles, DistinguishRolesWithDots) {
  CollectedFiles files;
  files.AddAttempt("logs/worker.1.0.0.log");
  EXPECT_TRUE(files.Take("logs/worker.1.0.0.log")) << "of the role that is called worker.1";
  EXPECT_FALSE(files.Take("logs/worker.1.0.log")) << "of the second worker";
}

TEST(CollectedFiles, AreTheRequestedDumpsAndActivations) {
  CollectedFiles files;
  files.AddFile("dumps/1/worker.0.0.txt");
  files.AddFile("logs/activation.n1.log");
  EXPECT_TRUE(files.Take("dumps/1/worker.0.0.txt"));
  EXPECT_TRUE(files.Take("logs/activation.n1.log"));
  EXPECT_FALSE(files.Take("dumps/2/worker.0.0.txt"));
  EXPECT_FALSE(files.Take("logs/activation.n2.log"));
}

TEST(CollectedFiles, AreLimitedPerKind) {
  CollectedFiles files;
  files.AddAttempt("logs/worker.0.0.log");
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i) taken += files.Take("metrics/worker.0.0." + std::to_string(i)) ? 1 : 0;
  EXPECT_EQ(taken, CollectedFiles::kMaxOfOne);
  EXPECT_TRUE(files.Take("metrics/worker.0.0.0")) << "the same one is none more";
}

}  // namespace
}  // namespace muster
