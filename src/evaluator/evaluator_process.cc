#include "evaluator/evaluator_process.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/sockets.h"
#include "base/values/abnormal_exit.h"
#include "base/values/number_text.h"
#include "evaluation/exchange/evaluation_archive.h"
#include "evaluator/child.h"
#include "spawn/start/forks.h"
#include "spawn/start/reap.h"
#include "spawn/start/spawn_spec.h"
#include "wire/archive/archive.h"

namespace muster {

SharedPage::SharedPage() : fd_(memfd_create("muster-place", MFD_CLOEXEC)) {
  if (fd_.get() < 0 || ftruncate(fd_.get(), sizeof(LastPlace)) != 0) return;
  void* page = mmap(nullptr, sizeof(LastPlace), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (page != MAP_FAILED) place_ = new (page) LastPlace;
}

SharedPage::~SharedPage() {
  if (place_ != nullptr) munmap(place_, sizeof(LastPlace));
}

std::shared_ptr<SharedPage> SharedPages::Take() {
  std::unique_ptr<SharedPage> page;
  if (idle_->empty()) {
    page = std::make_unique<SharedPage>();
  } else {
    page = std::move(idle_->back());
    idle_->pop_back();
    page->Clear();
  }
  const auto give_back = [to = std::weak_ptr(idle_)](SharedPage* given) {
    std::unique_ptr<SharedPage> back(given);
    const auto idle = to.lock();
    if (idle && back->ok()) idle->push_back(std::move(back));
  };
  return {page.release(), give_back};
}

namespace {

constexpr std::uint64_t kBirthPatience = 2'000'000'000;  // for a pending fork, at low priority

}  // namespace

Result<EvaluatorEndpoints> EvaluatorEndpoints::Make(std::shared_ptr<SharedPage> page) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    return Fail(SystemError("evaluator", "the evaluator cannot be started: socketpair", errno));
  }
  EvaluatorEndpoints ends{UniqueFd(sockets[0]), UniqueFd(sockets[1]), std::move(page)};
  if (!ends.page->ok()) {
    return Fail(SystemError("evaluator", "the evaluator cannot be started: shared page", errno));
  }
  return ends;
}

