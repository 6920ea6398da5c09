// Tests that a SIGINT while a job is followed is never lost.
#include "cli/jobs/follow_job.h"

#include <csignal>

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(AwaitHead, HandlesAnInterruptThatComesAsTheHeadBegins) {
  const JobOfRun job{{}, "1", "/nowhere", EngineJobs(EnginePage())};
  int interrupts = 0;
  const WaitOutcome waited = AwaitHead(job,
                                       [] {
                                         ::raise(SIGINT);
                                         return true;
                                       },
                                       {[](const std::string&) {}, [&] { ++interrupts; }});
  EXPECT_EQ(waited.end, WaitEnd::kBegun);
  EXPECT_EQ(interrupts, 1);
  struct sigaction after = {};
  ASSERT_EQ(::sigaction(SIGINT, nullptr, &after), 0);
  EXPECT_EQ(after.sa_handler, SIG_DFL) << "it ends the program again";
}

}  // namespace
}  // namespace muster
