// The pods of one run: made by `kubectl apply`, watched by `kubectl get --watch`, and deleted at the end, whatever ends
// this process.
//
// A process of its own waits on a pipe for the end of this one, and then deletes the objects: it is started before they
// exist. If it is killed as well, the pods end by themselves (agent/program/pod_hold.h). Carries the connections to the
// agents through `kubectl exec`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include "base/system/unique_fd.h"
#include "pods/pod_settings.h"
#include "pods/pod_status.h"
#include "spawn/start/launcher.h"
#include "spawn/start/watched_fd.h"
#include "transport/host_commands.h"
#include "transport/watched_command.h"

namespace muster {

class PodSet final : public HostCommands, public std::enable_shared_from_this<PodSet> {
 public:
  // How long the deletion may take before this process goes on without it.
  static constexpr std::chrono::seconds kDeletePatience{30};

  // `io` must outlive the object. Pods are made one turn of the loop after the first Enter(), one for each host that
  // has entered by then; hosts that enter later are refused.
  PodSet(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, PodSettings settings);
  ~PodSet() override { End(); }
  PodSet(const PodSet&) = delete;
  PodSet& operator=(const PodSet&) = delete;

  std::string_view name() const override { return "kubectl"; }
  void Enter(const TransportHost& host, Calls calls) override;
  void KnowRun(const std::string& run) override { run_ = run; }
  void Passed(std::uint32_t host) override { static_cast<void>(host); }
  // With the last host the pods are deleted, which waits for kubectl's answer: nothing is left before its last message.
  void Left(std::uint32_t host) override;
  CommandFailure FailureOf(std::uint32_t host, const EndedProcess& end, const std::string& words) override;
  std::optional<std::string> OwnFailure(const EndedProcess& end, const std::string& words) const override;
  bool MayKnowMore(const EndedProcess& end) const override;

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  struct Host {
    Calls calls;
    bool begun = false;
    bool ended = false;
    std::string last;  // what its pod waits for
  };

  void Begin();
  void End();
  std::string StartDeleter(const std::vector<std::string>& kinds);
  void Apply(const std::string& manifest);
  void OnApplied();
  void Watch();
  void AwaitEvents();
  bool ReadEvents();
  void OnWatchEnd();
  void OnPod(const PodStatus& pod);
  void OnLate();
  void Refuse(const CommandFailure& failure);  // every host without an agent
  void RefuseOne(std::uint32_t host, CommandFailure failure);

  boost::asio::io_context& io_;
  const std::shared_ptr<Launcher> launcher_;
  const PodSettings settings_;
  std::string run_;
  std::map<std::uint32_t, Host> hosts_;
  bool begun_ = false;
  std::uint32_t pods_ = 0;  // that were asked for
  UniqueFd life_;           // its end starts the deletion
  std::optional<Spawned> deleter_;
  std::shared_ptr<WatchedCommand> apply_;
  std::shared_ptr<WatchedCommand> watch_;
  WatchedFd events_;
  JsonStream stream_;
  bool answered_ = false;    // the watch has said something, ever
  std::uint32_t quiet_ = 0;  // watches in a row that said nothing
  Timer again_;
  Timer late_;
};

}  // namespace muster
