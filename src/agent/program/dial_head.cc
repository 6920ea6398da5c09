#include "agent/program/dial_head.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/host_name.h"
#include "base/system/sockets.h"
#include "base/values/number_text.h"
#include "wire/connection/dial.h"
#include "wire/protocol/protocol.h"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kStagger{250};         // before the next address is tried as well (RFC 8305, section 8)
constexpr milliseconds kAddressTime{10'000};  // for one address, from its connection to the verdict
constexpr milliseconds kMissingTime{4'000};   // without a dial file, before the agent says so
constexpr milliseconds kFirstPause{200};      // half to one and a half of it, and twice as long each time, …
constexpr milliseconds kMaxPause{4'000};      // … up to this

// The dial file, or what is wrong with it. `missing`: it may still appear, where a shared folder is slow.
tl::expected<DialFile, std::string> ReadDialFile(const std::string& path, bool& missing) {
  const auto refuse = [&path](const std::string& why) {
    return tl::unexpected<std::string>("the dial file " + path + ": " + why);
  };
  missing = false;
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) {
    missing = errno == ENOENT;
    return refuse(errno == ELOOP ? "it is a symbolic link" : std::strerror(errno));
  }
  struct stat facts = {};
  if (::fstat(file.get(), &facts) != 0) return refuse(std::strerror(errno));
  if (!S_ISREG(facts.st_mode)) return refuse("it is no regular file");
  if (facts.st_uid != ::geteuid()) return refuse("it belongs to another user");
  if ((facts.st_mode & 077U) != 0) return refuse("others may read it: its mode must be 0600");
  std::string text(kMaxDialFileBytes + 1, '\0');
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  if (size < 0) return refuse(std::strerror(errno));
  text.resize(static_cast<std::size_t>(size));
  auto parsed = ParseDialFile(text);
  if (!parsed) return refuse(parsed.error());
  return parsed;
}

// The node's name; the error says which variable has none.
tl::expected<std::string, std::string> NodeName(const std::string& variable) {
  if (variable.empty()) return OwnHostName();
  const char* name = std::getenv(variable.c_str());
  if (name == nullptr || !IsHostOrAddress(name)) {
    return tl::unexpected<std::string>("the environment variable " + variable + ", which is to hold the node's name, " +
                                       (name == nullptr ? "is not set" : "holds no host name"));
  }
  return name;
}

void SetOption(int socket, int level, int option, int value) {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

std::string OwnAddress(int socket) {
  sockaddr_storage own = {};
  socklen_t size = sizeof own;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const auto* six = reinterpret_cast<const sockaddr_in6*>(&own);
  const auto* four = reinterpret_cast<const sockaddr_in*>(&own);
  const bool is_six = own.ss_family == AF_INET6;
  if (is_six ? IN6_IS_ADDR_LOOPBACK(&six->sin6_addr) : (ntohl(four->sin_addr.s_addr) >> 24) == 127) return {};
  const void* const bytes =
      is_six ? static_cast<const void*>(&six->sin6_addr) : static_cast<const void*>(&four->sin_addr);
  return ::inet_ntop(own.ss_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

// The handshake at one address, driven by the readiness of its socket.
class Attempt {
 public:
  enum class State { kConnecting, kAnswer, kVerdict, kAccepted, kRefused, kFailed };

  Attempt(const DialFile& file, const std::string& node, const DialAddress& address)
      : file_(file), address_(address), until_(Clock::now() + kAddressTime) {
    greeting_ = GreetingBytes({file.session, MakeNonce(), node});
    auto socket = ConnectTo(address.ip, address.port);
    if (socket) {
      socket_ = std::move(*socket);
    } else {
      Fail(ConnectErrorText(socket.error()));
    }
  }

  State state() const { return state_; }
  bool over() const { return state_ >= State::kAccepted; }
  const std::string& why() const { return why_; }
  Clock::time_point until() const { return until_; }
  UniqueFd TakeSocket() { return std::move(socket_); }
  pollfd Awaited() const {
    return {socket_.get(), static_cast<short>(state_ == State::kConnecting ? POLLOUT : POLLIN), 0};
  }

  void OnReady() {
    if (state_ != State::kConnecting) return Read();
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return Fail(ConnectErrorText(error));
    SetOption(socket_.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    Write(greeting_, State::kAnswer);
  }

  void OnTime() { Fail(kNoAnswer); }

 private:
  void Fail(const std::string& why) {
    state_ = State::kFailed;
    why_ = DialAddressText(address_) + ": " + why;
    socket_.reset();
  }

  // A few hundred bytes fit into the buffer of a new connection.
  void Write(std::string_view bytes, State next) {
    const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(bytes.size())) return Fail(sent < 0 ? std::strerror(errno) : "it takes no bytes");
    state_ = next;
    answer_.clear();
  }

  // No more than the message: what follows is the agent protocol's.
  void Read() {
    std::array<char, kHeadProofBytes> bytes = {};
    const std::size_t wanted = (state_ == State::kAnswer ? kHeadProofBytes : 1) - answer_.size();
    const ssize_t got = ::recv(socket_.get(), bytes.data(), wanted, 0);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got < 0) return Fail(std::strerror(errno));
    if (got == 0) return Fail("it closed the connection");
    answer_.append(bytes.data(), static_cast<std::size_t>(got));
    if (static_cast<std::size_t>(got) == wanted) OnMessage();
  }

  void OnMessage() {
    if (state_ == State::kAnswer) {
      if (!ProvesHead(file_.token, greeting_, answer_)) return Fail("another program listens there");
      return Write(AgentProof(file_.token, greeting_, answer_), State::kVerdict);
    }
    const auto verdict = ParseVerdict(answer_.front());
    if (!verdict) return Fail("it sent an unknown verdict");
    if (*verdict == DialVerdict::kAccepted) {
      state_ = State::kAccepted;
      return;
    }
    Fail(*verdict == DialVerdict::kConnected ? "the head has an agent of this node already"
                                             : "the head awaits no agent of this node");
    state_ = State::kRefused;
  }

  const DialFile& file_;
  const DialAddress& address_;
  const Clock::time_point until_;
  std::string greeting_;
  std::string answer_;
  UniqueFd socket_;
  State state_ = State::kConnecting;
  std::string why_;
};

// One round: all addresses, each begun a little after the one before, or as soon as that one has failed. An attempt
// that waits for its verdict is the only one that has shown the agent's proof: the others wait for how that ends.
class Round {
 public:
  Round(const DialFile& file, const std::string& node, Clock::time_point until)
      : file_(file), node_(node), until_(until) {}

  // The accepted attempt, or null.
  Attempt* Run() {
    attempts_.reserve(file_.addresses.size());
    while (Clock::now() < until_) {
      BeginNext();
      const bool all_over = std::all_of(attempts_.begin(), attempts_.end(), [](const Attempt& a) { return a.over(); });
      if (all_over && attempts_.size() == file_.addresses.size()) break;
      if (!all_over) Await();
      for (Attempt& attempt : attempts_) {
        if (attempt.state() == Attempt::State::kAccepted) return &attempt;
        refused_ = refused_ || attempt.state() == Attempt::State::kRefused;
      }
      if (refused_) break;
    }
    return nullptr;
  }

  bool refused() const { return refused_; }
  std::string Why() const {
    std::string text;
    for (const Attempt& attempt : attempts_) {
      if (refused_ && attempt.state() != Attempt::State::kRefused) continue;
      const std::string& why = attempt.why();
      if (!why.empty()) text += (text.empty() ? "" : "; ") + why;
    }
    return text;
  }

 private:
  void BeginNext() {
    while (attempts_.size() < file_.addresses.size() &&
           (attempts_.empty() || attempts_.back().over() || Clock::now() >= next_at_)) {
      attempts_.emplace_back(file_, node_, file_.addresses[attempts_.size()]);
      next_at_ = Clock::now() + kStagger;
    }
  }

  void Await() {
    std::vector<pollfd> sockets;
    std::vector<Attempt*> whose;
    const bool proving = std::any_of(attempts_.begin(), attempts_.end(),
                                     [](const Attempt& a) { return a.state() == Attempt::State::kVerdict; });
    Clock::time_point until = until_;
    if (attempts_.size() < file_.addresses.size()) until = std::min(until, next_at_);
    for (Attempt& attempt : attempts_) {
      if (attempt.over()) continue;
      until = std::min(until, attempt.until());
      if (proving && attempt.state() == Attempt::State::kAnswer) continue;
      sockets.push_back(attempt.Awaited());
      whose.push_back(&attempt);
    }
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now());
    ::poll(sockets.data(), sockets.size(), static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
    for (std::size_t i = 0; i < sockets.size(); ++i) {
      if (sockets[i].revents == 0) continue;
      whose[i]->OnReady();
      if (whose[i]->state() == Attempt::State::kVerdict) break;  // the next turn waits for it alone
    }
    for (Attempt& attempt : attempts_) {
      if (!attempt.over() && Clock::now() >= attempt.until()) attempt.OnTime();
    }
  }

  const DialFile& file_;
  const std::string& node_;
  const Clock::time_point until_;
  Clock::time_point next_at_;
  std::vector<Attempt> attempts_;
  bool refused_ = false;
};

// Half to one and a half of the pause, so that many agents do not come back at the same moment.
void Pause(milliseconds pause, Clock::time_point until) {
  static std::minstd_rand random(std::random_device{}());
  std::uniform_int_distribution<std::int64_t> any(pause.count() / 2, pause.count() * 3 / 2);
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
  ::poll(nullptr, 0, static_cast<int>(std::clamp<std::int64_t>(any(random), 0, std::max<std::int64_t>(left, 0))));
}

}  // namespace

tl::expected<DialedHead, std::string> DialHead(const std::string& path, milliseconds patience) {
  const auto until = Clock::now() + patience;
  const auto missing_until = Clock::now() + std::min(kMissingTime, patience / 4);
  bool missing_said = false;
  std::string why;
  for (milliseconds pause = kFirstPause;; pause = std::min(2 * pause, kMaxPause)) {
    bool missing = false;
    const auto file = ReadDialFile(path, missing);
    if (!file && !missing) return tl::unexpected<std::string>(file.error());
    if (file) {
      const auto node = NodeName(file->node_variable);
      if (!node) return tl::unexpected<std::string>(node.error());
      Round round(*file, *node, until);
      if (Attempt* const accepted = round.Run()) {
        UniqueFd connection = accepted->TakeSocket();
        const linger in_the_background = {0, 0};
        ::setsockopt(connection.get(), SOL_SOCKET, SO_LINGER, &in_the_background, sizeof in_the_background);
        std::string address = OwnAddress(connection.get());
        return DialedHead{std::move(connection), std::move(address)};
      }
      // A last round that time cut off has seen less than the one before.
      if (std::string seen = round.Why(); !seen.empty() || why.empty()) why = std::move(seen);
      if (round.refused()) return tl::unexpected<std::string>("as node " + *node + ": " + why);
    } else {
      why = file.error();
      // The head, which waits for this agent, shows it.
      if (Clock::now() >= missing_until && !std::exchange(missing_said, true)) {
        std::fprintf(stderr, "muster-agent: %s: %s\n", OwnHostName().c_str(), why.c_str());
      }
    }
    if (Clock::now() >= until) break;
    Pause(pause, until);
  }
  const std::string time = DurationText(std::chrono::duration<double>(patience).count());
  return tl::unexpected<std::string>("no head answers within " + time + ": " + why);
}

void SayLastWord(int connection, const EndedProcess& end, std::uint32_t killed, bool partial) {
  using std::chrono::milliseconds;
  using Clock = std::chrono::steady_clock;
  if (!partial && (end.signalled || end.code != 0)) {
    const std::string word = EncodeFrame(AgentMessage(AgentExited{0, EndText(end), killed}));
    // A head that does not read is not waited for.
    static_cast<void>(::send(connection, word.data(), word.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
  ::shutdown(connection, SHUT_WR);
  const auto until = Clock::now() + std::chrono::seconds(1);
  std::array<char, 4096> ignored = {};
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    pollfd readable = {connection, POLLIN, 0};
    if (left <= 0 || ::poll(&readable, 1, static_cast<int>(left)) <= 0) return;
    const ssize_t got = ::recv(connection, ignored.data(), ignored.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
  }
}

void ResetConnection(int connection) {
  const linger at_once = {1, 0};
  ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  ::close(connection);
}

}  // namespace muster
