// An HTTP server for the pages of one user: it listens on 127.0.0.1 only, and answers requests of this machine's user
// who has the token, with texts or streams of events.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/io_context.hpp>

#include "muster/result.h"

namespace muster {

// A stream of server-sent events to one page (WHATWG HTML, section 9.2). Events are bytes that all streams share; a
// page that does not read them is disconnected, and connects again.
class EventStream {
 public:
  static constexpr std::size_t kMaxQueued = 256U << 10;  // bytes that a page has not read

  virtual ~EventStream() = default;
  // Queues the bytes; with more than kMaxQueued bytes behind those that are being written the connection is closed
  // instead.
  virtual void Send(std::shared_ptr<const std::string> bytes) = 0;
  // Calls `closed` once, when the connection has ended for whatever reason.
  virtual void OnClosed(std::function<void()> closed) = 0;
};

// A request of a browser, as far as the server looks at it: the parts of its head that decide whether it is answered,
// and its body.
struct HttpRequest {
  std::string method;        // "GET"
  std::string target;        // as received, "/TOKEN/sweep/3f9a1c2b4d5e/events"
  std::string host;          // of the Host header; empty: it is missing, or there are several
  std::string origin;        // empty: no such header
  std::string fetch_site;    // Sec-Fetch-Site: where the request comes from, as the browser says
  std::string fetch_mode;    // Sec-Fetch-Mode
  std::string fetch_dest;    // Sec-Fetch-Dest
  std::string content_type;  // of the body
  std::string last_event;    // Last-Event-ID: the last event of a stream that the page has seen
  std::string body;
};

// The answer to a request: a text, or a stream of events. Its head has the headers that keep a page to itself.

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain";
  std::shared_ptr<const std::string> body = {};
  std::string policy = {};  // Content-Security-Policy; empty: nothing may be loaded or run
  // If set, the body is a stream of events instead, which is passed to the function.
  std::function<void(std::shared_ptr<EventStream>)> stream = {};
};

HttpAnswer TextAnswer(int status, std::string text);
HttpAnswer JsonAnswer(int status, std::string json);

// Head and body as one text; of a stream the head alone. The connection is closed after each answer: no second request
// can be hidden in a first one.
std::string AnswerBytes(const HttpAnswer& answer);

// Decides whether a request is answered: only those of this machine's user with the token, and only from pages that
// the server itself has sent. Pure.

struct HttpRefusal {
  int status = 0;
  std::string_view why;  // a sentence without any byte of the request

  bool operator==(const HttpRefusal&) const = default;
};

inline constexpr std::size_t kMaxTarget = 512;

// The checks that need the head of the request only, in this order: the Host header names this machine (whatever the
// port: a tunnel has another one); the method; the form of the target, in which nothing is ever decoded; the token,
// compared in constant time; the origin and what the browser says about it. Nothing: the request may be answered.
std::optional<HttpRefusal> RefusalOf(const HttpRequest& request, std::string_view token);

// What follows the token in the target of a request that was not refused, without its query: "sweep/3f9a/events".
std::string PathOf(const HttpRequest& request);
// The value of a name in its query: "12" for "from" in "…?from=12". Empty: not given.
std::string QueryOf(const HttpRequest& request, std::string_view name);

// An HTTP server for the pages of one user: it listens on 127.0.0.1 only, answers one request per connection, and
// passes on only requests that the guard admits.
//
// Runs on one loop and never blocks it. Requests are not trusted: their size, the time that they take, and the number
// of connections are limited, and a connection without a valid request takes no place of the user's own programs
// (base/system/sockets.h).

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
