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
// One machine may let so much of the places wait for a place; further connections of it are closed, and its agents try
// again.
constexpr std::size_t kShareOfAMachine = 4;
// Handshakes go on between so many new connections.
constexpr int kMostAtOnce = 64;

}  // namespace

// A connection without a proof.
struct DialListener::Visitor {
  Visitor(boost::asio::io_context& io, Clock::time_point now) : socket(io.get_executor()), came_at(now) {}

  std::size_t wanted() const { return (greeting.empty() ? kGreetingBytes : kAgentProofBytes) - got.size(); }

  WatchedFd socket;
  const Clock::time_point came_at;
  ConnectionPlaces::Id place = 0;
  std::string got;       // of the message that is awaited
  std::string greeting;  // its bytes, once they are there
  std::string node;
  std::string answer;  // to the greeting
};

DialListener::DialListener(boost::asio::io_context& io, std::string session, std::string token, Events events,
                           DialLimits limits)
    : io_(io),
      session_(std::move(session)),
      token_(std::move(token)),
      events_(std::move(events)),
      limits_(limits),
      socket_(io.get_executor()),
      oldest_(io.get_executor()),
      pause_(io.get_executor()),
      places_(limits.most, limits.crowded_time) {}

Result<std::shared_ptr<DialListener>> DialListener::Open(boost::asio::io_context& io, std::string session,
                                                         std::string token, Events events, DialLimits limits) {
  std::shared_ptr<DialListener> listener(
      new DialListener(io, std::move(session), std::move(token), std::move(events), limits));
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
  for (const auto& visitor : visitors_) visitor->socket.close(ignored);  // handlers still hold it
  visitors_.clear();
  oldest_.cancel();
  pause_.cancel();
}

// --- connections -----------------------------------------------------------------------------------

void DialListener::AwaitConnection() {
  if (accepting_ || !socket_.is_open() || visitors_.size() > limits_.most) return;
  accepting_ = true;
  socket_.async_wait(WatchedFd::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!self) return;
    self->accepting_ = false;
    if (!error && self->socket_.is_open()) self->TakeConnections();
  });
}

void DialListener::TakeConnections() {
  for (int i = 0; i < kMostAtOnce && visitors_.size() <= limits_.most; ++i) {
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
    auto visitor = std::make_shared<Visitor>(io_, Clock::now());
    if (!FindPlace(connection, visitor)) continue;
    boost::system::error_code error;
    visitor->socket.assign(connection.get(), error);
    if (error) {
      places_.Remove(visitor->place);
      continue;
    }
    connection.release();
    visitors_.push_back(visitor);
    AwaitBytes(visitor);
  }
  AwaitOldest();
  AwaitConnection();
}

bool DialListener::FindPlace(const UniqueFd& connection, const std::shared_ptr<Visitor>& visitor) {
  const Peer peer = PeerOf(connection.get());
  const ConnectionPlaces::Admission admission = places_.Admit(peer, visitor->came_at);
  if (admission.closes) {
    const auto closed = std::find_if(visitors_.begin(), visitors_.end(),
                                     [&](const auto& other) { return other->place == *admission.closes; });
    if (closed != visitors_.end()) {
      ++counts_.slow;
      Forget(std::shared_ptr(*closed));
    }
  }
  if (admission.id) {
    visitor->place = *admission.id;
    return true;
  }
  if (peer.kind != Peer::Kind::kOwn && places_.CountOf(peer) > limits_.most / kShareOfAMachine) {
    ++counts_.slow;
    return false;
  }
  visitor->place = places_.Enter(peer, visitor->came_at);
  return true;
}

DialListener::Clock::time_point DialListener::DueAt(const Visitor& visitor) const {
  return visitor.came_at + (visitors_.size() <= limits_.most ? limits_.handshake_time : limits_.crowded_time);
}

