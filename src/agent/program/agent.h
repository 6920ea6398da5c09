// The agent: does on one host what the head says over a wire, and sees to it that nothing it started
// outlives either of them.
//
// Knows the protocol, processes and ports; knows no plan and no policy. It lives in one thread and one loop.
// It is over when the head says Finish, when the head is lost, when it is told SIGTERM, or when it is sent
// something it does not understand; in every case each process it started, and each orphan of those, has
// been killed and reaped before Run() returns.
//
// For a sweep it stands: it starts agents below itself, one per run (sub_agents.h), and nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <sys/resource.h>

#include "agent/code/code_cache.h"
#include "agent/devices/allotment.h"
#include "agent/dump/dump_taker.h"
#include "agent/host/host_activation.h"
#include "agent/host/host_folder.h"
#include "agent/host/host_inspection.h"
#include "agent/host/path_trial.h"
#include "agent/host/run_folder.h"
#include "agent/logs/log_pipes.h"
#include "agent/logs/log_times.h"
#include "agent/logs/log_trims.h"
#include "agent/processes/child_set.h"
#include "agent/processes/end_witness.h"
#include "agent/processes/environment_block.h"
#include "agent/processes/given_ports.h"
#include "agent/processes/memory_kills.h"
#include "agent/processes/pty_set.h"
#include "agent/processes/ready_watch.h"
#include "agent/program/agent_guard.h"
#include "agent/program/beats.h"
#include "agent/program/sub_agents.h"
#include "base/system/self_count.h"
#include "spawn/guard/pid_namespace.h"
#include "spawn/leftovers/cgroup.h"
#include "spawn/start/launcher.h"
#include "wire/connection/wire.h"
#include "wire/protocol/protocol.h"

namespace muster {

// What Run() returns and muster-agent exits with.
inline constexpr int kAgentFinished = 0;
inline constexpr int kAgentFailed = 1;    // a command it refuses, or processes that cannot be ended
inline constexpr int kAgentLostHead = 3;  // the connection ended without Finish, or SIGTERM

// What a process that is an agent has, and keeps when it is the agent of one run after the other.
struct AgentProcess {
  // RLIMIT_NOFILE of the processes that it starts; the path of muster-agent.
  AgentProcess(rlimit child_descriptors_limit, std::string program_path, const Without& without_mechanisms)
      : child_descriptors(child_descriptors_limit),
        program(std::move(program_path)),
        without(without_mechanisms),
        launcher(MechanismsBut(without)) {}

  rlimit child_descriptors;
  std::string program;
  Without without;
  Launcher launcher;
  MemoryKills memory_kills;
};

class Agent {
 public:
  // SIGKILL has to show effect within this; what is left then is named in AgentFailed.
  static constexpr std::chrono::seconds kKillPatience{5};

  // The process must be a subreaper, have SIGCHLD and SIGTERM blocked in its only thread and SIGPIPE ignored, and
  // outlive this. With a `space` it is the init of that namespace, and the pids that it tells are those outside.
  Agent(boost::asio::io_context& io, std::shared_ptr<Wire> wire, AgentProcess& process,
        std::optional<PidNamespace> space = {});
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // It is below another agent (sub_agents.h), with descriptors up to `descriptors` and no more: what can be known from
  // that, or be asked of the other, it does not look for, and it begins without the magic. Before Run().
  void BeBelow(std::uint32_t descriptors) { below_ = descriptors; }

  // Its guard, if there is one; before Run().
  void BeGuardedBy(const AgentGuard& guard) { guard_ = guard; }

  int Run();
  // The same for an agent that cannot do its work: all it does is to tell its head why.
  int Refuse(const std::string& why);

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void OnFrame(const std::string& payload);
  void Do(Hello& command);
  void Do(DefineEnvironment& command);
  void Do(HoldPorts& command);
  void Do(StartProcess& command);
  void Do(StopProcesses& command);
  void Do(Finish& command);
  void Do(AskOutput& command);
  void Do(TakeDump& command);
  void Do(PtyBytes& typed);
  void Do(PtyTaken& taken);
  void Do(PtyResized& resized);
  void Do(Allot& command);
  void Do(Activate& command);
  void Do(HeadBeat& beat);
  void Do(PlaceFile& file);
  void Do(FilesKept& answer);
  void Do(Inspect& command);
  void Do(OpenPaths& command);
  void Do(TryPaths& command);
  void Do(ClosePaths& command);
  void Do(OfferCode& command);
  void Do(CodeBytes& bytes);
  void Do(OpenAgent& command);
  void Do(ToAgent& said);
  void Do(CloseAgent& command);

