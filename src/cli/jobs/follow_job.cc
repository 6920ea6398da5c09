#include "cli/jobs/follow_job.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fcntl.h>
#include <sys/eventfd.h>

#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "cli/command/command_output.h"
#include "run/console/watch.h"
#include "run/control/control_protocol.h"
#include "run/directory/run_directory.h"
#include "run/journal/run_summary.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// The head is on another host: no kernel reports its files here.
constexpr std::chrono::milliseconds kLook{250};
// A head that began just before its job ended may have files that are not visible here yet.
constexpr int kLastLooks = 8;

// Catches SIGINT as long as it lives, over the loops in which a job is followed: one that comes at the end of a loop,
// or between two, is kept for the next. At most one of these exists.
class Interrupts {
 public:
  Interrupts() : pending_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE)) {
    if (!pending_) return;  // SIGINT ends this program then
    counted = pending_.get();
    struct sigaction caught = {};
    caught.sa_handler = [](int) {
      const int error = errno;
      ::eventfd_write(counted, 1);
      errno = error;
    };
    caught.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &caught, &before_);
  }
  ~Interrupts() {
    if (pending_) ::sigaction(SIGINT, &before_, nullptr);
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  // Takes one that came.
  bool Take() {
    eventfd_t one = 0;
    return pending_ && ::eventfd_read(pending_.get(), &one) == 0;
  }
  // For a loop: readable while there is one.
  int Duplicate() const { return pending_ ? ::fcntl(pending_.get(), F_DUPFD_CLOEXEC, 0) : -1; }

 private:
  static volatile std::sig_atomic_t counted;

  UniqueFd pending_;
  struct sigaction before_ = {};
};
volatile std::sig_atomic_t Interrupts::counted = -1;

// Calls `handle` from the loop for each SIGINT.
class InterruptWatch {
 public:
  InterruptWatch(boost::asio::io_context& io, Interrupts& interrupts, std::function<void()> handle)
      : interrupts_(interrupts), handle_(std::move(handle)), readable_(io) {
    if (const int fd = interrupts.Duplicate(); fd >= 0) readable_.assign(fd);
    Await();
  }

 private:
  void Await() {
    if (!readable_.is_open()) return;
    readable_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](boost::system::error_code error) {
      if (error) return;
      if (interrupts_.Take()) handle_();
      Await();
    });
  }

  Interrupts& interrupts_;
  std::function<void()> handle_;
  boost::asio::posix::stream_descriptor readable_;
};

class Waiting {
 public:
  // `interrupts`: null if SIGINT is not caught.
  Waiting(const JobOfRun& job, const std::function<bool()>& begun, const JobWait& wait, Interrupts* interrupts)
      : job_(job), begun_(begun), wait_(wait), timer_(io_) {
    if (interrupts == nullptr) return;
    interrupts_.emplace(io_, *interrupts, [this] {
      wait_.on_interrupt();
      ask_at_ = std::chrono::steady_clock::now();
    });
  }

  WaitOutcome Run() {
    Look();
    io_.run();
    return std::move(outcome_);
  }

 private:
  void Look() {
    if (begun_()) return End({WaitEnd::kBegun, {}});
    const auto now = std::chrono::steady_clock::now();
    if (over_) {
      if (++looks_ > kLastLooks) return End({WaitEnd::kOver, *over_});
    } else if (now >= ask_at_) {
      Ask();
    }
    timer_.expires_after(kLook);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) Look();
    });
  }

  void Ask() {
    const auto status = StateOf(job_);
    const std::string text = status ? StatusText(*status) : Sentence(status.error());
    const bool changed = text != std::exchange(reported_, text);
    if (changed) wait_.on_state(text);
    ask_at_ = std::chrono::steady_clock::now() + polling_.After(changed, status.has_value());
    if (status && is_over_.Has(status->state)) over_ = *status;
  }

  void End(WaitOutcome outcome) {
    outcome_ = std::move(outcome);
    io_.stop();
  }

  const JobOfRun& job_;
  const std::function<bool()>& begun_;
  const JobWait& wait_;
  boost::asio::io_context io_;
  boost::asio::steady_timer timer_;
  std::optional<InterruptWatch> interrupts_;
  JobPolling polling_;
  OverTest is_over_;
  std::chrono::steady_clock::time_point ask_at_;
  std::string reported_;
  std::optional<JobStatus> over_;
  int looks_ = 0;
  WaitOutcome outcome_;
};

