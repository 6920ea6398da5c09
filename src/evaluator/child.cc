#include "evaluator/child.h"

#include <clocale>
#include <cstdlib>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "evaluator/channel.h"
#include "evaluator/lockdown.h"
#include "lua/embedded_source.h"
#include "lua/engine.h"
#include "lua/evaluation_archive.h"

namespace muster {
namespace {

constexpr int kProtocolBroken = 70;

// The parent answers every question; without an answer there is nobody left to evaluate for.
Reply AskParent(const Question& question) {
  Frame frame;
  if (!WriteFrame(kEvaluatorSocket, FrameTag::kQuestion, Archived(question)) ||
      ReadFrame(kEvaluatorSocket, frame, 0) != ReadStatus::kFrame || frame.tag != FrameTag::kReply) {
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

EvaluationAnswer Refusal(const std::string& why) {
  EvaluationAnswer answer;
  answer.diagnostics.push_back(MachineError(
      "evaluator", "the recipe was not evaluated: the evaluator could not lock itself down (" + why + ")"));
  return answer;
}

}  // namespace

void EvaluatorMain(OpenedInterpreter opened) {
  KeepMemory();
  const auto next_request = [] {
    Frame frame;
    const ReadStatus read = ReadFrame(kEvaluatorSocket, frame, 0);
    if (read == ReadStatus::kClosed) _exit(0);
    if (read != ReadStatus::kFrame || frame.tag != FrameTag::kRequest) _exit(kProtocolBroken);
    auto request = Unarchived<EvaluationRequest>(frame.payload);
    if (!request) _exit(kProtocolBroken);
    return *std::move(request);
  };
  EvaluationRequest request = next_request();

  void* page = mmap(nullptr, sizeof(LastPlace), PROT_READ | PROT_WRITE, MAP_SHARED, kEvaluatorPage, 0);
  LastPlace* last_place = page == MAP_FAILED ? nullptr : static_cast<LastPlace*>(page);
  close(kEvaluatorPage);
  if (const char* folder = std::getenv("MUSTER_LUA_PATH"); folder != nullptr) OverrideEmbeddedSources(folder);

  setlocale(LC_ALL, "");  // the parent gives LC_ALL only where a plan is to be made under another locale
  const Lockdown lockdown = LockDown(WithoutByEnvironment());
  Engine engine(AskParent, StateLimits{}, last_place, opened);
  for (;;) {
    EvaluationAnswer answer = lockdown.error.empty() ? engine.Evaluate(request) : Refusal(lockdown.error);
    answer.lockdown = lockdown.means;
    WriteFrame(kEvaluatorSocket, FrameTag::kAnswer, Archived(answer));
    // No destructors and no finalizers: nothing that the recipe left behind may run, and memory is the kernel's to
    // free.
    if (request.last) _exit(0);
    request = next_request();
  }
}

}  // namespace muster
