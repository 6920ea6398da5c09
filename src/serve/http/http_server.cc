#include "serve/http/http_server.h"

#include <algorithm>
#include <array>
#include <deque>
#include <set>
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>

#include "base/system/sockets.h"
#include "base/values/fingerprint.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 411:
      return "Length Required";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

constexpr std::string_view kNothing = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

}  // namespace

HttpAnswer TextAnswer(int status, std::string text) {
  return {.status = status, .body = std::make_shared<const std::string>(std::move(text) + "\n")};
}

HttpAnswer JsonAnswer(int status, std::string json) {
  return {.status = status,
          .type = "application/json",
          .body = std::make_shared<const std::string>(std::move(json) + "\n")};
}

std::string AnswerBytes(const HttpAnswer& answer) {
  const std::string_view policy = answer.policy.empty() ? kNothing : std::string_view(answer.policy);
  std::string bytes = fmt::format(
      "HTTP/1.1 {} {}\r\n"
      "Content-Type: {}; charset=utf-8\r\n"
      "Cache-Control: no-store\r\n"
      "Content-Security-Policy: {}\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "X-Frame-Options: DENY\r\n"
      "Connection: close\r\n",
      answer.status, ReasonOf(answer.status), answer.stream ? "text/event-stream" : answer.type, policy);
  if (answer.status == 405) bytes += "Allow: GET, POST\r\n";
  if (answer.stream) return bytes + "\r\n";
  bytes += fmt::format("Content-Length: {}\r\n\r\n", answer.body ? answer.body->size() : 0);
  if (answer.body) bytes += *answer.body;
  return bytes;
}

namespace {

// "127.0.0.1:8080" is this machine, and so is "localhost". A foreign name that resolves to 127.0.0.1 (DNS rebinding) is
// not.
bool NamesThisMachine(std::string_view host) {
  const std::size_t colon = host.find(':');
  const std::string_view name = host.substr(0, colon);
  if (name != "127.0.0.1" && name != "localhost") return false;
  if (colon == host.npos) return true;
  const std::string_view port = host.substr(colon + 1);
  return !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), IsDigit);
}

// Only these characters occur in targets that exist: a percent sign, a backslash or a zero byte names nothing.
bool HasPlainForm(std::string_view target) {
  if (!target.starts_with('/') || target.size() > kMaxTarget) return false;
  return std::all_of(target.begin(), target.end(), [](char c) {
    return IsLetterOrDigit(c) || std::string_view("/-_.?=&").find(c) != std::string_view::npos;
  });
}

std::string_view WithoutQuery(std::string_view target) { return target.substr(0, target.find('?')); }

// "/TOKEN/…"
std::string_view TokenOf(std::string_view target) {
  if (target.empty()) return {};
  const std::string_view path = WithoutQuery(target).substr(1);
  return path.substr(0, path.find('/'));
}

// A link or a redirect from a file, which counts as another site, may open a page, but nothing else.
bool OpensAPage(const HttpRequest& request) {
  return request.method == "GET" && request.fetch_mode == "navigate" && request.fetch_dest == "document";
}

}  // namespace

std::optional<HttpRefusal> RefusalOf(const HttpRequest& request, std::string_view token) {
  if (!NamesThisMachine(request.host)) {
    return HttpRefusal{421, "this server answers requests to 127.0.0.1 and localhost only"};
  }
  if (request.method != "GET" && request.method != "POST") return HttpRefusal{405, "only GET and POST are answered"};
  if (!HasPlainForm(request.target)) return HttpRefusal{404, "there is no such page"};
  if (!EqualInConstantTime(TokenOf(request.target), token)) return HttpRefusal{404, "there is no such page"};
  const bool own_site =
      request.fetch_site.empty() || request.fetch_site == "none" || request.fetch_site == "same-origin";
  if (!own_site && !OpensAPage(request)) return HttpRefusal{403, "the request comes from another site"};
  if (!request.origin.empty() && request.origin != "http://" + request.host) {
    return HttpRefusal{403, "the request comes from another origin"};
  }
  // A form of another site cannot send this type.
  if (request.method == "POST" && request.content_type != "application/json") {
    return HttpRefusal{415, "the body of a request is application/json"};
  }
  return std::nullopt;
}

std::string PathOf(const HttpRequest& request) {
  const std::string_view path = WithoutQuery(request.target).substr(1);
  const std::size_t slash = path.find('/');
  return std::string(slash == path.npos ? std::string_view() : path.substr(slash + 1));
}

