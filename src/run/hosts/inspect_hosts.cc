#include "run/hosts/inspect_hosts.h"

#include <memory>
#include <utility>
#include <variant>

#include <boost/asio/io_context.hpp>

#include "base/system/clock.h"
#include "base/values/overloaded.h"

namespace muster {
namespace {

class Asking {
 public:
  Asking(Transport& transport, std::span<const SiteHost> hosts, const Inspect& question, const HiddenValues& hidden)
      : question_(question), hidden_(hidden), here_(!transport.remote()), asked_(hosts.size()) {
    for (std::uint32_t i = 0; i < hosts.size(); ++i) Begin(transport, i, hosts[i].name);
  }

  std::vector<InspectedHost> Answers() {
    while (open_ > 0 && io_.run_one() > 0) {
    }
    std::vector<InspectedHost> answers;
    for (Asked& one : asked_) answers.push_back(std::move(one.host));
    return answers;
  }

 private:
  struct Asked {
    InspectedHost host;
    std::unique_ptr<Channel> channel;
    std::uint64_t asked_at = 0;  // by the local wall clock
    bool answered = false;
    bool over = false;
  };

  void Begin(Transport& transport, std::uint32_t index, const std::string& name) {
    Asked& one = asked_[index];
    one.host.name = name;
    auto channel = transport.Connect(io_, {index, name});
    if (!channel) {
      one.host.why = channel.error().front().message;
      one.host.hint = channel.error().front().hint;
      one.over = true;
      return;
    }
    ++open_;
    one.channel = std::move(*channel);
    one.channel->SetReceiver([this, &one](const ChannelMessage& message) {
      if (!one.over) Take(one, message);
    });
    one.channel->Send(Hello{kProtocolVersion, {}, index, {}});
  }

  void Take(Asked& one, const ChannelMessage& message) {
    std::visit(Overloaded{
                   [&](const AgentReady& ready) {
                     if (ready.version != kProtocolVersion) return;  // the transport refuses it by itself
                     one.asked_at = WallNowNs();
                     one.channel->Send(question_);
                   },
                   [&](const Inspected& reported) { Answered(one, reported); },
                   [&](const AgentFailed& failed) { NoAnswer(one, "its agent: " + failed.why, {}); },
                   [&](const AgentUnreachable& unreachable) {
                     NoAnswer(one, unreachable.why, unreachable.hint);
                     Over(one);
                   },
                   [&](const AgentLost& lost) {
                     NoAnswer(one, lost.why, {});
                     Over(one);
                   },
                   [&](const AgentEmpty&) { Over(one); },
                   [](const auto&) {},  // messages about runs, which this agent does not have
               },
               message);
  }

  void Answered(Asked& one, const Inspected& reported) {
    one.answered = true;
    one.host = InspectedHostOf(one.host.name, reported, one.asked_at, WallNowNs(), hidden_);
    if (here_) one.host.clock.reset();
    one.channel->Send(Finish{});
  }

  // The first error is the most informative one.
  static void NoAnswer(Asked& one, const std::string& why, const std::string& hint) {
    if (one.answered || !one.host.why.empty()) return;
    one.host.why = why.empty() ? "its agent ended" : why;
    one.host.hint = hint;
  }

  void Over(Asked& one) {
    if (!one.answered) NoAnswer(one, {}, {});
    one.over = true;
    --open_;
  }

  const Inspect& question_;
  const HiddenValues& hidden_;
  const bool here_;
  boost::asio::io_context io_;
  std::vector<Asked> asked_;
  std::size_t open_ = 0;
};

}  // namespace

InspectedHost InspectedHostOf(const std::string& name, const Inspected& reported, std::uint64_t asked_at,
                              std::uint64_t now, const HiddenValues& hidden) {
  InspectedHost host;
  host.name = name;
  host.facts = reported.facts;
  host.missing = reported.error;
  std::vector<std::string> variables;
  for (const auto& [variable, value] : reported.facts.variables) variables.push_back(variable + '=' + value);
  host.facts.variables = RecordedVariables(variables, hidden);
  // The time that the host needed to answer is not part of the transmission time.
  const std::uint64_t took = reported.answered_at - std::min(reported.asked_at, reported.answered_at);
  ClockOffset offset;
  offset.Add(asked_at, reported.asked_at, now - std::min(took, now));
  host.clock = offset.best();
  return host;
}

std::vector<InspectedHost> InspectHosts(Transport& transport, std::span<const SiteHost> hosts, const Inspect& question,
                                        const HiddenValues& hidden) {
  return Asking(transport, hosts, question, hidden).Answers();
}

}  // namespace muster
