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

// The parent answers every question that wants a reply; without one there is nobody left to evaluate for. A printed
// line wants none: on a busy machine thousands of them would each wait for two processes to have their turn.
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

// What this process frees may stay with it: asking the kernel for memory and giving it back in small pieces is an
// eighth of the time of a plan of thousands of processes.
void KeepMemory() {
  mallopt(M_TOP_PAD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

// What every evaluator and stem begins with.
void SettleIn() {
  KeepMemory();
  if (const char* folder = std::getenv("MUSTER_LUA_PATH"); folder != nullptr) OverrideEmbeddedSources(folder);
  setlocale(LC_ALL, "");  // the parent gives LC_ALL only where a plan is to be made under another locale
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
    // No destructors and no finalizers: nothing that the recipe left behind may run, and memory is the kernel's to
    // free.
    if (request.last) _exit(0);
  }
}

// The socket and the page of an evaluator that is wanted. Nothing left to do: ends the process.
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
  // What is evaluated ahead gives way to what runs: it takes the time that nobody else wants.
  setpriority(PRIO_PROCESS, 0, kNiceOfForks);
  SettleIn();
  const pid_t parent = getppid();
  Engine engine(AskParent, StateLimits{}, nullptr, opened);
  engine.Prepare(schema_too);
  const Without without = WithoutByEnvironment();
  const std::string filter = LockdownFilter();
  for (;;) {
    std::array<UniqueFd, 2> ends = NextEnds();
    // Whoever waits for an evaluator that cannot be forked sees its socket closed.
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
