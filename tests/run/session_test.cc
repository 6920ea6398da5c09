// Tests whole runs over scripted agents: commands and events in, files and outcome out.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/engine_calls.h"
#include "plan/plan/roles.h"
#include "plan/text/plan_json.h"
#include "plan/text/plan_text.h"
#include "run/directory/run_directory.h"
#include "run/fake_clock.h"
#include "run/journal/journal.h"
#include "run/report/report.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"
#include "run/scripted_channel.h"
#include "run/session/run_request.h"
#include "run/supervise/supervisor.h"
#include "support/journal_contents.h"
#include "wire/protocol/protocol.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

class SessionTest : public ::testing::Test {
 protected:
  RunRequest Request(Plan plan) {
    Fold(plan);
    RunRequest request;
    request.plan = std::move(plan);
    request.environment = {"HOME=/home/me", "OMPI_RANK=1", "TOKEN=canary-4711"};
    request.cwd = scratch.path();
    request.search_dirs = {"/opt/muster/bin"};
    request.runs_folder = scratch / "runs";
    request.run_id = "3f9a1c2b4d5e";
    request.console.out = out.get();
    request.console.err = err.get();
    request.make_clock = [this](boost::asio::io_context&) {
      auto made = std::make_unique<FakeClock>();
      clock = made.get();
      return made;
    };
    return request;
  }

  RunOutcome Run(const RunRequest& request, Script script) {
    transport = std::make_unique<ScriptedTransport>(std::move(script));
    Result<RunOutcome> outcome = RunPlan(request, *transport);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().front().message);
    return outcome.value_or(RunOutcome{});
  }

  std::vector<JournalRecord> JournalOf(const RunOutcome& outcome) {
    JournalContents contents = ReadJournal(outcome.run_dir + "/journal.jsonl");
    EXPECT_EQ(contents.stopped, "");
    return contents.records;
  }
  std::vector<std::string> EventsOf(const RunOutcome& outcome) {
    std::vector<std::string> names;
    for (const JournalRecord& record : JournalOf(outcome)) names.emplace_back(EntryName(record.entry));
    return names;
  }

  template <class Command>
  std::vector<Command> Heard(std::uint32_t host = 0) {
    std::vector<Command> heard;
    for (const AgentCommand& command : transport->agents.at(host)->heard) {
      if (const auto* one = std::get_if<Command>(&command)) heard.push_back(*one);
    }
    return heard;
  }

  static std::string TextOf(const UniqueFd& file) {
    std::string text(static_cast<std::size_t>(::lseek(file.get(), 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(file.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

  ScratchFolder scratch;
  UniqueFd out{::memfd_create("out", MFD_CLOEXEC)};
  UniqueFd err{::memfd_create("err", MFD_CLOEXEC)};
  FakeClock* clock = nullptr;
  std::unique_ptr<ScriptedTransport> transport;
};

// Starts everything; the given processes exit with their codes once all of this host have started.
Script ExitAfterStart(std::map<ProcessId, int> codes, std::size_t processes) {
  return [codes = std::move(codes), processes](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    if (!std::holds_alternative<StartProcess>(command) || agent.alive.size() != processes) return;
    for (const auto& [process, code] : codes) agent.SayExited(process, code);
  };
}

TEST_F(SessionTest, RunsAPlanToItsEndAndWritesAllItsFiles) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.mindspore = "1.6.2";
  plan.roles[0].context = {{"set_context.mode", 0}};
  plan.files["files/sub/hello.txt"] = {Text("hello from ${muster:run_id}\n")};
  RunRequest request = Request(plan);
  request.sources = {{"ps.lua", "return 1\n"}, {"lib/layers.lua", "x"}};
  const RunOutcome outcome = Run(request, ExitAfterStart({{0, 0}, {1, 0}}, 2));
  EXPECT_EQ(outcome.outcome, "ok");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.run_id, "3f9a1c2b4d5e");

  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(outcome.run_dir)) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), outcome.run_dir));
    EXPECT_EQ(ModeOf(entry.path()), entry.is_directory() ? 0700U : 0600U) << entry.path();
  }
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (std::vector<std::string>{"binding.json", "context/worker.0.json", "context/worker.1.json",
                                             "files/sub/hello.txt", "inputs.json", "journal.jsonl", "lock", "plan.json",
                                             "plan.txt", "recipe/lib/layers.lua", "recipe/ps.lua", "report.json",
                                             "report.txt"}));
  EXPECT_EQ(ContentOf(outcome.run_dir + "/files/sub/hello.txt"), "hello from 3f9a1c2b4d5e\n");
  EXPECT_EQ(ContentOf(outcome.run_dir + "/plan.txt"), PlanText(request.plan));
  const Result<Plan> stored = PlanFromJson(ContentOf(outcome.run_dir + "/plan.json"));
  ASSERT_TRUE(stored);
  EXPECT_EQ(PlanId(*stored), PlanId(request.plan));
  EXPECT_TRUE(fs::is_directory(outcome.run_dir + "/logs"));
}

TEST_F(SessionTest, JournalsEveryStepInOrder) {
  const RunOutcome outcome = Run(Request(SamplePlan({{"worker", 1}})), ExitAfterStart({{0, 0}}, 1));
  EXPECT_EQ(EventsOf(outcome),
            (std::vector<std::string>{"run_began", "agent_connected", "plan_bound", "phase", "start_ordered",
                                      "process_started", "phase", "process_exited", "phase", "finish_ordered",
                                      "agent_empty", "phase", "run_ended"}));
}

