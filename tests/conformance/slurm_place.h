// A node of a real Slurm on which conformance tests start agents, by the words of Slurm's page.
//
// All tests of a program share one testbed and one allocation.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/allocation.h"
#include "engine/engine_calls.h"
#include "engine/engine_page.h"
#include "lua/state/own_data.h"
#include "slurm/slurm_testbed.h"
#include "transport/dial_server.h"

namespace muster::testing {

class SlurmPlace {
 public:
  // The only one of this program; throws if it cannot be made.
  static SlurmPlace& Get() {
    static SlurmPlace place;
    return place;
  }

  const SlurmTestbed& testbed() const { return testbed_; }

  // Starts agents as `muster run` does inside the allocation, on the login machine.
  AgentStart Start(const AgentsToStart& agents) const {
    const auto call = StartCall(page_, allocation_, agents.nodes, {agents.agent, agents.dial_file});
    if (!call) throw std::runtime_error(call.error().front().message);
    AgentStart start{testbed_.Login(call->words), page_.clear};
    for (const auto& [name, value] : variables_) start.environment.push_back(name + "=" + value);
    return start;
  }
  const std::string& node_variable() const { return page_.node_name; }

 private:
  SlurmPlace() : testbed_(1) {
    if (!testbed_.Up()) throw std::runtime_error("the testbed of Slurm cannot be started");
    page_ = OrThrow(ReadEnginePage(OrThrow(OwnEngine("slurm")), "slurm", {}));
    // It lasts as long as the testbed.
    testbed_.Ask({"salloc", "--no-shell", "--nodes=1", "--exclusive", "--job-name=conformance"});
    const std::string job = testbed_.Ask({"squeue", "--noheader", "--name=conformance", "--format=%i"});
    variables_ = {{"SLURM_JOB_ID", job},
                  {"SLURM_JOB_NODELIST", testbed_.Ask({"squeue", "--noheader", "--jobs=" + job, "--format=%N"})}};
    allocation_ = OrThrow(
        ReadAllocation(page_, {.variable = [this](const std::string& name) -> std::optional<std::string> {
                                 const auto found = variables_.find(name);
                                 if (found == variables_.end()) return std::nullopt;
                                 return found->second;
                               },
                               .file = {},
                               .output = [this](const std::vector<std::string>& command) -> Result<std::string> {
                                 return testbed_.Ask(command);
                               }}));
  }

  template <class Value>
  static Value OrThrow(Result<Value> result) {
    if (!result) throw std::runtime_error(result.error().front().message);
    return std::move(*result);
  }

  SlurmTestbed testbed_;
  EnginePage page_;
  std::map<std::string, std::string> variables_;  // of a process inside the allocation
  Allocation allocation_;
};

}  // namespace muster::testing