std::string QueryOf(const HttpRequest& request, std::string_view name) {
  const std::size_t mark = request.target.find('?');
  std::string_view query =
      mark == std::string::npos ? std::string_view() : std::string_view(request.target).substr(mark + 1);
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    if (pair.substr(0, pair.find('=')) == name && pair.size() > name.size()) {
      return std::string(pair.substr(name.size() + 1));
    }
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
  }
  return {};
}

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using NetError = boost::system::error_code;

constexpr std::chrono::seconds kAnswerTime{30};   // until the client has read an answer
constexpr std::chrono::seconds kFarewellTime{2};  // for it to close the connection then
constexpr std::size_t kMaxFarewellBytes = 64U << 10;
constexpr std::chrono::milliseconds kAcceptPause{100};  // when no descriptor is free
constexpr std::chrono::milliseconds kMoment{1'000};     // to send a request, if others wait for the place

using RequestFields = http::request<http::string_body>;

// The value of a header that occurs once; empty otherwise.
std::string Single(const RequestFields& fields, std::string_view name) {
  const auto [begin, end] = fields.equal_range(beast::string_view(name.data(), name.size()));
  if (begin == end || std::next(begin) != end) return {};
  return std::string(begin->value());
}

// "application/json" of "application/json; charset=utf-8".
std::string MediaType(const std::string& value) { return value.substr(0, value.find_first_of("; ")); }

HttpRequest HeadOf(const RequestFields& fields) {
  HttpRequest request;
  request.method = std::string(fields.method_string());
  request.target = std::string(fields.target());
  request.host = Single(fields, "Host");
  // Several of these count as a wrong one.
  const auto given = [&](std::string_view name) {
    return fields.count(beast::string_view(name.data(), name.size())) > 1 ? std::string("several")
                                                                          : Single(fields, name);
  };
  request.origin = given("Origin");
  request.fetch_site = given("Sec-Fetch-Site");
  request.fetch_mode = given("Sec-Fetch-Mode");
  request.fetch_dest = given("Sec-Fetch-Dest");
  request.content_type = MediaType(given("Content-Type"));
  request.last_event = given("Last-Event-ID");
  return request;
}

}  // namespace

struct HttpServer::Impl : std::enable_shared_from_this<Impl> {
  class Connection;

  Impl(asio::io_context& loop, std::string secret, Handler handler, HttpLimits most)
      : io(loop),
        acceptor(loop),
        pause(loop),
        heartbeat(loop),
        token(std::move(secret)),
        handle(std::move(handler)),
        limits(most),
        places(most.connections, kMoment) {}

  void Accept();
  void CloseAt(ConnectionPlaces::Id place);
  void Heartbeat();
  void Close();

  asio::io_context& io;
  Tcp::acceptor acceptor;
  asio::steady_timer pause;
  asio::steady_timer heartbeat;
  const std::string token;
  const Handler handle;
  const HttpLimits limits;
  ConnectionPlaces places;  // of the connections that are not turned away
  std::set<std::shared_ptr<Connection>> connections;
  const std::shared_ptr<const std::string> comment = std::make_shared<const std::string>(":\n\n");
  bool closed = false;
};

// One client: its request, then its answer or its stream.
class HttpServer::Impl::Connection : public EventStream, public std::enable_shared_from_this<Connection> {
 public:
  Connection(std::shared_ptr<Impl> server, Tcp::socket socket)
      : server_(std::move(server)), stream_(std::move(socket)), buffer_(server_->limits.head_bytes) {
    parser_.header_limit(static_cast<std::uint32_t>(server_->limits.head_bytes));
    parser_.body_limit(server_->limits.body_bytes);
  }

  void Begin() {
    stream_.expires_after(server_->limits.request_time);
    http::async_read_header(stream_, buffer_, parser_, [self = shared_from_this()](const NetError& error, std::size_t) {
      if (error) return self->Refuse(error);
      self->OnHead();
    });
  }

  void Busy() { Answer(TextAnswer(503, "there are too many connections")); }

  // Its place among those of the server; 0: it is turned away.
  void Take(ConnectionPlaces::Id place) { place_ = place; }
  ConnectionPlaces::Id place() const { return place_; }

  void Send(std::shared_ptr<const std::string> bytes) override {
    if (ended_) return;
    // Behind what is being written: the first event may be large.
    if (!queue_.empty() && queued_ - queue_.front()->size() > kMaxQueued) return End();
    queued_ += bytes->size();
    queue_.push_back(std::move(bytes));
    if (!writing_) Write();
  }
  void OnClosed(std::function<void()> closed) override {
    if (ended_) return closed();
    closed_ = std::move(closed);
  }

