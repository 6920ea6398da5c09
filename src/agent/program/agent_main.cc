// muster-agent: the program around an Agent. Handles its command line, signals and limits; independent of what agents
// do.
//
// SIGINT and SIGHUP are ignored: the head handles the terminal. SIGTERM, which the kernel also sends when a local head
// exits, means that everything is to be killed.
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <fcntl.h>
#include <getopt.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/host_inspection.h"
#include "agent/parts/process_logs.h"
#include "agent/processes/child_set.h"
#include "agent/program/agent.h"
#include "agent/program/agent_guard.h"
#include "agent/program/dial_head.h"
#include "base/system/fault.h"
#include "base/system/mechanism.h"
#include "base/system/own_process.h"
#include "base/values/number_text.h"
#include "spawn/leftovers/confinement.h"
#include "spawn/leftovers/leftovers.h"
#include "stub/program/stub.h"
#include "wire/connection/wire.h"

namespace muster {
namespace {

// How long a report may wait for those of the starts that are about to follow it.
constexpr std::chrono::milliseconds kGatherTime{5};

constexpr const char* kHelp =
    R"(usage: muster-agent --fd N [--guard N] | --stdio | --dial FILE [--isolate pid] [--without NAMES] [--fault SITE:ACTION:N]
       muster-agent --hold SECONDS | --collapse LOG | --inspect | --stub WORDS …
       muster-agent --help | --version

Starts, watches and kills processes on this host for muster. muster starts its agents itself; there is no
need to run one by hand.

