// The part of the session that concerns the code of the run: bringing it to hosts that do not have it, and the state in
// which git has it.
#include <fmt/format.h>

#include "run/session/session.h"
#include "run/start/activation.h"

namespace muster {

void Session::Ship(std::uint32_t host) {
  agents_[host].shipment =
      std::make_unique<CodeShipment>(request_.code, [this, host](const AgentCommand& command) { Send(host, command); });
  agents_[host].shipment->Offer();
}

void Session::Shipping(std::uint32_t host, const std::string& error) {
  if (error.empty() || supervisor_.phase() != Phase::kPreparing) return;
  Unready(fmt::format("the code cannot be shipped to {}: {}", NameOf(host), error));
}

void Session::OnCodeReady(std::uint32_t host, const CodeReady& ready) {
  if (!agents_[host].shipment) return;
  if (!ready.error.empty()) return Shipping(host, ready.error);
  const CodeTree& tree = *request_.code;
  Record(CodeShipped{host, tree.hash, tree.folder, ready.folder, static_cast<std::uint32_t>(tree.entries.size()),
                     tree.bytes, agents_[host].shipment->sent()});
  agents_[host].shipment.reset();
  surroundings_.code[host] = ShippedPaths(request_.code, ready.folder);
  if (supervisor_.phase() == Phase::kPreparing) Furnish(host);
}

void Session::Furnish(std::uint32_t host) {
  if (plan_.activation.empty()) return OnUsable(host);
  Send(host, ActivateHost(plan_, binding_, surroundings_, host));
}

std::string Session::ShippingText() const {
  std::uint64_t sent = 0;
  std::uint64_t wanted = 0;
  for (const Agent& agent : agents_) {
    if (!agent.shipment) continue;
    sent += agent.shipment->sent();
    wanted += agent.shipment->wanted();
  }
  if (wanted == 0) return {};
  return fmt::format("{} of {} MB of code sent", sent / 1'000'000, (wanted + 999'999) / 1'000'000);
}

void Session::AskGit() {
  if (request_.code_folder.empty()) return;
  git_ = std::make_unique<GitLook>(io_, request_.code_folder, request_.environment,
                                   [this](const std::optional<GitState>& state) { OnGitState(state); });
}

void Session::OnGitState(const std::optional<GitState>& state) {
  if (state) {
    Record(
        CodeSeen{request_.code_folder, state->commit, state->branch, state->changed, state->untracked, state->names});
  }
  // It calls this.
  Later([this] {
    git_.reset();
    if (std::exchange(end_waits_, false)) End();
  });
}

}  // namespace muster
