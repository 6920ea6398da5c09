// Tests the failures of real runs: their fingerprints in reports, and what muster hosts shows of them.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/system/host_name.h"
#include "cli/muster_command.h"

namespace muster::testing {
namespace {

using nlohmann::json;

class RunFailures : public ::testing::Test {
 protected:
  CommandResult Call(std::vector<std::string> words) const {
    return Muster(std::move(words), {"MUSTER_HOME=" + folder_.path(), "XDG_STATE_HOME=" + folder_ / "state"});
  }
  json ReportOf(const OneRecipe& recipe, int exit_code, std::vector<std::string> words = {}) {
    const std::string dir = folder_ / std::to_string(++runs_);
    words.insert(words.begin(), {"run", recipe.path(), "--run-dir", dir, "--quiet"});
    const CommandResult result = Call(std::move(words));
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    return json::parse(Call({"report", dir, "--json"}).out);
  }
  json Hosts() { return json::parse(Call({"hosts", "--json"}).out)["hosts"]; }

  TempDir folder_;
  int runs_ = 0;
};

TEST_F(RunFailures, HaveTheSameFingerprintInEachAttempt) {
  const OneRecipe recipe(
      "job:workers { count = 2, devices = 0, restart = { max = 1, scope = 'job', backoff = '10ms' }, command = { "
      "'python3', '-c', [[import os, time\n"
      "rank, attempt = int(os.environ['MUSTER_RANK']), int(os.environ['MUSTER_ATTEMPT'])\n"
      "if rank == 0: time.sleep(1000)\n"
      "def step(number):\n"
      "    print('step', number, os.getpid(), flush=True)\n"
      "    with open(os.environ['MUSTER_METRICS'], 'a') as metrics:\n"
      "        metrics.write('{\"step\": %d}\\n' % number)\n"
      "    if number == 3 + attempt: raise ValueError('no sample at 0x%x' % id(metrics))\n"
      "for number in range(10): step(number)]] } }");
  const json failures = ReportOf(recipe, 1)["failures"];
  ASSERT_EQ(failures.size(), 2U) << failures;
  EXPECT_EQ(failures[0]["fingerprint"], failures[1]["fingerprint"]) << failures;
  EXPECT_EQ(failures[0]["class"], "exception");
  EXPECT_EQ(failures[0]["line"], "ValueError: no sample at #");
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_EQ(failures[attempt]["attempt"], attempt);
    EXPECT_EQ(failures[attempt]["step"], 3 + attempt);
    EXPECT_EQ(failures[attempt]["index"], 1);
    EXPECT_EQ(failures[attempt]["ended_run"], attempt == 1);
  }
}

TEST_F(RunFailures, AreCountedByHost) {
  EXPECT_EQ(Call({"hosts"}).out, "no run of yours has ended on any host yet\n");
  const OneRecipe recipe(
      "job:workers { count = 1, devices = 0, command = muster.shell('echo giving up; exit ' .. p.code) }",
      "params = { code = muster.int { 3 } },");
  EXPECT_EQ(ReportOf(recipe, 1)["failures"].size(), 1U);
  EXPECT_EQ(ReportOf(recipe, 0, {"code=0"})["failures"], json::array());
  const json hosts = Hosts();
  ASSERT_EQ(hosts.size(), 1U) << hosts;
  EXPECT_EQ(hosts[0]["host"], OwnHostName());
  EXPECT_EQ(hosts[0]["runs"], 2);
  EXPECT_EQ(hosts[0]["failures"], 1);
  EXPECT_EQ(hosts[0]["last_failures"][0]["what"], "exit (code 3): giving up");
  const CommandResult text = Call({"hosts", OwnHostName()});
  EXPECT_NE(text.out.find(", worker.0: exit (code 3): giving up\n"), std::string::npos) << text.out;
}

TEST_F(RunFailures, OfRehearsalsAreNotCounted) {
  const OneRecipe recipe("job:workers { count = 1, devices = 0, command = { 'a-program-that-nobody-has' } }");
  Call({"rehearse", recipe.path()});
  EXPECT_EQ(Hosts(), json::array());
}

}  // namespace
}  // namespace muster::testing
