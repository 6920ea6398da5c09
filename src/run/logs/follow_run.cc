#include "run/logs/follow_run.h"

#include <csignal>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>

#include "run/control/run_end_watch.h"
#include "run/directory/private_files.h"
#include "run/directory/run_directory.h"

namespace muster {

// One run, until its logs have been shown completely.
struct RunFollower::Followed {
  Followed(boost::asio::io_context& io, Output& out, const FollowOptions& options, FollowRequest asked)
      : request(std::move(asked)), path(request.run_dir + "/logs"), follower(io, out, options), end(io) {}

  Result<void> Start(std::function<void()> shown) {
    Result<UniqueFd> opened = OpenFolder(AT_FDCWD, path);
    if (!opened) return Fail(std::move(opened.error()));
    folder = std::move(*opened);
    const auto created = [this](const std::string& name) {
      if (const std::optional<LogFile> log = request.choice.Find(name)) AddLog(*log);
    };
    if (Result<void> watched = follower.Watch(folder.get(), path, created); !watched) return watched;
    const auto ended = [this, shown = std::move(shown)] {
      follower.Finish([this, shown] {
        follower.Stop();  // frees its inotify watches for others
        shown();
      });
    };
    if (Result<void> waits = end.Start(request.run_dir, ended); !waits) return waits;
    // After the watch was added, so that none is missed; a log that is reported twice is added once.
    for (const LogFile& log : request.choice.In(path)) AddLog(log);
    if (IsHeldElsewhere(request.run_dir)) follower.LookToo();
    return {};
  }

  void AddLog(const LogFile& log) {
    const auto from = request.from.find(log.name);
    follower.Add(log.name, request.prefixed ? request.prefix + log.prefix : std::string(),
                 from == request.from.end() ? FollowFrom{} : std::move(from->second));
  }

  FollowRequest request;
  std::string path;
  UniqueFd folder;
  LogFollower follower;
  RunEndWatch end;
};

RunFollower::RunFollower(int out, FollowOptions options) : out_(io_, out), options_(std::move(options)), signals_(io_) {
  out_.OnProgress([this] { StopIfOver(); });
}

RunFollower::~RunFollower() = default;

Result<void> RunFollower::Add(FollowRequest request) {
  auto& run = *runs_.emplace_back(std::make_unique<Followed>(io_, out_, options_, std::move(request)));
  ++going_on_;
  auto started = run.Start([this] {
    --going_on_;
    StopIfOver();
  });
  if (started) return {};
  --going_on_;
  run.follower.Stop();
  return started;
}

void RunFollower::ExpectMore(bool more) {
  more_ = more;
  boost::asio::post(io_, [this] { StopIfOver(); });
}

int RunFollower::Run() {
  CatchSignals();
  StopIfOver();
  io_.run();
  return exit_code_;
}

void RunFollower::CatchSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    boost::system::error_code ignored;
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) signals_.add(signal, ignored);
  }
  signals_.async_wait([this](const boost::system::error_code& error, int signal) {
    if (error) return;
    exit_code_ = 128 + signal;
    io_.stop();
  });
}

void RunFollower::StopIfOver() {
  if (going_on_ == 0 && !more_ && out_.empty()) io_.stop();
}

Result<int> FollowRun(FollowRequest request, int out, FollowOptions options) {
  RunFollower follower(out, std::move(options));
  if (auto added = follower.Add(std::move(request)); !added) return Fail(std::move(added.error()));
  return follower.Run();
}

}  // namespace muster
