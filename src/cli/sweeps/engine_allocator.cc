#include "cli/sweeps/engine_allocator.h"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "base/values/diagnostic_text.h"
#include "base/values/shell_quote.h"
#include "cli/jobs/engine_jobs.h"
#include "engine/engine_calls.h"
#include "transport/held_command.h"
#include "transport/own_environment.h"

namespace muster {
namespace {

constexpr std::size_t kLongestLine = 300;

std::string LastLine(std::string_view words) {
  const std::size_t end = words.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  words = words.substr(0, end + 1);
  return Printable(words.substr(words.find_last_of("\r\n") + 1).substr(0, kLongestLine));
}

std::string_view NameOf(std::string_view variable) { return variable.substr(0, variable.find('=')); }

// `before` with `added` on top.
std::vector<std::string> Merged(std::vector<std::string> before, const std::vector<std::string>& added) {
  std::erase_if(before, [&](const std::string& variable) {
    return std::any_of(added.begin(), added.end(),
                       [&](const std::string& one) { return NameOf(one) == NameOf(variable); });
  });
  before.insert(before.end(), added.begin(), added.end());
  return before;
}

class EngineAllocation final : public TrialAllocation {
 public:
  EngineAllocation(boost::asio::io_context& io, const EnginePage& page, const Without& without,
                   const AgentSettings& agents, std::uint32_t hosts, Calls calls)
      : io_(io), page_(page), without_(without), agents_(agents), hosts_(hosts), calls_(std::move(calls)) {}

  Result<void> Begin(const std::vector<std::string>& words) {
    auto held = HeldCommand::Start(
        io_, words, kAfterEnvironment,
        {.printed = [this] { OnPrinted(); }, .heard = [this] { OnHeard(); }, .ended = [this] { OnEnded(); }});
    if (!held) {
      return Fail(MachineError("engine", fmt::format("{}: {}: {}", page_.name, words.front(), held.error())));
    }
    held_ = *std::move(held);
    return {};
  }

  const std::string& job() const override { return job_; }
  const std::string& id() const override { return id_; }

  void Release() override {
    released_ = true;
    if (orphaned_) return Cancel();
    held_->Release();
    // A command that waits in the queue does not read its stdin.
    if (!granted_) held_->AskToEnd();
  }

 private:
  void OnHeard() {
    if (id_.empty()) Know(AllocatedJob(page_, held_->words()));
  }

  void Know(const std::string& id) {
    if (id.empty()) return;
    id_ = id;
    job_ = page_.name + " job " + id;
    calls_.known();
  }

  void OnPrinted() {
    if (granted_) return;
    const auto environment = EnvironmentIn(held_->output());
    if (!environment) return;
    granted_ = true;
    auto place = PlaceIn(*environment);
    if (place) return calls_.granted(*std::move(place));
    problem_ = Sentence(place.error());
    held_->Release();
  }

  Result<TrialPlace> PlaceIn(const std::vector<std::string>& environment) {
    auto allocation = AllocationOf(page_, environment);
    if (!allocation) return Fail(allocation.error());
    if (id_.empty()) Know(allocation->job);
    std::vector<SiteHost> hosts = HostsOf(*allocation);
    if (hosts.size() < hosts_) {
      return Fail(
          MachineError("engine", fmt::format("{} has {} hosts, and {} were requested", job_, hosts.size(), hosts_)));
    }
    TrialPlace place;
    place.engine = std::make_shared<const EngineJob>(EngineJob{page_, id_});
    std::vector<std::string> own;
    for (const char* variable : OwnEnvironment()) own.emplace_back(variable);
    const std::vector<std::string> added = AddedVariables(environment, own);
    AgentSettings agents = agents_;
    place.environment = WithoutVariables(Merged(agents.environment, added), page_.own);
    auto transport = TransportInto({page_, *std::move(allocation)}, without_, std::move(agents), added);
    if (!transport) return Fail(transport.error());
    place.transport = *std::move(transport);
    place.spares.assign(hosts.begin() + hosts_, hosts.end());
    hosts.resize(hosts_);
    place.hosts = std::move(hosts);
    return place;
  }

  // A command that was killed has left the job, which may have hosts: the trial there goes on.
  void OnEnded() {
    OnHeard();
    if (!held_->killed() || id_.empty()) return End();
    orphaned_ = true;
    if (!granted_ || released_) Cancel();
  }

  void Cancel() {
    if (cancel_) return;
    const std::vector<std::string> jobs = {id_};
    for (const EngineCall& call : CancelCalls(page_, jobs)) {
      auto cancel = HeldCommand::Start(io_, call.words, {}, {.printed = {}, .heard = {}, .ended = [this] { End(); }});
      if (cancel) cancel_ = *std::move(cancel);
    }
    if (!cancel_) boost::asio::post(io_, [this] { End(); });
  }

  void End() {
    if (!problem_.empty()) return calls_.ended(problem_, true);
    std::string why = PhraseOfWords(page_, id_, held_->words());
    if (why.empty()) why = LastLine(held_->words());
    if (why.empty()) why = "its command " + held_->EndText();
    calls_.ended(why, id_.empty());
  }

  boost::asio::io_context& io_;
  const EnginePage& page_;
  const Without& without_;
  const AgentSettings& agents_;
  const std::uint32_t hosts_;
  const Calls calls_;
  std::string id_;
  std::string job_;
  std::string problem_;  // why the allocation cannot be used
  bool granted_ = false;
  bool released_ = false;
  bool orphaned_ = false;  // the command was killed, and the job may be there
  std::shared_ptr<HeldCommand> held_;
  std::shared_ptr<HeldCommand> cancel_;
};

}  // namespace

EngineAllocator::EngineAllocator(EnginePage page, EngineSettings settings, std::string name, const Without& without,
                                 AgentSettings agents)
    : page_(std::move(page)),
      settings_(std::move(settings)),
      name_(std::move(name)),
      without_(without),
      agents_(std::move(agents)) {}

Result<std::unique_ptr<TrialAllocation>> EngineAllocator::Request(boost::asio::io_context& io, std::uint32_t hosts,
                                                                  TrialAllocation::Calls calls) {
  const auto words = AllocateWords(page_, settings_, name_, NodesOf(settings_).value_or(hosts));
  if (!words) return Fail(words.error());
  auto allocation = std::make_unique<EngineAllocation>(io, page_, without_, agents_, hosts, std::move(calls));
  if (auto begun = allocation->Begin(*words); !begun) return Fail(begun.error());
  return allocation;
}

Result<void> EngineAllocator::Cancel(const std::vector<std::string>& ids) {
  const EngineJobs jobs(page_);
  const auto states = jobs.States(ids);
  if (!states) return Fail(states.error());
  std::vector<std::string> left;
  for (const auto& [id, status] : *states) {
    if (!IsOver(status.state) && status.state != JobState::kVanished) left.push_back(id);
  }
  return left.empty() ? Result<void>() : jobs.Cancel(left);
}

}  // namespace muster
