// The language server at its two descriptors: waits for the client and for an evaluation, and never blocks on writing.
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include <poll.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "lsp/language_server.h"

namespace muster {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
// A client that does not read its answers is not read either; unanswered text beyond that cannot be meant.
constexpr std::size_t kMaxUnread = std::size_t{4} << 20;
constexpr std::uint64_t kNsPerMs = 1'000'000;

int MillisecondsUntil(std::uint64_t deadline_ns) {
  const std::uint64_t now = MonotonicNowNs();
  if (deadline_ns <= now) return 0;
  return static_cast<int>(std::min<std::uint64_t>((deadline_ns - now) / kNsPerMs + 1, INT_MAX));
}

}  // namespace

int ServeLanguageClient(LanguageServer& server, int in, int out) {
  std::array<char, kReadAtOnce> bytes;
  std::size_t written = 0;  // of the output
  bool gone = false;        // nobody reads it
  for (;;) {
    std::string& output = server.output();
    if (written == output.size() || gone) {
      output.clear();
      written = 0;
    }
    const bool unread = written < output.size();
    if (server.exit_code() && !unread) return *server.exit_code();
    std::array<pollfd, 3> wanted = {pollfd{in, POLLIN, 0}, pollfd{out, POLLOUT, 0},
                                    pollfd{server.evaluation_fd(), POLLIN, 0}};
    if (server.exit_code() || output.size() - written > kMaxUnread) wanted[0].fd = -1;
    if (!unread) wanted[1].fd = -1;
    const bool evaluates = wanted[2].fd >= 0;
    const int wait = evaluates ? MillisecondsUntil(server.evaluation_deadline_ns()) : -1;
    if (poll(wanted.data(), wanted.size(), wait) < 0 && errno != EINTR) return 1;
    if ((wanted[1].revents & (POLLOUT | POLLERR | POLLHUP)) != 0) {
      // As much as a pipe takes at once after it said so.
      const ssize_t sent =
          write(out, output.data() + written, std::min<std::size_t>(output.size() - written, PIPE_BUF));
      if (sent > 0) written += static_cast<std::size_t>(sent);
      gone = sent < 0 && errno != EINTR && errno != EAGAIN;
      if (gone) server.EndOfInput();
    }
    if (evaluates && (wanted[2].revents != 0 || MonotonicNowNs() >= server.evaluation_deadline_ns())) server.Continue();
    if ((wanted[0].revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
    const ssize_t got = read(in, bytes.data(), bytes.size());
    if (got > 0) {
      server.Take({bytes.data(), static_cast<std::size_t>(got)});
    } else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
      server.EndOfInput();
    }
  }
}

}  // namespace muster
