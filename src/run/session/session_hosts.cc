// The part of the session that concerns other hosts than this one: who cannot be reached, and the files of the run
// there.
#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/diagnostic_text.h"
#include "run/directory/private_files.h"
#include "run/hosts/host_refusals.h"
#include "run/session/session.h"
#include "run/start/host_files.h"

namespace muster {
namespace {

constexpr const char* kProbe = "probe";
constexpr std::size_t kPart = 1U << 20;

}  // namespace

const SiteHost* Session::NamedBy(std::uint32_t host) const {
  if (request_.hosts.empty()) return nullptr;
  return host < request_.hosts.size() ? &request_.hosts[host] : &request_.spares[host - request_.hosts.size()];
}

const std::string& Session::NameOf(std::uint32_t host) const {
  const SiteHost* const named = NamedBy(host);
  return named == nullptr ? plan_.hosts[host].label : named->name;
}

Result<void> Session::LayProbe() {
  if (!elsewhere_) return {};
  return WriteNewFile(directory_->folder(), kProbe, binding_.run_id);
}

void Session::Refused(std::uint32_t host, AgentUnreachable why) {
  agents_[host].over = true;
  if (supervisor_.phase() != Phase::kPreparing) {
    console_.Lost(NameOf(host), why.why);
    return Happened(AgentLost{host, why.why, 0});
  }
  Blame(host, why.why);
  agents_[host].refused = std::move(why);
  JudgeRefusals();
}

void Session::JudgeRefusals() {
  const bool all = std::all_of(agents_.begin(), agents_.end(),
                               [](const Agent& agent) { return agent.answered || agent.refused.has_value(); });
  if (!all) return;
  if (elsewhere_) ::unlinkat(directory_->folder(), kProbe, 0);
  std::vector<HostRefusal> refusals;
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    if (agents_[host].refused) refusals.push_back({NameOf(host), *agents_[host].refused});
  }
  if (refusals.empty()) return;
  for (const std::string& hint : RefusalHints(refusals)) console_.Warn("hint: " + hint);
  Unready(RefusalsText(refusals, agents_.size()));
}

void Session::Blame(std::uint32_t host, const std::string& why) {
  // At the end hosts are left by us.
  if (elsewhere_ && supervisor_.phase() < Phase::kFinishing) blamed_.emplace(host, why);
}

void Session::TellRefused() {
  for (std::uint32_t host = 0; host < agents_.size() && !ended_; ++host) {
    if (!agents_[host].refused) continue;
    const AgentUnreachable refused = *std::exchange(agents_[host].refused, std::nullopt);
    // Without a word on the terminal: that was said.
    const Event lost = AgentLost{host, refused.why, 0};
    Record(std::get<AgentLost>(lost));
    Perform(supervisor_.Step(lost, clock_->Monotonic()));
  }
}

void Session::OrderReplacement(const ReplaceOrdered& order) {
  agents_[order.by].taking = Agent::Taking{order.host, binding_};
  HoldPortsOf(order.by);
}

void Session::Replaced(const std::string& lost, HostReplaced replaced) {
  const std::string& name = NameOf(replaced.by);
  if (replaced.error.empty()) {
    console_.Say(fmt::format("{} has taken the place of {}", name, lost));
  } else {
    console_.Warn(fmt::format("{} cannot take the place of {}: {}", name, lost, replaced.error));
  }
  Happened(std::move(replaced));
}

void Session::PutFiles(const std::map<std::string, std::string>& files) {
  for (std::uint32_t host = 0; host < agents_.size(); ++host) {
    if (agents_[host].shares_run_dir) continue;
    for (const auto& [path, bytes] : files) {
      std::size_t at = 0;
      do {
        Send(host, PlaceFile{path, at, bytes.substr(at, kPart)});
        at += kPart;
      } while (at < bytes.size());
    }
  }
}

void Session::OnFileBytes(std::uint32_t host, const FileBytes& bytes) {
  if (agents_[host].shares_run_dir) return;
  // As long as something comes the end is not overdue.
  if (supervisor_.phase() == Phase::kFinishing) {
    timers_.Arm(kFinishTimer, clock_->Monotonic() + std::uint64_t{kFinishMarginMs} * 1'000'000);
    SetAlarm();
  }
  const Result<void> written = KeepFileBytes(directory_->folder(), bytes);
  if (written || std::exchange(agents_[host].warned_of_files, true)) return;
  console_.Warn(fmt::format("a file of {} cannot be kept, its files stay there: {}", agents_[host].host_name,
                            Sentence(written.error())));
}

void Session::OnFilesSent(std::uint32_t host) {
  if (!agents_[host].shares_run_dir) Send(host, FilesKept{!agents_[host].warned_of_files});
}

}  // namespace muster