TEST_F(SessionTest, RecordsTheFirstFailureBeforeSendingAStop) {
  bool recorded_before_stop = false;
  Script script = ExitAfterStart({{1, 7}}, 3);
  const RunOutcome outcome =
      Run(Request(SamplePlan({{"worker", 3}})), [&](ScriptedAgent& agent, const AgentCommand& command) {
        if (std::holds_alternative<StopProcesses>(command)) {
          const std::string folder = scratch / "runs/sample/latest/journal.jsonl";
          for (const JournalRecord& record : ReadJournal(folder).records) {
            if (std::holds_alternative<FirstFailure>(record.entry)) recorded_before_stop = true;
          }
        }
        script(agent, command);
      });
  EXPECT_TRUE(recorded_before_stop);
  EXPECT_EQ(outcome.outcome, "failed");
  EXPECT_EQ(outcome.exit_code, 1);
  const std::vector<StopProcesses> stops = Heard<StopProcesses>();
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_EQ(stops[0].signal, SIGTERM);
  EXPECT_EQ(stops[0].grace_ms, 10'000U);
  ASSERT_EQ(stops[0].processes.size(), 2U);
  EXPECT_EQ(stops[0].processes[0].process, 0U);
  EXPECT_EQ(stops[0].processes[1].process, 2U);
}

TEST_F(SessionTest, ReportsTheFirstFailureWithItsLastLines) {
  Script script = ExitAfterStart({{1, 7}}, 3);
  const RunOutcome outcome =
      Run(Request(SamplePlan({{"worker", 3}})), [&](ScriptedAgent& agent, const AgentCommand& command) {
        if (const auto* start = std::get_if<StartProcess>(&command); start != nullptr && start->process == 1) {
          PutFile(start->log_path, "step 1\nout of memory\n");
        }
        script(agent, command);
      });
  const std::string text = ContentOf(outcome.run_dir + "/report.txt");
  EXPECT_TRUE(text.starts_with("sample failed: worker.1 (rank 1) on node-0 exited with code 7")) << text;
  EXPECT_NE(text.find("    out of memory\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 failed first, 2 ended because of it"), std::string::npos) << text;
  EXPECT_NE(text.find("  receipt "), std::string::npos) << text;
  EXPECT_NE(text.find("  start-up "), std::string::npos) << text;
  const std::string shown = TextOf(err);
  EXPECT_NE(shown.find(text.substr(0, text.find("  receipt "))), std::string::npos) << "and shows what a user can use";
  EXPECT_EQ(shown.find("  start-up "), std::string::npos) << shown;
  EXPECT_EQ(TextOf(out), "worker.1 | step 1\nworker.1 | out of memory\n");
}

// The session makes it with the plan in memory.
TEST_F(SessionTest, WritesTheReportThatTheDirectoryGives) {
  Plan plan = SamplePlan({{"scheduler", 1, Ending::kNever}, {"worker", 3}});
  plan.ports = {{"rpc", {0, 0, "scheduler.0"}}};
  plan.roles[1].env = {{"SCHED", "${muster:host_address:0}:${muster:port:rpc}"}};
  plan.processes[2].env = {{"RANK", "1"}};
  for (const int code : {0, 7}) {
    RunRequest request = Request(plan);
    request.run_id = "00000000000" + std::to_string(code);
    const RunOutcome outcome = Run(request, ExitAfterStart({{0, 0}, {1, 0}, {2, code}, {3, 0}}, 4));
    const Result<Report> report = MakeReport(outcome.run_dir);
    ASSERT_TRUE(report) << report.error().front().message;
    EXPECT_EQ(ContentOf(outcome.run_dir + "/report.json"), ReportJson(*report));
    EXPECT_EQ(ContentOf(outcome.run_dir + "/report.txt"), ReportText(*report));
  }
}

TEST_F(SessionTest, ReturnsTheExitCodeOfTheFirstFailureOnRequest) {
  RunRequest request = Request(SamplePlan({{"worker", 1}}));
  request.pass_exit_code = true;
  const RunOutcome outcome = Run(request, ExitAfterStart({{0, 42}}, 1));
  EXPECT_EQ(outcome.exit_code, 42);
  EXPECT_EQ(MakeReport(outcome.run_dir)->exit_code, 42);
}

TEST_F(SessionTest, GivesEachProcessItsEnvironmentPortsAndLog) {
  Plan plan = SamplePlan({{"scheduler", 1, Ending::kNever}, {"worker", 2}});
  plan.ports = {{"rpc", {0, 0, "scheduler.0"}}, {"fixed", {0, 8118, "worker.1"}}};
  plan.roles[1].unset = {"OMPI_*"};
  plan.roles[1].env = {{"SCHED", "${muster:host_address:0}:${muster:port:rpc}"}};
  plan.processes[2].env = {{"RANK", "1"}};
  const RunOutcome outcome = Run(Request(plan), ExitAfterStart({{0, 0}, {1, 0}, {2, 0}}, 3));
  const std::vector<HoldPorts> holds = Heard<HoldPorts>();
  ASSERT_EQ(holds.size(), 1U);
  EXPECT_EQ(holds[0].ports.size(), 2U);
  const std::vector<DefineEnvironment> blocks = Heard<DefineEnvironment>();
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_EQ(blocks[1].variables,
            (std::vector<std::string>{"HOME=/home/me", "SCHED=127.0.0.1:20000", "TOKEN=canary-4711"}));
  const std::vector<StartProcess> starts = Heard<StartProcess>();
  ASSERT_EQ(starts.size(), 3U);
  EXPECT_EQ(starts[0].release_ports, std::vector<std::string>{"rpc"});
  EXPECT_EQ(starts[2].release_ports, std::vector<std::string>{"fixed"});
  EXPECT_EQ(starts[2].environment, 1U);
  EXPECT_EQ(starts[2].env, std::vector<std::string>{"RANK=1"});
  EXPECT_EQ(starts[2].log_path, outcome.run_dir + "/logs/worker.1.0.log");
  EXPECT_EQ(starts[2].cwd, scratch.path());
  EXPECT_EQ(starts[2].search_dirs, std::vector<std::string>{"/opt/muster/bin"});
  EXPECT_NE(ContentOf(outcome.run_dir + "/binding.json").find("\"rpc\":20000"), std::string::npos);
}

TEST_F(SessionTest, ActivatesEveryHostBeforeAnythingElse) {
  Plan plan = SamplePlan({{"worker", 2}}, 2);
  plan.activation = {{ActivationStep::Kind::kSource, "/opt/set_env.sh"}};
  plan.ports = {{"rpc", {1, 0, ""}}};
  plan.roles[0].unset = {"OMPI_*"};
  const RunOutcome outcome = Run(Request(plan), [](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    if (std::holds_alternative<StartProcess>(command)) agent.SayExited(agent.host, 0);
  });
  EXPECT_EQ(outcome.outcome, "ok");
  for (const std::uint32_t host : {0U, 1U}) {
    ASSERT_EQ(Heard<Activate>(host).size(), 1U);
    EXPECT_TRUE(std::holds_alternative<Activate>(transport->agents.at(host)->heard.at(1)))
        << "right after the greeting";
    ASSERT_EQ(Heard<DefineEnvironment>(host).size(), 1U);
    EXPECT_EQ(Heard<DefineEnvironment>(host)[0].variables,
              (std::vector<std::string>{"ACTIVATED=on " + std::to_string(host), "TOKEN=canary-4711"}))
        << "HOME was removed by the activation, OMPI_RANK by the role";
  }
  EXPECT_EQ(EventsOf(outcome)[3], "host_activated");
  const Result<Report> report = MakeReport(outcome.run_dir);
  ASSERT_EQ(report->activations.size(), 2U);
  EXPECT_EQ(report->activations[1].host, "node-1");
  EXPECT_EQ(report->activations[1].set, std::vector<std::string>{"ACTIVATED"});
  EXPECT_NE(ReportText(*report).find("activated node-1 in 400 ms: 1 set, 1 removed"), std::string::npos)
      << ReportText(*report);
}

TEST_F(SessionTest, StartsNothingIfAHostCannotBeActivated) {
  Plan plan = SamplePlan({{"worker", 2}}, 2);
  plan.activation = {{ActivationStep::Kind::kSource, "/opt/set_env.sh"}, {ActivationStep::Kind::kModule, "cuda/12"}};
  plan.ports = {{"rpc", {0, 0, ""}}};
  const RunOutcome outcome = Run(Request(plan), [](ScriptedAgent& agent, const AgentCommand& command) {
    if (const auto* activate = std::get_if<Activate>(&command)) {
      PutFile(activate->log_path, "muster: module cuda/12\nno \x1b such module\n");
      return agent.Say(HostActivated{agent.host, {}, {}, 7, 2, "exit code 1"});
    }
    agent.Obey(command);
  });
  EXPECT_EQ(outcome.outcome, "failed");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.why, "the activation of node-0 failed in step 2 (module cuda/12): exit code 1");
  for (const std::uint32_t host : {0U, 1U}) {
    EXPECT_TRUE(Heard<HoldPorts>(host).empty());
    EXPECT_TRUE(Heard<StartProcess>(host).empty());
  }
  EXPECT_NE(TextOf(err).find("last lines of logs/activation.host0.log:\n    muster: module cuda/12\n    no \\x1b such"),
            std::string::npos)
      << TextOf(err);
}

