#include "run/follow_run.h"

#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <fcntl.h>

#include "run/output.h"
#include "run/private_files.h"
#include "run/run_end_watch.h"

namespace muster {
namespace {

class Following {
 public:
  explicit Following(FollowRequest request)
      : request_(std::move(request)),
        path_(request_.run_dir + "/logs"),
        out_(io_, request_.out),
        follower_(io_, out_, request_.options),
        end_(io_),
        signals_(io_) {}

  Result<int> Run() {
    Result<UniqueFd> folder = OpenFolder(AT_FDCWD, path_);
    if (!folder) return Fail(std::move(folder.error()));
    folder_ = std::move(*folder);
    const auto created = [this](const std::string& name) {
      if (const std::optional<LogFile> log = request_.choice.Find(name)) Add(*log);
    };
    if (Result<void> watched = follower_.Watch(folder_.get(), path_, created); !watched) {
      return Fail(std::move(watched.error()));
    }
    if (Result<void> waits = end_.Start(request_.run_dir, [this] { ShowRest(); }); !waits) {
      return Fail(std::move(waits.error()));
    }
    // After the watch, so that none is missed; one that is told of once more is added already.
    for (const LogFile& log : request_.choice.In(path_)) Add(log);
    CatchSignals();
    io_.run();
    return exit_code_;
  }

 private:
  void Add(const LogFile& log) {
    const auto from = request_.from.find(log.name);
    follower_.Add(log.name, request_.prefixed ? log.prefix : std::string(),
                  from == request_.from.end() ? FollowFrom{} : std::move(from->second));
  }

  void CatchSignals() {
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

  void ShowRest() {
    follower_.Finish([this] {
      out_.OnProgress([this] { StopIfTaken(); });
      StopIfTaken();
    });
  }

  void StopIfTaken() {
    if (out_.empty()) io_.stop();
  }

  FollowRequest request_;
  std::string path_;
  boost::asio::io_context io_{1};
  UniqueFd folder_;
  Output out_;
  LogFollower follower_;
  RunEndWatch end_;
  boost::asio::signal_set signals_;
  int exit_code_ = 0;
};

}  // namespace

Result<int> FollowRun(FollowRequest request) { return Following(std::move(request)).Run(); }

}  // namespace muster
