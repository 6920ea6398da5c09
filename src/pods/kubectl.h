// Command lines of kubectl, and what its messages mean.
//
// For kubectl(1) of 1.20 and later; starts nothing. The user's kubeconfig and credentials apply. Manifests go through
// stdin, and what agents are sent through stdin of `exec`: nothing secret is on a command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pods/pod_settings.h"
#include "spawn/start/reap.h"
#include "transport/command_carrier.h"

namespace muster {

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

}  // namespace muster
