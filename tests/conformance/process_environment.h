// One recipe that sets variables in every layer, and the comparison of what `muster plan --env` says about one of its
// processes with what that process really has, however it was started.
#pragma once

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/command.h"

namespace muster::testing {

// The body of a plan function; the process of interest is worker.1, which writes its environment as the kernel has it.
inline const char* const kLayersBody = R"(
    job:env { OF_JOB = 'job', TWICE = 'job', OVER_SITE = 'job', REMOVED_BY_JOB = muster.unset }
    job:workers { count = 2, cwd = '/', command = { 'cat', '/proc/self/environ' },
      env = { OF_ROLE = 'role', TWICE = 'role', REMOVED_BY_ROLE = muster.unset },
      each = function(process) process.env.OF_EACH = process.rank + 5 end })";
inline const char* const kLayersSite =
    "local muster = require 'muster'\nreturn muster.site { environment = {\n"
    "  set = { OF_SITE = 'site', OVER_SITE = 'site', REMOVED_BY_ROLE = 'site' }, unset = { 'REMOVED_BY_SITE' } } }\n";
// Options of muster plan, run and their like.
inline const std::vector<std::string> kLayersOptions = {"--env", "OF_COMMAND_LINE=a line", "--env", "TWICE=line"};
inline std::vector<std::string> WithLayers(std::vector<std::string> words) {
  words.insert(words.end(), kLayersOptions.begin(), kLayersOptions.end());
  return words;
}
// What the caller has besides PATH and HOME.
inline const std::vector<std::string> kLayersCaller = {
    "OF_CALLER=caller",  "OF_SITE=caller", "TWICE=caller",     "REMOVED_BY_SITE=1", "REMOVED_BY_JOB=1",
    "REMOVED_BY_ROLE=1", "RANK=77",        "TORCHELASTIC_X=1", "MUSTER_RANK=77",    "OMP_NUM_THREADS=3"};

inline std::map<std::string, std::string> EnvironmentIn(const std::string& log) {
  std::map<std::string, std::string> variables;
  std::istringstream entries(log);
  for (std::string entry; std::getline(entries, entry, '\0');) {
    const std::size_t equals = entry.find('=');
    if (equals != std::string::npos) variables.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return variables;
}

// `planned`: the output of muster plan --env worker:1 --json; `log`: that of the process.
inline void ExpectAsPlanned(const std::string& planned, const std::string& log) {
  const auto plan = nlohmann::json::parse(planned, nullptr, false);
  ASSERT_TRUE(plan.is_object() && plan.contains("variables")) << planned;
  const std::map<std::string, std::string> has = EnvironmentIn(log);
  std::map<std::string, int> layers;
  for (const auto& variable : plan["variables"]) {
    const std::string name = variable["name"];
    const std::string value = variable["value"];
    ++layers[variable["layer"].get<std::string>()];
    const auto found = has.find(name);
    if (found == has.end()) {
      ADD_FAILURE() << name << " of layer " << variable["layer"] << " is missing";
    } else if (value.find("${muster:") == std::string::npos) {
      EXPECT_EQ(found->second, value) << name << " of layer " << variable["layer"];
    } else {
      EXPECT_EQ(found->second.find("${muster:"), std::string::npos) << name << "=" << found->second;
    }
  }
  for (const char* layer : {"site", "job:env", "role", "each", "command line", "contract", "muster"}) {
    EXPECT_GT(layers[layer], 0) << layer;
  }
  for (const auto& removed : plan["removed"]) {
    std::string pattern = removed["name"];
    const bool prefix = pattern.ends_with('*');
    if (prefix) pattern.pop_back();
    for (const auto& [name, value] : has) {
      const bool set = std::any_of(plan["variables"].begin(), plan["variables"].end(),
                                   [&name = name](const auto& variable) { return variable["name"] == name; });
      EXPECT_FALSE(!set && (prefix ? name.starts_with(pattern) : name == pattern)) << name << "=" << value;
    }
  }
}

// Whether the process has what its caller has, unless a layer removes it.
inline void ExpectInherited(const std::string& log, bool inherits) {
  EXPECT_EQ(EnvironmentIn(log).count("OF_CALLER"), inherits ? 1U : 0U);
}

}  // namespace muster::testing