TEST_F(SessionTest, StoresNoSecretOfAnActivation) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.activation = {{ActivationStep::Kind::kSource, "/opt/set_env.sh"}};
  plan.secrets["token"] = {"TOKEN", ""};
  RunRequest request = Request(plan);
  request.environment.emplace_back("CUDA_VISIBLE_DEVICES=0,1");
  request.environment.emplace_back("NCCL_NOTE=has canary-4711 inside");
  const RunOutcome outcome = Run(request, [](ScriptedAgent& agent, const AgentCommand& command) {
    if (const auto* activate = std::get_if<Activate>(&command)) {
      for (const std::string& entry : activate->environment) EXPECT_FALSE(entry.starts_with("TOKEN=")) << entry;
      return agent.Say(HostActivated{0, {{"URL", "x:canary-4711@y"}, {"MY_KEY", "canary"}}, {}, 7, 0, ""});
    }
    ExitAfterStart({{0, 0}}, 1)(agent, command);
  });
  for (const auto& entry : fs::recursive_directory_iterator(outcome.run_dir)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(ContentOf(entry.path()).find("canary"), std::string::npos) << entry.path();
  }
  const std::string inputs = ContentOf(outcome.run_dir + "/inputs.json");
  EXPECT_NE(inputs.find(R"("CUDA_VISIBLE_DEVICES":"0,1")"), std::string::npos) << inputs;
  EXPECT_NE(inputs.find("\"NCCL_NOTE\":\"(hidden)\""), std::string::npos) << inputs;
  bool given = false;
  const std::vector<DefineEnvironment> blocks = Heard<DefineEnvironment>();
  for (const std::string& variable : blocks.at(0).variables) given = given || variable == "URL=x:canary-4711@y";
  EXPECT_TRUE(given) << "processes get what is hidden from readers";
}

TEST_F(SessionTest, StartsNothingIfAPortCannotBeHeld) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.ports["rpc"] = {0, 8118, ""};
  const RunOutcome outcome = Run(Request(plan), [](ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<HoldPorts>(command)) return agent.Say(PortsHeld{{}, "rpc: 8118 is in use"});
    agent.Obey(command);
  });
  EXPECT_EQ(outcome.outcome, "failed");
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(Heard<StartProcess>().empty());
  const Result<Report> report = MakeReport(outcome.run_dir);
  EXPECT_EQ(report->why, "ports on host0: rpc: 8118 is in use");
  EXPECT_EQ(report->processes[0].verdict, "not_started");
}

