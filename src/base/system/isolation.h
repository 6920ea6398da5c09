// How an agent's processes are isolated besides their process groups (muster run --isolate).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

enum class Isolation : std::uint8_t {
  kNone,
  kPid  // a PID namespace: the kernel kills everything in it when its init, the agent, ends
};

// "none", "pid"
constexpr std::string_view IsolationName(Isolation isolation) { return isolation == Isolation::kPid ? "pid" : "none"; }

constexpr std::optional<Isolation> ParseIsolation(std::string_view name) {
  for (const Isolation isolation : {Isolation::kNone, Isolation::kPid}) {
    if (name == IsolationName(isolation)) return isolation;
  }
  return std::nullopt;
}

}  // namespace muster
