// The environment of a plan's processes, with the placeholders filled.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "muster/binding.h"

namespace muster::testing {

using Env = std::map<std::string, std::string>;

// Both, and of variables in both the values of the latter.
inline Env With(Env common, const Env& more) {
  for (const auto& [name, value] : more) common[name] = value;
  return common;
}

// Addresses from 192.0.2.11 on; ports by name, otherwise from 40000 on in the order of their names.
inline Binding BindingOf(const Plan& plan) {
  Binding binding;
  binding.run_id = "0123456789ab";
  binding.run_dir = "/run";
  for (std::size_t i = 0; i < plan.hosts.size(); ++i) {
    binding.hosts.push_back({"host" + std::to_string(i), "192.0.2." + std::to_string(11 + i), {}});
    for (std::uint32_t device = 0; device < plan.hosts[i].devices; ++device)
      binding.hosts.back().devices.push_back(std::to_string(device));
  }
  std::uint16_t next = 40000;
  for (const auto& [name, port] : plan.ports) binding.ports[name] = port.number > 0 ? port.number : next++;
  return binding;
}

// Without muster's own variables and those it sets for every Python. `inherits`: the inherited environment.
inline Env EnvOf(const Plan& plan, const std::string& name, const Env& inherits = {}) {
  const auto inherited = [&](const std::string& variable) {
    const auto found = inherits.find(variable);
    return found == inherits.end() ? std::optional<std::string>() : std::optional(found->second);
  };
  Env env;
  for (const auto& [variable, text] : EffectiveEnv(plan, ProcessNamed(plan, name))) {
    if (variable.starts_with("MUSTER_") || variable.starts_with("PYTHON")) continue;
    const auto filled = FillPlaceholders(text, BindingOf(plan), 0, inherited);
    EXPECT_TRUE(filled) << variable;
    env[variable] = filled.value_or("");
  }
  return env;
}

}  // namespace muster::testing
