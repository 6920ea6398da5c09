// Continues sweeps as `muster resume --detach` does, by calling it: the head is a process of its own in the background,
// which does not end with the server.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "serve/http/http_answer.h"
#include "spawn/start/launcher.h"

namespace muster {

class LimitedCommand;

class ResumeCalls {
 public:
  using Reply = std::function<void(HttpAnswer)>;

  // `io` must outlive it.
  explicit ResumeCalls(boost::asio::io_context& io);
  ~ResumeCalls();
  ResumeCalls(const ResumeCalls&) = delete;
  ResumeCalls& operator=(const ResumeCalls&) = delete;

  // Replies once, from the loop: when a trial has begun, when the call has failed, or after a while if it is still
  // waiting, for devices or an engine.
  void Begin(const std::string& dir, Reply reply);

 private:
  struct Call;

  boost::asio::io_context& io_;
  Launcher launcher_;
  std::map<std::string, std::unique_ptr<Call>> calls_;  // by the sweep's directory
};

// The error in what a command of muster wrote: "error: …" with its hint, as one sentence; the last line if there is
// none.
std::string ErrorIn(const std::string& words);

}  // namespace muster
