#include "transport/ssh_gate.h"

#include <random>

#include <boost/asio/post.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "spawn/start/watched_child.h"
#include "transport/own_environment.h"

namespace muster {
namespace {

// How long ssh may take to print its configuration ("Match exec" runs commands); after that the answer is not used.
constexpr std::chrono::seconds kAnswerPatience{5};

std::uint64_t Chance(std::uint64_t most) {
  static std::minstd_rand random(std::random_device{}());
  return std::uniform_int_distribution<std::uint64_t>(0, most)(random);
}

std::string ContentOf(int fd) {
  std::string content(64U << 10, '\0');
  const ssize_t got = ::pread(fd, content.data(), content.size(), 0);
  content.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return content;
}

}  // namespace

SshGate::SshGate(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, SshSettings settings)
    : io_(io),
      launcher_(std::move(launcher)),
      settings_(std::move(settings)),
      window_(Chance),
      rest_(io.get_executor()) {}

void SshGate::Enter(std::uint32_t connection, const std::string& host, std::function<void()> begin) {
  begin_.insert_or_assign(connection, std::move(begin));
  window_.Add(connection);
  if (!asked_) return Ask(host);
  if (!question_) PumpSoon();
}

void SshGate::Passed(std::uint32_t connection) {
  window_.Done(connection);
  begin_.erase(connection);
  if (begin_.empty()) StopAsking();
  PumpSoon();
}

bool SshGate::TurnedAway(std::uint32_t connection) {
  const bool again = window_.TurnedAway(connection, MonotonicNowNs());
  if (!again) begin_.erase(connection);
  PumpSoon();
  return again;
}

void SshGate::Ask(const std::string& host) {
  asked_ = true;
  const Result<std::vector<std::string>> words = SshQuestion(settings_, host);
  answer_.reset(::memfd_create("ssh", MFD_CLOEXEC));
  if (!words || !answer_) return PumpSoon();
  SpawnSpec spec;
  spec.argv = *words;
  spec.env = OwnEnvironment();
  spec.stdout_fd = answer_.get();
  spec.grouping = Grouping::kOwnSession;
  spec.parent_death_signal = SIGTERM;
  auto process = BoostLauncher(*launcher_)(io_.get_executor(), spec);
  if (!process) return PumpSoon();  // the connections will report the reason
  question_ = std::make_shared<WatchedChild>(io_, std::move(*process));
  question_->AwaitEnd([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnAnswer();
  });
  rest_.expires_after(kAnswerPatience);
  rest_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && self->question_) KillChild(self->question_->ref());
  });
}

void SshGate::OnAnswer() {
  question_->Take();
  question_.reset();
  rest_.cancel();
  if (GoesThroughJumpHost(ContentOf(answer_.get()))) window_.Narrow();
  answer_.reset();
  PumpSoon();
}

void SshGate::StopAsking() {
  if (!question_) return;
  KillChild(question_->ref());
  question_->Take();
  question_.reset();
  rest_.cancel();
  answer_.reset();
  asked_ = false;
}

void SshGate::PumpSoon() {
  if (std::exchange(pumping_, true)) return;
  boost::asio::post(io_, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->pumping_ = false;
    if (!self->question_) self->Pump();
  });
}

void SshGate::Pump() {
  for (const std::uint32_t connection : window_.Begin(MonotonicNowNs())) {
    const auto found = begin_.find(connection);
    if (found == begin_.end()) continue;
    const std::function<void()> begin = found->second;  // a copy: the callback may call back into this object
    begin();
  }
  rest_.cancel();
  const std::optional<std::uint64_t> next = window_.NextAt();
  if (!next) return;
  rest_.expires_at(std::chrono::steady_clock::time_point(std::chrono::nanoseconds(*next)));
  rest_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (const auto self = weak.lock(); self && !error) self->Pump();
  });
}

}  // namespace muster
