// Tests mutated frames of a hostile agent, over a real connection to a real run: the head never crashes, hangs
// or exhausts memory, and the run ends. 150 frames; 1,000 if MUSTER_LONG is set; MUSTER_SEED sets the first
// seed.
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/post.hpp>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hostile/frames_agent.h"
#include "run/fake_clock.h"
#include "run/sample_plan.h"
#include "run/session/run_request.h"
#include "support/temp_dir.h"
#include "transport/transport.h"
#include "wire/connection/wire.h"

namespace muster::testing {
namespace {

using Random = std::mt19937;

std::size_t Below(Random& random, std::size_t end) { return random() % end; }

// --- mutated frames ----------------------------------------------------------------------------------

std::string PayloadOf(const AgentMessage& message) { return EncodeFrame(message).substr(4); }

std::string FrameOf(const std::string& payload, std::size_t length) {
  std::string frame;
  for (unsigned shift = 0; shift < 32; shift += 8) frame.push_back(static_cast<char>(length >> shift));
  return frame + payload;
}

std::uint32_t AnyNumber(Random& random) {
  constexpr std::array<std::uint32_t, 8> kNumbers = {0, 0, 1,        1,
                                                     2, 7, 1U << 31, std::numeric_limits<std::uint32_t>::max()};
  return kNumbers[Below(random, kNumbers.size())];
}

std::string AnyText(Random& random) {
  const std::array<std::string, 9> texts = {"",
                                            "x",
                                            "$(touch x)",
                                            "../../etc/passwd",
                                            "logs/worker.1.0.log",
                                            "\xff\xfe",
                                            "a\nb",
                                            "${muster:run_dir}",
                                            std::string(Below(random, 70'000), 'y')};
  return texts[Below(random, texts.size())];
}

// Returns a well-formed message of a random kind with random content.
AgentMessage AnyMessage(Random& random) {
  const auto number = [&] { return AnyNumber(random); };
  const auto text = [&] { return AnyText(random); };
  const auto big = [&] { return (std::uint64_t{number()} << 32) | number(); };
  const auto signed_number = [&] { return static_cast<std::int32_t>(number()); };
  AgentReady ready;
  ready.host_name = text();
  ready.address = text();
  ready.shares_run_dir = number() == 0;
  ready.cgroup = text();
  HostFacts facts;
  facts.kernel = text();
  facts.variables = {{text(), text()}};
  facts.pythons = {{text(), text(), {{text(), text()}}, text()}};
  const std::vector<AgentMessage> all = {
      ready,
      PortsHeld{{{"meet", static_cast<std::uint16_t>(number())}}, number() == 0 ? text() : ""},
      AgentFailed{text()},
      ProcessStarted{number(), number(), signed_number(), big(), big()},
      SpawnFailed{number(), number(), text(), signed_number(), text(), big()},
      ProcessExited{number(), number(), number() == 0, signed_number(), true, big(), big(), big(), big()},
      SignalSent{number(), number(), signed_number(), signed_number(), big()},
      AgentEmpty{number(), number(), number(), number(), {text()}},
      ProcessReady{number(), number(), big()},
      OutputSeen{number(), {number()}, std::vector<std::uint64_t>(Below(random, 3), big())},
      FirstOutput{number(), number(), big()},
      EndEvidence{number(), number(), text(), text(), big()},
      PortTaken{number(), number(), text(), static_cast<std::uint16_t>(number()), text(), true, big()},
      ProcessDumped{number(), number(), number(), big(), big(), big(), {}, big()},
      HostDumped{number(), number(), std::vector<DumpNote>(Below(random, 300))},
      PtyOpened{number(), number(), big()},
      PtyClosed{number(), number(), big(), big(), big()},
      PtyBytes{number(), number(), text()},
      PtyTaken{number(), number(), number()},
      ResourcesAllocated{{text()}, {{number(), number()}, {}}, {text()}, ""},
      HostActivated{number(), {{text(), text()}}, {text()}, big(), number(), number() == 0 ? text() : ""},
      AgentHeartbeat{number(), big(), number(), big()},
      FileBytes{number() < 2 ? "logs/worker.1.0.log" : text(), big(), text(), number() == 0},
      Inspected{facts, text(), big(), big()},
      PathsOpen{static_cast<std::uint16_t>(number()), text()},
      PathsProbed{std::vector<std::string>(Below(random, 4), text())},
      CodeMissing{{number(), number()}},
      CodeReceived{number()},
      CodeReady{text(), text()},
      FilesSent{},
      FromAgent{number(), text()},
      AgentExited{number(), text(), number()},
      UsageSampled{{{number(), number(), big(), big(), big(), big()}, {number(), number(), 0, 0, 0, {}}}},
      DevicesAwaited{number(), number(), text()},
      AgentSignalled{number() == 0 ? SIGTERM : signed_number()},
      DiskFilled{big(), text()}};
  EXPECT_EQ(all.size(), std::variant_size_v<AgentMessage>) << "each kind once";
  return all[Below(random, all.size())];
}

std::string MutatedFrame(Random& random) {
  std::string payload = PayloadOf(AnyMessage(random));
  switch (Below(random, 8)) {
    case 0:  // unchanged: an unexpected message, or one about another process
      break;
    case 1:
      for (std::size_t flips = 1 + Below(random, 3); flips > 0; --flips) {
        payload[Below(random, payload.size())] = static_cast<char>(random());
      }
      break;
    case 2:
      payload.resize(Below(random, payload.size() + 1));
      break;
    case 3:
      payload += std::string(1 + Below(random, 40), static_cast<char>(random()));
      break;
    case 4: {  // the largest number that can be written
      const std::size_t at = Below(random, payload.size());
      payload.replace(at, 1, std::string(9, '\xff') + '\x01');
      break;
    }
    case 5:  // a count of millions, followed by zeros
      payload = std::string(1, static_cast<char>(Below(random, 40))) + std::string("\x00\x00\xff\xff\xff\x03", 6) +
                std::string(Below(random, 1U << 20), '\0');
      break;
    case 6:  // a wrong length
      return FrameOf(payload, Below(random, 2) == 0 ? Below(random, payload.size() + 100) : AnyNumber(random));
    default:
      payload.clear();
      for (std::size_t bytes = Below(random, 200); bytes > 0; --bytes) payload += static_cast<char>(random());
  }
  return FrameOf(payload, payload.size());
}

// --- the connection ----------------------------------------------------------------------------------

// An agent at one end of a socket pair; its messages may be corrupted.
class SpoiledAgent : public std::enable_shared_from_this<SpoiledAgent> {
 public:
  // Inserts `frames` before the message number `spoiled` and makes that message the last one; with empty `frames`
  // nothing is changed.
  SpoiledAgent(std::uint32_t host, std::shared_ptr<Wire> wire, std::size_t spoiled, std::string frames)
      : wire_(std::move(wire)),
        agent_(host, host == 0, [this](const AgentMessage& message) { Say(message); }),
        left_(spoiled),
        frames_(std::move(frames)) {}

  void Start() {
    agent_.EndAtOnce(0);
    wire_->Send(std::string(kMagic));
    const std::weak_ptr<SpoiledAgent> weak = weak_from_this();
    wire_->Start(
        [weak](const std::string& payload) {
          const auto self = weak.lock();
          const auto command = DecodeCommand(payload);
          if (self && command) self->agent_.Obey(*command);
        },
        [](const std::string&) {});
  }

 private:
  void Say(const AgentMessage& message) {
    if (over_) return;
    if (!frames_.empty() && left_-- == 0) {
      over_ = true;
      wire_->Send(frames_);
    }
    wire_->Send(EncodeFrame(message));
    if (over_ || std::holds_alternative<AgentEmpty>(message)) {
      wire_->WhenWritten([wire = wire_] { wire->Close(); });
    }
  }

  std::shared_ptr<Wire> wire_;
  FramesAgent agent_;
  std::size_t left_;
  std::string frames_;
  bool over_ = false;
};

// The head's end: as in the real transports, but without checks that depend on knowledge of processes.
class FramesChannel final : public UncheckedChannel {
 public:
  FramesChannel(boost::asio::io_context& io, std::uint32_t host, std::shared_ptr<Wire> wire,
                std::shared_ptr<SpoiledAgent> agent)
      : line_(std::make_shared<Line>(io, host, std::move(wire))), agent_(std::move(agent)) {
    const std::weak_ptr<Line> weak = line_;
    line_->wire->Start(
        [weak](const std::string& payload) {
          if (const auto line = weak.lock()) line->Hear(payload);
        },
        [weak](const std::string& why) {
          if (const auto line = weak.lock()) line->Last(AgentLost{line->host, why, 0});
        });
  }
  ~FramesChannel() override {
    line_->receiver = nullptr;
    line_->wire->Close();
  }
  void Send(const AgentCommand& command) override { line_->wire->Send(EncodeFrame(command)); }
  void SetReceiver(Receiver receiver) override { line_->receiver = std::move(receiver); }
  void BreakOff(const std::string& why) override { line_->Last(AgentLost{line_->host, why, 0}); }

 private:
  struct Line : std::enable_shared_from_this<Line> {
    Line(boost::asio::io_context& loop, std::uint32_t index, std::shared_ptr<Wire> its_wire)
        : io(loop), host(index), wire(std::move(its_wire)) {}

    void Hear(const std::string& payload) {
      auto message = DecodeMessage(payload);
      if (!message) return Last(AgentLost{host, "it sent a message that cannot be read", 0});
      std::visit(
          [this](auto& held) {
            using Message = std::decay_t<decltype(held)>;
            if constexpr (std::is_same_v<Message, AgentEmpty>) {
              Last(std::move(held));
            } else if constexpr (!std::is_same_v<Message, AgentHeartbeat>) {
              Tell(std::move(held));
            }
          },
          *message);
    }
    void Last(ChannelMessage message) {
      if (std::exchange(over, true)) return;
      wire->Close();
      boost::asio::post(io, [self = shared_from_this(), message = std::move(message)] { self->Tell(message); });
    }
    void Tell(ChannelMessage message) {
      const Channel::Receiver to = receiver;
      if (to) to(std::move(message));
    }

    boost::asio::io_context& io;
    const std::uint32_t host;
    const std::shared_ptr<Wire> wire;
    Channel::Receiver receiver;
    bool over = false;
  };

  const std::shared_ptr<Line> line_;
  const std::shared_ptr<SpoiledAgent> agent_;
};

class FramesTransport final : public Transport {
 public:
  FramesTransport(std::size_t spoiled, std::string frames) : spoiled_(spoiled), frames_(std::move(frames)) {}
  std::string_view name() const override { return "frames"; }

 private:
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override {
    std::array<int, 2> ends = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      return Fail(MachineError("test", "socketpair"));
    auto ours = Wire::Make(io, UniqueFd(ends[0]), UniqueFd(), FrameReader::OfMessages(kMagic));
    auto theirs = Wire::Make(io, UniqueFd(ends[1]), UniqueFd(), FrameReader());
    if (!ours || !theirs) return Fail(MachineError("test", "a wire"));
    auto agent = std::make_shared<SpoiledAgent>(host.index, *theirs, spoiled_, host.index == 1 ? frames_ : "");
    agent->Start();
    return std::make_unique<FramesChannel>(io, host.index, *ours, std::move(agent));
  }

  const std::size_t spoiled_;
  const std::string frames_;
};

// --- runs --------------------------------------------------------------------------------------------

RunRequest RequestFor(const TempDir& folder, std::uint32_t seed, int words) {
  RunRequest request;
  request.plan = SamplePlan({{"worker", 2}}, 2);
  request.plan.ports["meet"] = {1, 0, ""};
  request.plan.roles[0].command = {"/bin/sh", "-c", "train ${muster:host_address:1} ${muster:port:meet}"};
  request.plan.roles[0].cores.kind = CoreUse::Kind::kAuto;
  if (seed % 3 == 0) request.plan.activation = {{ActivationStep::Kind::kSource, "/etc/profile"}};
  request.hosts = {{"n1", {}, {}}, {"n2", {}, {}}};
  if (seed % 2 == 0) request.preflight = Preflight{{}, std::vector<HostNeeds>(2), "1"};
  request.cwd = folder.path();
  request.runs_folder = folder / "runs";
  request.run_dir = folder / std::to_string(seed);
  request.console.out = request.console.err = words;
  request.catch_signals = false;
  request.make_clock = [](boost::asio::io_context&) { return std::make_unique<FakeClock>(); };
  return request;
}

// Returns how the run ended; empty if it has no outcome.
std::string RunWith(const TempDir& folder, std::uint32_t seed, int words) {
  Random random(seed);
  const std::size_t spoiled = Below(random, 12);
  std::string frames;
  for (std::size_t count = 1 + Below(random, 12); count > 0; --count) frames += MutatedFrame(random);
  FramesTransport transport(spoiled, std::move(frames));
  const RunRequest request = RequestFor(folder, seed, words);
  const Result<RunOutcome> outcome = RunPlan(request, transport);
  std::error_code ignored;
  std::filesystem::remove_all(request.run_dir, ignored);
  return outcome.has_value() ? outcome->outcome : "";
}

void SetTimer(int which, int seconds) {
  const itimerval timer = {{0, 0}, {seconds, 0}};
  ::setitimer(which, &timer, nullptr);
}

TEST(MutatedFrames, NeitherCrashNorHangNorExhaustTheHead) {
  constexpr std::uint32_t kBatch = 25;  // runs per process
  const bool is_long = std::getenv("MUSTER_LONG") != nullptr;
  const char* const seed = std::getenv("MUSTER_SEED");
  const std::uint32_t first = seed == nullptr ? 1 : static_cast<std::uint32_t>(std::strtoul(seed, nullptr, 10));
  const std::uint32_t count = is_long ? 1'000 : 150;
  const TempDir folder;
  struct Account {
    std::uint32_t seed = 0;  // of the current run
    std::uint32_t well = 0;  // runs that succeeded
  };
  void* const shared = ::mmap(nullptr, sizeof(Account), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* const account = new (shared) Account;
  for (std::uint32_t begin = first; begin < first + count; begin += kBatch) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const int words = ::memfd_create("words", MFD_CLOEXEC);
      for (std::uint32_t each = begin; each < begin + kBatch; ++each) {
        account->seed = each;
        SetTimer(ITIMER_PROF, 2);   // a busy head …
        SetTimer(ITIMER_REAL, 60);  // … or one that waits for ever
        const std::string outcome = RunWith(folder, each, words);
        if (outcome.empty()) ::_exit(1);
        account->well += outcome == "ok" ? 1 : 0;
      }
      ::_exit(0);
    }
    int status = 0;
    rusage usage = {};
    ASSERT_EQ(::wait4(child, &status, 0, &usage), child);
    ASSERT_TRUE(WIFEXITED(status)) << "MUSTER_SEED=" << account->seed << ": ended by signal " << WTERMSIG(status)
                                   << (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM ? ", a hang" : "");
    ASSERT_EQ(WEXITSTATUS(status), 0) << "MUSTER_SEED=" << account->seed;
#if !defined(__SANITIZE_ADDRESS__)
    constexpr long kMaxKib = 256L << 10;
    ASSERT_LT(usage.ru_maxrss, kMaxKib) << "from MUSTER_SEED=" << begin;
#endif
  }
  EXPECT_LT(account->well, count / 2) << "most frames are to reach a run while it goes on";
  ::munmap(shared, sizeof(Account));
}

// An agent without corrupted frames must let a run succeed: the other tests rely on that.
TEST(MutatedFrames, ComeFromAnAgentThatOtherwiseWorks) {
  const TempDir folder;
  const int words = ::memfd_create("words", MFD_CLOEXEC);
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    FramesTransport transport(0, "");
    const RunRequest request = RequestFor(folder, seed, words);
    const Result<RunOutcome> outcome = RunPlan(request, transport);
    ASSERT_TRUE(outcome) << outcome.error().front().message;
    EXPECT_EQ(outcome->outcome, "ok") << seed << ": " << outcome->why;
  }
  ::close(words);
}

}  // namespace
}  // namespace muster::testing
