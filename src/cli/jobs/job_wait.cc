#include "cli/jobs/job_wait.h"

#include <chrono>
#include <csignal>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/values/diagnostic_text.h"

namespace muster {
namespace {

// The head is on another host: no kernel reports its files here.
constexpr std::chrono::milliseconds kLook{250};
// A head that began just before its job ended may have files that are not visible here yet.
constexpr int kLastLooks = 8;

class Waiting {
 public:
  Waiting(const JobOfRun& job, const std::function<bool()>& begun, const JobWait& wait)
      : job_(job), begun_(begun), wait_(wait), timer_(io_), signals_(io_) {}

  WaitOutcome Run() {
    if (wait_.on_interrupt) {
      signals_.add(SIGINT);
      AwaitSignal();
    }
    Look();
    io_.run();
    return std::move(outcome_);
  }

 private:
  void AwaitSignal() {
    signals_.async_wait([this](const boost::system::error_code& error, int) {
      if (error) return;
      wait_.on_interrupt();
      ask_at_ = std::chrono::steady_clock::now();
      AwaitSignal();
    });
  }

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
  boost::asio::signal_set signals_;
  JobPolling polling_;
  OverTest is_over_;
  std::chrono::steady_clock::time_point ask_at_;
  std::string reported_;
  std::optional<JobStatus> over_;
  int looks_ = 0;
  WaitOutcome outcome_;
};

}  // namespace

WaitOutcome AwaitAttempt(const JobOfRun& job, std::size_t known, const JobWait& wait) {
  const auto begun = [&] {
    const auto attempts = ReadAttempts(job.first_dir);
    return attempts.size() > known && HasBegun(attempts.at(known).run_dir);
  };
  return AwaitHead(job, begun, wait);
}

WaitOutcome AwaitHead(const JobOfRun& job, const std::function<bool()>& begun, const JobWait& wait) {
  return Waiting(job, begun, wait).Run();
}

}  // namespace muster
