#include "run/host_files.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(HostFiles, AreThoseOfTheProcessesOfAHost) {
  Plan plan;
  plan.hosts = {{"host0", 1}, {"host1", 1}};
  Role worker;
  worker.name = "worker";
  Role odd;
  odd.name = "worker.1";
  plan.roles = {worker, odd};
  plan.processes.resize(3);
  plan.processes[1].index = 1;
  plan.processes[1].host = 1;
  plan.processes[2].role = 1;
  plan.processes[2].host = 0;
  const HostFiles files(plan);
  EXPECT_TRUE(files.AreOf(0, "logs/worker.0.0.log"));
  EXPECT_TRUE(files.AreOf(0, "logs/worker.0.12.idx"));
  EXPECT_TRUE(files.AreOf(1, "dumps/1/worker.1.0.txt"));
  EXPECT_TRUE(files.AreOf(1, "context/worker.1.applied.json"));
  EXPECT_TRUE(files.AreOf(0, "logs/worker.1.0.0.log")) << "of the role that is called worker.1";
  EXPECT_FALSE(files.AreOf(1, "logs/worker.0.0.log")) << "another host's";
  EXPECT_FALSE(files.AreOf(0, "logs/worker.7.0.log")) << "nobody's";
  EXPECT_FALSE(files.AreOf(0, "journal.jsonl"));
  EXPECT_FALSE(files.AreOf(0, "recipe/worker.0.0.log"));
  EXPECT_FALSE(files.AreOf(0, "logs/"));
  EXPECT_FALSE(files.AreOf(0, ""));
}

}  // namespace
}  // namespace muster