WaitOutcome AwaitAttemptOf(const JobOfRun& job, std::size_t known, const JobWait& wait, Interrupts* interrupts) {
  const std::function<bool()> begun = [&] {
    const auto attempts = ReadAttempts(job.first_dir);
    return attempts.size() > known && HasBegun(attempts.at(known).run_dir);
  };
  return Waiting(job, begun, wait, interrupts).Run();
}

}  // namespace

WaitOutcome AwaitAttempt(const JobOfRun& job, std::size_t known, const JobWait& wait) {
  return AwaitAttemptOf(job, known, wait, nullptr);
}

WaitOutcome AwaitHead(const JobOfRun& job, const std::function<bool()>& begun, const JobWait& wait) {
  std::optional<Interrupts> interrupts;
  if (wait.on_interrupt) interrupts.emplace();
  WaitOutcome outcome = Waiting(job, begun, wait, interrupts ? &*interrupts : nullptr).Run();
  while (interrupts && interrupts->Take()) wait.on_interrupt();
  return outcome;
}

int ExitCodeOf(const JobStatus& status) { return status.state == JobState::kCancelled ? 128 + SIGTERM : kExitMachine; }

namespace {

// While its head writes the journal, the state of the job only matters if the head vanishes.
constexpr std::chrono::seconds kCheck{60};
constexpr std::chrono::seconds kOrphaned{30};
// How long a head whose run is over may take to exit; its lock may stay on some file systems.
constexpr std::chrono::seconds kLeave{30};
constexpr std::chrono::milliseconds kLockLook{100};

class Following {
 public:
  Following(JobOfRun job, const JobFollowing& following) : job_(std::move(job)), following_(following) {
    if (following.interrupt_stops) interrupted_.emplace();
  }

  int Run(std::size_t attempt) {
    for (;; ++attempt) {
      const JobWait wait = Wait();
      const WaitOutcome waited = AwaitAttemptOf(job_, attempt, wait, interrupted_ ? &*interrupted_ : nullptr);
      if (waited.end == WaitEnd::kOver) return attempt > 0 ? last_code_ : NeverBegan(waited.status);
      const std::string run_dir = ReadAttempts(job_.first_dir).at(attempt).run_dir;
      const auto code = WatchRun(run_dir, following_.console, following_.json,
                                 [&](boost::asio::io_context& io, std::function<void()> give_up,
                                     std::function<void(const std::string&)> warn) {
                                   return Attend(io, std::move(give_up), std::move(warn));
                                 });
      warn_ = nullptr;
      if (!code) return Refuse(code.error(), false);  // lines of the journal may have been printed
      last_code_ = *code;
      AwaitHeadGone(run_dir);
      if (!Continues(run_dir)) return last_code_;
    }
  }

 private:
  void Say(const std::string& text) {
    if (following_.json) return;
    if (warn_) return warn_(text);
    if (!following_.console.quiet) std::fprintf(stderr, "muster: %s\n", PrintableLines(text).c_str());
  }

  JobWait Wait() {
    JobWait wait;
    wait.on_state = [this](const std::string& text) { Say(job_.Text() + ": " + text); };
    if (following_.interrupt_stops) wait.on_interrupt = [this] { Interrupted(); };
    return wait;
  }

  void Interrupted() {
    const bool now = ++interrupts_ > 1;
    Say(now ? "cancelling " + job_.Text() : "stopping the run; again: cancel its job");
    const std::string run_dir = NewestAttempt(job_);
    if (!now && IsRunLive(run_dir)) {
      auto head = ControlConnection::Open(run_dir);
      if (head && head->Ask({ControlRequest::Ask::kStop, false, false})) return;
    }
    if (const auto stopped = StopJob(job_, now); !stopped) Say(Sentence(stopped.error()));
  }

  // Signals and timers during the watch of an attempt.
  struct Attendance {
    explicit Attendance(boost::asio::io_context& io) : timer(io) {}
    std::optional<InterruptWatch> interrupts;
    boost::asio::steady_timer timer;
    std::function<void()> give_up;
  };

  std::shared_ptr<void> Attend(boost::asio::io_context& io, std::function<void()> give_up,
                               std::function<void(const std::string&)> warn) {
    warn_ = std::move(warn);
    auto attendance = std::make_shared<Attendance>(io);
    attendance->give_up = std::move(give_up);
    if (interrupted_) attendance->interrupts.emplace(io, *interrupted_, [this] { Interrupted(); });
    AwaitCheck(*attendance);
    return attendance;
  }

