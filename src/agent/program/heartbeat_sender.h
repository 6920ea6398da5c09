// Sends the heartbeats of an agent whose head is on another host, and reports when the head may have considered the
// agent lost, so that all processes must be killed (wire/lease/lease.h).
//
// Uses the loop's time; the agent decides what to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "spawn/start/watched_fd.h"
#include "wire/lease/agent_lease.h"
#include "wire/lease/lease.h"
#include "wire/protocol/connection_messages.h"

namespace muster {

class HeartbeatSender {
 public:
  struct Ends {
    std::function<void(const AgentHeartbeat&)> send;
    std::function<void(const std::string& why)> unheard;  // called once
  };
  HeartbeatSender(boost::asio::io_context& io, Ends ends)
      : ends_(std::move(ends)), next_(io.get_executor()), end_(io.get_executor()) {}

  void Begin(std::uint64_t lease_ms);
  bool going() const { return lease_.has_value(); }
  void Answered(std::uint32_t number);
  void End();

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  void Send();
  // Whether this process did not run for a while (wire/lease/lease.h): the lease has begun again.
  bool NoticePause();
  void AwaitEnd();
  void EndUnlessAnswered();

  Ends ends_;
  Timer next_;
  Timer end_;
  std::uint64_t lease_ms_ = 0;
  std::optional<AgentLease> lease_;
  AgentHeartbeat latest_;
  std::uint64_t next_at_ = 0;  // when the next heartbeat is to be sent
};

}  // namespace muster
