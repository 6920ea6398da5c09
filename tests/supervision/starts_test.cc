// Tests many short runs in sequence, with and without a delay at each fault hook. None may hang, and each must have
// reaped all processes.
#include <chrono>

#include "base/system/clock.h"
#include "base/system/fault.h"
#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

using nlohmann::json;

// One of the eight has to be stopped, so that every hook is passed.
constexpr const char* kShort = R"(
  job:servers { count = 1, command = { probe, "wait" }, done = "never", stop = { grace = "20s" } }
  job:workers { count = 7, command = { probe, "exit", "0" } })";
// Only a run that hangs takes longer.
constexpr std::chrono::seconds kPatience{60};

bool Soaks() { return std::getenv("MUSTER_LONG") != nullptr; }

void ExpectAnEnd(const std::vector<std::string>& options) {
  StartedMuster muster(kShort);
  muster.Start(options);
  if (::testing::Test::HasFailure()) return;
  const auto patience = static_cast<std::uint64_t>(std::chrono::nanoseconds(kPatience).count());
  ASSERT_TRUE(EndsBy(muster.head_ref(), MonotonicNowNs() + patience))
      << "hangs; its journal:\n"
      << StartedMuster::Content(muster.run_dir() + "/journal.jsonl");
  ASSERT_EQ(muster.End(), 0) << muster.Output();
  const json report = json::parse(StartedMuster::Content(muster.run_dir() + "/report.json"), nullptr, false);
  ASSERT_FALSE(report.is_discarded());
  EXPECT_EQ(report["receipt"]["started"], 8);
  EXPECT_EQ(report["receipt"]["reaped"], 8);
  EXPECT_EQ(report["receipt"]["left"], 0);
  EXPECT_EQ(KillDescendants({}).killed, 0U) << "something is left";
}

// Each part is a separate test, so that they run in parallel: 5,000 starts in total with MUSTER_LONG, otherwise 50.
class Starts : public ::testing::TestWithParam<int> {};
constexpr int kParts = 10;
INSTANTIATE_TEST_SUITE_P(Part, Starts, ::testing::Range(0, kParts));

TEST_P(Starts, AllEnd) {
  const int starts = (Soaks() ? 5'000 : 50) / kParts;
  for (int i = 0; i < starts && !HasFailure(); ++i) {
    SCOPED_TRACE("start " + std::to_string(i));
    ExpectAnEnd({});
  }
}

class DelayedStarts : public ::testing::TestWithParam<FaultSite> {};
INSTANTIATE_TEST_SUITE_P(At, DelayedStarts, ::testing::ValuesIn(kFaultSites), [](const auto& one) {
  std::string name(one.param.name);
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST_P(DelayedStarts, AllEnd) {
  const int starts = Soaks() ? 200 : 5;
  const std::vector<std::string> delays = {"1", "2", "5", "13"};  // milliseconds, at each pass
  for (std::size_t i = 0; i < static_cast<std::size_t>(starts) && !HasFailure(); ++i) {
    const std::string fault = "--fault=" + std::string(GetParam().name) + ":delay:" + delays[i % delays.size()];
    SCOPED_TRACE("start " + std::to_string(i) + " with " + fault);
    ExpectAnEnd({fault});
  }
}

}  // namespace
}  // namespace muster::testing
