// An evaluator process from the parent's side: its start or its fork from a fork server, the page that it shares with
// its parent, the conversation of requests, questions and answers over its socket, and its end. Independent of the
// content of requests and answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/system/mechanism.h"
#include "base/system/unique_fd.h"
#include "evaluation/exchange/evaluation.h"
#include "evaluation/exchange/limits.h"
#include "evaluator/evaluator_frames.h"
#include "muster/result.h"
#include "spawn/start/launcher.h"

namespace muster {

// A page of memory that an evaluator and its parent share.

// The page in which the evaluator records the last line that it reached.
class SharedPage {
 public:
  SharedPage();
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage();

  int fd() const { return fd_.get(); }
  bool ok() const { return place_ != nullptr; }
  Place Read() const { return place_->Read(); }
  void Clear() { new (place_) LastPlace; }

 private:
  UniqueFd fd_;
  LastPlace* place_ = nullptr;
};

// Shared pages of former evaluators, kept for reuse.

// Pages for one evaluator after the other: a page is reused once the evaluator that wrote to it is gone.
class SharedPages {
 public:
  // May be not ok(). Returned to the pool when released, unless this object is gone by then.
  std::shared_ptr<SharedPage> Take();

 private:
  using Idle = std::vector<std::unique_ptr<SharedPage>>;
  std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
};

// An evaluator process from the parent's side: its start, the socket and the page that it shares with its parent, and
// its end. The conversation below defines what is sent over the socket.

struct EvaluationLimits {
  std::uint64_t wall_ms = 10'000;
  std::uint64_t cpu_seconds = 10;
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // address space; the interpreter has its own, lower cap
  std::uint64_t stack_bytes = std::uint64_t{256} << 20;
};

// How to start an evaluator, independent of its requests.
struct EvaluatorStart {
  std::string program = {};  // path of muster-evaluator; empty: the one beside this program
  std::string locale = {};   // as in setlocale(3); empty: "C"
  Without without = {};
  std::uint64_t memory_bytes = EvaluationLimits{}.memory_bytes;
  std::uint64_t stack_bytes = EvaluationLimits{}.stack_bytes;

  bool operator==(const EvaluatorStart&) const = default;
};

// The ends of an evaluator's socket, and its page, created before the process.
struct EvaluatorEndpoints {
  UniqueFd ours;
  UniqueFd theirs;
  std::shared_ptr<SharedPage> page;

  static Result<EvaluatorEndpoints> Make(std::shared_ptr<SharedPage> page = std::make_shared<SharedPage>());
};

// Starts muster-evaluator in this mode (child.h) with limits, in its own process group, killed when this process exits;
// `socket` becomes its descriptor kEvaluatorSocket, and `page`, unless negative, kEvaluatorPage.
Result<Spawned> SpawnEvaluator(const EvaluatorStart& start, const char* mode, const std::vector<std::string>& words,
                               int socket, int page);

// Killed and reaped by the destructor at the latest.
class EvaluatorProcess {
 public:
  // Starts a process; returns once its program runs.
  static Result<std::unique_ptr<EvaluatorProcess>> Start(const EvaluatorStart& start);
  // An evaluator that a fork server is about to fork; it sends its pid itself.
  EvaluatorProcess(EvaluatorEndpoints ends, Mechanisms mechanisms);
  EvaluatorProcess(EvaluatorEndpoints ends, Spawned spawned);
  EvaluatorProcess(const EvaluatorProcess&) = delete;
  EvaluatorProcess& operator=(const EvaluatorProcess&) = delete;
  ~EvaluatorProcess() { End(); }

  enum class Birth : std::uint8_t { kAwaited, kAlive, kFailed };
  // Whether the process exists yet. Its socket must not be used before, and becomes readable when the state changes.
  Birth AskBirth();

  int socket() const { return ends_.ours.get(); }
  int pidfd() const { return spawned_.pidfd.get(); }
  Place LastReached() const { return ends_.page->Read(); }

  // Kills it if it still runs; returns its exit status. Waits for a pending fork.
  EndedProcess End();
  // Limits the processor time from now on, in seconds: SIGXCPU first, which identifies this limit, and SIGKILL at the
  // hard limit of the parent; if the time used so far is unknown, only the wall-clock limit applies.
  void AllowProcessorTime(std::uint64_t seconds) const;
  // Whether it exits by itself before the deadline (monotonic).
  bool Ends(std::uint64_t deadline_ns) const { return EndsBy(spawned_.ref(), deadline_ns); }

 private:
  EvaluatorEndpoints ends_;
  Mechanisms mechanisms_;
  Birth birth_ = Birth::kAlive;
  Spawned spawned_;
  std::optional<EndedProcess> ended_;
};

// The fork server of evaluators: a process that has loaded the interpreter and muster's own Lua files, knows no recipe,
// and forks each requested evaluator. A forked evaluator is as fresh as one that was started, has the same lockdown and
// limits, and is a child of this process; loading is paid once.
//
// The fork server and its evaluators run at a lower priority (nice 10), because they work ahead of the running
// processes, unless somebody waits for them (`foreground`). This is the parent's side. Without a fork server evaluators
// are started directly.
class EvaluatorForkServer {
 public:
  // Nothing is started before the first evaluator is requested. `schema_too`: also loads the schema of the context API,
  // which saves time for recipes with a context (Plan::mindspore) and costs a little for others.
  explicit EvaluatorForkServer(EvaluatorStart start, bool schema_too = false, bool foreground = false)
      : start_(std::move(start)), schema_too_(schema_too), foreground_(foreground) {}
  EvaluatorForkServer(const EvaluatorForkServer&) = delete;
  EvaluatorForkServer& operator=(const EvaluatorForkServer&) = delete;
  ~EvaluatorForkServer();  // evaluators that it forked keep running

