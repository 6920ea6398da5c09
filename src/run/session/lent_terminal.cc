#include "run/session/lent_terminal.h"

#include <utility>
#include <variant>

#include "base/values/overloaded.h"
#include "run/session/agent_links.h"
#include "run/session/live_run.h"

namespace muster {

Result<void> LentTerminal::Open(std::function<void()> stop) {
  if (!run_.request.pty) return {};
  Result<UserTerminal> terminal = UserTerminal::Open(run_.request.terminal);
  if (!terminal) return Fail(std::move(terminal.error()));
  const std::uint32_t place = run_.plan.processes[*run_.request.pty].host;
  link_.emplace(run_.io, run_.console, std::move(*terminal),
                TerminalLink::Ends{.send =
                                       [this, place](const AgentCommand& command) {
                                         links_.Send(run_.supervisor.slots().machine(place), command);
                                       },
                                   .stop = std::move(stop)});
  return {};
}

void LentTerminal::Saw(const Event& event) {
  if (!link_) return;
  std::visit(Overloaded{
                 [&](const PtyOpened& opened) {
                   link_->Join({opened.process, opened.attempt});
                 },
                 [&](const PtyClosed& closed) {
                   link_->Part({closed.process, closed.attempt});
                 },
                 [&](const AgentLost& lost) {
                   const std::uint32_t place = run_.plan.processes[*run_.request.pty].host;
                   if (run_.supervisor.slots().host(lost.host) == place) link_->Part();
                 },
                 [](const auto&) {},
             },
             event);
}

void LentTerminal::Written(const PtyBytes& bytes) {
  if (link_) link_->Written(bytes);
}

void LentTerminal::Taken(const PtyTaken& taken) {
  if (link_) link_->Taken(taken);
}

void LentTerminal::Part() {
  if (link_) link_->Part();
}

}  // namespace muster