TEST_F(SessionTest, PassesOnTheDevicesAndCoresThatTheAgentGave) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.hosts[0].devices = 2;
  plan.device_use.any = true;
  plan.roles[0].cores.kind = CoreUse::Kind::kAuto;
  plan.roles[0].env["SEEN"] = "${muster:devices:0:0,1}";
  for (Process& process : plan.processes) process.devices = {process.index};
  const RunOutcome outcome = Run(Request(plan), ExitAfterStart({{0, 0}, {1, 0}}, 2));
  EXPECT_EQ(outcome.outcome, "ok");
  const auto starts = Heard<StartProcess>();
  ASSERT_EQ(starts.size(), 2U);
  EXPECT_EQ(starts[1].cores, std::vector<std::uint32_t>{1});
  EXPECT_NE(ContentOf(outcome.run_dir + "/binding.json").find("\"devices\":[\"4\",\"5\"]"), std::string::npos);
  const Result<Report> report = MakeReport(outcome.run_dir);
  EXPECT_EQ(report->processes[1].devices, std::vector<std::string>{"5"});
  EXPECT_EQ(report->processes[1].cores, "1");
}

TEST_F(SessionTest, StartsNothingIfADeviceIsInUse) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.hosts[0].devices = 1;
  plan.processes[0].devices = {0};
  const RunOutcome outcome = Run(Request(plan), [](ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<AllocateResources>(command))
      return agent.Say(ResourcesAllocated{{}, {}, {}, "device 0 is held by ann"});
    agent.Obey(command);
  });
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(Heard<StartProcess>().empty());
  EXPECT_EQ(MakeReport(outcome.run_dir)->why, "host0: device 0 is held by ann");
}

TEST_F(SessionTest, ReportsOnceWhichRunHoldsItsDevices) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.hosts[0].devices = 1;
  plan.processes[0].devices = {0};
  RunRequest request = Request(plan);
  request.devices.wait_ms = kWaitForEver;
  std::vector<std::string> reported;
  request.on_wait = [&](const std::string&, const std::string&, const std::string& holders) {
    reported.push_back(holders);
  };
  const RunOutcome outcome = Run(request, [](ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<AllocateResources>(command))
      agent.Say(DevicesAwaited{7, 9, "device 0 is held by \x1b[31mann"});
    agent.Obey(command);
    if (std::holds_alternative<StartProcess>(command)) agent.SayExited(0, 0);
  });
  EXPECT_EQ(outcome.outcome, "ok");
  const auto asked = Heard<AllocateResources>();
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].wait_ms, kWaitForEver);
  EXPECT_EQ(asked[0].owner, "run:3f9a1c2b4d5e");
  const auto records = JournalOf(outcome);
  const auto awaited = std::find_if(records.begin(), records.end(), [](const JournalRecord& record) {
    return std::holds_alternative<DevicesAwaited>(record.entry);
  });
  ASSERT_NE(awaited, records.end());
  EXPECT_EQ(std::get<DevicesAwaited>(awaited->entry), (DevicesAwaited{0, 1, "device 0 is held by \\x1b[31mann"}));
  EXPECT_NE(TextOf(err).find("waiting for 1 device: device 0 is held by \\x1b[31mann\n"), std::string::npos)
      << TextOf(err);
  EXPECT_EQ(reported, (std::vector<std::string>{"device 0 is held by \\x1b[31mann", ""}));
}

TEST_F(SessionTest, RefusesAnAgentThatWaitsUnasked) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.hosts[0].devices = 1;
  plan.processes[0].devices = {0};
  const RunOutcome outcome = Run(Request(plan), [](ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<AllocateResources>(command)) agent.Say(DevicesAwaited{0, 1, "nobody"});
    agent.Obey(command);
    if (std::holds_alternative<StartProcess>(command)) agent.SayExited(0, 0);
  });
  EXPECT_EQ(outcome.outcome, "ok");
  const std::vector<std::string> events = EventsOf(outcome);
  EXPECT_EQ(std::count(events.begin(), events.end(), "devices_awaited"), 0);
}