void DialListener::AwaitOldest() {
  if (visitors_.empty()) {
    oldest_.cancel();
    return;
  }
  oldest_.expires_at(DueAt(*visitors_.front()));
  oldest_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!self || error || self->visitors_.empty()) return;
    const std::shared_ptr<Visitor> oldest = self->visitors_.front();
    if (Clock::now() < self->DueAt(*oldest)) return self->AwaitOldest();
    self->Drop(oldest, self->counts_.slow);
  });
}

void DialListener::Drop(const std::shared_ptr<Visitor>& visitor, std::uint32_t& count) {
  ++count;
  Forget(visitor);
  AwaitOldest();
  AwaitConnection();
}

void DialListener::Forget(const std::shared_ptr<Visitor>& visitor) {
  boost::system::error_code ignored;
  visitor->socket.close(ignored);
  places_.Remove(visitor->place);
  visitors_.remove(visitor);
}

// --- the handshake ---------------------------------------------------------------------------------

void DialListener::AwaitBytes(const std::shared_ptr<Visitor>& visitor) {
  visitor->socket.async_wait(WatchedFd::wait_read,
                             [weak = weak_from_this(), visitor](const boost::system::error_code& error) {
                               const auto self = weak.lock();
                               if (!error && self && visitor->socket.is_open()) self->Read(visitor);
                             });
}

// No more than the message: what follows is the agent protocol's.
void DialListener::Read(const std::shared_ptr<Visitor>& visitor) {
  std::array<char, std::max(kGreetingBytes, kAgentProofBytes)> bytes = {};
  const ssize_t got = ::recv(visitor->socket.native_handle(), bytes.data(), visitor->wanted(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return AwaitBytes(visitor);
  if (got <= 0) return Drop(visitor, counts_.left);
  visitor->got.append(bytes.data(), static_cast<std::size_t>(got));
  // What cannot become a greeting is not waited for.
  const std::size_t compared = std::min(visitor->got.size(), kDialMagic.size());
  if (visitor->greeting.empty() && visitor->got.compare(0, compared, kDialMagic, 0, compared) != 0) {
    return Drop(visitor, counts_.unproven);
  }
  if (visitor->wanted() > 0) return AwaitBytes(visitor);
  OnMessage(visitor);
}

void DialListener::OnMessage(const std::shared_ptr<Visitor>& visitor) {
  if (!visitor->greeting.empty()) return Judge(visitor);
  const std::optional<DialGreeting> greeting = ParseGreeting(visitor->got);
  if (!greeting || greeting->session != session_) return Drop(visitor, counts_.unproven);
  visitor->node = greeting->node;
  visitor->greeting = std::exchange(visitor->got, {});
  visitor->answer = HeadProof(token_, visitor->greeting, MakeNonce());
  if (!Write(*visitor, visitor->answer)) return Drop(visitor, counts_.left);
  AwaitBytes(visitor);
}

void DialListener::Judge(const std::shared_ptr<Visitor>& visitor) {
  if (!ProvesAgent(token_, visitor->greeting, visitor->answer, visitor->got)) {
    return Drop(visitor, counts_.unproven);
  }
  const DialVerdict verdict = events_.judge(visitor->node);
  const char byte = static_cast<char>(verdict);
  const bool written = Write(*visitor, {&byte, 1});
  if (verdict != DialVerdict::kAccepted) {
    return Drop(visitor, verdict == DialVerdict::kConnected ? counts_.twice : counts_.unknown);
  }
  if (!written) return Drop(visitor, counts_.left);
  ++counts_.accepted;
  UniqueFd connection(visitor->socket.release());
  Forget(visitor);
  AwaitOldest();
  AwaitConnection();
  const auto accepted = events_.accepted;  // it may close this object
  accepted(visitor->node, std::move(connection));
}

// The messages fit into the buffer of a new connection.
bool DialListener::Write(Visitor& visitor, std::string_view bytes) {
  return ::send(visitor.socket.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

}  // namespace muster
