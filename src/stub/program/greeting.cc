#include "stub/program/greeting.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/sockets.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"

namespace muster {
namespace {

using Outcome = StubFinding::Outcome;

constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kFirstPause = 10 * kMs;
constexpr std::uint64_t kMaxPause = 320 * kMs;
// Processes that may start later are tried once they have connected, or after this time.
constexpr std::uint64_t kPatience = 1'000 * kMs;
constexpr std::uint32_t kMaxUnreachable = 3;  // attempts if the kernel has no route
constexpr std::size_t kMaxGuests = 4'096;
constexpr std::chrono::seconds kMomentOfAGuest{1};
constexpr std::string_view kMagic = "muster-stub 1 ";

// One outgoing connection.
struct Call {
  std::uint32_t peer = 0;
  bool to_rendezvous = false;
  std::string address;
  std::uint16_t port = 0;

  UniqueFd socket;
  bool said = false;  // our line has been sent, at least partly
  std::string heard;  // answer so far
  std::uint64_t sent_at = 0;
  std::uint64_t try_at = 0;
  std::uint64_t pause = kFirstPause;
  std::uint32_t unreachable = 0;
  bool over = false;
  std::string error = kNoAnswer;  // the latest; empty: it was answered
};

struct Guest {
  UniqueFd socket;
  bool at_rendezvous = false;
  std::string heard;
  ConnectionPlaces::Id place = 0;
};

std::uint16_t PortIn(const std::string& text) {
  std::uint16_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

class Loop {
 public:
  Loop(const StubFacts& facts, const Greeting& greeting, StubReport& report)
      : facts_(facts), greeting_(greeting), self_(facts.processes[greeting.process]), report_(report) {}

  void Run() {
    epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, SIGTERM);
    stop_.reset(::signalfd(-1, &asked, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!epoll_ || !stop_) {
      return Record(Check::kHello, Outcome::kFailed,
                    fmt::format("it cannot wait for connections: {}", std::strerror(errno)));
    }
    Watch(stop_.get(), EPOLLIN);
    began_ = MonotonicNowNs();
    limit_ = began_ + std::uint64_t{facts_.within_ms} * kMs;
    OpenPorts();
    PlanCalls();
    while (!Done() && !report_.stopped && MonotonicNowNs() < limit_) Turn();
    Report();
  }

 private:
  void Record(Check check, Outcome outcome, std::string text, std::string hint = {},
              std::vector<std::uint32_t> peers = {}) {
    report_.findings.push_back({check, outcome, std::move(text), std::move(hint), std::move(peers)});
  }

  void Watch(int fd, std::uint32_t events) {
    epoll_event event = {};
    event.events = events;
    event.data.fd = fd;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0 && errno == EEXIST)
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
  }

  bool Listen(std::uint16_t port, UniqueFd& socket, std::string& opened) {
    auto listening = ListenAt(port, PortUse::kAlone);
    if (!listening) {
      Record(Check::kPorts, Outcome::kFailed,
             fmt::format("port {} cannot be listened at: {}", port, std::strerror(listening.error())),
             "another program has it: find it with ss -ltnp; or let muster choose the port");
      return false;
    }
    socket = std::move(*listening);
    opened += (opened.empty() ? "" : ", ") + std::to_string(port);
    return true;
  }

  void OpenPorts() {
    std::string opened;
    bool all = true;
    if (Listen(PortIn(self_.hello), hello_, opened)) {
      Watch(hello_.get(), EPOLLIN);
    } else {
      all = false;
    }
    std::set<std::uint16_t> wanted;
    for (const std::string& port : self_.ports) wanted.insert(PortIn(port));
    const bool is_rendezvous = greeting_.rendezvous_port != 0 && greeting_.host_of_rendezvous == greeting_.process;
    if (is_rendezvous) wanted.insert(greeting_.rendezvous_port);
    for (const std::uint16_t port : wanted) {
      const bool meets = is_rendezvous && port == greeting_.rendezvous_port;
      UniqueFd& socket = meets ? rendezvous_ : others_.emplace_back();
      if (!Listen(port, socket, opened)) all = false;
      if (meets && socket) Watch(socket.get(), EPOLLIN);
    }
    if (all) Record(Check::kPorts, Outcome::kOk, opened);
    for (const std::uint32_t guest : GreetersOf(facts_, greeting_.process)) {
      if (hello_) awaited_.insert(guest);
    }
    if (rendezvous_) visitors_.insert(greeting_.visitors.begin(), greeting_.visitors.end());
  }

  void PlanCalls() {
    for (const std::uint32_t peer : GreetedBy(facts_, greeting_.process)) {
      const StubPeer& to = facts_.processes[peer];
      Call& call = calls_.emplace_back();
      call.peer = peer;
      call.address = facts_.addresses[to.host];
      call.port = PortIn(to.hello);
      call.try_at = peer < greeting_.process ? began_ : began_ + kPatience;
    }
    if (greeting_.rendezvous_port == 0) return;
    Call& call = calls_.emplace_back();
    call.peer = greeting_.host_of_rendezvous;
    call.to_rendezvous = true;
    call.address = greeting_.rendezvous_address;
    call.port = greeting_.rendezvous_port;
    call.try_at = began_;
  }

  bool Done() const {
    return awaited_.empty() && visitors_.empty() &&
           std::all_of(calls_.begin(), calls_.end(), [](const Call& call) { return call.over; });
  }

  // Waits once and handles the events.
  void Turn() {
    std::uint64_t now = MonotonicNowNs();
    std::uint64_t next = limit_;
    for (Call& call : calls_) {
      if (call.over || call.socket) continue;
      if (call.try_at <= now) Begin(call);
      if (!call.over && !call.socket) next = std::min(next, call.try_at);
    }
    now = MonotonicNowNs();
    const int wait_ms = next <= now ? 0 : static_cast<int>((next - now + kMs - 1) / kMs);
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), wait_ms);
    for (int i = 0; i < count; ++i) OnEvent(events[static_cast<std::size_t>(i)].data.fd);
  }