// Two runs that each hold what the other waits for would deadlock.
TEST_F(SessionTest, WaitsForDevicesHostByHostInOrderOfNames) {
  Plan plan = SamplePlan({{"worker", 3}});
  plan.hosts.resize(3);
  for (std::uint32_t host = 0; host < 3; ++host) {
    plan.hosts[host] = {"host" + std::to_string(host), 1};
    plan.processes[host].host = host;
    plan.processes[host].devices = {0};
  }
  RunRequest request = Request(plan);
  request.devices.wait_ms = 60'000;
  std::vector<std::string> order;
  const RunOutcome outcome = Run(request, [&](ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<Hello>(command)) {
      AgentReady ready;
      ready.host_name = std::string(1, static_cast<char>('c' - agent.host));
      return agent.Say(ready);
    }
    if (std::holds_alternative<AllocateResources>(command)) {
      order.push_back("ask " + std::to_string(agent.host));
      clock->now += 10'000'000'000;
    }
    agent.Obey(command);
    if (const auto* start = std::get_if<StartProcess>(&command)) agent.SayExited(start->process, 0);
  });
  EXPECT_EQ(outcome.outcome, "ok");
  EXPECT_EQ(order, (std::vector<std::string>{"ask 2", "ask 1", "ask 0"}));
  EXPECT_EQ(Heard<AllocateResources>(2)[0].wait_ms, 60'000U);
  EXPECT_EQ(Heard<AllocateResources>(0)[0].wait_ms, 40'000U) << "the time is that of all of them together";
}

TEST_F(SessionTest, RefusesAnAgentThatHeldOtherPorts) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.ports["rpc"] = {0, 0, ""};
  for (const PortsHeld& lie : {PortsHeld{{}, ""}, PortsHeld{{{"web", 20'000}}, ""}, PortsHeld{{{"rpc", 0}}, ""}}) {
    RunRequest request = Request(plan);
    request.run_dir =
        scratch / ("run" + std::to_string(lie.ports.size()) + (lie.ports.empty() ? "" : lie.ports[0].name));
    const RunOutcome outcome = Run(request, [&](ScriptedAgent& agent, const AgentCommand& command) {
      if (std::holds_alternative<HoldPorts>(command)) return agent.Say(lie);
      agent.Obey(command);
    });
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_TRUE(Heard<StartProcess>().empty());
  }
}

TEST_F(SessionTest, NamesTheSpawnStageOfAProcessThatCannotBeStarted) {
  const RunOutcome outcome =
      Run(Request(SamplePlan({{"worker", 2}})), [](ScriptedAgent& agent, const AgentCommand& command) {
        const auto* start = std::get_if<StartProcess>(&command);
        if (start == nullptr || start->process == 0) return agent.Obey(command);
        agent.Say(SpawnFailed{1, 0, "exec", ENOENT, "/no/such", 5});
      });
  EXPECT_EQ(outcome.exit_code, 3);
  const Result<Report> report = MakeReport(outcome.run_dir);
  ASSERT_TRUE(report->first_failure);
  EXPECT_EQ(report->first_failure->spawn_stage, "exec");
  EXPECT_EQ(report->first_failure->why, "could not be started: exec /no/such: No such file or directory");
  EXPECT_EQ(report->processes[0].verdict, "victim");
}

TEST_F(SessionTest, EndsAsLostIfTheAgentIsLost) {
  const RunOutcome outcome =
      Run(Request(SamplePlan({{"worker", 2}})), [](ScriptedAgent& agent, const AgentCommand& command) {
        agent.Obey(command);
        if (agent.alive.size() == 2) agent.Say(AgentLost{0, "was killed by SIGKILL", 2});
      });
  EXPECT_EQ(outcome.outcome, "lost");
  EXPECT_EQ(outcome.exit_code, 3);
  const Result<Report> report = MakeReport(outcome.run_dir);
  EXPECT_EQ(report->why, "the agent of host0 was lost: was killed by SIGKILL");
  EXPECT_EQ(report->processes[1].verdict, "lost");
}

TEST_F(SessionTest, StopsTheOthersIfOneHostCannotBeReached) {
  RunRequest request = Request(SamplePlan({{"worker", 4}}, 2));
  request.hosts = {{"n1", "192.0.2.11", {}}, {"n2", "192.0.2.12", {}}};
  transport = std::make_unique<ScriptedTransport>(
      [](ScriptedAgent& agent, const AgentCommand& command) { agent.Obey(command); });
  transport->unreachable = {1};
  const Result<RunOutcome> outcome = RunPlan(request, *transport);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->outcome, "failed") << "nothing was begun";
  EXPECT_EQ(outcome->exit_code, 3);
  EXPECT_TRUE(Heard<StartProcess>().empty());
  EXPECT_EQ(Heard<Finish>().size(), 1U);
  EXPECT_EQ(MakeReport(outcome->run_dir)->why, "1 of 2 hosts: no route to n2: n2");
}

// Prevents: beside the cause each other host is reported as lost, because its connection was not wanted any more.
TEST_F(SessionTest, DoesNotReportAHostWhoseConnectionAttemptItAbandoned) {
  RunRequest request = Request(SamplePlan({{"worker", 6}}, 3));
  request.hosts = {{"n1", "192.0.2.11", {}}, {"n2", "192.0.2.12", {}}, {"n3", "192.0.2.13", {}}};
  std::vector<std::pair<std::string, std::string>> bad;
  request.on_bad_hosts = [&](const auto& hosts) { bad = hosts; };
  const RunOutcome outcome = Run(request, [](ScriptedAgent& agent, const AgentCommand& command) {
    if (agent.host == 0) {
      agent.Obey(command);
      if (std::holds_alternative<Hello>(command)) agent.Say(AgentLost{0, "the agent was killed", 0});
    } else if (std::holds_alternative<Finish>(command)) {
      agent.Say(AgentUnreachable{"the connection attempt was abandoned", {}, true});
    }
  });
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(MakeReport(outcome.run_dir)->why, "the agent of host0 was lost: the agent was killed");
  const std::string said = TextOf(err);
  EXPECT_NE(said.find("the agent was killed"), std::string::npos) << said;
  EXPECT_EQ(said.find("abandoned"), std::string::npos) << said;
  EXPECT_EQ(bad.size(), 1U) << "the others have not failed";
}

// SIGTERM of an engine to all agents is a notice: the run stops as if this process had got it.
TEST_F(SessionTest, StopsWhenTheAgentsOfAllHostsReportTheSignalOfTheEngine) {
  RunRequest request = Request(SamplePlan({{"worker", 4}}, 2));
  request.hosts = {{"n1", "192.0.2.11", {}}, {"n2", "192.0.2.12", {}}};
  const RunOutcome outcome = Run(request, [](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    if (std::holds_alternative<StartProcess>(command) && agent.alive.size() == 2) agent.Say(AgentSignalled{SIGTERM});
  });
  EXPECT_EQ(outcome.outcome, "stopped");
  EXPECT_EQ(outcome.exit_code, 143);
  EXPECT_TRUE(outcome.stopped_by_engine);
  EXPECT_EQ(MakeReport(outcome.run_dir)->why, "ended by SIGTERM");
  EXPECT_EQ(MakeReport(outcome.run_dir)->receipt.left, 0U);
}

TEST_F(SessionTest, GoesOnWhenOneOfSeveralAgentsReportsASignal) {
  RunRequest request = Request(SamplePlan({{"worker", 4}}, 2));
  request.hosts = {{"n1", "192.0.2.11", {}}, {"n2", "192.0.2.12", {}}};
  const RunOutcome outcome = Run(request, [](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    if (!std::holds_alternative<StartProcess>(command) || agent.alive.size() != 2) return;
    if (agent.host == 0) agent.Say(AgentSignalled{SIGTERM});
    const std::set<ProcessId> alive = agent.alive;
    for (const ProcessId process : alive) agent.SayExited(process, 0);
  });
  EXPECT_EQ(outcome.outcome, "ok");
}

// The signal of an engine may reach the processes before their agent, which may exit before it has had it.
TEST_F(SessionTest, AsksTheEngineIfAProcessWasEndedBySigterm) {
  EngineJob job{{}, "12"};
  job.page.name = "slurm";
  job.page.preempted = EnginePreemptQuery{{"/bin/echo", "JobId=12 PreemptTime=2026-11-27"}, " PreemptTime=", {"None"}};
  for (const int signal : {SIGTERM, SIGSEGV}) {
    RunRequest request = Request(SamplePlan({{"worker", 1}}));
    request.engine = std::make_shared<const EngineJob>(job);
    request.runs_folder = scratch / std::to_string(signal);
    const RunOutcome outcome = Run(request, [signal](ScriptedAgent& agent, const AgentCommand& command) {
      agent.Obey(command);
      if (const auto* start = std::get_if<StartProcess>(&command)) agent.SayExited(start->process, signal, true);
    });
    EXPECT_EQ(outcome.outcome, "failed");
    EXPECT_EQ(outcome.job_end == JobState::kPreempted, signal == SIGTERM);
    EXPECT_EQ(outcome.why.find("slurm job 12 was preempted") != std::string::npos, signal == SIGTERM) << outcome.why;
  }
}

TEST_F(SessionTest, RefusesAnAgentOfAnotherVersion) {
  const RunOutcome outcome =
      Run(Request(SamplePlan({{"worker", 1}})), [](ScriptedAgent& agent, const AgentCommand& command) {
        AgentReady other;
        other.version = 99;
        if (std::holds_alternative<Hello>(command)) agent.Say(other);
      });
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(MakeReport(outcome.run_dir)->why, "the agent of host0 was lost: " + OtherProtocolText("99"));
}

TEST_F(SessionTest, ReportsWhyAnAgentRefused) {
  const RunOutcome outcome =
      Run(Request(SamplePlan({{"worker", 1}})), [](ScriptedAgent& agent, const AgentCommand& command) {
        if (!std::holds_alternative<Hello>(command)) return;
        agent.Say(AgentFailed{"it may not start processes"});
        agent.Say(AgentLost{0, "the agent exited with code 1", 0});
      });
  EXPECT_EQ(MakeReport(outcome.run_dir)->why,
            "the agent of host0 was lost: the agent exited with code 1: it may not start processes");
}

TEST_F(SessionTest, RefusesSeveralHostsOnThisMachineAlone) {
  RunRequest request = Request(SamplePlan({{"worker", 2}}, 2));
  ScriptedTransport local([](ScriptedAgent&, const AgentCommand&) {}, "local");
  const Result<RunOutcome> outcome = RunPlan(request, local);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().front().blame, Blame::kMachine);
  EXPECT_FALSE(fs::exists(scratch / "runs")) << "nothing was made";
}

TEST_F(SessionTest, RefusesAnInvalidPlan) {
  RunRequest request = Request(SamplePlan({{"worker", 1}}));
  request.plan.processes[0].role = 9;
  ScriptedTransport none([](ScriptedAgent&, const AgentCommand&) {});
  ASSERT_FALSE(RunPlan(request, none));
  EXPECT_FALSE(fs::exists(scratch / "runs"));
}

TEST_F(SessionTest, RefusesADirectoryInUse) {
  RunRequest request = Request(SamplePlan({{"worker", 1}}));
  request.run_dir = scratch / "mine";
  const Result<RunDirectory> held = RunDirectory::MakeAt(request.run_dir);
  ASSERT_TRUE(held);
  ScriptedTransport none([](ScriptedAgent&, const AgentCommand&) {});
  const Result<RunOutcome> outcome = RunPlan(request, none);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().front().blame, Blame::kBusy);
  EXPECT_TRUE(none.agents.empty());
}

TEST_F(SessionTest, PassesSecretsOnWithoutStoringThem) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.secrets["token"] = {"TOKEN", ""};
  plan.processes[0].env = {{"HUB_TOKEN", "${muster:secret:token}"}};
  const RunOutcome outcome = Run(Request(plan), ExitAfterStart({{0, 1}}, 1));
  const std::vector<DefineEnvironment> blocks = Heard<DefineEnvironment>();
  const std::vector<StartProcess> starts = Heard<StartProcess>();
  std::string given;
  for (const std::string& variable : blocks.at(0).variables) given += variable + "\n";
  for (const std::string& variable : starts.at(0).env) given += variable + "\n";
  EXPECT_NE(given.find("HUB_TOKEN=canary-4711"), std::string::npos) << given;
  for (const auto& entry : fs::recursive_directory_iterator(outcome.run_dir)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(ContentOf(entry.path()).find("canary"), std::string::npos) << entry.path();
  }
  EXPECT_EQ((TextOf(out) + TextOf(err)).find("canary"), std::string::npos);
}

