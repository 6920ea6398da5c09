#include "run/session/agent_links.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "run/hosts/inspection_report.h"
#include "run/session/live_run.h"
#include "run/start/host_files.h"
#include "wire/files/run_layout.h"

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

bool AgentLinks::Hold(std::uint32_t host, bool held) {
  return links_[host].channel && !links_[host].over && links_[host].channel->Hold(held);
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

namespace {

constexpr std::size_t kPart = 1U << 20;

}  // namespace

Result<void> FilesElsewhere::WriteProbe() {
  if (!run_.elsewhere) return {};
  return WriteNewFile(run_.directory->folder(), kProbeEntry.name, run_.binding.run_id);
}

void FilesElsewhere::RemoveProbe() {
  if (run_.elsewhere) ::unlinkat(run_.directory->folder(), kProbeEntry.name, 0);
}

void FilesElsewhere::Send(const std::map<std::string, std::string>& files) {
  for (const auto& [host, state] : hosts_) {
    for (const auto& [path, bytes] : files) {
      std::size_t at = 0;
      do {
        links_.Send(host, PlaceFile{path, at, bytes.substr(at, kPart)});
        at += kPart;
      } while (at < bytes.size());
    }
  }
}

void FilesElsewhere::Keep(std::uint32_t host, const FileBytes& bytes) {
  Host& from = hosts_.at(host);
  const Result<void> written = KeepFileBytes(run_.directory->folder(), bytes);
  if (written || std::exchange(from.incomplete, true)) return;
  run_.console.Warn(
      fmt::format("cannot write a file of {}, its files stay there: {}", from.name, Sentence(written.error())));
}

void FilesElsewhere::Finish(std::uint32_t host) {
  if (const auto from = hosts_.find(host); from != hosts_.end())
    links_.Send(host, FilesStored{!from->second.incomplete});
}

void FailedHosts::Answered(std::uint32_t host) {
  hosts_[host].answered = true;
  if (run_.elsewhere) Judge();
}

void FailedHosts::Refused(std::uint32_t host, AgentUnreachable why) {
  Blame(host, why.why);
  hosts_[host].refused = std::move(why);
  Judge();
}

void FailedHosts::Judge() {
  const bool all = std::all_of(hosts_.begin(), hosts_.end(),
                               [](const Host& host) { return host.answered || host.refused.has_value(); });
  if (!all) return;
  files_.RemoveProbe();
  std::vector<HostRefusal> refusals;
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (hosts_[host].refused) refusals.push_back({run_.NameOf(host), *hosts_[host].refused});
  }
  if (refusals.empty()) return;
  run_.events.Abandon(RefusalsText(refusals, hosts_.size()), RefusalHints(refusals));
}

void FailedHosts::Blame(std::uint32_t host, const std::string& why) {
  // At the end of a run, agents exit because of muster's order.
  if (run_.elsewhere && run_.supervisor.phase() < Phase::kFinishing) blamed_.emplace(host, why);
}

std::optional<AgentLost> FailedHosts::TakeLost() {
  for (std::uint32_t host = 0; host < hosts_.size(); ++host) {
    if (!hosts_[host].refused) continue;
    return AgentLost{host, std::exchange(hosts_[host].refused, std::nullopt)->why, 0};
  }
  return std::nullopt;
}

void FailedHosts::Report() const {
  if (!run_.request.on_bad_hosts || blamed_.empty()) return;
  std::vector<std::pair<std::string, std::string>> bad;
  for (const auto& [host, why] : blamed_) bad.emplace_back(run_.NameOf(host), why);
  run_.request.on_bad_hosts(bad);
}

}  // namespace muster