  --fd N     communicate over descriptor N, a connected socket
  --stdio    communicate over standard input and output, as through ssh
  --dial FILE
             connect to the head that wrote FILE, and communicate with it once both have proved that they know
             FILE's token; FILE must belong to the caller and be unreadable for others
  --held     with --stdio: end the pod in whose container this is called, which `--hold` holds
  --hold SECONDS
             the first process of a pod's container: wait so long for an agent with --held, and exit when it has ended
  --guard N  with --fd: start a guard process, which writes the number of processes it killed to pipe N
  --isolate pid
             run as the init of a new PID namespace, which the kernel kills with it
  --without NAMES
             disable these kernel mechanisms: see muster run --without; also $MUSTER_WITHOUT
  --fault SITE:ACTION:N
             inject a fault, for tests: see muster docs faults; repeatable
  --collapse LOG
             used by agents: cut off the beginning of a log that exceeds its limit; LOG is
             relative to the folder open at descriptor 3
  --inspect  used by agents: read a request from standard input, write properties of the host to standard output
  --stub     must be first: replace a process in a rehearsal, like muster stub
  --help     show this text
  --version  show the version

example: ssh host.example muster-agent --stdio

With --stdio, --dial or --guard a second process guards the first: if the agent is killed, it kills the
remaining processes.
If the connection closes, or on SIGTERM, all started processes are killed. Exit code: 0 finished, 1 invalid
command, 2 usage error, 3 connection to the head lost.
)";

struct Options {
  bool help = false;
  bool version = false;
  bool stdio = false;
  std::string dial;  // a file
  bool inspect = false;
  bool held = false;
  std::optional<std::uint32_t> hold;  // seconds
  std::optional<int> fd;
  std::optional<int> guard;
  std::string collapse;  // path of a log
  Isolation isolation = Isolation::kNone;
  Without without = WithoutByEnvironment();
};

std::optional<int> OpenDescriptor(std::string_view text) {
  const auto number = ParseNumber<int>(text);
  return number && ::fcntl(*number, F_GETFD) >= 0 ? number : std::nullopt;
}

std::optional<Options> ParseOptions(int argc, char** argv) {
  const std::array<option, 15> known = {{{"fd", required_argument, nullptr, 'f'},
                                         {"dial", required_argument, nullptr, 'd'},
                                         {"stdio", no_argument, nullptr, 's'},
                                         {"help", no_argument, nullptr, 'h'},
                                         {"version", no_argument, nullptr, 'v'},
                                         {"isolate", required_argument, nullptr, 'i'},
                                         {"without", required_argument, nullptr, 'w'},
                                         {"fault", required_argument, nullptr, 'x'},
                                         {"collapse", required_argument, nullptr, 'c'},
                                         {"inspect", no_argument, nullptr, 'l'},
                                         {"guard", required_argument, nullptr, 'g'},
                                         {"hold", required_argument, nullptr, 'o'},
                                         {"held", no_argument, nullptr, 'e'},
                                         {nullptr, 0, nullptr, 0}}};
  Options options;
  for (int chosen = 0; (chosen = ::getopt_long(argc, argv, "", known.data(), nullptr)) != -1;) {
    switch (chosen) {
      case 'f':
      case 'g': {
        std::optional<int>& number = chosen == 'f' ? options.fd : options.guard;
        number = OpenDescriptor(optarg);
        if (!number) {
          std::fprintf(stderr, "muster-agent: --%s %s: not an open descriptor\n", chosen == 'f' ? "fd" : "guard",
                       optarg);
          return std::nullopt;
        }
        break;
      }
      case 'd':
        options.dial = optarg;
        break;
      case 's':
        options.stdio = true;
        break;
      case 'h':
        options.help = true;
        break;
      case 'v':
        options.version = true;
        break;
      case 'l':
        options.inspect = true;
        break;
      case 'e':
        options.held = true;
        break;
      case 'o':
        options.hold = ParseNumber<std::uint32_t>(optarg);
        if (!options.hold) {
          std::fprintf(stderr, "muster-agent: --hold %s: not a number of seconds\n", optarg);
          return std::nullopt;
        }
        break;
      case 'c':
        options.collapse = optarg;
        break;
      case 'i': {
        const auto isolation = ParseIsolation(optarg);
        if (!isolation) {
          std::fprintf(stderr, "muster-agent: --isolate %s: the only value is pid\n", optarg);
          return std::nullopt;
        }
        options.isolation = *isolation;
        break;
      }
      case 'w': {
        const auto without = ParseWithout(optarg);
        if (!without) {
          std::fprintf(stderr, "muster-agent: --without %s: there is no %s\n", optarg, without.error().c_str());
          return std::nullopt;
        }
        options.without.Add(*without);
        break;
      }
      case 'x': {
        const auto fault = ParseFault(optarg);
        if (!fault) {
          std::fprintf(stderr, "muster-agent: %s\n", fault.error().c_str());
          return std::nullopt;
        }
        ArmFault(*fault);
        break;
      }
      default:
        return std::nullopt;
    }
  }
  const int modes = int{options.help} + int{options.version} + int{options.stdio} + int{options.fd.has_value()} +
                    int{!options.collapse.empty()} + int{options.inspect} + int{!options.dial.empty()} +
                    int{options.hold.has_value()};
  if (modes != 1 || optind != argc || (options.guard && !options.fd) || (options.held && !options.stdio)) {
    std::fputs(
        "muster-agent: give one of --fd N, --stdio, --dial FILE, --hold SECONDS, --collapse LOG, --inspect, "
        "--help, --version\n",
        stderr);
    return std::nullopt;
  }
  return options;
}

// Moves the descriptor to another number, and opens /dev/null under the old one.
UniqueFd TakeAway(int standard) {
  UniqueFd taken(::fcntl(standard, F_DUPFD_CLOEXEC, 3));
  const UniqueFd null(OpenNull());
  if (null) ::dup2(null.get(), standard);
  return taken;
}

// Must be called before entering a namespace with another /proc.
std::string OwnProgram() {
  std::array<char, PATH_MAX> path = {};
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  return {path.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

void PrepareSignals() {
  // A limit on the size of files is an error of write(2), EFBIG, and one on processor time is left to the kernel.
  for (const int signal : {SIGPIPE, SIGINT, SIGHUP, SIGXFSZ, SIGXCPU}) std::signal(signal, SIG_IGN);
  for (const int signal : {SIGCHLD, SIGTERM}) std::signal(signal, SIG_DFL);
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  sigaddset(&watched, SIGTERM);
  sigprocmask(SIG_SETMASK, &watched, nullptr);
}

int Main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == kStubOption) return StubMain({argv + 2, argv + argc});
  const auto options = ParseOptions(argc, argv);
  if (!options) return 2;
  if (options->help) return std::fputs(kHelp, stdout) < 0 ? kAgentFailed : 0;
  if (options->version) return std::puts("muster-agent " MUSTER_VERSION) < 0 ? kAgentFailed : 0;
  if (!options->collapse.empty()) return CollapseLog({kCollapseDirectory, options->collapse}) ? 0 : kAgentFailed;

  if (options->inspect) return InspectHost(STDIN_FILENO, STDOUT_FILENO, MUSTER_VERSION) ? 0 : kAgentFailed;

  if (options->hold) return HoldPod(std::chrono::seconds(*options->hold));
  if (options->held) {
    if (const std::string_view error = JoinHolder(); !error.empty()) {
      std::fprintf(stderr, "muster-agent: %s\n", error.data());
      return kAgentFailed;
    }
  }

  const std::string program = OwnProgram();
  DialedHead head;
  UniqueFd tie;  // a second descriptor of the connection, to be closed last
  if (!options->dial.empty()) {
    auto dialed = DialHead(options->dial);
    if (!dialed) {
      std::fprintf(stderr, "muster-agent: %s\n", dialed.error().c_str());
      return kAgentFailed;
    }
    head = std::move(*dialed);
    tie.reset(::fcntl(head.connection.get(), F_DUPFD_CLOEXEC, 3));
  }
  AgentGuard guard;
  if (!options->fd || options->guard) {
    if (!options->without.Has(Mechanism::kGuard)) {
      guard = BeGuarded(kAgentFailed, {.kill_count = options->guard.value_or(-1), .connection = tie.get()});
    }
    if (guard) tie.release();  // it is the guard's now
  }
  // A new session, so that signals of a terminal do not reach it. EPERM: it already leads a session or group, created
  // by the head or sshd.
  if (::setsid() < 0 && errno != EPERM) return kAgentFailed;
  PrepareSignals();
  std::optional<PidNamespace> space;
  std::string refusal;
  if (options->isolation == Isolation::kPid) {
    if (auto entered = PidNamespace::Enter()) {
      space.emplace(std::move(*entered));
    } else {
      refusal = NamespaceErrorText(entered.error());
    }
  }
  if (!BecomeSubreaper()) {
    std::fprintf(stderr, "muster-agent: cannot adopt orphans: %s\n", std::strerror(errno));
    return kAgentFailed;
  }
  rlimit descriptors = {};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  rlimit raised = descriptors;
  raised.rlim_cur = raised.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &raised);