TEST_F(SessionTest, StartsNothingWithoutItsSecrets) {
  Plan plan = SamplePlan({{"worker", 1}});
  plan.secrets["token"] = {"NO_SUCH_VARIABLE", ""};
  plan.processes[0].env = {{"HUB_TOKEN", "${muster:secret:token}"}};
  ScriptedTransport none([](ScriptedAgent&, const AgentCommand&) {});
  const Result<RunOutcome> outcome = RunPlan(Request(plan), none);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().front().kind, "secret");
}

TEST_F(SessionTest, StopsGracefullyOnTheFirstSignalAndAtOnceOnTheSecond) {
  const RunOutcome outcome =
      Run(Request(SamplePlan({{"worker", 2}})), [](ScriptedAgent& agent, const AgentCommand& command) {
        if (const auto* stop = std::get_if<StopProcesses>(&command); stop != nullptr && stop->grace_ms > 0) {
          ::raise(SIGINT);  // the processes stop slowly and the user does not wait
          return;
        }
        agent.Obey(command);
        if (std::holds_alternative<StartProcess>(command) && agent.alive.size() == 2) ::raise(SIGINT);
      });
  EXPECT_EQ(outcome.outcome, "stopped");
  EXPECT_EQ(outcome.exit_code, 128 + SIGINT);
  const std::vector<StopProcesses> stops = Heard<StopProcesses>();
  ASSERT_EQ(stops.size(), 2U);
  EXPECT_EQ(stops[0].signal, SIGTERM);
  EXPECT_EQ(stops[1].grace_ms, 0U);
  EXPECT_NE(TextOf(err).find("stopping … (Ctrl-C again to kill at once)"), std::string::npos);
  EXPECT_EQ(MakeReport(outcome.run_dir)->processes[0].verdict, "stopped");
}

