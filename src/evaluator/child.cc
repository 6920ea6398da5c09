#include "evaluator/child.h"

#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/sockets.h"
#include "base/system/unique_fd.h"
#include "evaluation/exchange/evaluation_archive.h"
#include "evaluator/evaluator_frames.h"
#include "lua/state/own_files.h"
#include "spawn/start/forks.h"

namespace muster {
namespace {

// landlock(7): network and scope fields are newer than Debian 12's header, so the layout of ABI 6 is defined here; the
// size passed to the kernel is that of its ABI.
struct LandlockRules {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};

// Denies every kind of access that the kernel's Landlock supports: without a rule nothing is allowed.
bool DenyFilesAndNetwork() {
  const auto abi = static_cast<int>(syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION));
  if (abi < 1) return false;  // no Landlock in this kernel, or disabled
  constexpr std::uint64_t kFsByAbi[] = {(1ULL << 13) - 1, (1ULL << 14) - 1, (1ULL << 15) - 1, (1ULL << 15) - 1,
                                        (1ULL << 16) - 1};
  LandlockRules rules{};
  rules.handled_access_fs = kFsByAbi[abi > 5 ? 4 : abi - 1];
  if (abi >= 4) rules.handled_access_net = 3;  // bind and connect TCP
  if (abi >= 6) rules.scoped = 3;              // abstract sockets and signals
  const std::size_t size = abi >= 6 ? sizeof rules : abi >= 4 ? 2 * sizeof(std::uint64_t) : sizeof(std::uint64_t);
  const auto ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, size, 0));
  if (ruleset < 0) return false;
  const bool restricted = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  close(ruleset);
  return restricted;
}

struct FilterDeleter {
  void operator()(void* filter) const { seccomp_release(filter); }
};

// Memory may never become executable: an evaluator runs only its own code.
int AllowWithoutExec(scmp_filter_ctx filter, int call) {
  return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
}

using Filter = std::unique_ptr<void, FilterDeleter>;

// The error number, or 0.
int MakeFilter(Filter& filter) {
  filter.reset(seccomp_init(SCMP_ACT_KILL_PROCESS));
  if (!filter) return ENOMEM;
  // As a binary tree: the kernel runs the filter once for every system call number when it is installed (to cache calls
  // that are always allowed), and with a list that takes half the time of locking down.
  if (const int error = seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2); error != 0) return -error;
  for (const int call :
       {SCMP_SYS(read),           SCMP_SYS(write),        SCMP_SYS(recvfrom),     SCMP_SYS(sendto),
        SCMP_SYS(munmap),         SCMP_SYS(mremap),       SCMP_SYS(madvise),      SCMP_SYS(brk),
        SCMP_SYS(futex),          SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(sigaltstack),    SCMP_SYS(exit),         SCMP_SYS(exit_group),   SCMP_SYS(clock_gettime),
        SCMP_SYS(getrandom),      SCMP_SYS(getpid),       SCMP_SYS(gettid),       SCMP_SYS(sched_yield),
#ifdef MUSTER_SANITIZED  // UndefinedBehaviorSanitizer tests through a pipe whether memory is readable
        SCMP_SYS(pipe),           SCMP_SYS(pipe2),        SCMP_SYS(close),
#endif
        SCMP_SYS(restart_syscall)}) {
    if (const int error = seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0); error != 0) return -error;
  }
  if (const int error = AllowWithoutExec(filter.get(), SCMP_SYS(mmap)); error != 0) return -error;
  if (const int error = AllowWithoutExec(filter.get(), SCMP_SYS(mprotect)); error != 0) return -error;
  return 0;
}

// An error number, or 0.
int InstallFilter() {
  Filter filter;
  if (const int error = MakeFilter(filter); error != 0) return error;
  return -seccomp_load(filter.get());
}

// Installs a filter made by LockdownFilter().
int InstallFilter(std::string_view bytes) {
  std::vector<sock_filter> instructions(bytes.size() / sizeof(sock_filter));
  std::memcpy(instructions.data(), bytes.data(), instructions.size() * sizeof(sock_filter));
  const sock_fprog program = {static_cast<unsigned short>(instructions.size()), instructions.data()};
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0 ? 0 : errno;
}

// The lowest descriptors are all in use or below the limit, so no new descriptor can be opened. Not zero, because
// poll(2) takes no more entries than the limit.
int DenyDescriptors() {
  for (int fd = 0; fd <= kEvaluatorSocket; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) return errno;
  }
  constexpr rlim_t kUsed = kEvaluatorSocket + 1;
  const rlimit descriptors = {kUsed, kUsed};
  const rlimit processes = {0, 0};
  if (setrlimit(RLIMIT_NOFILE, &descriptors) != 0 || setrlimit(RLIMIT_NPROC, &processes) != 0) return errno;
  return 0;
}

}  // namespace

std::string LockdownFilter() {
  Filter filter;
  if (MakeFilter(filter) != 0) return {};
  // A pipe, because files may not grow here. It holds the longest filter that a kernel accepts (BPF_MAXINSNS).
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  const UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  if (seccomp_export_bpf(filter.get(), to.get()) != 0) return {};
  to.reset();
  std::string bytes(BPF_MAXINSNS * sizeof(sock_filter), '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < bytes.size(); size += static_cast<std::size_t>(got)) {
    got = read(from.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0) return {};
  }
  bytes.resize(size);
  return bytes;
}

