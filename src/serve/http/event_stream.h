// A stream of server-sent events to one page (WHATWG HTML, section 9.2). Events are bytes that all streams share; a
// page that does not read them is disconnected, and connects again.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace muster {

class EventStream {
 public:
  static constexpr std::size_t kMostQueued = 256U << 10;  // bytes that a page has not read

  virtual ~EventStream() = default;
  // Queues the bytes; with more than kMostQueued bytes behind those that are being written the connection is closed
  // instead.
  virtual void Send(std::shared_ptr<const std::string> bytes) = 0;
  // Calls `closed` once, when the connection has ended for whatever reason.
  virtual void OnClosed(std::function<void()> closed) = 0;
};

}  // namespace muster
