// Tests devices and cores of real processes: which ones they get, which runs may share them, and for how long.
#include <atomic>
#include <thread>

#include "agent/devices/host_cores.h"
#include "base/values/number_text.h"
#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

using nlohmann::json;
using Lines = std::vector<std::string>;

// A host with the given number of simulated devices and its own folder of leases, and recipes for it.
class DeviceHost {
 public:
  explicit DeviceHost(int devices) {
    env_ = {"PATH=/usr/bin:/bin", "USER=ann", "MUSTER_LEASES=" + folder_ / "leases",
            "MUSTER_HOST_DEVICES=" + std::to_string(devices)};
    std::filesystem::create_directory(folder_ / "held");
  }

  void SearchFirst(const std::string& folder) { env_.front() = "PATH=" + folder + ":/usr/bin:/bin"; }
  void Recipe(const std::string& name, const std::string& body, const std::string& fields) const {
    std::ofstream(folder_ / (name + ".lua"))
        << "local muster = require \"muster\"\nlocal probe = \"" << MUSTER_TESTS_DIR << "/probe\"\nlocal folder = \""
        << folder_.path() << "\"\nreturn muster.recipe { name = \"" << name << "\", " << fields
        << " plan = function(p, job)\n"
        << body << "\nend }\n";
  }

  std::vector<std::string> Words(const std::string& name, const std::string& run,
                                 const std::vector<std::string>& options) const {
    std::vector<std::string> words = {MusterProgram(), "run", name + ".lua", "--run-dir", folder_ / run};
    words.insert(words.end(), options.begin(), options.end());
    return words;
  }

  CommandResult Run(const std::string& name, const std::string& run, const std::vector<std::string>& options = {},
                    const std::vector<std::string>& more_env = {}) const {
    Command command;
    command.argv = Words(name, run, options);
    command.env = env_;
    command.env.insert(command.env.end(), more_env.begin(), more_env.end());
    command.cwd = folder_.path();
    return RunCommand(command);
  }

  // Starts a run in the background; returns when its first process has printed "ready".
  Spawned Start(const std::string& name, const std::string& run, const std::vector<std::string>& options) {
    EXPECT_TRUE(BecomeSubreaper());
    const std::vector<std::string> env = WithoutAsTheSuite(env_);
    SpawnSpec spec;
    spec.argv = Words(name, run, options);
    spec.env = EnvPointers(env);
    spec.cwd = folder_.path();
    const UniqueFd fifo = Fifo(run);
    auto spawned = launcher_.Spawn(spec);
    EXPECT_TRUE(spawned) << SpawnErrorText(spawned.error());
    EXPECT_TRUE(AwaitReadable(fifo.get())) << "it does not become ready";
    return spawned ? std::move(*spawned) : Spawned{};
  }

  json Report(const std::string& run) const {
    return json::parse(StartedMuster::Content(folder_ / (run + "/report.json")), nullptr, false);
  }
  json Binding(const std::string& run) const {
    return json::parse(StartedMuster::Content(folder_ / (run + "/binding.json")), nullptr, false);
  }
  // Returns the process's first line of output, parsed as JSON.
  json Said(const std::string& run, const std::string& process) const {
    const Lines lines = LinesOf(folder_ / (run + "/logs/" + process + ".0.log"));
    return lines.empty() ? json() : json::parse(lines.front(), nullptr, false);
  }
  std::string Variable(const std::string& run, const std::string& process, const std::string& name) const {
    for (const json& variable : Said(run, process)) {
      const std::string text = variable;
      if (text.starts_with(name + "=")) return text.substr(name.size() + 1);
    }
    return "(not set)";
  }
  std::string operator/(const std::string& name) const { return folder_ / name; }

 private:
  // Creates the FIFO before the run, so that no output is missed.
  UniqueFd Fifo(const std::string& run) const {
    const std::string path = folder_ / ("ready-" + run);
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return UniqueFd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  }

  TempDir folder_;
  std::vector<std::string> env_;
  Launcher launcher_;
};

constexpr const char* kCuda = "cluster = { device_kind = 'cuda' },";
constexpr const char* kShow = "job:workers { count = 2, devices = 1, command = { probe, 'env' } }";
// Holds its devices until it is stopped; `run` names its folder.
std::string Holding(int count, const std::string& run) {
  return "job:servers { count = 1, devices = " + std::to_string(count) +
         ", command = muster.shell(('echo ready > %s/ready-" + run + "; exec %s wait'):format(folder, probe)) }";
}

