// An HTTP server for the pages of one user: it listens on 127.0.0.1 only, answers one request per connection, and
// passes on only requests that the guard admits (request_guard.h).
//
// Runs on one loop and never blocks it. Requests are not trusted: their size, the time that they take, and the number
// of connections are limited, and a connection without a valid request takes no place of the user's own programs
// (base/system/connection_places.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"

namespace muster {

struct HttpAnswer;
struct HttpRequest;

struct HttpLimits {
  std::size_t connections = 256;
  std::size_t head_bytes = 8U << 10;
  std::size_t body_bytes = 32U << 10;
  std::chrono::milliseconds request_time{10'000};    // until the request is complete
  std::chrono::milliseconds heartbeat_time{15'000};  // interval of comments in streams
};

class HttpServer {
 public:
  using Reply = std::function<void(HttpAnswer)>;
  // `path`: PathOf() of the request. The reply may be given later, once.
  using Handler = std::function<void(const HttpRequest& request, const std::string& path, Reply reply)>;

  // Port 0: any free one. Kind "serve" if the port cannot be used. `token`: the first part of every valid path.
  static Result<std::unique_ptr<HttpServer>> Listen(boost::asio::io_context& io, std::uint16_t port, std::string token,
                                                    Handler handler, HttpLimits limits = {});
  // Closes every connection.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::uint16_t port() const;
  std::size_t connections() const;

 private:
  struct Impl;
  explicit HttpServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace muster
