// A command that holds something for this process (an allocation of an engine) until its stdin ends: what it prints,
// its messages, and its end.
//
// Depends on the loop and the system. The command gets SIGTERM when this process ends in any way, since it may not read
// its stdin before it holds anything. It is killed only if it ignores that for kPartingTime when the object is
// destroyed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "spawn/start/watched_fd.h"
#include "transport/watched_command.h"

namespace muster {

class HeldCommand : public std::enable_shared_from_this<HeldCommand> {
 public:
  static constexpr std::chrono::seconds kPartingTime{2};
  // Bytes of output that are kept; a command that prints more is not listened to any more.
  static constexpr std::size_t kMostOutput = 4U << 20;

  // Called from the loop.
  struct Calls {
    std::function<void()> printed;  // on stdout, more than before
    std::function<void()> heard;    // on stderr
    std::function<void()> ended;    // once, the last call
  };

  // `input` is the beginning of its stdin, at most a page. The error is a phrase. `io` must outlive the object.
  static tl::expected<std::shared_ptr<HeldCommand>, std::string> Start(boost::asio::io_context& io,
                                                                       const std::vector<std::string>& argv,
                                                                       std::string_view input, Calls calls);
  // If it is not over, releases it, asks it to end and waits for that.
  ~HeldCommand();
  HeldCommand(const HeldCommand&) = delete;
  HeldCommand& operator=(const HeldCommand&) = delete;

  const std::string& output() const { return output_; }     // untrusted
  const std::string& words() { return command_->Words(); }  // the latest on stderr; untrusted
  bool over() const { return command_->end().has_value(); }
  // These only once it is over.
  std::string EndText() const;  // "exited with code 1"
  bool killed() const { return command_->end()->signalled; }

  // Ends its stdin; the command is expected to end.
  void Release() { stdin_.reset(); }
  // SIGTERM, for a command that does not read its stdin yet.
  void AskToEnd();

 private:
  HeldCommand(boost::asio::io_context& io, Calls calls) : calls_(std::move(calls)), out_(io.get_executor()) {}

  void AwaitOutput();
  bool ReadOutput();
  void OnEnd();

  Calls calls_;
  UniqueFd stdin_;
  WatchedFd out_;
  std::string output_;
  std::shared_ptr<WatchedCommand> command_;
};

}  // namespace muster
