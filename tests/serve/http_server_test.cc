// Tests the server with a client of bytes: what it answers, and what a connection may cost.
#include "serve/http/http_server.h"

#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include <arpa/inet.h>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/system/unique_fd.h"
#include "support/dialing.h"

namespace muster {
namespace {

using testing::ConnectHereAs;
using testing::kAnotherUser;
using testing::SendAll;

using Tcp = boost::asio::ip::tcp;

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class Client {
 public:
  Client(boost::asio::io_context& io, std::uint16_t port) : io_(io), socket_(io) {
    socket_.connect({boost::asio::ip::address_v4::loopback(), port});
  }

  void Send(const std::string& bytes) {
    boost::system::error_code ignored;
    boost::asio::write(socket_, boost::asio::buffer(bytes), ignored);  // into the kernel's buffer
  }
  // Reads until the server closes the connection.
  std::string ReadAll() {
    bool over = false;
    ReadMore([&over] { over = true; });
    while (!over) io_.run_one();
    return std::move(received_);
  }
  // Reads until the text was received.
  void Await(const std::string& text) {
    bool over = false;
    ReadMore([&over] { over = true; });
    while (!over && received_.find(text) == std::string::npos) io_.run_one();
    EXPECT_NE(received_.find(text), std::string::npos) << received_;
  }
  void Close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  void ReadMore(std::function<void()> over) {
    socket_.async_read_some(boost::asio::buffer(piece_),
                            [this, over](const boost::system::error_code& error, std::size_t got) {
                              if (error) return over();
                              received_.append(piece_.data(), got);
                              ReadMore(over);
                            });
  }

  boost::asio::io_context& io_;
  Tcp::socket socket_;
  std::array<char, 4096> piece_{};
  std::string received_;
};

class HttpServerTest : public ::testing::Test {
 protected:
  void Listen(HttpLimits limits = {}) {
    auto server = HttpServer::Listen(
        io_, 0, "token",
        [this](const HttpRequest& request, const std::string& path, const HttpServer::Reply& reply) {
          seen_.push_back(request.method + " " + path + " " + request.body);
          if (path != "events")
            return reply({.type = "text/html", .body = std::make_shared<const std::string>("hello")});
          reply({.stream = [this](std::shared_ptr<EventStream> stream) { stream_ = std::move(stream); }});
        },
        limits);
    ASSERT_TRUE(server);
    server_ = *std::move(server);
  }
  std::string Exchange(const std::string& bytes) {
    Client client(io_, server_->port());
    client.Send(bytes);
    return client.ReadAll();
  }
  // A client of a stream that has begun.
  void OpenStream(Client& client) {
    client.Send("GET /token/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    while (!stream_) io_.run_one();
  }

  boost::asio::io_context io_;
  std::unique_ptr<HttpServer> server_;
  std::vector<std::string> seen_;
  std::shared_ptr<EventStream> stream_;
};

constexpr char kGet[] = "GET /token/x HTTP/1.1\r\nHost: 127.0.0.1:1\r\n\r\n";

TEST_F(HttpServerTest, ListensOnLoopbackOnly) {
  Listen();
  const UniqueFd other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(server_->port());
  ::inet_pton(AF_INET, "127.0.0.2", &address.sin_addr);  // listening everywhere would include it
  EXPECT_NE(::connect(other.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(errno, ECONNREFUSED);
}

TEST_F(HttpServerTest, SendsHeadersThatKeepAPageToItself) {
  Listen();
  const std::string answer = Exchange(kGet);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nhello")) << answer;
  for (const char* header :
       {"X-Content-Type-Options: nosniff\r\n", "X-Frame-Options: DENY\r\n", "Referrer-Policy: no-referrer\r\n",
        "Cache-Control: no-store\r\n", "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'",
        "Cross-Origin-Resource-Policy: same-origin\r\n", "Content-Length: 5\r\n", "Connection: close\r\n"}) {
    EXPECT_NE(answer.find(header), std::string::npos) << header << answer;
  }
  EXPECT_EQ(answer.find("Access-Control"), std::string::npos);
}

TEST_F(HttpServerTest, AnswersOneRequestPerConnection) {
  Listen();
  const std::string answer = Exchange(std::string(kGet) + kGet);
  EXPECT_EQ(CountOf(answer, "HTTP/1.1"), 1U) << answer;
  EXPECT_EQ(seen_.size(), 1U);
}

TEST_F(HttpServerTest, PassesOnlyAdmittedRequestsOn) {
  Listen();
  EXPECT_TRUE(Exchange("GET /token/x HTTP/1.1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 421 "));
  EXPECT_TRUE(Exchange("GET /token/x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 421 "));
  EXPECT_TRUE(
      Exchange("GET /token/x HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 421 "));
  EXPECT_TRUE(Exchange("GET /tokem/x HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(Exchange("GET /token/%2e%2e/x HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(Exchange("OPTIONS /token/x HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(Exchange("GET /token/x HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nOrigin: null\r\n\r\n")
                  .starts_with("HTTP/1.1 403 "));
  EXPECT_TRUE(seen_.empty());
}

TEST_F(HttpServerTest, ReadsABodyOfAStatedLength) {
  Listen();
  const std::string head =
      "POST /token/stop HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json; charset=utf-8\r\n";
  EXPECT_TRUE(Exchange(head + "Content-Length: 2\r\n\r\n{}").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(seen_, std::vector<std::string>{"POST stop {}"});
  EXPECT_TRUE(Exchange(head + "\r\n").starts_with("HTTP/1.1 411 "));
  EXPECT_TRUE(Exchange(head + "Content-Length: 40000\r\n\r\n").starts_with("HTTP/1.1 413 "));
}

TEST_F(HttpServerTest, RefusesAmbiguousBodies) {
  Listen();
  const std::string head = "POST /token/stop HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  const std::string hidden = "GET /token/hidden HTTP/1.1\r\nHost: localhost\r\n\r\n";
  for (const std::string& rest :
       {std::string("Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        std::string("Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        std::string("Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}"),
        std::string("Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{}"),
        std::string("Content-Length: 2\r\nContent-Length: 7\r\n\r\n{}"),
        std::string("Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}"), std::string("Content-Length: +2\r\n\r\n{}"),
        std::string("Content-Length: 2 2\r\n\r\n{}"), std::string("Content-Length : 2\r\n\r\n{}"),
        std::string("Content-Length: 2\nX: y\r\n\r\n{}"),
        std::string("Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"),
        std::string("Upgrade: h2c\r\nContent-Length: 2\r\n\r\n{}")}) {
    const std::string answer = Exchange(head + rest + hidden);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << rest << answer;
    EXPECT_EQ(CountOf(answer, "HTTP/1.1"), 1U) << rest << answer;
  }
  EXPECT_TRUE(
      Exchange("GET /token/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}").starts_with("HTTP/1.1 400 "));
  for (const char* no_request :
       {"hello\r\n\r\n", "GET /token/x\r\n\r\n", "GET  /token/x HTTP/1.1\r\n\r\n", "GET /token/x HTTP/9.9\r\n\r\n",
        "\x16\x03\x01\x02", "GET /token/\0x HTTP/1.1\r\n\r\n"}) {
    const std::string answer = Exchange(std::string(no_request) + "\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << no_request << answer;
  }
  EXPECT_TRUE(seen_.empty());
}

TEST_F(HttpServerTest, RefusesHeadsThatAreTooLong) {
  Listen();
  EXPECT_TRUE(Exchange("GET /token/x HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(9000, 'x') + "\r\n\r\n")
                  .starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(Exchange("GET /token/" + std::string(20'000, 'x')).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(Exchange("GET /token/" + std::string(600, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
                  .starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(seen_.empty());
}

TEST_F(HttpServerTest, ClosesAConnectionThatDripsItsRequest) {
  Listen({.request_time = std::chrono::milliseconds(50)});
  EXPECT_EQ(Exchange("GET /token/x HTTP/1.1\r\nHost: local"), "");
  EXPECT_EQ(Exchange("POST /token/x HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     "Content-Length: 2\r\n\r\n{"),
            "");
  EXPECT_TRUE(seen_.empty());
}

TEST_F(HttpServerTest, RefusesFurtherConnectionsWhenThereAreTooMany) {
  Listen({.connections = 1});
  Client first(io_, server_->port());
  OpenStream(first);
  EXPECT_TRUE(Exchange(kGet).starts_with("HTTP/1.1 503 "));
  first.Close();
  while (server_->connections() > 0) io_.run_one();
  EXPECT_TRUE(Exchange(kGet).starts_with("HTTP/1.1 200 "));
}

TEST_F(HttpServerTest, AnswersTheOwnerAmongConnectionsOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  Listen({.connections = 16});
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(ConnectHereAs(server_->port(), kAnotherUser));
    ASSERT_TRUE(silent.back());
    if (i % 2 == 0) {
      ASSERT_TRUE(SendAll(silent.back(), "GET /token"));
    }
    if (i % 10 == 0) {
      EXPECT_TRUE(Exchange(kGet).starts_with("HTTP/1.1 200 ")) << i;
    }
    EXPECT_LE(server_->connections(), 16U);
  }
  // A connection with the token is not closed for others without it, whatever user's program it is of.
  const UniqueFd page = ConnectHereAs(server_->port(), kAnotherUser);
  ASSERT_TRUE(SendAll(page, "GET /token/events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  while (!stream_) io_.run_one();
  bool closed = false;
  stream_->OnClosed([&closed] { closed = true; });
  for (int i = 0; i < 20; ++i) {
    silent.push_back(ConnectHereAs(server_->port(), kAnotherUser));
    EXPECT_TRUE(Exchange(kGet).starts_with("HTTP/1.1 200 ")) << i;
  }
  EXPECT_FALSE(closed);
}

TEST_F(HttpServerTest, StreamsEvents) {
  Listen();
  Client page(io_, server_->port());
  OpenStream(page);
  stream_->Send(std::make_shared<const std::string>("event: a\ndata: 1\n\n"));
  page.Await("event: a\ndata: 1\n\n");
  bool closed = false;
  stream_->OnClosed([&closed] { closed = true; });
  page.Close();
  while (!closed) io_.run_one();
  EXPECT_EQ(server_->connections(), 0U);
  stream_->Send(std::make_shared<const std::string>("into the void"));
}

TEST_F(HttpServerTest, SendsCommentsIntoSilentStreams) {
  Listen({.heartbeat_time = std::chrono::milliseconds(10)});
  Client page(io_, server_->port());
  OpenStream(page);
  page.Await(":\n\n:\n\n");
}

TEST_F(HttpServerTest, ClosesAStreamThatIsNotRead) {
  Listen();
  Client page(io_, server_->port());
  OpenStream(page);
  bool closed = false;
  stream_->OnClosed([&closed] { closed = true; });
  const auto event = std::make_shared<const std::string>(std::string(64U << 10, 'x'));
  constexpr int kMoreThanAnyBuffer = 10'000;
  int sent = 0;
  for (; sent < kMoreThanAnyBuffer && !closed; ++sent) {
    stream_->Send(event);
    io_.poll();
  }
  EXPECT_TRUE(closed);
  EXPECT_LT(sent, kMoreThanAnyBuffer);
  EXPECT_EQ(server_->connections(), 0U);
}

}  // namespace
}  // namespace muster