  const EvaluatorStart& start() const { return start_; }

  // An evaluator that may not exist yet (EvaluatorProcess::AskBirth). Does not wait for it.
  Result<std::unique_ptr<EvaluatorProcess>> Fork();

  // Pid of the fork server; -1 if there is none.
  pid_t pid() const { return process_ ? process_->pid : -1; }

 private:
  bool Ask(const EvaluatorEndpoints& ends);
  void Lose();

  // Limits restarts: a fork server that has crashed may crash again.
  static constexpr int kMaxForkServers = 3;

  EvaluatorStart start_;
  bool schema_too_;
  bool foreground_;
  Mechanisms mechanisms_ = MechanismsBut(start_.without);
  UniqueFd control_;
  std::optional<Spawned> process_;
  SharedPages pages_;
  int started_ = 0;
};

// The conversation between an evaluator process and its parent: a request of any kind, the evaluator's questions, its
// answer. Does not block: the caller waits on a descriptor until Continue() can make progress.
//
// Depends on frames and processes, not on the content of requests and answers.

class Conversation {
 public:
  // Answers the evaluator's questions during a request. An error ends the evaluation.
  using Answer = std::function<Result<Reply>(const Question&)>;

  // `start`: how to start another evaluator if the given one cannot be forked.
  Conversation(std::unique_ptr<EvaluatorProcess> evaluator, EvaluatorStart start);
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Begins a request; the previous one must have been answered. Of `limits` only those of time are used, for this
  // request. After the `last` one the evaluator exits.
  void Ask(std::string request, Answer answer, const EvaluationLimits& limits, bool last);

  // Becomes readable (poll(2)) when Continue() can make progress; constant during the lifetime of this object.
  int fd() const { return epoll_.get(); }
  // Waits for fd() to become readable, or until that time (monotonic), for callers that do nothing else meanwhile.
  void Wait(std::uint64_t until_ns) const;
  // When Continue() must be called even if nothing is readable (monotonic, base/system/clock.h); it then fails with the
  // limit.
  std::uint64_t deadline_ns() const { return deadline_ns_; }

  // Makes progress without waiting. Nothing: not finished yet. Else the bytes of the answer, or an error; after an
  // error there is no evaluator any more, and the places in it are those that the evaluator claims, unchecked.
  std::optional<Result<std::string>> Continue();

  // The error for an answer that cannot be decoded; ends the evaluator.
  Diagnostic Unreadable();

 private:
  enum class Waits : std::uint8_t { kNothing, kForRead, kForWrite, kForEnd };

  std::optional<Result<std::string>> Go();
  // Sends the request once the evaluator exists; false if it does not yet, or if it cannot be started (`failed`).
  bool Begun(Diagnostics& failed);
  std::optional<Result<std::string>> TakeFrame(Frame frame);
  Diagnostic NoAnswer(ReadStatus read);
  void WaitFor(Waits waits);
  void EndEvaluator();

  std::unique_ptr<EvaluatorProcess> evaluator_;
  EvaluatorStart start_;
  UniqueFd epoll_;
  IncomingFrames incoming_;
  OutgoingFrames outgoing_;
  Waits waits_ = Waits::kNothing;
  std::string request_;  // until it has been sent
  bool sent_ = false;
  Answer answer_;
  EvaluationLimits limits_;
  bool last_ = false;
  std::uint64_t deadline_ns_ = 0;
  std::size_t questions_ = 0;
  Place last_reached_;  // by the last evaluator, after its end
};

// Waits for the answer. `on_wait` (may be empty) is called after each second.
Result<std::string> AwaitAnswer(Conversation& conversation, const std::function<void(unsigned seconds)>& on_wait);

// A request to an evaluator that has not been answered yet, and the conversion of its answer.

template <class T>
class Pending {
 public:
  using Decode = std::function<Result<T>(Result<std::string> bytes)>;

  // `decode` converts the answer's bytes, or the error, to the result.
  Pending(std::shared_ptr<Conversation> conversation, Decode decode)
      : conversation_(std::move(conversation)), decode_(std::move(decode)) {}

  // As in Conversation.
  int fd() const { return conversation_->fd(); }
  std::uint64_t deadline_ns() const { return conversation_->deadline_ns(); }
  // Must not be called again after it has returned a result.
  std::optional<Result<T>> Continue() {
    auto bytes = conversation_->Continue();
    if (!bytes) return std::nullopt;
    return decode_(*std::move(bytes));
  }
  // The same request with its result converted further; this object must not be used any more.
  template <class U>
  Pending<U> Then(std::function<Result<U>(Result<T>)> next) && {
    return {std::move(conversation_), [decode = std::move(decode_), next = std::move(next)](Result<std::string> bytes) {
              return next(decode(std::move(bytes)));
            }};
  }
  Result<T> Await(const std::function<void(unsigned seconds)>& on_wait = {}) {
    return decode_(AwaitAnswer(*conversation_, on_wait));
  }

 private:
  std::shared_ptr<Conversation> conversation_;
  Decode decode_;
};

}  // namespace muster