  void Heartbeat() {
    if (streams_ && queue_.empty()) Send(server_->comment);
  }

  // Closes the connection, and forgets it.
  void End() {
    if (std::exchange(ended_, true)) return;
    NetError ignored;
    stream_.socket().close(ignored);
    queue_.clear();
    const auto self = shared_from_this();
    server_->places.Remove(place_);
    server_->connections.erase(self);
    if (const auto closed = std::exchange(closed_, nullptr)) closed();
  }

 private:
  void Refuse(const NetError& error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      return Answer(TextAnswer(431, "the head of the request is too long"));
    }
    if (error == http::error::body_limit) return Answer(TextAnswer(413, "the body of the request is too long"));
    if (error.category() == http::make_error_code(http::error::bad_method).category() &&
        error != http::error::end_of_stream && error != http::error::partial_message) {
      return Answer(TextAnswer(400, "this is not a valid request"));
    }
    End();
  }

  void OnHead() {
    const RequestFields& fields = parser_.get();
    request_ = HeadOf(fields);
    // Only a body of a stated length: other ways to delimit it are understood differently by different programs.
    if (fields.count(http::field::transfer_encoding) > 0 || fields.count(http::field::upgrade) > 0 ||
        fields.count(http::field::content_length) > 1 || fields.count(http::field::expect) > 0) {
      return Answer(TextAnswer(400, "the body of a request has a Content-Length, and nothing else"));
    }
    if (const auto refusal = RefusalOf(request_, server_->token)) {
      return Answer(TextAnswer(refusal->status, std::string(refusal->why)));
    }
    server_->places.Prove(place_);
    if (request_.method == "GET") {
      if (parser_.content_length().value_or(0) > 0) return Answer(TextAnswer(400, "a GET has no body"));
      return Handle();
    }
    if (!parser_.content_length()) return Answer(TextAnswer(411, "the request has no Content-Length"));
    http::async_read(stream_, buffer_, parser_, [self = shared_from_this()](const NetError& error, std::size_t) {
      if (error) return self->Refuse(error);
      self->request_.body = std::move(self->parser_.get().body());
      self->Handle();
    });
  }

  void Handle() {
    stream_.expires_never();  // the handler may need other processes, and has its own limits
    server_->handle(request_, PathOf(request_), [self = std::weak_ptr(shared_from_this())](HttpAnswer answer) {
      if (const auto connection = self.lock()) connection->Answer(std::move(answer));
    });
  }

  void Answer(HttpAnswer answer) {
    if (ended_ || std::exchange(answered_, true)) return;
    auto bytes = std::make_shared<const std::string>(AnswerBytes(answer));
    if (answer.stream) return BeginStream(std::move(bytes), answer.stream);
    stream_.expires_after(kAnswerTime);
    asio::async_write(stream_, asio::buffer(*bytes),
                      [self = shared_from_this(), bytes](const NetError& error, std::size_t) {
                        if (error) return self->End();
                        // Closed at once, what the client still sends would reset the connection, and it might lose the
                        // answer.
                        NetError ignored;
                        self->stream_.socket().shutdown(Tcp::socket::shutdown_send, ignored);
                        self->stream_.expires_after(kFarewellTime);
                        self->AwaitFarewell(0);
                      });
  }

  void AwaitFarewell(std::size_t read) {
    stream_.async_read_some(asio::buffer(scratch_),
                            [self = shared_from_this(), read](const NetError& error, std::size_t got) {
                              if (error || read + got > kMaxFarewellBytes) return self->End();
                              self->AwaitFarewell(read + got);
                            });
  }

  void BeginStream(std::shared_ptr<const std::string> head,
                   const std::function<void(std::shared_ptr<EventStream>)>& to) {
    streams_ = true;
    stream_.expires_never();
    Send(std::move(head));
    // A client that leaves is seen by this read; one that sends something is not a page.
    stream_.socket().async_read_some(asio::buffer(scratch_),
                                     [self = shared_from_this()](const NetError&, std::size_t) { self->End(); });
    to(shared_from_this());
  }

  void Write() {
    writing_ = true;
    std::vector<asio::const_buffer> buffers;
    for (const auto& bytes : queue_) {
      if (buffers.size() == kMaxBuffers) break;
      buffers.push_back(asio::buffer(*bytes));
    }
    asio::async_write(
        stream_.socket(), buffers,
        [self = shared_from_this(), count = buffers.size(),
         kept = std::vector(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(buffers.size()))](
            const NetError& error, std::size_t) {
          self->writing_ = false;
          if (error || self->ended_) return self->End();
          for (std::size_t i = 0; i < count; ++i) {
            self->queued_ -= self->queue_.front()->size();
            self->queue_.pop_front();
          }
          if (!self->queue_.empty()) self->Write();
        });
  }

  static constexpr std::size_t kMaxBuffers = 16;

  const std::shared_ptr<Impl> server_;
  ConnectionPlaces::Id place_ = 0;
  beast::tcp_stream stream_;
  beast::flat_buffer buffer_;
  http::request_parser<http::string_body> parser_;
  HttpRequest request_;
  std::array<char, 4096> scratch_{};
  std::deque<std::shared_ptr<const std::string>> queue_;
  std::size_t queued_ = 0;
  std::function<void()> closed_;
  bool writing_ = false;
  bool streams_ = false;
  bool answered_ = false;
  bool ended_ = false;
};

