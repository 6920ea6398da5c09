#include "run/session/code_delivery.h"

#include <fmt/format.h>

#include "run/session/agent_links.h"
#include "run/session/live_run.h"
#include "run/session/run_binding.h"

namespace muster {

bool CodeDelivery::Begin(std::uint32_t host) {
  if (!run_.elsewhere || !run_.request.code) return false;
  const auto send = [this, host](const AgentCommand& command) { links_.Send(host, command); };
  shipments_.insert_or_assign(host, CodeShipment(run_.request.code, send)).first->second.Offer();
  return true;
}

void CodeDelivery::OnMissing(std::uint32_t host, const CodeMissing& wanted) {
  if (const auto found = shipments_.find(host); found != shipments_.end()) Check(host, found->second.Wanted(wanted));
}

void CodeDelivery::OnTaken(std::uint32_t host, const CodeReceived& taken) {
  if (const auto found = shipments_.find(host); found != shipments_.end()) Check(host, found->second.Taken(taken));
}

bool CodeDelivery::OnReady(std::uint32_t host, const CodeReady& ready) {
  const auto found = shipments_.find(host);
  if (found == shipments_.end()) return false;
  if (!ready.error.empty()) {
    Check(host, ready.error);
    return false;
  }
  const CodeTree& tree = *run_.request.code;
  run_.journal.Record(CodeShipped{host, tree.hash, tree.folder, ready.folder,
                                  static_cast<std::uint32_t>(tree.entries.size()), tree.bytes, found->second.sent()});
  shipments_.erase(found);
  bound_.SetCode(host, ShippedPaths(run_.request.code, ready.folder));
  return true;
}

void CodeDelivery::Check(std::uint32_t host, const std::string& error) {
  if (error.empty() || !run_.preparing()) return;
  run_.events.Abandon(fmt::format("the code cannot be shipped to {}: {}", run_.NameOf(host), error));
}

std::string CodeDelivery::Text() const {
  std::uint64_t sent = 0;
  std::uint64_t wanted = 0;
  for (const auto& [host, shipment] : shipments_) {
    sent += shipment.sent();
    wanted += shipment.wanted();
  }
  if (wanted == 0) return {};
  return fmt::format("{} of {} MB of code sent", sent / 1'000'000, (wanted + 999'999) / 1'000'000);
}

}  // namespace muster
