#include "transport/dial_listener.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "base/system/tcp_socket.h"

namespace muster {
namespace {

constexpr std::chrono::milliseconds kDescriptorPause{100};

}  // namespace

// A connection without a proof.
struct DialListener::Stranger {
  Stranger(boost::asio::io_context& io, Clock::time_point now) : socket(io.get_executor()), came_at(now) {}

  std::size_t wanted() const { return (greeting.empty() ? kGreetingBytes : kAgentProofBytes) - got.size(); }

  WatchedFd socket;
  const Clock::time_point came_at;
  std::string got;       // of the message that is awaited
  std::string greeting;  // its bytes, once they are there
  std::string node;
  std::string answer;  // to the greeting
};

DialListener::DialListener(boost::asio::io_context& io, std::string session, std::string token, Events events)
    : io_(io),
      session_(std::move(session)),
      token_(std::move(token)),
      events_(std::move(events)),
      socket_(io.get_executor()),
      oldest_(io.get_executor()),
      pause_(io.get_executor()) {}

Result<std::shared_ptr<DialListener>> DialListener::Open(boost::asio::io_context& io, std::string session,
                                                         std::string token, Events events) {
  std::shared_ptr<DialListener> listener(new DialListener(io, std::move(session), std::move(token), std::move(events)));
  auto socket = ListenAt(listener->port_, PortUse::kAlone);
  if (!socket) return Fail(SystemError("hosts", "cannot listen for agents that dial back", socket.error()));
  boost::system::error_code error;
  listener->socket_.assign(socket->get(), error);
  if (error) return Fail(SystemError("hosts", "cannot wait for agents that dial back", error.value()));
  socket->release();
  listener->AwaitConnection();
  return listener;
}

void DialListener::Close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  for (const auto& stranger : strangers_) stranger->socket.close(ignored);  // handlers still hold it
  strangers_.clear();
  oldest_.cancel();
  pause_.cancel();
}

// --- connections -----------------------------------------------------------------------------------

void DialListener::AwaitConnection() {
  if (accepting_ || !socket_.is_open() || strangers_.size() >= kMostUnproven) return;
  accepting_ = true;
  socket_.async_wait(WatchedFd::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!self) return;
    self->accepting_ = false;
    if (!error && self->socket_.is_open()) self->TakeConnections();
  });
}

void DialListener::TakeConnections() {
  while (strangers_.size() < kMostUnproven) {
    UniqueFd connection(::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) break;
      pause_.expires_after(kDescriptorPause);
      pause_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
        if (const auto self = weak.lock(); self && !error) self->AwaitConnection();
      });
      return AwaitOldest();
    }
    const int on = 1;
    ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto stranger = std::make_shared<Stranger>(io_, Clock::now());
    boost::system::error_code error;
    stranger->socket.assign(connection.get(), error);
    if (error) continue;
    connection.release();
    strangers_.push_back(stranger);
    AwaitBytes(stranger);
  }
  AwaitOldest();
  AwaitConnection();
}

DialListener::Clock::time_point DialListener::DueAt(const Stranger& stranger) const {
  return stranger.came_at + (strangers_.size() < kMostUnproven ? kHandshakeTime : kCrowdedTime);
}

void DialListener::AwaitOldest() {
  if (strangers_.empty()) {
    oldest_.cancel();
    return;
  }
  oldest_.expires_at(DueAt(*strangers_.front()));
  oldest_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!self || error || self->strangers_.empty()) return;
    const std::shared_ptr<Stranger> oldest = self->strangers_.front();
    if (Clock::now() < self->DueAt(*oldest)) return self->AwaitOldest();
    self->Drop(oldest, self->counts_.slow);
  });
}

void DialListener::Drop(const std::shared_ptr<Stranger>& stranger, std::uint32_t& count) {
  ++count;
  boost::system::error_code ignored;
  stranger->socket.close(ignored);
  strangers_.remove(stranger);
  AwaitOldest();
  AwaitConnection();
}

// --- the handshake ---------------------------------------------------------------------------------

void DialListener::AwaitBytes(const std::shared_ptr<Stranger>& stranger) {
  stranger->socket.async_wait(WatchedFd::wait_read,
                              [weak = weak_from_this(), stranger](const boost::system::error_code& error) {
                                const auto self = weak.lock();
                                if (!error && self && stranger->socket.is_open()) self->Read(stranger);
                              });
}

// No more than the message: what follows is the agent protocol's.
void DialListener::Read(const std::shared_ptr<Stranger>& stranger) {
  std::array<char, std::max(kGreetingBytes, kAgentProofBytes)> bytes = {};
  const ssize_t got = ::recv(stranger->socket.native_handle(), bytes.data(), stranger->wanted(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return AwaitBytes(stranger);
  if (got <= 0) return Drop(stranger, counts_.left);
  stranger->got.append(bytes.data(), static_cast<std::size_t>(got));
  // What cannot become a greeting is not waited for.
  const std::size_t compared = std::min(stranger->got.size(), kDialMagic.size());
  if (stranger->greeting.empty() && stranger->got.compare(0, compared, kDialMagic, 0, compared) != 0) {
    return Drop(stranger, counts_.strangers);
  }
  if (stranger->wanted() > 0) return AwaitBytes(stranger);
  OnMessage(stranger);
}

void DialListener::OnMessage(const std::shared_ptr<Stranger>& stranger) {
  if (!stranger->greeting.empty()) return Judge(stranger);
  const std::optional<DialGreeting> greeting = ParseGreeting(stranger->got);
  if (!greeting || greeting->session != session_) return Drop(stranger, counts_.strangers);
  stranger->node = greeting->node;
  stranger->greeting = std::exchange(stranger->got, {});
  stranger->answer = HeadProof(token_, stranger->greeting, MakeNonce());
  if (!Write(*stranger, stranger->answer)) return Drop(stranger, counts_.left);
  AwaitBytes(stranger);
}

void DialListener::Judge(const std::shared_ptr<Stranger>& stranger) {
  if (!ProvesAgent(token_, stranger->greeting, stranger->answer, stranger->got)) {
    return Drop(stranger, counts_.strangers);
  }
  const DialVerdict verdict = events_.judge(stranger->node);
  const char byte = static_cast<char>(verdict);
  const bool written = Write(*stranger, {&byte, 1});
  if (verdict != DialVerdict::kAccepted) {
    return Drop(stranger, verdict == DialVerdict::kConnected ? counts_.twice : counts_.unknown);
  }
  if (!written) return Drop(stranger, counts_.left);
  ++counts_.accepted;
  UniqueFd connection(stranger->socket.release());
  strangers_.remove(stranger);
  AwaitOldest();
  AwaitConnection();
  const auto accepted = events_.accepted;  // it may close this object
  accepted(stranger->node, std::move(connection));
}

// The messages fit into the buffer of a new connection.
bool DialListener::Write(Stranger& stranger, std::string_view bytes) {
  return ::send(stranger.socket.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

}  // namespace muster
