// Tests sweeps and runs that compete for the devices of one machine.
#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "sweeps/sweep_case.h"

namespace muster::testing {
namespace {

// A machine with the given number of simulated devices and its own leases.
class DeviceCase : public SweepCase {
 public:
  DeviceCase(int devices, const std::string& params, const std::string& plan) : SweepCase(params, plan) {
    WriteRecipe(params, plan, "cluster = { device_kind = 'cuda' },");
    SetVariable("MUSTER_LEASES=" + *this / "leases");
    SetVariable("MUSTER_HOST_DEVICES=" + std::to_string(devices));
    std::filesystem::create_directory(*this / "held");
  }

  // Starts a run that holds `count` devices until the file "go" exists.
  StartedProgram StartHolder(int count, const Words& options = {}) const {
    Write("holder.lua",
          "local muster = require \"muster\"\nreturn muster.recipe { name = \"holder\", cluster = { "
          "device_kind = 'cuda' }, plan = function(p, job) job:workers { count = " +
              std::to_string(count) + ", command = { \"" + MUSTER_TESTS_DIR "/probe\", 'file', '" + (*this / "holds") +
              "', 'await', '" + (*this / "go") + "' } } end }\n");
    Words words = {"run", "holder.lua", "--quiet", "--run-dir", *this / "holder"};
    words.insert(words.end(), options.begin(), options.end());
    StartedProgram holder = Start(words);
    EXPECT_TRUE(AwaitFile(*this / "holds"));
    return holder;
  }

  // Expects that no trial was repeated and none failed.
  void ExpectOneAttemptEach(const std::string& sweep_dir, std::size_t trials) const {
    EXPECT_EQ(WrongIn(sweep_dir, static_cast<int>(trials)), "");
    const std::string journal = sweep_dir + "/journal.jsonl";
    EXPECT_EQ(RecordsOf(journal, "attempt_began").size(), trials) << sweep_dir;
    for (const json& ended : RecordsOf(journal, "attempt_ended")) EXPECT_EQ(ended["class"], "ok") << ended;
  }