TEST_F(SessionTest, StopsWhenTerminatedOrHungUp) {
  for (const int signal : {SIGTERM, SIGHUP}) {
    RunRequest request = Request(SamplePlan({{"worker", 1}}));
    request.run_dir = scratch / ("run" + std::to_string(signal));
    const RunOutcome outcome = Run(request, [signal](ScriptedAgent& agent, const AgentCommand& command) {
      agent.Obey(command);
      if (std::holds_alternative<StartProcess>(command)) ::raise(signal);
    });
    EXPECT_EQ(outcome.exit_code, 128 + signal);
  }
}

TEST_F(SessionTest, KeepsIgnoringAnIgnoredHangUp) {
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGHUP, &ignore, &before);
  const RunOutcome outcome =
      Run(Request(SamplePlan({{"worker", 1}})), [](ScriptedAgent& agent, const AgentCommand& command) {
        agent.Obey(command);
        if (!std::holds_alternative<StartProcess>(command)) return;
        ::raise(SIGHUP);
        agent.SayExited(0, 0);
      });
  ::sigaction(SIGHUP, &before, nullptr);
  EXPECT_EQ(outcome.outcome, "ok");
}

TEST_F(SessionTest, ContinuesWhenItsReaderIsGone) {
  int ends[2] = {-1, -1};
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  ::close(ends[0]);
  const UniqueFd closed(ends[1]);
  RunRequest request = Request(SamplePlan({{"worker", 1}}));
  request.console.out = closed.get();
  request.console.err = closed.get();
  const RunOutcome outcome = Run(request, [](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    if (const auto* start = std::get_if<StartProcess>(&command)) {
      PutFile(start->log_path, "to nobody\n");
      agent.SayExited(0, 0);
    }
  });
  EXPECT_EQ(outcome.outcome, "ok");
  EXPECT_TRUE(fs::exists(outcome.run_dir + "/report.json"));
}

