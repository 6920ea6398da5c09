// Connects the user's terminal to the pseudo-terminal of a process (--pty) when its agent opens one, and disconnects it
// at the end.
#pragma once

#include <functional>
#include <optional>

#include "muster/event.h"
#include "muster/result.h"
#include "run/console/terminal_link.h"
#include "wire/protocol/protocol.h"

namespace muster {

class AgentLinks;
struct LiveRun;

// Without --pty it does nothing.
class LentTerminal {
 public:
  LentTerminal(LiveRun& run, AgentLinks& links) : run_(run), links_(links) {}

  // `stop` is called when the user requests the end of the run by keys.
  Result<void> Open(std::function<void()> stop);
  void Saw(const Event& event);
  void Written(const PtyBytes& bytes);
  void Taken(const PtyTaken& taken);
  void Part();
  // Only for the process of --pty.
  PtySize Size() const { return link_->Size(); }

 private:
  LiveRun& run_;
  AgentLinks& links_;
  std::optional<TerminalLink> link_;
};

}  // namespace muster
