#include "transport/host_agents.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/asio/post.hpp>

#include "base/values/overloaded.h"
#include "muster/diagnostic.h"
#include "transport/agent_heartbeats.h"
#include "wire/protocol/protocol.h"

namespace muster {

// One connection to an agent below a standing one. Owned by its channel and, until the connection has ended, by the
// pool.
struct HostAgents::Line {
  Line(std::uint32_t its_index, std::uint32_t its_host, std::uint32_t its_number)
      : index(its_index), host(its_host), number(its_number) {}

  void Notify(ChannelMessage message) {
    const Channel::Receiver to = receiver;  // a copy: the receiver may destroy the channel
    if (to) to(std::move(message));
  }

  // Called once, with the last message.
  void End(ChannelMessage message) {
    if (std::exchange(over, true)) return;
    if (answers) answers->Stop();
    Notify(std::move(message));
  }

  void Lost(std::string text, std::uint32_t killed) { End(AgentLost{index, std::move(text), killed}); }

  const std::uint32_t index;  // index of the host in the plan
  const std::uint32_t host;
  const std::uint32_t number;
  Channel::Receiver receiver;
  FrameReader reader = FrameReader::OfMessages({});  // not preceded by output of a shell
  std::optional<AgentEmpty> empty;
  std::string why;
  std::shared_ptr<AnswerTimeout> answers;  // null until an answer is expected
  bool ready = false;
  bool broken = false;  // the agent's messages are no longer trusted
  bool over = false;
};

class HostAgents::Pool : public std::enable_shared_from_this<Pool> {
 public:
  Pool(boost::asio::io_context& io, Transport& transport, std::vector<std::string> names, std::string id, Events events)
      : io_(io),
        transport_(transport),
        name_(transport.name()),
        remote_(transport.remote()),
        id_(std::move(id)),
        events_(std::move(events)) {
    for (std::string& name : names) hosts_.push_back(Host{std::move(name)});
  }

  struct Host {
    enum class State : std::uint8_t { kNone, kConnecting, kReady };
    std::string name;
    State state = State::kNone;
    std::unique_ptr<Channel> channel = {};
    AgentReady ready = {};
    std::string why = "it was never connected";                 // why the host has no agent
    std::optional<ClockCompared> clock = {};                    // the best comparison so far
    std::map<std::uint32_t, std::shared_ptr<Line>> lines = {};  // by number
  };

  void Connect(std::uint32_t at) {
    Host& host = hosts_[at];
    if (host.state != Host::State::kNone || finished_) return;
    Result<std::unique_ptr<Channel>> channel = transport_.Connect(io_, {at, host.name});
    if (!channel) {
      const Diagnostic& first = channel.error().front();
      host.why = first.message;
      if (events_.refused) events_.refused(at, AgentUnreachable{first.message, first.hint});
      return;
    }
    host.state = Host::State::kConnecting;
    host.clock.reset();
    host.channel = std::move(*channel);
    host.channel->SetReceiver([this, at](ChannelMessage message) { OnMessage(at, std::move(message)); });
    host.channel->Send(Hello{kProtocolVersion, id_, at, {}});
  }

  Result<std::shared_ptr<Line>> Open(std::uint32_t index, std::uint32_t at) {
    if (closed_) return Fail(MachineError("hosts", "the agents of the hosts have exited"));
    Host& host = hosts_[at];
    if (host.state == Host::State::kNone || finished_) {
      return Fail(MachineError("hosts", "there is no agent on " + host.name + ": " + host.why));
    }
    auto line = std::make_shared<Line>(index, at, ++last_number_);
    host.lines.emplace(line->number, line);
    host.channel->Send(OpenAgent{line->number});
    return line;
  }

  void Send(const Line& line, const AgentCommand& command) {
    if (line.over || closed_) return;
    Host& host = hosts_[line.host];
    if (host.channel) host.channel->Send(ToAgent{line.number, EncodeFrame(command)});
  }

  void ExpectAnswer(Line& line, bool at_once) {
    if (line.over || closed_) return;
    // The standing agent may be the one that does not answer.
    if (const auto& channel = hosts_[line.host].channel) channel->ExpectAnswer(at_once);
    if (!line.answers) {
      // Called only while the line exists, which its channel or the pool owns.
      line.answers = std::make_shared<AnswerTimeout>(
          io_, transport_.lease_ms(),
          AnswerTimeout::Ends{.ask = [this, &line](std::uint32_t number) { Send(line, HeadHeartbeat{number}); },
                              .unanswered = [this, &line](const std::string& why) { Break(line, why); }});
    }
    line.answers->Expect(at_once);
  }