  std::string OnlyBelow(const std::string& folder) const {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (!entry.is_symlink()) return entry.path();
    }
    return {};
  }
};

constexpr char kHolding[] = "job:workers { count = 1, command = { probe, 'hold', here .. '/held', 'exit', '0' } }";

TEST(SweepDevices, HeldByARunFailNoTrial) {
  const DeviceCase machine(1, kParams, kHolding);
  StartedProgram holder = machine.StartHolder(1);
  StartedProgram sweep = machine.StartSweep({"--grid", "x=1..4"});
  ASSERT_TRUE(AwaitFile(machine / "err"));
  const auto reported = AwaitLine(machine / "err", "muster: waiting for devices: ");
  ASSERT_TRUE(reported) << machine.Errors();
  const json began = RecordsOf(machine / "holder/journal.jsonl", "run_began").at(0);
  const std::string whose = "device 0 is held by run " + began["run"].get<std::string>() + " (holder), pid " +
                            std::to_string(holder.pid()) + " of ";
  EXPECT_TRUE(Says(*reported, whose)) << *reported;
  machine.Write("go", "");
  EXPECT_EQ(holder.End(), 0);
  EXPECT_EQ(sweep.End(), 0) << machine.Errors();
  machine.ExpectOneAttemptEach(machine.sweep(), 4);
  const std::string errors = machine.Errors();
  EXPECT_EQ(errors.find("waiting for devices"), errors.rfind("waiting for devices")) << "told once";
}

TEST(SweepDevices, ThatTrialsWaitForAreShownByPs) {
  const DeviceCase machine(1, kParams, kHolding);
  StartedProgram holder = machine.StartHolder(1);
  machine.Write("err", "");
  StartedProgram run = machine.Start({"run", "recipe.lua", "--wait", "--run-dir", machine / "waiter"});
  ASSERT_TRUE(AwaitLine(machine / "err", "muster: waiting for 1 device: device 0 is held by run ")) << machine.Errors();
  const CommandResult ps = machine.Muster({"ps", machine / "waiter"});
  EXPECT_TRUE(Says(ps.out, "waiting for devices")) << ps.out;
  EXPECT_TRUE(Says(ps.out, " waits for devices: device 0 is held by run ")) << ps.out;
  const json list = json::parse(machine.Muster({"ps", "--json", machine / "waiter"}).out);
  EXPECT_TRUE(list["runs"][0]["waits"].get<std::string>().starts_with("device 0 is held by run ")) << list;
  machine.Write("go", "");
  EXPECT_EQ(holder.End(), 0);
  EXPECT_EQ(run.End(), 0) << machine.Errors();
  EXPECT_EQ(RecordsOf(machine / "waiter/journal.jsonl", "devices_awaited").size(), 1U);
}

TEST(SweepDevices, AreAwaitedUntilTheTimeoutOfARun) {
  const DeviceCase machine(1, kParams, kHolding);
  StartedProgram holder = machine.StartHolder(1);
  const CommandResult refused = machine.Muster({"run", "recipe.lua", "--wait=20ms"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_TRUE(Says(refused.err, "host0: 1 device is required after 20 ms: device 0 is held by run ")) << refused.err;
  const CommandResult wrong = machine.Muster({"run", "recipe.lua", "--wait=soon"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(Says(wrong.err, "--wait=\"soon\" is not a duration")) << wrong.err;
  machine.Write("go", "");
  EXPECT_EQ(holder.End(), 0);
}

TEST(SweepDevices, AreNotAwaitedByAStoppedSweep) {
  const DeviceCase machine(1, kParams, kHolding);
  StartedProgram holder = machine.StartHolder(1);
  machine.Write("err", "");
  StartedProgram sweep = machine.StartSweep({"--grid", "x=1..3"});
  ASSERT_TRUE(AwaitLine(machine / "err", "muster: waiting for devices: ")) << machine.Errors();
  sweep.Signal(SIGINT);
  EXPECT_EQ(sweep.End(), 128 + SIGINT);
  EXPECT_EQ(machine.Wrong(), "");
  for (const json& ended : machine.Records("attempt_ended")) EXPECT_TRUE(ended["interrupted"]) << ended;
  machine.Write("go", "");
  EXPECT_EQ(holder.End(), 0);
  const CommandResult resumed = machine.Muster({"resume", "--no-progress"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(machine.Wrong(3), "");
}

TEST(SweepDevices, AreThoseOfTheList) {
  const DeviceCase machine(8, kParams,
                           "job:workers { count = 1, command = { probe, 'hold', here .. '/held', 'record', here .. "
                           "'/records', 'ran' } }");
  const CommandResult listed = machine.Sweep({"--grid", "x=1..12", "--devices", "4-7"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  machine.ExpectOneAttemptEach(machine.sweep(), 12);
  const auto lines = LinesOf(machine / "records");
  EXPECT_EQ(lines.size(), 12U);
  for (const std::string& line : lines) {
    EXPECT_TRUE(line.starts_with("ran 4 ") || line.starts_with("ran 5 ") || line.starts_with("ran 6 ") ||
                line.starts_with("ran 7 "))
        << line;
  }
  const CommandResult run = machine.Muster({"run", "recipe.lua", "--quiet", "--devices", "6"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(LinesOf(machine / "records").back().starts_with("ran 6 "));
}

// The caller makes four of eight devices visible: no trial is planned or started for the others.
TEST(SweepDevices, AreThoseVisibleToTheCaller) {
  DeviceCase machine(8, kParams,
                     "job:workers { count = 1, command = { probe, 'hold', here .. '/held', 'record', here .. "
                     "'/records', 'ran' } }");
  machine.SetVariable("CUDA_VISIBLE_DEVICES=4,5,6,7");
  const CommandResult swept = machine.Sweep({"--grid", "x=1..12"});
  EXPECT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_FALSE(Says(swept.err, "waiting for devices")) << "more trials than devices were begun: " << swept.err;
  machine.ExpectOneAttemptEach(machine.sweep(), 12);
  for (const std::string& line : LinesOf(machine / "records")) {
    const std::string device = line.substr(4, line.find(' ', 4) - 4);
    EXPECT_TRUE(device == "4" || device == "5" || device == "6" || device == "7") << line;
  }
  const CommandResult plan = machine.Muster({"plan", "recipe.lua", "--json"});
  EXPECT_EQ(json::parse(plan.out)["hosts"][0]["devices"], 4) << plan.out;
}

// As many trials per device as allowed are started; each waits until all of them are running.
TEST(SweepDevices, AreSharedByTwoTrialsEachWithPerDevice) {
  const DeviceCase machine(2, kParams,
                           "job:workers { count = 1, command = { probe, 'record', here .. '/records', 'began', 'file', "
                           "here .. '/began.' .. p.x, 'await', here .. '/go' } }");
  StartedProgram sweep = machine.StartSweep({"--grid", "x=1..6", "--per-device", "2"});
  for (const char* x : {"1", "2", "3", "4"}) ASSERT_TRUE(AwaitFile(machine / ("began." + std::string(x)))) << x;
  std::map<std::string, int> on;
  for (const std::string& line : LinesOf(machine / "records")) ++on[line.substr(0, line.rfind(' '))];
  EXPECT_EQ(on, (std::map<std::string, int>{{"began 0", 2}, {"began 1", 2}}));
  machine.Write("go", "");
  EXPECT_EQ(sweep.End(), 0) << machine.Errors();
  machine.ExpectOneAttemptEach(machine.sweep(), 6);
}

TEST(SweepDevices, AreUsedEvenlyIfShared) {
  const DeviceCase machine(4, kParams,
                           "job:workers { count = 1, command = { probe, 'record', here .. '/records', 'began', 'file', "
                           "here .. '/began.' .. p.x, 'await', here .. '/go' } }");
  StartedProgram holder = machine.StartHolder(1, {"--share-devices"});
  StartedProgram sweep = machine.StartSweep({"--grid", "x=1..4", "--share-devices", "--slots", "4"});
  for (const char* x : {"1", "2", "3", "4"}) ASSERT_TRUE(AwaitFile(machine / ("began." + std::string(x)))) << x;
  std::set<std::string> on;
  for (const std::string& line : LinesOf(machine / "records")) on.insert(line.substr(0, line.rfind(' ')));
  EXPECT_EQ(on, (std::set<std::string>{"began 0", "began 1", "began 2", "began 3"}));
  machine.Write("go", "");
  EXPECT_EQ(holder.End(), 0);
  EXPECT_EQ(sweep.End(), 0) << machine.Errors();
}

// Two sweeps and three runs over four devices. A process that finds its device locked by another fails its trial, and
// the intervals that the processes record must not overlap.
TEST(SweepDevices, AreDividedBetweenSweepsAndRuns) {
  const int trials = kLong ? 200 : 24;
  const int runs = kLong ? 200 : 8;  // of each of the three
  // However fast or slow they are, all four devices are used: the first processes wait for one another.
  DeviceCase machine(
      4, kParams,
      "local words = { probe, 'hold', here .. '/held' }\n"
      "for device = 0, 3 do words[#words + 1] = 'await' words[#words + 1] = here .. '/held/' .. device end\n"
      "job:workers { count = 1, command = { words, 'record', here .. '/records', 'began', 'record', here .. "
      "'/records', 'ended', 'exit', '0' } }");
  std::vector<StartedProgram> sweeps;
  for (const char* name : {"one", "two"}) {
    machine.SetHome(machine / name);
    std::filesystem::create_directory(machine / name);
    sweeps.push_back(machine.StartSweep({"--grid", "x=1.." + std::to_string(trials), "--name", name, "--quiet"}));
  }
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int runner = 0; runner < 3; ++runner) {
    threads.emplace_back([&, runner] {
      for (int i = 0; i < runs && failures == 0; ++i) {
        const std::string run_dir = machine / ("run." + std::to_string(runner) + "." + std::to_string(i));
        const CommandResult run =
            machine.Muster({"run", "recipe.lua", "--devices", "free", "--wait", "--quiet", "--run-dir", run_dir});
        if (run.exit_code != 0 && failures++ == 0) ADD_FAILURE() << run.out << run.err;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (StartedProgram& sweep : sweeps) EXPECT_EQ(sweep.End(), 0) << machine.Errors();
  for (const char* name : {"one", "two"}) {
    const std::string below = machine.OnlyBelow(machine / (std::string(name) + "/sweeps/" + name));
    machine.ExpectOneAttemptEach(below, static_cast<std::size_t>(trials));
  }

  const std::vector<std::string> lines = LinesOf(machine / "records");
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(2 * (2 * trials + 3 * runs)));
  std::map<std::string, std::vector<std::pair<std::uint64_t, std::string>>> by_device;
  for (const std::string& line : lines) {
    std::istringstream words(line);
    std::string word;
    std::string device;
    std::uint64_t at = 0;
    words >> word >> device >> at;
    by_device[device].emplace_back(at, word);
  }
  EXPECT_EQ(by_device.size(), 4U);
  for (auto& [device, records] : by_device) {
    std::sort(records.begin(), records.end());
    for (std::size_t i = 0; i < records.size(); ++i) {
      ASSERT_EQ(records[i].second, i % 2 == 0 ? "began" : "ended")
          << "device " << device << " was used twice at a time";
    }
  }
}

}  // namespace
}  // namespace muster::testing
