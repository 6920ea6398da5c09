#include "code/git_query.h"

#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>

namespace muster {

GitQuery::GitQuery(boost::asio::io_context& io, std::string folder, std::vector<std::string> environment, Done done)
    : io_(io),
      folder_(std::move(folder)),
      environment_(std::move(environment)),
      done_(std::move(done)),
      deadline_(io.get_executor()) {
  deadline_.expires_after(kWithin);
  deadline_.async_wait([this, alive = alive_](const boost::system::error_code& error) {
    if (!error && *alive) Report(std::nullopt);
  });
  Begin(FilterWords(), {}, [this](const CommandOutput& named) {
    // 1: no filters; a folder without a repository has none either, which the next call reports.
    if (named.exit_code < 0) return Report(std::nullopt);
    Begin({"status", "--porcelain=v2", "--branch", "-z", "--ignore-submodules=dirty"}, FiltersIn(named.out),
          [this](const CommandOutput& status) {
            Report(status.exit_code == 0 ? ReadGitStatus(status.out) : std::nullopt);
          });
  });
}

GitQuery::~GitQuery() { *alive_ = false; }

void GitQuery::Begin(const std::vector<std::string>& words, const std::vector<std::string>& filters,
                     std::function<void(const CommandOutput&)> then) {
  const auto refuse = [&] {
    boost::asio::post(io_, [this, alive = alive_] {
      if (*alive) Report(std::nullopt);
    });
  };
  call_ = std::make_unique<GitCall>(launcher_, folder_, words, environment_, filters);
  // Without pidfds the end cannot be watched, so git's state is not reported.
  const int watched = call_->going() && call_->ref().pidfd >= 0 ? ::fcntl(call_->ref().pidfd, F_DUPFD_CLOEXEC, 0) : -1;
  if (watched < 0) return refuse();
  ended_ = std::make_unique<WatchedFd>(io_.get_executor(), watched);
  ended_->async_wait(WatchedFd::wait_read,
                     [this, alive = alive_, then = std::move(then)](const boost::system::error_code& error) {
                       if (error || !*alive || !done_) return;
                       const std::unique_ptr<GitCall> call = std::move(call_);
                       then(call->Take(std::chrono::milliseconds(0)));
                     });
}

void GitQuery::Report(std::optional<GitState> state) {
  if (!done_) return;
  deadline_.cancel();
  ended_.reset();
  call_.reset();
  std::exchange(done_, nullptr)(state);
}

}  // namespace muster
