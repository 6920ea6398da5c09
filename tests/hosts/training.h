// What a training over the hosts of a testbed came to, by its report and its logs.
#pragma once

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "hosts/hosts_run.h"

namespace muster::testing {

// Returns the hosts that ran processes of the role.
inline std::set<std::string> HostsOf(HostsRun& run, const std::string& role) {
  std::set<std::string> hosts;
  const json report = run.Report();
  for (const json& process : report["processes"]) {
    if (process["role"] == role) hosts.insert(process["host"].get<std::string>());
  }
  return hosts;
}

// Returns the number after these words; -1 if they do not occur.
inline double NumberAfter(const std::string& text, const std::string& words) {
  const std::size_t at = text.rfind(words);
  return at == std::string::npos ? -1 : std::stod(text.substr(at + words.size()));
}

inline bool HasTorch() {
  static const bool has = RunCommand({.argv = {"/usr/bin/python3", "-c", "import torch.distributed"}}).exit_code == 0;
  return has;
}

// The ranks average their gradients, so all end with the same loss.
inline void ExpectOneLoss(const HostsRun& run) {
  std::set<std::string> losses;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string log = run.Log("worker." + std::to_string(rank));
    const std::string begin = "rank " + std::to_string(rank) + " of 4: ";
    const std::size_t at = log.find(begin);
    ASSERT_NE(at, std::string::npos) << log;
    losses.insert(log.substr(at + begin.size()));
  }
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_LT(NumberAfter(*losses.begin(), "loss "), 0.6) << "guessing costs 2.3";
  EXPECT_GT(NumberAfter(*losses.begin(), "accuracy "), 0.9) << *losses.begin();
}

}  // namespace muster::testing