  void Close(Line& line) {
    line.receiver = nullptr;
    if (line.answers) line.answers->Stop();
    if (std::exchange(line.over, true) || closed_) return;
    Host& host = hosts_[line.host];
    host.lines.erase(line.number);
    if (host.channel) host.channel->Send(CloseAgent{line.number});
  }

  // Stops accepting messages of the agent; reports it as lost once it has ended.
  void Break(Line& line, std::string why) {
    if (line.over || closed_ || std::exchange(line.broken, true)) return;
    if (line.answers) line.answers->Stop();
    line.why = std::move(why);
    if (const auto& channel = hosts_[line.host].channel) channel->Send(CloseAgent{line.number});
  }

  void Finish(std::function<void()> done) {
    finished_ = true;
    done_ = std::move(done);
    for (Host& host : hosts_) {
      if (!host.channel) continue;
      host.channel->Send(muster::Finish{});
      host.channel->ExpectAnswer(false);
    }
    DoneIfOver();
  }

  void Shut() {
    closed_ = true;
    for (Host& host : hosts_) {
      host.channel.reset();
      host.lines.clear();
    }
  }

  std::vector<Host>& hosts() { return hosts_; }
  std::string_view name() const { return name_; }
  bool remote() const { return remote_; }

 private:
  void OnMessage(std::uint32_t at, ChannelMessage message) {
    const auto keep = shared_from_this();
    // All other messages of an agent are about runs of its own, which a standing agent does not have; the AgentLost
    // that follows repeats an AgentFailed.
    std::visit(Overloaded{
                   [&](AgentReady& m) { OnReady(at, m); },
                   [&](ClockCompared& m) { OnClock(at, m); },
                   [&](FromAgent& m) { OnWords(at, m); },
                   [&](AgentExited& m) { OnGone(at, m); },
                   [&](AgentUnreachable& m) { OnUnreachable(at, m); },
                   [&](AgentLost& m) { OnLost(at, m); },
                   [&](AgentEmpty&) {
                     OnLost(at, AgentLost{at, "it was ordered to exit", 0});
                   },
                   [](const auto&) {},
               },
               message);
  }

  void OnReady(std::uint32_t at, AgentReady& ready) {
    Host& host = hosts_[at];
    host.state = Host::State::kReady;
    host.ready = std::move(ready);
    if (events_.ready) events_.ready(at, host.ready);
  }

  void OnClock(std::uint32_t at, const ClockCompared& clock) {
    Host& host = hosts_[at];
    host.clock = clock;
    for (const auto& line : LinesOf(host)) {
      if (line->ready) NotifyClock(*line, clock);
    }
  }

  static void NotifyClock(Line& line, ClockCompared clock) {
    clock.host = line.index;
    line.Notify(clock);
  }

  void OnWords(std::uint32_t at, const FromAgent& words) {
    const auto found = hosts_[at].lines.find(words.number);
    if (found == hosts_[at].lines.end()) return;  // the channel of that agent has been destroyed
    const std::shared_ptr<Line> line = found->second;
    if (line->broken) return;
    line->reader.Feed(words.bytes);
    while (!line->over && !line->broken) {
      const std::optional<std::string> payload = line->reader.Next();
      if (!payload) break;
      auto message = DecodeMessage(*payload);
      if (!message) return Break(*line, "it sent a message that cannot be read");
      Deliver(*line, *message);
    }
    if (!line->over && !line->reader.error().empty()) Break(*line, line->reader.error());
  }

  void Deliver(Line& line, AgentMessage& message) {
    std::visit(Overloaded{
                   [&](AgentEmpty& m) {
                     line.empty = std::move(m);  // reported when the agent has ended
                     if (line.answers) line.answers->Stop();
                   },
                   [&](AgentHeartbeat& m) {
                     if (line.answers) line.answers->Answered(m.number);
                   },
                   [&](AgentFailed& m) {
                     line.why = m.why;
                     line.Notify(std::move(m));
                   },
                   [&](AgentReady& m) {
                     line.Notify(std::move(m));
                     if (line.over) return;
                     line.ready = true;
                     if (const auto clock = hosts_[line.host].clock) NotifyClock(line, *clock);
                   },
                   [&](auto& m) { line.Notify(std::move(m)); },
               },
               message);
  }

  void OnGone(std::uint32_t at, const AgentExited& gone) {
    const auto found = hosts_[at].lines.find(gone.number);
    if (found == hosts_[at].lines.end()) return;
    const std::shared_ptr<Line> line = found->second;
    hosts_[at].lines.erase(found);
    if (line->empty && !line->broken) return line->End(std::move(*line->empty));
    std::string text = "the agent " + (gone.why.empty() ? "exited without a message" : gone.why);
    if (!line->why.empty()) text += ": " + line->why;
    line->Lost(std::move(text), gone.killed);
  }

