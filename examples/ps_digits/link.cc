// See link.h.
#include "ps_digits/link.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>

namespace ps_digits {
namespace {

// No peer is sent that much before it has read: a peer with such a backlog does not read at all.
constexpr std::size_t kMaxUnsentBytes = 8 * kMaxMessageBytes;
constexpr auto kLastChance = std::chrono::seconds(1);

}  // namespace

Link::Link(Socket socket, Endpoint peer, std::size_t max_message)
    : socket_(std::move(socket)), peer_(peer), reader_(max_message) {}

void Link::Send(const Message& message) {
  if (!socket_.is_open()) return;
  const Bytes frame = EncodeFrame(message);
  unsent_.insert(unsent_.end(), frame.begin(), frame.end());
  Flush();
  if (unsent_.size() - sent_ > kMaxUnsentBytes) End("does not read what it is sent");
}

void Link::Flush() {
  while (sent_ < unsent_.size()) {
    const ssize_t count = send(socket_.fd(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    // The reading side will report the end of the connection, after the peer's last messages.
    if (count < 0) break;
    sent_ += static_cast<std::size_t>(count);
  }
  unsent_.clear();
  sent_ = 0;
}

void Link::Receive() {
  std::array<std::uint8_t, 65536> buffer;
  const ssize_t count = recv(socket_.fd(), buffer.data(), buffer.size(), 0);
  if (count > 0) {
    reader_.Append({buffer.data(), static_cast<std::size_t>(count)});
  } else if (count == 0 || errno == ECONNRESET || errno == EPIPE) {
    End("disconnected");
  } else if (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) {
    End(SystemFailure("disconnected", errno).message);
  }
}

void Link::End(std::string why) {
  socket_.Close();
  if (!end_) end_ = std::move(why);
}

std::optional<Message> Link::Next() {
  if (fault_) return std::nullopt;
  auto message = reader_.Next();
  if (reader_.fault()) {
    socket_.Close();
    fault_ = "sent " + *reader_.fault();
  } else if (!message) {
    fault_ = end_;
  }
  return message;
}

short Link::wanted_events() const { return static_cast<short>(has_unsent() ? POLLIN | POLLOUT : POLLIN); }

void Link::HandleEvents(short events) {
  if ((events & POLLOUT) != 0) Flush();
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) Receive();
}

Result<void> WaitForLinks(std::span<Link* const> links, const Socket* door, std::optional<Clock::time_point> until) {
  std::vector<pollfd> entries;
  std::vector<Link*> waiting;
  for (Link* link : links) {
    if (!link->socket().is_open()) continue;
    entries.push_back({link->socket().fd(), link->wanted_events(), 0});
    waiting.push_back(link);
  }
  if (door != nullptr) entries.push_back({door->fd(), POLLIN, 0});

  int timeout = -1;
  if (until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Clock::now()).count();
    timeout = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }
  if (poll(entries.data(), entries.size(), timeout) < 0) {
    if (errno == EINTR) return {};
    return SystemFailure("poll", errno);
  }
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    if (entries[i].revents != 0) waiting[i]->HandleEvents(entries[i].revents);
  }
  return {};
}

void FlushLinks(std::span<Link* const> links) {
  const auto until = Clock::now() + kLastChance;
  while (Clock::now() < until && std::any_of(links.begin(), links.end(), [](Link* l) { return l->has_unsent(); })) {
    // Incoming bytes are irrelevant now, but must not accumulate without bound.
    for (Link* link : links) {
      while (link->Next()) {
      }
    }
    if (!WaitForLinks(links, nullptr, until)) return;
  }
}

}  // namespace ps_digits
