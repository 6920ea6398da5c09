// The transport to pods: agents run in the pods of a Kubernetes cluster, and kubectl(1), 1.20 and later, carries the
// connections to them: its command lines, what it says about pods, and the pods of one run, which are deleted at the
// end, whatever ends this process. The cluster's texts are not trusted, and nothing secret is on a command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/result.h"
#include "spawn/start/launcher.h"
#include "spawn/start/reap.h"
#include "transport/remote_agent.h"
#include "transport/transport.h"
#include "wire/connection/lease.h"

namespace muster {

// The settings of the transport to pods: how kubectl is called, and which objects make the pods.

// The objects of a run, for `kubectl apply`. Each has the label muster.run=<run> (PodSettings::label), and pod i has a
// host name that ends with -i.
struct PodObjects {
  std::string manifest;
  std::vector<std::string> kinds;  // to be deleted by the label, as kubectl names them
};

struct PodSettings {
  std::string program = "kubectl";        // a path, or a name to be looked up on PATH
  std::vector<std::string> options = {};  // for every call: --context=…, --namespace=…
  std::string label = "muster.run";
  std::string container = "agent";     // in which `agent` is called
  std::string agent = "muster-agent";  // in the image: a path, or a name on its PATH
  std::vector<std::string> agent_words = {};
  std::uint32_t start_seconds = 600;  // how long pods may take to start
  std::function<Result<PodObjects>(const std::string& run, std::uint32_t pods)> objects = {};
};

// Command lines of kubectl, and what its messages mean.
//
// For kubectl(1) of 1.20 and later; starts nothing. The user's kubeconfig and credentials apply. Manifests go through
// stdin, and what agents are sent through stdin of `exec`: nothing secret is on a command line.

// `kubectl apply` of the manifest at stdin.
std::vector<std::string> ApplyWords(const PodSettings& settings);
// `kubectl get pods` that prints each change of the run's pods as JSON, and does not end by itself.
std::vector<std::string> WatchWords(const PodSettings& settings, const std::string& run);
// `kubectl exec` of an agent in the pod.
std::vector<std::string> AgentWords(const PodSettings& settings, const std::string& pod);
// `kubectl delete` of the run's objects, which does not wait until they are gone.
std::vector<std::string> DeleteWords(const PodSettings& settings, const std::vector<std::string>& kinds,
                                     const std::string& run);

// Whether the end of an `exec` is kubectl's own failure; else it is how the program in the container ended.
bool IsKubectlFailure(const EndedProcess& end, std::string_view words);
// Why a call failed: its last message as a phrase, and a hint where the message is known. `words`: its stderr.
CommandFailure KubectlFailure(const EndedProcess& end, std::string_view words);

// What kubectl says about a pod: JSON of the cluster, to a state and a phrase. Text to values; the texts are not
// trusted.

enum class PodState : std::uint8_t {
  kWaiting,  // it may still start
  kStuck,    // it will not start without help: its image cannot be had
  kRunning,  // its container runs
  kEnded,    // nothing of it runs any more, or it was deleted
};

struct PodStatus {
  std::string name;
  std::optional<std::uint32_t> index;  // which pod of its run: the end of its host name
  PodState state = PodState::kWaiting;
  std::string why;  // a phrase: "ImagePullBackOff: Back-off pulling image …"; may be empty
};

// The status in one event of a watch, {"type": …, "object": {pod}}, whose agent runs in the container of that name.
// Nothing if it is not about a pod.
std::optional<PodStatus> ReadPodEvent(std::string_view json, const std::string& container);

// Splits a stream of JSON objects without separators, which may be printed on several lines.
class JsonStream {
 public:
  static constexpr std::size_t kMaxBytes = 4U << 20;  // of one object

  // The objects that are complete now. After an object that is too large, or other bytes than objects, broken() is true
  // and nothing more is returned.
  std::vector<std::string> Feed(std::string_view bytes);
  bool broken() const { return broken_; }

 private:
  std::string object_;
  std::uint32_t depth_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
  bool broken_ = false;
};

// The transport to pods: agents run in the pods of a Kubernetes cluster, and kubectl carries the connections to them.

class PodSet;

class PodTransport final : public Transport {
 public:
  explicit PodTransport(PodSettings settings, std::uint64_t lease_ms = kDefaultLeaseMs,
                        const Without& without = WithoutByEnvironment());
  ~PodTransport() override;

  // Host i gets pod i, whatever its name. All channels that a transport has at a time must have the same `io`, which
  // must outlive them, and be opened in one turn of the loop. When the last one is destroyed, the pods are deleted.
  std::string_view name() const override { return "kubernetes"; }
  std::uint64_t lease_ms() const override { return lease_ms_; }

 private:
  Result<std::unique_ptr<UncheckedChannel>> Open(boost::asio::io_context& io, const TransportHost& host) override;

  const PodSettings settings_;
  const std::uint64_t lease_ms_;
  const std::shared_ptr<Launcher> launcher_;
  std::weak_ptr<PodSet> pods_;  // owned by the channels: its timers must end before their loop
};

}  // namespace muster