  UniqueFd in;
  UniqueFd out;
  if (options->fd) {
    in.reset(*options->fd);
    ::fcntl(in.get(), F_SETFD, FD_CLOEXEC);
  } else {
    in = TakeAway(STDIN_FILENO);
    out = TakeAway(STDOUT_FILENO);
  }
  if (head.connection) {
    in = std::move(head.connection);
    out.reset();
  }
  boost::asio::io_context io(1);
  auto wire = Wire::Make(io, std::move(in), std::move(out), FrameReader());
  if (!wire) {
    std::fprintf(stderr, "muster-agent: the connection: %s\n", wire.error().c_str());
    return kAgentFailed;
  }
  wire->get()->GatherFor(kGatherTime);
  std::atomic<bool> partial = false;
  wire->get()->MarkPartial(guard ? *guard.partial() : partial);
  AgentProcess process(descriptors, program, options->without);
  Agent agent(io, std::move(*wire), process, std::move(space));
  agent.BeGuardedBy(guard);
  if (!options->dial.empty()) agent.SetAddress(head.address);
  if (!options->dial.empty() || options->held) agent.ReportTermination();
  const int code = refusal.empty() ? agent.Run() : agent.Refuse(refusal);
  if (tie) SayLastWord(tie.get(), {.code = code}, 0, partial);
  return code;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::FillStandardDescriptors() ? muster::Main(argc, argv) : muster::kAgentFailed;
}
