#include "run/control/control_server.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <errno.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/system/own_process.h"

namespace muster {
namespace {

using Descriptor = boost::asio::posix::stream_descriptor;

constexpr int kBacklog = 128;

UniqueFd Spare() { return UniqueFd(OpenNull()); }

}  // namespace

bool MayControl(int client, uid_t owner) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) return false;
  return peer.uid == owner || peer.uid == 0;
}

struct ControlServer::Client {
  Client(boost::asio::io_context& io, int fd) : socket(io, fd) {}

  Descriptor socket;
  std::string input;   // less than a line, except while answers are pending
  std::string output;  // not sent yet
  bool watching = false;
  bool reading = false;
  bool writing = false;
  bool last = false;     // the pending answer is the last one
  bool no_more = false;  // the client sends nothing more
};

Result<std::unique_ptr<ControlServer>> ControlServer::Listen(boost::asio::io_context& io, int folder, Calls calls) {
  const auto refused = [](std::string_view what) {
    return Fail(SystemError("control", fmt::format("the run cannot be controlled from outside: {}", what), errno));
  };
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return refused("socket");
  const sockaddr_un address = ControlAddress(folder);
  // An existing socket was left by a head that was killed: the caller holds the lock of the folder.
  ::unlinkat(folder, kName, 0);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return refused("bind");
  // No client can connect before listen(2), so the socket is never more accessible than the folder.
  if (::fchmodat(folder, kName, 0600, 0) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    const auto why = refused("listen");
    ::unlinkat(folder, kName, 0);
    return why;
  }
  return std::unique_ptr<ControlServer>(new ControlServer(io, folder, std::move(calls), std::move(socket)));
}

ControlServer::ControlServer(boost::asio::io_context& io, int folder, Calls calls, UniqueFd socket)
    : io_(io), folder_(folder), calls_(std::move(calls)), socket_(io, socket.release()), spare_(Spare()) {
  AwaitClients();
}

ControlServer::~ControlServer() {
  ::unlinkat(folder_, kName, 0);
  boost::system::error_code ignored;
  socket_.close(ignored);
  while (!clients_.empty()) Drop(clients_.back());
}

void ControlServer::AwaitClients() {
  socket_.async_wait(Descriptor::wait_read,
                     [this, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                       if (error || alive.expired()) return;  // the server was destroyed
                       Accept();
                       AwaitClients();
                     });
}

void ControlServer::Accept() {
  for (;;) {
    UniqueFd client(::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EMFILE || errno == ENFILE) TurnAway();
      return;
    }
    if (!MayControl(client.get(), ::geteuid())) continue;
    if (clients_.size() >= kMaxClients) {
      const std::string answer = ControlAnswerLine({"too many connections to this run", false, {}});
      static_cast<void>(::send(client.get(), answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL));
      continue;
    }
    clients_.push_back(std::make_shared<Client>(io_, client.release()));
    AwaitRequest(clients_.back());
  }
}

void ControlServer::TurnAway() {
  spare_.reset();
  const UniqueFd refused(::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC));
  spare_ = Spare();
}

void ControlServer::AwaitRequest(const std::shared_ptr<Client>& client) {
  if (!client->socket.is_open() || client->reading || client->no_more || !client->output.empty()) return;
  client->reading = true;
  client->socket.async_wait(Descriptor::wait_read,
                            [this, client, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                              if (error || alive.expired() || !client->socket.is_open()) return;
                              client->reading = false;
                              Read(client);
                            });
}

void ControlServer::Read(const std::shared_ptr<Client>& client) {
  std::array<char, kMaxControlRequest> bytes;
  const ssize_t got = ::recv(client->socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0 && errno != EAGAIN && errno != EINTR) return Drop(client);
  if (got == 0) {
    // A client that has only shut down its sending side still expects its answer.
    client->no_more = true;
    if (client->output.empty() && !client->watching) Drop(client);
    return;
  }
  if (got > 0) client->input.append(bytes.data(), static_cast<std::size_t>(got));
  ServeLines(client);
}

// One line at a time: the next one after the answer has been sent.
void ControlServer::ServeLines(const std::shared_ptr<Client>& client) {
  while (client->socket.is_open() && client->output.empty() && !client->last) {
    const std::size_t end = client->input.find('\n');
    if (end >= kMaxControlRequest && (end != std::string::npos || client->input.size() >= kMaxControlRequest)) {
      client->last = true;
      Send(client, ControlAnswerLine({fmt::format("a line has at most {} bytes", kMaxControlRequest), false, {}}));
      return;
    }
    if (end == std::string::npos) break;
    const std::string line = client->input.substr(0, end);
    client->input.erase(0, end + 1);
    Send(client, ControlAnswerLine(AnswerTo(line, *client)));
  }
  AwaitRequest(client);
}