TEST_F(SessionTest, GivesServersTheirLingerTimeAndThenStopsThem) {
  Plan plan = SamplePlan({{"server", 2, Ending::kNever, 3'000, 20'000}, {"worker", 1}});
  const RunOutcome outcome = Run(Request(plan), [this](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    if (agent.alive.size() == 3) {
      agent.SayExited(2, 0);
      boost::asio::post(agent.io, [this, &agent] { boost::asio::post(agent.io, [this] { clock->PassUntilAlarm(); }); });
    }
  });
  EXPECT_EQ(outcome.outcome, "ok");
  const std::vector<StopProcesses> stops = Heard<StopProcesses>();
  ASSERT_EQ(stops.size(), 1U);
  EXPECT_EQ(stops[0].grace_ms, 3'000U);
  const Result<Report> report = MakeReport(outcome.run_dir);
  EXPECT_EQ(report->processes[0].verdict, "stopped");
  EXPECT_EQ(report->processes[2].verdict, "ok");
  EXPECT_DOUBLE_EQ(report->timings.linger, 20.0);
}

TEST_F(SessionTest, EndsDespiteAnUnkillableProcessAndASilentAgent) {
  const RunOutcome outcome =
      Run(Request(SamplePlan({{"worker", 2}})), [this](ScriptedAgent& agent, const AgentCommand& command) {
        const bool mute = std::holds_alternative<StopProcesses>(command) || std::holds_alternative<Finish>(command);
        if (mute) {
          boost::asio::post(agent.io, [this] { clock->PassUntilAlarm(); });
          return;
        }
        agent.Obey(command);
        if (std::holds_alternative<StartProcess>(command) && agent.alive.size() == 2) agent.SayExited(0, 1);
      });
  EXPECT_EQ(outcome.outcome, "failed") << "the first cause stays";
  EXPECT_EQ(outcome.exit_code, 1);
  const Result<Report> report = MakeReport(outcome.run_dir);
  EXPECT_EQ(report->processes[1].verdict, "lost");
  EXPECT_EQ(report->receipt.left, 1U);
}

TEST_F(SessionTest, RunsAPlanWithoutProcesses) {
  const RunOutcome outcome = Run(Request(SamplePlan({{"worker", 0}})),
                                 [](ScriptedAgent& agent, const AgentCommand& command) { agent.Obey(command); });
  EXPECT_EQ(outcome.outcome, "ok");
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST_F(SessionTest, ReplacesPortsInFilesAndVariables) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.ports["rpc"] = {0, 0, "worker.0"};
  plan.ports["web"] = {0, 8000, ""};
  plan.roles[0].env["PORT"] = Text("${muster:port:rpc}");
  plan.roles[0].command = {Text("serve"), Text("${muster:port:rpc}")};
  plan.files["files/where"] = {Text("${muster:port:rpc} ${muster:port:web}")};
  plan.files["files/same"] = {Text("${muster:port:web}")};
  const RunOutcome outcome = Run(Request(plan), [](ScriptedAgent& agent, const AgentCommand& command) {
    const auto* start = std::get_if<StartProcess>(&command);
    if (start != nullptr && start->attempt == 1) {
      agent.Say(ProcessStarted{start->process, 1, 2000, 5, 7});
      ProcessExited exited;
      exited.process = start->process;
      exited.attempt = 1;
      agent.Say(exited);
      return;
    }
    agent.Obey(command);
    if (start == nullptr || start->process != 1) return;
    agent.Say(PortTaken{0, 0, "rpc", 20'000, "process 7 (nc)", false, 1});
    agent.SayExited(0, 98);
  });
  EXPECT_EQ(outcome.outcome, "ok") << outcome.why;
  const std::vector<HoldPorts> holds = Heard<HoldPorts>();
  ASSERT_EQ(holds.size(), 2U);
  EXPECT_EQ(holds[0].ports.size(), 2U);
  ASSERT_EQ(holds[1].ports.size(), 1U) << "what the recipe gives stays";
  EXPECT_EQ(holds[1].ports[0].name, "rpc");
  const std::vector<StartProcess> starts = Heard<StartProcess>();
  ASSERT_EQ(starts.size(), 4U);
  EXPECT_EQ(starts[0].argv.back(), "20000");
  EXPECT_EQ(starts[0].own_ports, std::vector<std::string>{"rpc"});
  EXPECT_EQ(starts[0].release_ports, (std::vector<std::string>{"rpc", "web"}));
  EXPECT_EQ(starts[2].argv.back(), "20001");
  const std::vector<DefineEnvironment> blocks = Heard<DefineEnvironment>();
  ASSERT_EQ(blocks.size(), 2U);
  EXPECT_NE(std::find(blocks[1].variables.begin(), blocks[1].variables.end(), "PORT=20001"), blocks[1].variables.end());
  const auto content = [&](const std::string& path) {
    std::ifstream file(outcome.run_dir + "/" + path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_EQ(content("files/where"), "20001 8000");
  EXPECT_EQ(content("files/same"), "8000");
  EXPECT_NE(content("binding.json").find("20001"), std::string::npos);
  const Result<Report> report = MakeReport(outcome.run_dir);
  ASSERT_EQ(report->restarts.size(), 1U);
  EXPECT_EQ(report->restarts[0].why, "worker.0 exited with code 98; port rpc (20000) is taken by process 7 (nc)");
}

TEST_F(SessionTest, ReplacesPortsOnASpareHost) {
  Plan plan = SamplePlan({{"worker", 2}});
  plan.ports["rpc"] = {0, 0, "worker.0"};
  plan.roles[0].command = {Text("serve"), Text("${muster:port:rpc}")};
  plan.roles[0].restart.max = 1;
  plan.roles[0].restart.scope = RestartPolicy::Scope::kJob;
  plan.roles[0].restart.backoff_ms = 0;
  RunRequest request = Request(plan);
  request.hosts = {{"n1", "10.0.0.1", 0}};
  request.spares = {{"n2", "10.0.0.2", 0}};
  const auto exit = [](ScriptedAgent& agent, ProcessId process, std::uint32_t attempt, int code) {
    ProcessExited exited;
    exited.process = process;
    exited.attempt = attempt;
    exited.code = code;
    agent.Say(exited);
  };
  const RunOutcome outcome = Run(request, [this, exit](ScriptedAgent& agent, const AgentCommand& command) {
    const auto* start = std::get_if<StartProcess>(&command);
    const auto* stop = std::get_if<StopProcesses>(&command);
    if (start != nullptr) {
      agent.Say(ProcessStarted{start->process, start->attempt, 1000, 5, 7});
      if (start->attempt == 2) return exit(agent, start->process, 2, 0);
      if (start->process == 0) return;
      if (agent.host == 0) {
        agent.Say(AgentLost{0, "cut", 0});
        return boost::asio::post(agent.io, [this] { clock->PassUntilAlarm(); });
      }
      agent.Say(PortTaken{0, 1, "rpc", 20'000, "process 7 (nc)", false, 1});
      exit(agent, 0, 1, 98);
    } else if (stop != nullptr) {
      for (const ProcessAttempt& each : stop->processes) exit(agent, each.process, each.attempt, 0);
    } else {
      agent.Obey(command);
    }
  });
  EXPECT_EQ(outcome.outcome, "ok") << outcome.why;
  EXPECT_EQ(Heard<HoldPorts>(1).size(), 2U);
  const std::vector<StartProcess> starts = Heard<StartProcess>(1);
  ASSERT_EQ(starts.size(), 4U);
  EXPECT_EQ(starts[0].argv.back(), "20000");
  EXPECT_EQ(starts[2].argv.back(), "20001");
}

TEST_F(SessionTest, CanBeReplayedFromItsJournal) {
  const RunRequest request = Request(SamplePlan({{"server", 1, Ending::kNever}, {"worker", 3}}));
  const RunOutcome outcome = Run(request, ExitAfterStart({{2, 9}, {1, 0}}, 4));
  Supervisor again(request.plan);
  RunEnded recorded;
  for (const JournalRecord& record : JournalOf(outcome)) {
    std::visit(
        [&](const auto& entry) {
          using E = std::decay_t<decltype(entry)>;
          if constexpr (std::is_constructible_v<Event, E>) again.Step(Event(entry), record.at);
          if constexpr (std::is_same_v<E, PlanBound>) again.Begin(record.at);
          if constexpr (std::is_same_v<E, RunEnded>) recorded = entry;
        },
        record.entry);
  }
  EXPECT_EQ(again.phase(), Phase::kDone);
  recorded.descriptors = 0;  // the session counts them, not the supervisor
  recorded.memory_kib = 0;
  EXPECT_EQ(again.Ended(false), recorded);
  EXPECT_EQ(again.first_failure(), (FirstFailure{2, 0}));
}

}  // namespace
}  // namespace muster