  void OnEvent(int fd) {
    if (fd == stop_.get()) {
      report_.stopped = true;
    } else if (fd == hello_.get() || fd == rendezvous_.get()) {
      Accept(fd, fd == rendezvous_.get());
    } else if (const auto call = by_fd_.find(fd); call != by_fd_.end()) {
      Continue(calls_[call->second]);
    } else if (const auto guest = guests_.find(fd); guest != guests_.end()) {
      if (Hear(guest->second)) {
        guest_places_.Remove(guest->second.place);
        guests_.erase(guest);
      }
    }
  }

  // --- incoming connections ---

  void Accept(int listening, bool at_rendezvous) {
    for (;;) {
      UniqueFd socket(::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket) return;
      const ConnectionPlaces::Admission place =
          guest_places_.Admit(PeerOf(socket.get()), ConnectionPlaces::Clock::now());
      if (place.closes) {
        std::erase_if(guests_, [&](const auto& guest) { return guest.second.place == *place.closes; });
      }
      if (!place.id) continue;
      const int fd = socket.get();
      Watch(fd, EPOLLIN);
      guests_.insert_or_assign(fd, Guest{std::move(socket), at_rendezvous, {}, *place.id});
    }
  }

  // True once the guest has been answered, or is not a stub.
  bool Hear(Guest& guest) {
    const auto line = LineOf(guest.socket.get(), guest.heard);
    if (!line) return false;
    ReceivedGreeting said;
    if (!ReadGreeting(*line, facts_.run, said) || said.process >= facts_.processes.size()) return true;
    const std::string answer = GreetingLine(facts_.run, greeting_.process, WallNowNs());
    if (::send(guest.socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(answer.size()))
      return true;
    (guest.at_rendezvous ? visitors_ : awaited_).erase(said.process);
    // The peer is running: try it now.
    const auto call = std::find_if(calls_.begin(), calls_.end(), [&](const Call& each) {
      return each.peer == said.process && !each.over && !each.socket;
    });
    if (call != calls_.end()) call->try_at = std::min(call->try_at, MonotonicNowNs());
    return true;
  }

  // A line without its end; an empty one at the end of the stream. Nothing: it is incomplete.
  static std::optional<std::string> LineOf(int fd, std::string& heard) {
    std::array<char, kMaxLine> bytes;
    for (;;) {
      const ssize_t got = ::recv(fd, bytes.data(), bytes.size(), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) return std::nullopt;
      if (got <= 0) return std::string();
      heard.append(bytes.data(), static_cast<std::size_t>(got));
      if (const std::size_t end = heard.find('\n'); end != std::string::npos) return heard.substr(0, end);
      if (heard.size() >= kMaxLine) return std::string();
    }
  }

  // --- outgoing connections ---

  void Begin(Call& call) {
    auto socket = ConnectTo(call.address, call.port);
    if (!socket) return Failed(call, socket.error());
    call.socket = std::move(*socket);
    call.said = false;
    call.heard.clear();
    by_fd_[call.socket.get()] = static_cast<std::size_t>(&call - calls_.data());
    Watch(call.socket.get(), EPOLLOUT);
  }

  void HangUp(Call& call) {
    by_fd_.erase(call.socket.get());
    call.socket.reset();
  }

  void Failed(Call& call, int error) {
    if (call.socket) HangUp(call);
    call.error = ConnectErrorText(error);
    const bool no_way =
        error == EHOSTUNREACH || error == ENETUNREACH || error == EINVAL || error == EACCES || error == EPERM;
    if (no_way && ++call.unreachable >= kMaxUnreachable) {
      call.over = true;
      return;
    }
    call.try_at = MonotonicNowNs() + call.pause;
    call.pause = std::min(call.pause * 2, kMaxPause);
  }

  void Continue(Call& call) {
    const int fd = call.socket.get();
    if (!call.said) {
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return Failed(call, error);
      call.sent_at = WallNowNs();
      const std::string line = GreetingLine(facts_.run, greeting_.process, call.sent_at);
      if (::send(fd, line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size()))
        return Failed(call, errno);
      call.said = true;
      call.error = "it takes connections and does not answer";
      return Watch(fd, EPOLLIN);
    }
    const auto line = LineOf(fd, call.heard);
    if (!line) return;
    const std::uint64_t now = WallNowNs();
    ReceivedGreeting said;
    if (!ReadGreeting(*line, facts_.run, said) || said.process != call.peer) {
      Failed(call, ECONNRESET);
      call.error = "another program answers there";
      return;
    }
    HangUp(call);
    call.over = true;
    call.error.clear();
    if (!call.to_rendezvous) ++report_.greeted;
    CompareClocks(call, said.wall_ns, now);
  }

  // For one process per host, with the shortest round trip.
  void CompareClocks(const Call& call, std::uint64_t theirs, std::uint64_t now) {
    const StubPeer& peer = facts_.processes[call.peer];
    if (call.to_rendezvous || !self_.first_of_host || !peer.first_of_host || peer.host == self_.host ||
        now < call.sent_at)
      return;
    const auto half = static_cast<std::int64_t>((now - call.sent_at) / 2);
    const std::int64_t mine = static_cast<std::int64_t>(call.sent_at) + half;
    report_.clocks.push_back({call.peer, static_cast<std::int64_t>(theirs) - mine, half});
  }

  // --- results ---

  void Report() {
    std::map<std::string, std::vector<std::uint32_t>> failed;  // by error
    std::size_t hellos = 0;
    const std::string limit = DurationText(static_cast<double>(facts_.within_ms) / 1000);
    for (const Call& call : calls_) {
      if (!call.to_rendezvous) ++hellos;
      if (call.error.empty()) {
        if (call.to_rendezvous)
          Record(Check::kRendezvousEndpoint, Outcome::kOk, fmt::format("{} port {}", call.address, call.port));
        continue;
      }
      // A stopped stub has no further information.
      if (report_.stopped && !call.over) {
        if (call.to_rendezvous) Record(Check::kRendezvousEndpoint, Outcome::kNotChecked, "the rehearsal was stopped");
        continue;
      }
      if (call.to_rendezvous) {
        Record(
            Check::kRendezvousEndpoint, Outcome::kFailed,
            fmt::format("cannot reach the rendezvous endpoint at {} port {}: {}", call.address, call.port, call.error),
            "check that the process that listens there has started; then check for a firewall or a wrong network",
            {call.peer});
      } else {
        failed[call.error].push_back(call.peer);
      }
    }
    for (auto& [error, peers] : failed) {
      Record(Check::kHello, Outcome::kFailed, error,
             error == kNoAnswer ? fmt::format("within {}: a firewall in between, or a cut cable", limit)
                                : "look for a firewall in between, and for addresses of another network",
             std::move(peers));
    }
    if (report_.stopped && report_.greeted < hellos && failed.empty()) {
      Record(Check::kHello, Outcome::kNotChecked, "the rehearsal was stopped");
    } else if (failed.empty()) {
      Record(Check::kHello, Outcome::kOk, fmt::format("{} answered", report_.greeted));
    }
  }

  const StubFacts& facts_;
  const Greeting& greeting_;
  const StubPeer& self_;
  StubReport& report_;
  UniqueFd epoll_;
  UniqueFd stop_;
  UniqueFd hello_;
  UniqueFd rendezvous_;
  std::vector<UniqueFd> others_;
  std::vector<Call> calls_;           // fixed after planning
  std::map<int, std::size_t> by_fd_;  // connections in progress
  std::map<int, Guest> guests_;       // by descriptor
  ConnectionPlaces guest_places_{kMaxGuests, kMomentOfAGuest};
  std::set<std::uint32_t> awaited_;   // processes that have not connected yet
  std::set<std::uint32_t> visitors_;  // … at the rendezvous endpoint
  std::uint64_t began_ = 0;
  std::uint64_t limit_ = 0;
};

}  // namespace

std::string GreetingLine(const std::string& run, std::uint32_t process, std::uint64_t wall_ns) {
  return fmt::format("{}{} {} {}\n", kMagic, run, process, wall_ns);
}

bool ReadGreeting(const std::string& line, const std::string& run, ReceivedGreeting& said) {
  const std::string begin = fmt::format("{}{} ", kMagic, run);
  if (!line.starts_with(begin)) return false;
  const char* const last = line.data() + line.size();
  const auto [after, error] = std::from_chars(line.data() + begin.size(), last, said.process);
  if (error != std::errc() || after == last || *after != ' ') return false;
  const auto [end, wrong] = std::from_chars(after + 1, last, said.wall_ns);
  return wrong == std::errc() && end == last && said.wall_ns < (std::uint64_t{1} << 62);
}

void Greet(const StubFacts& facts, const Greeting& greeting, StubReport& report) {
  Loop(facts, greeting, report).Run();
}

}  // namespace muster
