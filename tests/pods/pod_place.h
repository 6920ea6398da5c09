// The transport to pods for tests that run over every transport: one pod of the stand-in cluster.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "pods/pod_transport.h"
#include "pods/stand_in_cluster.h"
#include "support/sub_agent_transport.h"
#include "support/transports.h"

namespace muster::testing {

// Pods that hold muster-agent, as manifests of muster do.
inline Result<PodObjects> OnePlainPod(const std::string& agent, const std::string& run) {
  const nlohmann::json pod = {
      {"apiVersion", "v1"},
      {"kind", "Pod"},
      {"metadata", {{"name", "pod-0"}, {"labels", {{"muster.run", run}}}}},
      {"spec",
       {{"hostname", "pod-0"},
        {"containers", {{{"name", "agent"}, {"image", "registry/any:1"}, {"command", {agent, "--hold", "60"}}}}}}}};
  return PodObjects{pod.dump(), {"pod"}};
}

// The folder of the cluster is that of TransportSettings::dial, where agents of other hosts find their head.
inline std::unique_ptr<Transport> ToOnePod(const TransportSettings& settings) {
  PodSettings pods;
  pods.program = StandInCluster::Kubectl();
  pods.options = {"--context=" + settings.dial.folder};
  pods.agent = settings.agent_program;
  pods.objects = [agent = settings.agent_program](const std::string& run, std::uint32_t) {
    return OnePlainPod(agent, run);
  };
  return std::make_unique<PodTransport>(std::move(pods), settings.lease_ms);
}

// "kubernetes" and "kubernetes_below".
inline std::vector<TransportEntry> WithPods(std::vector<TransportEntry> all) {
  all.push_back({"kubernetes", "pods, by kubectl", ToOnePod});
  all.push_back({"kubernetes_below", "agents below standing ones in pods", [](const TransportSettings& settings) {
                   return std::unique_ptr<Transport>(new SubAgentTransport(ToOnePod(settings)));
                 }});
  return all;
}

}  // namespace muster::testing
