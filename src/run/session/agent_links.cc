#include "run/session/agent_links.h"

#include <utility>

#include "base/values/diagnostics.h"
#include "run/session/live_run.h"
#include "transport/transport.h"

namespace muster {

void AgentLinks::Connect(Transport& transport, const Receive& receive) {
  for (std::uint32_t host = 0; host < size(); ++host) {
    Result<std::unique_ptr<Channel>> channel = transport.Connect(run_.io, {host, run_.NameOf(host)});
    if (!channel) {
      run_.Later([receive, host, why = Sentence(channel.error())] { receive(host, AgentUnreachable{why, {}}); });
      continue;
    }
    links_[host].channel = std::move(*channel);
    links_[host].channel->SetReceiver([receive, host](ChannelMessage message) { receive(host, std::move(message)); });
  }
  transport.StartAgents();
}

void AgentLinks::Send(std::uint32_t host, const AgentCommand& command) {
  if (!std::holds_alternative<StartProcess>(command)) before_commands_();
  if (!links_[host].channel || links_[host].over) return;
  run_.journal.Write();  // records must be written before the commands that follow from them
  links_[host].channel->Send(command);
}

void AgentLinks::SendAll(const AgentCommand& command) {
  for (std::uint32_t host = 0; host < size(); ++host) Send(host, command);
}

void AgentLinks::ExpectAnswer(std::uint32_t host, bool at_once) {
  if (links_[host].channel && !links_[host].over) links_[host].channel->ExpectAnswer(at_once);
}

void AgentLinks::SetEnding(std::uint32_t host, bool ending) {
  if (std::exchange(links_[host].ending, ending) == ending) return;
  ending ? ++ending_ : --ending_;
  NotifyIfEnded();
}

void AgentLinks::LetEnd() {
  for (Link& link : links_) link.ending = false;
  ending_ = 0;
  NotifyIfEnded();
}

void AgentLinks::WhenEnded(std::function<void()> done) {
  when_ended_ = std::move(done);
  NotifyIfEnded();
}

void AgentLinks::NotifyIfEnded() {
  if (when_ended_ && !AnyEnding()) run_.Later(std::exchange(when_ended_, nullptr));
}

void AgentLinks::Disconnect() {
  for (Link& link : links_) link.channel.reset();
}

}  // namespace muster