Result<Spawned> SpawnEvaluator(const EvaluatorStart& start, const char* mode, const std::vector<std::string>& words,
                               int socket, int page) {
  // Memory in huge pages, where the kernel offers them to those that ask: page faults are a sixth of the time of a
  // large evaluation, and a small one takes as long as without (the glibc manual, "Memory Allocation Tunables").
  std::vector<std::string> variables = {"GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
  for (const char* name : {"MUSTER_LUA_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE"}) {
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  }
  if (!start.locale.empty()) variables.push_back("LC_ALL=" + start.locale);
  if (!start.without.empty()) variables.push_back(std::string(kWithoutVariable) + "=" + WithoutText(start.without));
  SpawnSpec spec;
  spec.argv = {start.program.empty() ? BesideOwnProgram("muster-evaluator") : start.program, mode, MUSTER_VERSION};
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.env = EnvPointers(variables);
  spec.stderr_fd = STDERR_FILENO;  // only messages of the interpreter or of a sanitizer are written there
  spec.passed = {{socket, kEvaluatorSocket}};
  if (page >= 0) spec.passed.push_back({page, kEvaluatorPage});
  spec.grouping = Grouping::kOwnGroup;  // the parent handles Ctrl-C
  spec.parent_death_signal = SIGKILL;
  const auto limit = [](rlim_t value) { return rlimit{value, value}; };
  spec.limits = {{RLIMIT_CORE, limit(0)}, {RLIMIT_FSIZE, limit(0)}, {RLIMIT_STACK, limit(start.stack_bytes)}};
#ifndef MUSTER_SANITIZED  // sanitizers reserve terabytes of address space
  spec.limits.push_back({RLIMIT_AS, limit(start.memory_bytes)});
#endif
  Launcher launcher(MechanismsBut(start.without));
  auto spawned = launcher.Spawn(spec);
  if (spawned) return *std::move(spawned);
  return Fail(MachineError(
      "evaluator", "the evaluator cannot be started: " + SpawnErrorText(spawned.error()),
      spawned.error().stage == SpawnStage::kExec ? "muster-evaluator belongs into the folder of muster itself" : ""));
}

Result<std::unique_ptr<EvaluatorProcess>> EvaluatorProcess::Start(const EvaluatorStart& start) {
  auto ends = EvaluatorEndpoints::Make();
  if (!ends) return Fail(ends.error());
  auto spawned = SpawnEvaluator(start, kEvaluatorArgument, {}, ends->theirs.get(), ends->page->fd());
  if (!spawned) return Fail(spawned.error());
  ends->theirs.reset();
  return std::make_unique<EvaluatorProcess>(*std::move(ends), *std::move(spawned));
}

EvaluatorProcess::EvaluatorProcess(EvaluatorEndpoints ends, Mechanisms mechanisms)
    : ends_(std::move(ends)), mechanisms_(mechanisms), birth_(Birth::kAwaited) {}

EvaluatorProcess::EvaluatorProcess(EvaluatorEndpoints ends, Spawned spawned)
    : ends_(std::move(ends)), spawned_(std::move(spawned)) {}

EvaluatorProcess::Birth EvaluatorProcess::AskBirth() {
  if (birth_ != Birth::kAwaited) return birth_;
  // Its pid in one piece, sent before it has received any recipe.
  std::int32_t pid = 0;
  const ssize_t got = recv(socket(), &pid, sizeof pid, MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return birth_;
  auto child = got == sizeof pid ? AdoptChild(pid, mechanisms_) : std::nullopt;
  birth_ = child ? Birth::kAlive : Birth::kFailed;
  if (child) spawned_ = *std::move(child);
  return birth_;
}

EndedProcess EvaluatorProcess::End() {
  if (ended_) return *ended_;
  const std::uint64_t deadline = MonotonicNowNs() + kBirthPatience;
  while (AskBirth() == Birth::kAwaited && AwaitFrame(socket(), deadline) != ReadStatus::kTimeout) {
  }
  if (birth_ != Birth::kAlive) return EndedProcess{.code = -1};
  KillChild(spawned_.ref());
  ended_ = ReapAtEnd(spawned_.ref());
  return *ended_;
}

void EvaluatorProcess::AllowProcessorTime(std::uint64_t seconds) const {
  clockid_t clock = 0;
  timespec used{};
  rlimit own{};
  if (clock_getcpuclockid(spawned_.pid, &clock) != 0 || clock_gettime(clock, &used) != 0 ||
      getrlimit(RLIMIT_CPU, &own) != 0) {
    return;
  }
  const rlimit limit{std::min<rlim_t>(own.rlim_max, static_cast<rlim_t>(used.tv_sec) + seconds), own.rlim_max};
  prlimit(spawned_.pid, RLIMIT_CPU, &limit, nullptr);
}

EvaluatorForkServer::~EvaluatorForkServer() { Lose(); }

void EvaluatorForkServer::Lose() {
  control_.reset();
  if (!process_) return;
  KillChild(process_->ref());
  ReapAtEnd(process_->ref());
  process_.reset();
}

bool EvaluatorForkServer::Ask(const EvaluatorEndpoints& ends) {
  if (process_ && HasEnded(process_->ref())) Lose();
  if (!process_) {
    if (started_ == kMaxForkServers) return false;
    ++started_;
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) return false;
    control_.reset(sockets[0]);
    const UniqueFd theirs(sockets[1]);
    std::vector<std::string> words;
    if (schema_too_) words.emplace_back(kWithSchema);
    if (foreground_) words.emplace_back(kInForeground);
    auto spawned = SpawnEvaluator(start_, kForkServerArgument, words, theirs.get(), -1);
    if (!spawned) return false;
    process_ = *std::move(spawned);
  }
  return PassDescriptors<2>(control_.get(), {ends.theirs.get(), ends.page->fd()});
}

Result<std::unique_ptr<EvaluatorProcess>> EvaluatorForkServer::Fork() {
  auto ends = EvaluatorEndpoints::Make(pages_.Take());
  if (!ends) return Fail(ends.error());
  if (!Ask(*ends)) return EvaluatorProcess::Start(start_);
  ends->theirs.reset();
  return std::make_unique<EvaluatorProcess>(*std::move(ends), mechanisms_);
}

namespace {

constexpr std::size_t kMaxQuestions = 20'000;
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
  if (++questions_ < kMaxQuestions) return std::nullopt;
  return Fail(
      Error("limit", evaluator_->LastReached(),
            "the recipe requested more than " + std::to_string(kMaxQuestions) + " files, variables and printed lines",
            kLastLine));
}

Diagnostic Conversation::Unreadable() {
  EndEvaluator();
  return Error("evaluator", last_reached_, "the evaluator sent an invalid answer; the recipe may have corrupted it");
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
                        "both belong together, and this muster is " MUSTER_VERSION
                        ": compare muster-evaluator --version, and install "
                        "muster again");
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