ControlAnswer ControlServer::AnswerTo(std::string_view line, Client& client) {
  const tl::expected<ControlRequest, std::string> request = ParseControlRequest(line);
  ControlAnswer answer;
  if (!request) {
    answer.error = request.error();
    return answer;
  }
  if (request->ask == ControlRequest::Ask::kStop) {
    answer.already = !calls_.stop(request->now, request->dump);
    if (request->dump) answer.dump = calls_.dumping();
  }
  if (request->ask == ControlRequest::Ask::kDump) {
    const tl::expected<std::uint32_t, std::string> dump = calls_.dump();
    if (!dump) {
      answer.error = dump.error();
      return answer;
    }
    answer.dump = *dump;
  }
  if (request->ask == ControlRequest::Ask::kOpen) {
    const auto opened = calls_.open ? calls_.open(*request->trial)
                                    : tl::make_unexpected(std::string("a run has no trials: ask the head of a sweep"));
    if (!opened) {
      answer.error = opened.error();
      return answer;
    }
  }
  if (request->ask == ControlRequest::Ask::kFault) {
    const auto injected =
        calls_.fault ? calls_.fault(*request) : tl::make_unexpected(std::string("faults are injected into runs"));
    if (!injected) {
      answer.error = injected.error();
      return answer;
    }
    answer.under_way = *injected == FaultAnswer::kUnderWay;
  }
  if (request->ask == ControlRequest::Ask::kSteer) {
    const auto limits = calls_.steer ? calls_.steer(*request)
                                     : tl::make_unexpected(std::string("a run has no trials: ask the head of a sweep"));
    if (!limits) {
      answer.error = limits.error();
      return answer;
    }
    answer.limits = *limits;
  }
  if (request->ask == ControlRequest::Ask::kEdit) {
    const auto limits = calls_.edit ? calls_.edit(request->edit)
                                    : tl::make_unexpected(std::string("a run has no trials: ask the head of a sweep"));
    if (!limits) {
      answer.error = limits.error();
      return answer;
    }
    answer.limits = *limits;
  }
  if (request->ask == ControlRequest::Ask::kWatch) client.watching = true;
  if (request->ask == ControlRequest::Ask::kProcesses) answer.processes = calls_.processes();
  answer.status = calls_.status();
  return answer;
}

bool ControlServer::watched() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const auto& client) { return client->watching; });
}

void ControlServer::Publish(const std::string& line) {
  const std::vector<std::shared_ptr<Client>> clients = clients_;  // a copy: sending may drop clients
  for (const std::shared_ptr<Client>& client : clients) {
    if (!client->watching) continue;
    if (client->output.size() > kMaxUnread) {
      Drop(client);
    } else {
      Send(client, line);
    }
  }
}

void ControlServer::Send(const std::shared_ptr<Client>& client, const std::string& bytes) {
  client->output += bytes;
  if (!client->writing) Write(client);
}

void ControlServer::Write(const std::shared_ptr<Client>& client) {
  std::size_t sent = 0;
  while (client->socket.is_open() && sent < client->output.size()) {
    const ssize_t wrote = ::send(client->socket.native_handle(), client->output.data() + sent,
                                 client->output.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (wrote > 0) sent += static_cast<std::size_t>(wrote);
    if (wrote < 0 && errno == EAGAIN) break;
    if (wrote < 0 && errno != EINTR) return Drop(client);
  }
  client->output.erase(0, sent);
  if (client->output.empty()) {
    if (client->last || (client->no_more && !client->watching)) Drop(client);
    return;
  }
  client->writing = true;
  client->socket.async_wait(Descriptor::wait_write,
                            [this, client, alive = std::weak_ptr(alive_)](const boost::system::error_code& error) {
                              if (error || alive.expired() || !client->socket.is_open()) return;
                              client->writing = false;
                              Write(client);
                              if (client->output.empty()) ServeLines(client);
                            });
}

void ControlServer::Drop(const std::shared_ptr<Client>& client) {
  const std::shared_ptr<Client> kept = client;  // a copy: the caller's may be the one in the list
  boost::system::error_code ignored;
  kept->socket.close(ignored);
  kept->watching = false;
  std::erase(clients_, kept);
}

}  // namespace muster
