#include "evaluator/conversation.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

#include <poll.h>
#include <sys/epoll.h>

#include "base/system/clock.h"
#include "base/values/signal_name.h"
#include "base/values/units.h"
#include "evaluation/exchange/evaluation_archive.h"
#include "evaluator/child.h"
#include "wire/archive/archive.h"

namespace muster {
namespace {

constexpr std::size_t kMostQuestions = 20'000;
// Frames that one call takes, so that the parent can do other work in between.
constexpr int kFramesAtOnce = 100;
// How long an evaluator that has closed its socket may take to exit, if there is no pidfd to wait on.
constexpr std::uint64_t kEndPatience = 100'000'000;

constexpr const char* kLastLine = "a recipe only describes; this line was reached last";

std::string SecondsText(std::uint64_t ms) { return DurationText(static_cast<double>(ms) / 1000); }

}  // namespace

Conversation::Conversation(std::unique_ptr<EvaluatorProcess> evaluator, EvaluatorStart start)
    : evaluator_(std::move(evaluator)), start_(std::move(start)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

void Conversation::Ask(std::string request, Answer answer, const EvaluationLimits& limits, bool last) {
  request_ = std::move(request);
  sent_ = false;
  answer_ = std::move(answer);
  limits_ = limits;
  last_ = last;
  questions_ = 0;
  deadline_ns_ = MonotonicNowNs() + limits.wall_ms * 1'000'000;
  WaitFor(Waits::kForRead);
  Diagnostics failed;
  if (!Begun(failed)) return;  // Continue() reports the failure
  WaitFor(outgoing_.Flush(evaluator_->socket()) ? Waits::kForRead : Waits::kForWrite);
}

bool Conversation::Begun(Diagnostics& failed) {
  if (sent_) return true;
  EvaluatorProcess::Birth birth = evaluator_->AskBirth();
  if (birth == EvaluatorProcess::Birth::kFailed) {  // the fork server is gone: starts one directly
    auto started = EvaluatorProcess::Start(start_);
    if (!started) {
      failed = std::move(started.error());
      return false;
    }
    WaitFor(Waits::kNothing);
    evaluator_ = *std::move(started);
    WaitFor(Waits::kForRead);
    birth = evaluator_->AskBirth();
  }
  if (birth == EvaluatorProcess::Birth::kAwaited) return false;
  evaluator_->AllowProcessorTime(limits_.cpu_seconds);
  outgoing_.Add(FrameTag::kRequest, request_);
  request_ = {};
  return sent_ = true;
}

std::optional<Result<std::string>> Conversation::Continue() {
  if (evaluator_ == nullptr) return Fail(MachineError("evaluator", "there is no evaluator any more"));
  auto result = Go();
  if (!result && MonotonicNowNs() >= deadline_ns_) result = Fail(NoAnswer(ReadStatus::kTimeout));
  if (result && (last_ || !*result)) EndEvaluator();
  return result;
}

void Conversation::EndEvaluator() {
  if (evaluator_ == nullptr) return;
  last_reached_ = evaluator_->LastReached();
  WaitFor(Waits::kNothing);
  evaluator_.reset();
}

std::optional<Result<std::string>> Conversation::Go() {
  Diagnostics failed;
  if (!Begun(failed)) {
    if (failed.empty()) return std::nullopt;
    return Fail(std::move(failed));
  }
  for (int frames = 0; frames < kFramesAtOnce; ++frames) {
    // An evaluator that does not read its answers is sent no more, and its questions are not read.
    if (!outgoing_.Flush(evaluator_->socket())) {
      WaitFor(Waits::kForWrite);
      return std::nullopt;
    }
    if (waits_ != Waits::kForEnd) WaitFor(Waits::kForRead);
    Frame frame;
    const ReadStatus read =
        waits_ == Waits::kForEnd ? ReadStatus::kClosed : incoming_.Next(evaluator_->socket(), frame);
    if (read == ReadStatus::kTimeout) return std::nullopt;
    if (read == ReadStatus::kBroken) return Fail(NoAnswer(read));
    if (read == ReadStatus::kClosed) {
      WaitFor(Waits::kForEnd);
      if (evaluator_->pidfd() < 0) {
        const bool ends = evaluator_->Ends(std::min(deadline_ns_, MonotonicNowNs() + kEndPatience));
        return Fail(NoAnswer(ends ? read : ReadStatus::kTimeout));
      }
      if (!evaluator_->Ends(0)) return std::nullopt;
      return Fail(NoAnswer(read));
    }
    if (auto result = TakeFrame(std::move(frame))) return result;
  }
  // The evaluator waits for the reply to the last frame: its socket becomes readable only after that reply.
  WaitFor(outgoing_.Flush(evaluator_->socket()) ? Waits::kForRead : Waits::kForWrite);
  return std::nullopt;
}

std::optional<Result<std::string>> Conversation::TakeFrame(Frame frame) {
  if (frame.tag == FrameTag::kAnswer) return std::move(frame.payload);
  const auto question = frame.tag == FrameTag::kQuestion ? Unarchived<Question>(frame.payload) : std::nullopt;
  if (!question) return Fail(NoAnswer(ReadStatus::kBroken));
  const Result<Reply> reply = answer_(*question);
  if (!reply) {
    Diagnostics problems = reply.error();
    for (Diagnostic& problem : problems) problem.place = evaluator_->LastReached();
    return Fail(std::move(problems));
  }
  if (question->WantsReply()) outgoing_.Add(FrameTag::kReply, Archived(*reply));
  if (++questions_ < kMostQuestions) return std::nullopt;
  return Fail(
      Error("limit", evaluator_->LastReached(),
            "the recipe requested more than " + std::to_string(kMostQuestions) + " files, variables and printed lines",
            kLastLine));
}

Diagnostic Conversation::Unreadable() {
  EndEvaluator();
  return Error("evaluator", last_reached_, "the evaluator's answer is not one; the recipe may have corrupted it");
}

// Why an evaluator exited without an answer.
Diagnostic Conversation::NoAnswer(ReadStatus read) {
  const Place last = evaluator_->LastReached();
  if (read == ReadStatus::kBroken) return Unreadable();
  WaitFor(Waits::kNothing);
  const EndedProcess ended = evaluator_->End();
  if (read == ReadStatus::kTimeout) {
    return Error("limit", last, "the recipe did not finish within " + SecondsText(limits_.wall_ms), kLastLine);
  }
  if (ended.signalled && ended.code == SIGXCPU) {
    return Error("limit", last,
                 "the recipe took more than " + SecondsText(limits_.cpu_seconds * 1000) + " of processor time",
                 kLastLine);
  }
  if (ended.signalled) {
    const int signal = ended.code;
    if (signal == SIGSYS)
      return Error("forbidden", last, "the recipe made the evaluator try something that is forbidden to it");
    if (signal == SIGKILL) return Error("limit", last, "the evaluator was killed, for example because memory ran out");
    return Error("crash", last, "the recipe crashed the evaluator (" + SignalName(signal) + ")",
                 "this line was reached last");
  }
  if (ended.code == kOfAnotherVersion) {
    return MachineError("evaluator", "muster-evaluator is of another version than muster",
                        "both belong together: install muster again");
  }
  return MachineError("evaluator",
                      "the evaluator ended without an answer (exit code " + std::to_string(ended.code) + ")");
}

void Conversation::WaitFor(Waits waits) {
  if (waits == waits_ || evaluator_ == nullptr) return;
  const auto at = [this](Waits what) { return what == Waits::kForEnd ? evaluator_->pidfd() : evaluator_->socket(); };
  const bool other = waits_ == Waits::kNothing || at(waits) != at(waits_);
  if (other && waits_ != Waits::kNothing) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, at(waits_), nullptr);
  waits_ = waits;
  if (waits == Waits::kNothing || at(waits) < 0) return;
  epoll_event event{};
  event.events = waits == Waits::kForWrite ? EPOLLOUT : EPOLLIN;
  epoll_ctl(epoll_.get(), other ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, at(waits), &event);
}

void Conversation::Wait(std::uint64_t until_ns) const {
  // Waits on the descriptor, not on epoll: with thousands of questions two wake-ups for each would be too slow.
  pollfd watched{epoll_.get(), POLLIN, 0};
  if (evaluator_ != nullptr && waits_ != Waits::kNothing) {
    const int fd = waits_ == Waits::kForEnd ? evaluator_->pidfd() : evaluator_->socket();
    if (fd >= 0) watched = {fd, static_cast<short>(waits_ == Waits::kForWrite ? POLLOUT : POLLIN), 0};
  }
  const std::uint64_t now = MonotonicNowNs();
  const std::uint64_t left = until_ns > now ? until_ns - now : 0;
  const timespec time{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
  ::ppoll(&watched, 1, &time, nullptr);
}

Result<std::string> AwaitAnswer(Conversation& conversation, const std::function<void(unsigned seconds)>& on_wait) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t begin = MonotonicNowNs();
  unsigned seconds = 0;
  for (;;) {
    if (auto result = conversation.Continue()) return *std::move(result);
    const std::uint64_t deadline = conversation.deadline_ns();
    const std::uint64_t next = begin + (seconds + 1) * kSecond;
    const bool tells = on_wait && next < deadline;
    conversation.Wait(tells ? next : deadline);
    if (tells && MonotonicNowNs() >= next) on_wait(++seconds);
  }
}

}  // namespace muster