  // The lock of a head whose host lost its power may stay on some file systems.
  void AwaitCheck(Attendance& attendance) {
    attendance.timer.expires_after(kCheck);
    attendance.timer.async_wait([this, &attendance](const boost::system::error_code& error) {
      if (error) return;
      const auto status = StateOf(job_);
      if (status && (IsOver(status->state) || status->state == JobState::kQueued)) return attendance.give_up();
      AwaitCheck(attendance);
    });
  }

  // The head writes the report, and decides about another attempt, after the last record of its journal.
  static void AwaitHeadGone(const std::string& run_dir) {
    boost::asio::io_context io;
    const auto until = std::chrono::steady_clock::now() + kLeave;
    while (IsRunLive(run_dir) && std::chrono::steady_clock::now() < until) {
      boost::asio::steady_timer(io, kLockLook).wait();
    }
  }

  // Whether another attempt follows. If the head has gone without an end, waits until the engine says what became of
  // it.
  bool Continues(const std::string& run_dir) {
    const auto summary = SummarizeRun(run_dir, false);
    const bool lost = summary && summary->outcome == "lost";
    // A head whose journal is complete still writes the reports and the end of the attempt.
    if (summary && !lost) AwaitRunOver(run_dir);
    const auto attempts = ReadAttempts(job_.first_dir);
    const auto attempt =
        std::find_if(attempts.begin(), attempts.end(), [&](const JobAttempt& each) { return each.run_dir == run_dir; });
    if (attempt != attempts.end() && attempt->requeued) return true;
    if (summary && summary->outcome == "ok") return false;
    if (job_.record.requeue_on.empty() && !lost) {
      SettleEnd(job_, run_dir, std::nullopt);
      return false;
    }
    const std::optional<JobStatus> status = FinalStatus(run_dir, lost);
    const std::string end = SettleEnd(job_, run_dir, status);
    if (!status || status->state == JobState::kQueued) return true;
    if (lost) Say(job_.Text() + " ended: " + StatusText(*status));
    return false;
  }

  // The state of the job once it is over or queued again; nothing if a new attempt has begun meanwhile.
  std::optional<JobStatus> FinalStatus(const std::string& run_dir, bool lost) {
    const std::vector<std::string>& on = job_.record.requeue_on;
    // An engine that is asked not to end a job for a lost node may keep one that lost its head.
    const bool cancels = lost && std::find(on.begin(), on.end(), "node_fail") == on.end();
    const auto cancels_at = std::chrono::steady_clock::now() + kOrphaned;
    boost::asio::io_context io;
    JobPolling polling;
    JobState last = JobState::kVanished;
    OverTest is_over;
    for (;;) {
      if (interrupted_ && interrupted_->Take()) Interrupted();
      if (NewestAttempt(job_) != run_dir) return std::nullopt;
      const auto status = StateOf(job_);
      if (status && (is_over.Has(status->state) || status->state == JobState::kQueued)) return *status;
      if (status && cancels && std::chrono::steady_clock::now() > cancels_at) {
        Say(job_.Text() + " has lost its head: cancelling it");
        if (const auto stopped = StopJob(job_, true); !stopped) Say(Sentence(stopped.error()));
      }
      const bool changed = status && status->state != std::exchange(last, status->state);
      boost::asio::steady_timer pause(io, polling.After(changed, status.has_value()));
      pause.wait();
    }
  }

  int NeverBegan(const JobStatus& status) {
    SettleEnd(job_, job_.first_dir, status);
    Say(job_.Text() + " ended before the run began: " + StatusText(status));
    for (const std::string& line : OutputBeforeRun(job_.first_dir))
      Say(std::string(kJobOutputEntry.name) + ": " + Printable(line));
    return ExitCodeOf(status);
  }

  const JobOfRun job_;
  const JobFollowing& following_;
  std::function<void(const std::string&)> warn_;
  std::optional<Interrupts> interrupted_;
  int interrupts_ = 0;
  int last_code_ = 0;
};

}  // namespace

int FollowJob(JobOfRun job, std::size_t from, const JobFollowing& following) {
  return Following(std::move(job), following).Run(from);
}

}  // namespace muster