Lockdown LockDown(const Without& without, std::string_view filter) {
  Lockdown lockdown;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    lockdown.error = std::string("no_new_privs: ") + std::strerror(errno);
    return lockdown;
  }
  lockdown.means.push_back("no_new_privs");
  if (!without.Has(Mechanism::kLandlock) && DenyFilesAndNetwork()) lockdown.means.push_back("landlock");
  // Without seccomp in the kernel or container, the other mechanisms and the limits remain; the parent is informed.
  const int error = without.Has(Mechanism::kSeccomp) ? ENOSYS
                    : filter.empty()                 ? InstallFilter()
                                                     : InstallFilter(filter);
  if (error == 0) {
    lockdown.means.push_back("seccomp");
  } else if (error != EINVAL && error != ENOSYS) {
    lockdown.error = std::string("seccomp: ") + std::strerror(error);
  } else if (const int refused = DenyDescriptors(); refused == 0) {
    lockdown.means.push_back("fd-limit");
  } else {
    lockdown.error = std::string("descriptor limit: ") + std::strerror(refused);
  }
  return lockdown;
}

namespace {

constexpr int kProtocolBroken = 70;
constexpr int kNiceOfForks = 10;

// Sends a question to the parent and waits for the reply; exits if the parent is gone. A printed line needs no reply:
// on a busy machine waiting for one would cost two context switches for each of thousands of lines.
Reply AskParent(const Question& question) {
  Frame frame;
  if (question.text.size() > kMaxQuestion) return {false, "the name is longer than 64 KiB"};
  if (!WriteFrame(kEvaluatorSocket, FrameTag::kQuestion, Archived(question))) _exit(kProtocolBroken);
  if (!question.WantsReply()) return {};
  if (ReadFrame(kEvaluatorSocket, frame, 0) != ReadStatus::kFrame || frame.tag != FrameTag::kReply) {
    _exit(kProtocolBroken);
  }
  auto reply = Unarchived<Reply>(frame.payload);
  if (!reply) _exit(kProtocolBroken);
  return *std::move(reply);
}

// The initialisation of every evaluator and fork server.
void SettleIn() {
  if (const char* folder = std::getenv("MUSTER_LUA_PATH"); folder != nullptr) OverrideEmbeddedSources(folder);
  setlocale(LC_ALL, "");  // the parent sets LC_ALL only if a plan is to be made under another locale
}

LastPlace* TakePage(int fd) {
  void* page = mmap(nullptr, sizeof(LastPlace), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return page == MAP_FAILED ? nullptr : static_cast<LastPlace*>(page);
}

EvaluationAnswer Refusal(const std::string& why) {
  EvaluationAnswer answer;
  answer.diagnostics.push_back(MachineError(
      "evaluator", "the recipe was not evaluated: the evaluator could not lock itself down (" + why + ")"));
  return answer;
}

EvaluationRequest NextRequest() {
  Frame frame;
  const ReadStatus read = ReadFrame(kEvaluatorSocket, frame, 0);
  if (read == ReadStatus::kClosed) _exit(0);
  if (read != ReadStatus::kFrame || frame.tag != FrameTag::kRequest) _exit(kProtocolBroken);
  auto request = Unarchived<EvaluationRequest>(frame.payload);
  if (!request) _exit(kProtocolBroken);
  return *std::move(request);
}

[[noreturn]] void Serve(Engine& engine, const Lockdown& lockdown) {
  for (;;) {
    const EvaluationRequest request = NextRequest();
    EvaluationAnswer answer = lockdown.error.empty() ? engine.Evaluate(request) : Refusal(lockdown.error);
    answer.lockdown = lockdown.means;
    WriteFrame(kEvaluatorSocket, FrameTag::kAnswer, Archived(answer));
    // No destructors and no finalizers: no code of the recipe may run any more, and the kernel frees the
    // memory.
    if (request.last) _exit(0);
  }
}

// The socket and the page of the next evaluator to fork. Exits if there will be no further one.
std::array<UniqueFd, 2> NextEnds() {
  for (;;) {
    auto ends = TakeDescriptors<2>(kEvaluatorSocket);
    if (!ends) _exit(0);
    if ((*ends)[0] && (*ends)[1]) return *std::move(ends);
  }
}

}  // namespace

void EvaluatorMain(OpenedInterpreter opened) {
  SettleIn();
  Engine engine(AskParent, StateLimits{}, TakePage(kEvaluatorPage), opened);
  Serve(engine, LockDown(WithoutByEnvironment()));
}

void ForkServerMain(bool schema_too, bool foreground, OpenedInterpreter opened) {
  // Evaluating ahead has lower priority than running processes.
  if (!foreground) setpriority(PRIO_PROCESS, 0, kNiceOfForks);
  SettleIn();
  const pid_t parent = getppid();
  Engine engine(AskParent, StateLimits{}, nullptr, opened);
  engine.Prepare(schema_too);
  const Without without = WithoutByEnvironment();
  const std::string filter = LockdownFilter();
  for (;;) {
    std::array<UniqueFd, 2> ends = NextEnds();
    // If the fork fails, the parent that waits for the evaluator sees its socket closed.
    if (ForkSibling(SIGKILL, parent) != 0) continue;
    if (dup2(ends[0].get(), kEvaluatorSocket) < 0) _exit(kProtocolBroken);
    ends[0].reset();
    engine.NoteAt(TakePage(ends[1].release()));
    const std::int32_t pid = getpid();
    if (send(kEvaluatorSocket, &pid, sizeof pid, MSG_NOSIGNAL) != sizeof pid) _exit(kProtocolBroken);
    Serve(engine, LockDown(without, filter));
  }
}

}  // namespace muster