  void OnUnreachable(std::uint32_t at, const AgentUnreachable& why) {
    for (const auto& line : Clear(at, why.why)) line->End(why);
    if (events_.refused) events_.refused(at, why);
    DoneIfOver();
  }

  void OnLost(std::uint32_t at, const AgentLost& lost) {
    for (const auto& line : Clear(at, lost.why)) {
      // An agent that has reported its end, and only had to exit, is not affected by the loss.
      if (line->empty && !line->broken) {
        line->End(std::move(*line->empty));
        continue;
      }
      // The killed processes cannot be attributed to runs, so their number is reported only if there is a single run.
      line->Lost("the agent of the host was lost: " + lost.why, 0);
    }
    if (events_.lost && !finished_) events_.lost(at, lost);
    DoneIfOver();
  }

  // Removes all lines of a host that has no agent any more, and returns those to notify.
  std::vector<std::shared_ptr<Line>> Clear(std::uint32_t at, const std::string& why) {
    Host& host = hosts_[at];
    host.channel.reset();
    host.state = Host::State::kNone;
    host.why = why;
    std::vector<std::shared_ptr<Line>> lines = LinesOf(host);
    host.lines.clear();
    return lines;
  }

  static std::vector<std::shared_ptr<Line>> LinesOf(const Host& host) {
    std::vector<std::shared_ptr<Line>> lines;
    for (const auto& [number, line] : host.lines) lines.push_back(line);
    return lines;
  }

  void DoneIfOver() {
    const bool over =
        std::none_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return host.channel != nullptr; });
    if (done_ && over) boost::asio::post(io_, std::exchange(done_, nullptr));
  }

  boost::asio::io_context& io_;
  Transport& transport_;
  const std::string name_;
  const bool remote_;
  const std::string id_;
  const Events events_;
  std::vector<Host> hosts_;
  std::uint32_t last_number_ = 0;
  std::function<void()> done_;
  bool finished_ = false;
  bool closed_ = false;
};

class HostAgents::RunChannel final : public UncheckedChannel {
 public:
  RunChannel(std::shared_ptr<Pool> pool, std::shared_ptr<Line> line) : pool_(std::move(pool)), line_(std::move(line)) {}
  ~RunChannel() override { pool_->Close(*line_); }

  void Send(const AgentCommand& command) override { pool_->Send(*line_, command); }
  void SetReceiver(Receiver receiver) override { line_->receiver = std::move(receiver); }
  void BreakOff(const std::string& why) override { pool_->Break(*line_, why); }
  void ExpectAnswer(bool at_once) override { pool_->ExpectAnswer(*line_, at_once); }

 private:
  const std::shared_ptr<Pool> pool_;
  const std::shared_ptr<Line> line_;
};

class HostAgents::RunTransport final : public Transport {
 public:
  RunTransport(std::shared_ptr<Pool> pool, std::vector<std::uint32_t> hosts)
      : pool_(std::move(pool)), hosts_(std::move(hosts)) {}

  std::string_view name() const override { return pool_->name(); }
  bool remote() const override { return pool_->remote(); }

  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override {
    static_cast<void>(io);  // the pool's is used
    if (host.index >= hosts_.size()) return Fail(MachineError("hosts", "the run was given no such host"));
    Result<std::shared_ptr<Line>> line = pool_->Open(host.index, hosts_[host.index]);
    if (!line) return Fail(std::move(line.error()));
    return std::make_unique<RunChannel>(pool_, std::move(*line));
  }

 private:
  const std::shared_ptr<Pool> pool_;
  const std::vector<std::uint32_t> hosts_;
};

HostAgents::HostAgents(boost::asio::io_context& io, Transport& transport, std::vector<std::string> names,
                       std::string id, Events events)
    : pool_(std::make_shared<Pool>(io, transport, std::move(names), std::move(id), std::move(events))) {}

HostAgents::~HostAgents() { pool_->Shut(); }

void HostAgents::Connect(std::uint32_t host) { pool_->Connect(host); }

void HostAgents::ConnectAll() {
  for (std::uint32_t host = 0; host < size(); ++host) Connect(host);
}

bool HostAgents::ready(std::uint32_t host) const { return AgentOf(host) != nullptr; }

const AgentReady* HostAgents::AgentOf(std::uint32_t host) const {
  const Pool::Host& one = pool_->hosts()[host];
  return one.state == Pool::Host::State::kReady ? &one.ready : nullptr;
}

std::size_t HostAgents::size() const { return pool_->hosts().size(); }

std::unique_ptr<Transport> HostAgents::TransportFor(std::vector<std::uint32_t> hosts) {
  return std::make_unique<RunTransport>(pool_, std::move(hosts));
}

void HostAgents::Finish(std::function<void()> done) { pool_->Finish(std::move(done)); }

}  // namespace muster