void HttpServer::Impl::Accept() {
  acceptor.async_accept([self = shared_from_this()](const NetError& error, Tcp::socket socket) {
    if (self->closed) return;
    if (error == asio::error::operation_aborted) return;
    if (error) {  // no descriptor is free, or the client has left
      self->pause.expires_after(kAcceptPause);
      self->pause.async_wait([self](const NetError& stopped) {
        if (!stopped && !self->closed) self->Accept();
      });
      return;
    }
    const Peer peer = PeerOf(socket.native_handle());
    const ConnectionPlaces::Admission place = self->places.Admit(peer, std::chrono::steady_clock::now());
    if (place.closes) self->CloseAt(*place.closes);
    // The user's own programs get an answer if they are turned away; they are too few to do harm by that.
    const bool answered =
        place.id || (peer.kind == Peer::Kind::kOwn && self->connections.size() < 2 * self->limits.connections);
    if (answered) {
      auto connection = std::make_shared<Connection>(self, std::move(socket));
      self->connections.insert(connection);
      connection->Take(place.id.value_or(0));
      place.id ? connection->Begin() : connection->Busy();
    }
    self->Accept();
  });
}

void HttpServer::Impl::CloseAt(ConnectionPlaces::Id place) {
  const auto found = std::find_if(connections.begin(), connections.end(),
                                  [place](const auto& connection) { return connection->place() == place; });
  if (found != connections.end()) std::shared_ptr(*found)->End();
}

void HttpServer::Impl::Heartbeat() {
  heartbeat.expires_after(limits.heartbeat_time);
  heartbeat.async_wait([self = shared_from_this()](const NetError& error) {
    if (error || self->closed) return;
    const auto all = self->connections;  // a copy: sending may end a connection
    for (const auto& connection : all) connection->Heartbeat();
    self->Heartbeat();
  });
}

void HttpServer::Impl::Close() {
  closed = true;
  NetError ignored;
  acceptor.close(ignored);
  pause.cancel();
  heartbeat.cancel();
  while (!connections.empty()) (*connections.begin())->End();
}

Result<std::unique_ptr<HttpServer>> HttpServer::Listen(asio::io_context& io, std::uint16_t port, std::string token,
                                                       Handler handler, HttpLimits limits) {
  auto impl = std::make_shared<Impl>(io, std::move(token), std::move(handler), limits);
  NetError error;
  const Tcp::endpoint here(asio::ip::address_v4::loopback(), port);
  static_cast<void>(impl->acceptor.open(Tcp::v4(), error));
  if (!error) static_cast<void>(impl->acceptor.set_option(Tcp::acceptor::reuse_address(true), error));
  if (!error) static_cast<void>(impl->acceptor.bind(here, error));
  if (!error) static_cast<void>(impl->acceptor.listen(Tcp::acceptor::max_listen_connections, error));
  if (error) {
    return Fail(MachineError("serve", fmt::format("cannot listen on 127.0.0.1:{}: {}", port, error.message()),
                             port == 0 ? "" : "without --port a free one is used"));
  }
  impl->Accept();
  impl->Heartbeat();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

HttpServer::HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

HttpServer::~HttpServer() { impl_->Close(); }

std::uint16_t HttpServer::port() const {
  NetError ignored;
  return impl_->acceptor.local_endpoint(ignored).port();
}

std::size_t HttpServer::connections() const { return impl_->connections.size(); }

}  // namespace muster
