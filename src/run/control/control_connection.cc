#include "run/control/control_connection.h"

#include <array>
#include <string_view>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "base/system/clock.h"
#include "base/values/shell_quote.h"
#include "run/control/control_address.h"

namespace muster {
namespace {

constexpr std::uint64_t kPatienceNs = 10'000'000'000;

tl::unexpected<Diagnostics> NoAnswer(std::string_view why) {
  return Fail(MachineError("control", fmt::format("the head of the run does not answer: {}", Printable(why))));
}

}  // namespace

Result<ControlConnection> ControlConnection::Open(const std::string& run_dir) {
  const UniqueFd folder(::open(run_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Fail(SystemError("control", "cannot open " + Quoted(run_dir), errno));
  ControlConnection connection;
  connection.socket_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const sockaddr_un address = ControlAddress(folder.get());
  if (!connection.socket_ ||
      ::connect(connection.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Fail(SystemError("control", "the control socket of " + Quoted(run_dir) + " leads nowhere", errno));
  }
  return connection;
}

Result<void> ControlConnection::Send(const ControlRequest& request) {
  const std::string line = ControlRequestLine(request);
  // One short line fits into an empty buffer: it is sent completely or not at all.
  if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
    return NoAnswer("it does not listen");
  }
  return {};
}

Result<ControlAnswer> ControlConnection::Ask(const ControlRequest& request) {
  if (Result<void> sent = Send(request); !sent) return Fail(std::move(sent.error()));
  const std::uint64_t deadline = MonotonicNowNs() + kPatienceNs;
  std::optional<std::string> answer = TakeLine();
  while (!answer) {
    const std::uint64_t now = MonotonicNowNs();
    pollfd ready{socket_.get(), POLLIN, 0};
    if (now >= deadline) return NoAnswer("it may be stopped, or its machine overloaded");
    if (::poll(&ready, 1, static_cast<int>((deadline - now) / 1'000'000) + 1) <= 0) continue;
    const bool open = Receive();
    answer = TakeLine();
    if (!answer && !open) return NoAnswer("it closed the connection");
  }
  tl::expected<ControlAnswer, std::string> parsed = ParseControlAnswer(*answer);
  if (!parsed) return NoAnswer(parsed.error());
  if (!parsed->error.empty()) return NoAnswer(parsed->error);
  return std::move(*parsed);
}

std::optional<std::string> ControlConnection::TakeLine() {
  const std::size_t end = input_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = input_.substr(0, end);
  input_.erase(0, end + 1);
  return line;
}

bool ControlConnection::Receive() {
  std::array<char, 64U << 10> bytes;
  const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  input_.append(bytes.data(), static_cast<std::size_t>(got));
  return input_.size() <= kMaxControlLine || input_.find('\n') != std::string::npos;
}

}  // namespace muster
