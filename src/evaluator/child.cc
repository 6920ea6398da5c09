#include "evaluator/child.h"

#include <array>
#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdlib>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/pass_descriptors.h"
#include "base/system/unique_fd.h"
#include "evaluation/exchange/evaluation_archive.h"
#include "evaluator/evaluator_frames.h"
#include "evaluator/lockdown.h"
#include "lua/engine/engine.h"
#include "lua/state/embedded_source.h"
#include "spawn/start/fork_sibling.h"

namespace muster {
namespace {

constexpr int kProtocolBroken = 70;
constexpr int kNiceOfForks = 10;

// Sends a question to the parent and waits for the reply; exits if the parent is gone. A printed line needs no reply:
// on a busy machine waiting for one would cost two context switches for each of thousands of lines.
Reply AskParent(const Question& question) {
  Frame frame;
  if (question.text.size() > kLongestQuestion) return {false, "the name is longer than 64 KiB"};
  if (!WriteFrame(kEvaluatorSocket, FrameTag::kQuestion, Archived(question))) _exit(kProtocolBroken);
  if (!question.WantsReply()) return {};
  if (ReadFrame(kEvaluatorSocket, frame, 0) != ReadStatus::kFrame || frame.tag != FrameTag::kReply) {
    _exit(kProtocolBroken);
  }
  auto reply = Unarchived<Reply>(frame.payload);
  if (!reply) _exit(kProtocolBroken);
  return *std::move(reply);
}

// Keeps freed memory in the process: requesting memory from the kernel and returning it in small pieces takes an eighth
// of the time of a plan of thousands of processes.
void KeepMemory() {
  mallopt(M_TOP_PAD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

// The initialisation of every evaluator and fork server.
void SettleIn() {
  KeepMemory();
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

void ForkServerMain(bool schema_too, OpenedInterpreter opened) {
  // Evaluating ahead has lower priority than running processes.
  setpriority(PRIO_PROCESS, 0, kNiceOfForks);
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
