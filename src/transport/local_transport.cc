#include "transport/local_transport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/processor_limit.h"
#include "spawn/leftovers/confinement.h"
#include "spawn/start/spawn_spec.h"
#include "transport/local_channel.h"
#include "transport/own_environment.h"

namespace muster {
namespace {

constexpr int kAgentFd = 3;
constexpr int kGuardFd = 4;

}  // namespace

std::string AgentBeside() { return BesideOwnProgram("muster-agent"); }

LocalTransport::LocalTransport(std::string agent_program, const Without& without, std::vector<std::string> faults,
                               Isolation isolation, std::uint64_t lease_ms)
    : agent_program_(agent_program.empty() ? AgentBeside() : std::move(agent_program)),
      without_(without),
      faults_(std::move(faults)),
      isolation_(isolation),
      lease_ms_(lease_ms),
      launcher_(std::make_shared<Launcher>(MechanismsBut(without))),
      spared_(std::make_shared<std::vector<ProcessIdentity>>()) {
  ::getrlimit(RLIMIT_NOFILE, &descriptors_);
}

Result<std::unique_ptr<UncheckedChannel>> LocalTransport::Open(boost::asio::io_context& io, const TransportHost& host) {
  if (!BecomeSubreaper()) return Fail(SystemError("spawn", "cannot adopt processes that an agent may leave", errno));
  for (const pid_t pid : ChildrenNow()) {
    const auto identity = Identify(pid);
    if (identity && std::find(spared_->begin(), spared_->end(), *identity) == spared_->end()) {
      spared_->push_back(*identity);
    }
  }

  std::array<int, 2> ends = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Fail(SystemError("spawn", "no connection for the agent", errno));
  }
  UniqueFd ours(ends[0]);
  const UniqueFd theirs(ends[1]);
  // In a namespace the agent is guarded by the kernel, and by the process that created the namespace.
  const bool guarded = isolation_ == Isolation::kNone && !without_.Has(Mechanism::kGuard);
  if (guarded && ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Fail(SystemError("spawn", "no pipe for the agent's guard", errno));
  }
  UniqueFd account(guarded ? ends[0] : -1);
  const UniqueFd guard(guarded ? ends[1] : -1);

  SpawnSpec spec;
  spec.argv = {agent_program_, "--fd", std::to_string(kAgentFd)};
  if (isolation_ != Isolation::kNone) {
    spec.argv.insert(spec.argv.end(), {"--isolate", std::string(IsolationName(isolation_))});
  }
  if (guarded) spec.argv.insert(spec.argv.end(), {"--guard", std::to_string(kGuardFd)});
  if (!without_.empty()) spec.argv.insert(spec.argv.end(), {"--without", WithoutText(without_)});
  for (const std::string& fault : faults_) spec.argv.insert(spec.argv.end(), {"--fault", fault});
  spec.env = OwnEnvironment();
  spec.stderr_fd = STDERR_FILENO;
  spec.passed = {{theirs.get(), kAgentFd}};
  if (guarded) spec.passed.push_back({guard.get(), kGuardFd});
  spec.limits = {{RLIMIT_NOFILE, descriptors_}, {RLIMIT_CPU, CallersProcessorLimit()}};
  spec.grouping = Grouping::kOwnSession;
  spec.parent_death_signal = kGuardDeathSignal;
  auto agent = BoostLauncher(*launcher_)(io.get_executor(), spec);
  if (!agent) {
    return Fail(MachineError("spawn", "the agent cannot be started: " + SpawnErrorText(agent.error()),
                             "install muster-agent in the folder of muster itself"));
  }

  auto wire = Wire::Make(io, std::move(ours), UniqueFd(), FrameReader::OfMessages(kMagic));
  if (!wire) return Fail(MachineError("spawn", "the connection to the agent: " + wire.error()));
  if (const auto identity = Identify(agent->pid())) spared_->push_back(*identity);
  return std::make_unique<LocalChannel>(io, host.index, LocalAgent{std::move(*agent), std::move(account)},
                                        std::move(*wire), spared_, lease_ms_);
}

}  // namespace muster