  tl::expected<ProcessStarted, SpawnError> Start(const StartProcess& command, const EnvironmentBlock& block);
  void WatchReady(const StartProcess& command, const EnvironmentBlock& block);
  void StartProbe(const ReadyWatch::Key& key);
  void OnProbeExited(const ProcessExited& event);
  void OnDumped(ProcessDumped told);
  // The stdout and stderr of a process.
  tl::expected<UniqueFd, SpawnError> OpenLog(const StartProcess& command);
  tl::expected<void, SpawnError> CheckDescriptors(const StartProcess& command) const;
  void Send(const AgentMessage& message);

  // Whether `pid` is a process that is started and reaped here, and not an orphan.
  bool Owns(pid_t pid) const {
    return children_.Owns(pid) || probes_.Owns(pid) || dumps_.Owns(pid) || activation_.Owns(pid) ||
           log_trims_.Owns(pid) || inspection_.Owns(pid) || subs_.Owns(pid);
  }

  void WatchSignals();
  void OnSignals();
  void ReapOrphans();
  void ReapOrphansSoon();
  // Ends at one blow what is in the cgroup, if there is one.
  void KillCgroupOfProcesses();
  SelfCount Count() const;
  // Ends what agents below this one left behind when they were lost.
  KillReport EndOrphans();
  // Ends what attempts that have ended left behind and that carries their MUSTER_PROCESS.
  void EndLeftovers();
  void EndLeftoversSoon();
  void OnExited(const ProcessExited& event);

  void AwaitEnds();
  void FinishIfEmpty();
  void Fail(const std::string& why);
  // Ends everything at once and the loop with it; the wire gets `last`, if any, before that.
  void EndAtOnce(int exit_code, const AgentMessage* last);

  boost::asio::io_context& io_;
  std::shared_ptr<Wire> wire_;
  AgentProcess& process_;
  Launcher& launcher_;
  std::optional<PidNamespace> space_;
  std::optional<Cgroup> cgroup_;
  AgentGuard guard_;
  ChildSet children_;
  ChildSet probes_;  // commands that find out whether a process is ready, under the numbers of that process
  ReadyWatch ready_;
  DumpTaker dumps_;
  HostActivation activation_;
  HostInspection inspection_;
  LogTimes log_times_;
  LogPipes log_pipes_;
  LogTrims log_trims_;
  PtySet ptys_;
  EndWitness witness_;
  WatchedFd signals_;
  Timer patience_;
  Beats beats_;
  RunFolder run_folder_;
  HostFolder folder_;
  PathTrial paths_;
  CodeCache code_;
  SubAgents subs_;

  std::string refusal_;  // why it does nothing
  bool greeted_ = false;
  bool allotted_ = false;
  bool finishing_ = false;
  bool sending_files_ = false;
  bool files_sent_ = false;
  bool files_kept_ = false;  // by the head
  bool over_ = false;
  bool reap_pending_ = false;
  int exit_code_ = kAgentLostHead;
  bool logs_collapse_ = false;  // those with a limit; else they are written through pipes
  std::uint32_t host_ = 0;
  std::size_t own_descriptors_ = 0;  // open before the first start
  std::optional<std::uint32_t> below_;
  std::map<std::uint32_t, EnvironmentBlock> environments_;
  GivenPorts ports_;
  Allotment allotment_;
  // What a probe needs of its process's start.
  struct Probe {
    std::vector<std::string> argv;
    std::vector<std::string> search_dirs;
    std::string cwd;
    std::vector<std::string> env;  // "name=value"
  };
  std::map<ReadyWatch::Key, Probe> probe_starts_;
  // What is kept of a running process.
  struct Running {
    pid_t pid = 0;  // as the agent itself knows it
    std::string log_path;
    FileBelow log;
    std::string mark;         // "MUSTER_PROCESS=…", or empty
    std::string search_path;  // its PATH
  };
  std::map<ReadyWatch::Key, Running> running_;
  std::map<pid_t, pid_t> outer_pids_;  // in a namespace, when a dump was begun: pids inside and outside
  std::set<std::string> ended_marks_;  // of attempts whose leftovers have not been looked for yet
  Timer leftovers_;

  std::uint32_t started_ = 0;
  std::uint32_t reaped_ = 0;
  std::uint32_t adopted_ = 0;
  std::set<std::string> means_;
};

}  // namespace muster
