#include "evaluator/child.h"

#include <cstdlib>

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

EvaluationAnswer Refusal(const std::string& why) {
  EvaluationAnswer answer;
  answer.diagnostics.push_back(MachineError(
      "evaluator", "the recipe was not evaluated: the evaluator could not lock itself down (" + why + ")"));
  return answer;
}

}  // namespace

void EvaluatorMain() {
  Frame frame;
  if (ReadFrame(kEvaluatorSocket, frame, 0) != ReadStatus::kFrame || frame.tag != FrameTag::kRequest) {
    _exit(kProtocolBroken);
  }
  const auto request = Unarchived<EvaluationRequest>(frame.payload);
  if (!request) _exit(kProtocolBroken);

  void* page = mmap(nullptr, sizeof(LastPlace), PROT_READ | PROT_WRITE, MAP_SHARED, kEvaluatorPage, 0);
  LastPlace* last_place = page == MAP_FAILED ? nullptr : static_cast<LastPlace*>(page);
  close(kEvaluatorPage);
  if (const char* folder = std::getenv("MUSTER_LUA_PATH"); folder != nullptr) OverrideEmbeddedSources(folder);

  const Lockdown lockdown = LockDown();
  const EvaluationAnswer answer =
      lockdown.error.empty() ? Evaluate(*request, AskParent, StateLimits{}, last_place) : Refusal(lockdown.error);
  WriteFrame(kEvaluatorSocket, FrameTag::kAnswer, Archived(answer));
  // No destructors and no finalizers: nothing that the recipe left behind may run.
  _exit(0);
}

}  // namespace muster