// Returns after the agent, which becomes this process's child, has stopped everything and exited.
void KillHead(const Spawned& head) {
  KillChild(head.ref());
  ReapAtEnd(head.ref());
  for (const pid_t child : ChildrenNow()) EXPECT_TRUE(AwaitEnd(child)) << "the agent does not end";
}

TEST(Devices, AssignedAreVisibleToTheProcesses) {
  DeviceHost host(8);
  host.Recipe("job", kShow, kCuda);
  const CommandResult result = host.Run("job", "run", {"--devices", "4,6", "--verbose"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(host.Variable("run", "worker.0", "CUDA_VISIBLE_DEVICES"), "4,6");
  EXPECT_EQ(host.Variable("run", "worker.0", "MUSTER_DEVICES"), "4");
  EXPECT_EQ(host.Variable("run", "worker.1", "MUSTER_DEVICES"), "6");
  EXPECT_EQ(host.Report("run")["processes"][1]["devices"], json({"6"}));
  EXPECT_EQ(host.Binding("run")["hosts"][0]["devices"], json({"4", "6"}));
  EXPECT_NE(result.err.find("  devices   worker.0 4; worker.1 6\n"), std::string::npos) << result.err;
}

// A tool of the vendor that names init as the user of these devices as long as the file "used" is there.
class VendorsTool {
 public:
  VendorsTool(DeviceHost& host, const std::string& devices) : used_(host / "used"), bin_(host / "bin") {
    host.SearchFirst(bin_);
    std::filesystem::create_directory(bin_);
    std::ofstream(used_) << devices;
    std::ofstream(bin_ + "/nvidia-smi")
        << "#!/bin/sh\ncase $1 in --query-gpu=index,uuid) for i in 0 1 2 3; do echo $i, GPU-$i; done;;\n"
           "--query-compute-apps=*) [ -e "
        << used_ << " ] && for i in $(cat " << used_
        << "); do echo GPU-$i, 1, /sbin/theirs; done; true;;\n*) exit 1;; esac\n";
    std::filesystem::permissions(bin_ + "/nvidia-smi", std::filesystem::perms::owner_all);
  }
  // The processes end after the first question about them.
  void EndUseOnceSeen() const {
    std::ofstream(bin_ + "/nvidia-smi", std::ios::app)
        << "case $1 in --query-compute-apps=*) rm -f " << used_ << ";; esac\n";
  }

 private:
  std::string used_;
  std::string bin_;
};

TEST(FreeDevices, AreNotThoseThatTheVendorsToolNamesAsUsed) {
  DeviceHost host(4);
  const VendorsTool tool(host, "0 2");
  host.Recipe("job", kShow, kCuda);
  const CommandResult result = host.Run("job", "run", {"--devices", "free"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(host.Variable("run", "worker.0", "CUDA_VISIBLE_DEVICES"), "1,3");
  EXPECT_NE(result.err.find("skipped, because in use: device 0 by pid 1 ("), std::string::npos) << result.err;
  host.Recipe("large", "job:workers { count = 1, devices = 3, command = { probe, 'env' } }", kCuda);
  const CommandResult large = host.Run("large", "large", {"--devices", "free"});
  EXPECT_EQ(large.exit_code, 3);
  EXPECT_NE(large.err.find("3 devices are required and not free: device 0 by pid 1 ("), std::string::npos) << large.err;
  const CommandResult listed = host.Run("job", "listed", {"--devices", "0,2"});
  EXPECT_EQ(listed.exit_code, 0) << "a list is the user's own choice: " << listed.err;
}

TEST(FreeDevices, AreWaitedForWhileOthersUseThem) {
  DeviceHost host(2);
  const VendorsTool tool(host, "0 1");
  tool.EndUseOnceSeen();
  host.Recipe("job", kShow, kCuda);
  const CommandResult result = host.Run("job", "run", {"--devices", "free", "--wait"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.err.find("waiting for 2 devices: in use: device 0 by pid 1 ("), std::string::npos) << result.err;
  EXPECT_EQ(host.Variable("run", "worker.0", "CUDA_VISIBLE_DEVICES"), "0,1");
}

TEST(FreeDevices, DoNotDependOnAToolThatFailsOrHangs) {
  for (const char* body : {"exit 9", "exec sleep 1000", "yes '0, GPU-0'"}) {
    DeviceHost host(2);
    const VendorsTool tool(host, "0 1");
    std::ofstream(host / "bin/nvidia-smi") << "#!/bin/sh\n" << body << "\n";
    host.Recipe("job", kShow, kCuda);
    const CommandResult result = host.Run("job", "run", {"--devices", "free"});
    EXPECT_EQ(result.exit_code, 0) << body << ": " << result.err;
    EXPECT_EQ(host.Variable("run", "worker.0", "CUDA_VISIBLE_DEVICES"), "0,1");
  }
}

TEST(Devices, OfTheCallerAreNumberedLikeTheCallers) {
  DeviceHost host(8);
  host.Recipe("job", kShow, kCuda);
  ASSERT_EQ(host.Run("job", "run", {"--devices", "1-2"}, {"CUDA_VISIBLE_DEVICES=7,5,GPU-aa,3"}).exit_code, 0);
  EXPECT_EQ(host.Variable("run", "worker.0", "CUDA_VISIBLE_DEVICES"), "5,GPU-aa");
  const CommandResult beyond = host.Run("job", "beyond", {"--devices", "4,5"}, {"CUDA_VISIBLE_DEVICES=7,5,3"});
  EXPECT_EQ(beyond.exit_code, 3);
  EXPECT_NE(beyond.err.find("host0: the job uses devices 4-5, and muster may use 0-2 (CUDA_VISIBLE_DEVICES=7,5,3)"),
            std::string::npos)
      << beyond.err;
  const CommandResult none = host.Run("job", "none", {"--devices", "free"}, {"CUDA_VISIBLE_DEVICES="});
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_NE(none.err.find("2 devices are required, but only 0 are available (CUDA_VISIBLE_DEVICES=)"),
            std::string::npos)
      << none.err;
}

TEST(Devices, ThatAnotherRunHoldsAreRefusedWithItsName) {
  DeviceHost host(4);
  host.Recipe("holder", Holding(2, "first"), kCuda);
  host.Recipe("job", kShow, kCuda);
  const Spawned head = host.Start("holder", "first", {"--devices", "1-2"});
  const CommandResult taken = host.Run("job", "taken", {"--devices", "2-3"});
  EXPECT_EQ(taken.exit_code, 3);
  const std::string holder = "device 2 is held by run " + host.Binding("first")["run"].get<std::string>() +
                             " (holder), pid " + std::to_string(head.pid) + " of ann (uid " +
                             std::to_string(::geteuid()) + "), since 20";
  EXPECT_NE(taken.err.find(holder), std::string::npos) << taken.err;

  ASSERT_EQ(host.Run("job", "free", {"--devices", "free"}).exit_code, 0);
  EXPECT_EQ(host.Variable("free", "worker.0", "CUDA_VISIBLE_DEVICES"), "0,3");
  EXPECT_EQ(host.Run("job", "shared", {"--devices", "2-3", "--share-devices"}).exit_code, 3)
      << "the holder does not share";

  // Even if the head is killed, its devices are free once its processes have ended.
  KillHead(head);
  EXPECT_EQ(host.Run("job", "after", {"--devices", "1-2"}).exit_code, 0);
  KillDescendants({});
}

TEST(Devices, ChosenByTheRecipeAreLeasedToo) {
  DeviceHost host(4);
  host.Recipe("holder", Holding(1, "first"), kCuda);
  host.Recipe("job", kShow, kCuda);
  const Spawned head = host.Start("holder", "first", {});
  EXPECT_EQ(host.Run("job", "taken").exit_code, 3) << "device 0 is the other's";
  KillHead(head);
  KillDescendants({});
}

TEST(Devices, AreHeldOverRestarts) {
  DeviceHost host(1);
  host.Recipe(
      "holder",
      "job:workers { count = 1, devices = 1, restart = { max = 1, backoff = 0 }, command = muster.shell(("
      "'test $MUSTER_ATTEMPT = 1 || exit 1; echo ready > %s/ready-first; exec %s wait'):format(folder, probe)) }",
      kCuda);
  host.Recipe("job", "job:workers { count = 1, devices = 1, command = { probe, 'env' } }", kCuda);
  const Spawned head = host.Start("holder", "first", {});
  EXPECT_EQ(host.Run("job", "taken", {"--devices", "free"}).exit_code, 3);
  KillHead(head);
  KillDescendants({});
}

TEST(Cores, AreThoseThatWereAssigned) {
  DeviceHost host(0);
  const std::vector<std::uint32_t> own = OwnCores();
  host.Recipe("job",
              "job:workers { count = 2, cores = 'auto', command = { probe, 'cores' } }\n"
              "job:servers { count = 1, cores = '" +
                  std::to_string(own.front()) + "', command = { probe, 'cores' } }",
              "");
  const CommandResult result = host.Run("job", "run");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(host.Said("run", "server.0"), json({own.front()}));
  std::vector<std::uint32_t> workers;
  for (const char* worker : {"worker.0", "worker.1"}) {
    const json said = host.Said("run", worker);
    ASSERT_FALSE(said.empty());
    const std::vector<std::uint32_t> cores = said;
    EXPECT_EQ(host.Binding("run")["cores"][worker], NumberListText(cores));
    workers.insert(workers.end(), cores.begin(), cores.end());
  }
  if (own.size() >= 3) {
    std::sort(workers.begin(), workers.end());
    EXPECT_EQ(std::adjacent_find(workers.begin(), workers.end()), workers.end()) << "a core is given twice";
    EXPECT_EQ(std::count(workers.begin(), workers.end(), own.front()), 0) << "that one is the server's";
  }
}

TEST(Cores, OutsideMustersAffinityAreRefused) {
  DeviceHost host(0);
  host.Recipe("job", "job:workers { count = 1, cores = '60000', command = { probe, 'cores' } }", "");
  const CommandResult result = host.Run("job", "run");
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_NE(result.err.find("host0: cores: role worker names the cores 60000; muster may use "), std::string::npos)
      << result.err;
}

// Four threads run jobs with free devices, one after the other and all at once; together they need all devices of the
// host, so none may be refused. A process that finds its device locked by another fails its run.
TEST(Devices, ThatAreFreeAreNeverAssignedTwice) {
  DeviceHost host(8);
  host.Recipe(
      "job",
      "job:servers { count = p.devices, devices = 1, command = { probe, 'hold', folder .. '/held', 'print', 'ready', "
      "'wait' }, done = 'never', ready = { line = 'ready' } }\n"
      "job:workers { count = 1, devices = 0, after = 'server', command = { probe, 'exit', '0' } }",
      "params = { devices = muster.int { 1 } }, cluster = { device_kind = 'cuda', devices_per_host = 8 },");
  constexpr int kAll = 500;
  std::atomic<int> runs = 0;
  std::atomic<int> failures = 0;
  const auto work = [&](int devices) {
    while (failures == 0) {
      const int number = runs++;
      if (number >= kAll) return;
      const CommandResult result = host.Run("job", "run" + std::to_string(number),
                                            {"--devices", "free", "devices=" + std::to_string(devices), "--quiet"});
      if (result.exit_code != 0 && failures++ == 0) ADD_FAILURE() << result.out << result.err;
    }
  };
  std::vector<std::thread> threads;
  for (const int devices : {1, 2, 2, 3}) threads.emplace_back(work, devices);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_GE(runs, kAll);
}

// Proves that the test above would detect a shared device.
TEST(Devices, ThatAreSharedAreDetectedAsLocked) {
  DeviceHost host(1);
  host.Recipe(
      "holder",
      "job:servers { count = 1, devices = 1, command = muster.shell(('exec %s hold %s/held file %s/here wait')"
      ":format(probe, folder, folder)), ready = { file = folder .. '/here' } }\n"
      "job:workers { count = 1, devices = 0, after = 'server', command = muster.shell(('echo ready > %s/ready-first; "
      "exec %s wait'):format(folder, probe)) }",
      kCuda);
  host.Recipe("job", "job:workers { count = 1, devices = 1, command = { probe, 'hold', folder .. '/held' } }", kCuda);
  const Spawned head = host.Start("holder", "first", {"--share-devices"});
  const CommandResult result = host.Run("job", "second", {"--share-devices"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(host.Report("second")["first_failure"]["exit_code"], 92);
  KillHead(head);
  KillDescendants({});
}

}  // namespace
}  // namespace muster::testing
