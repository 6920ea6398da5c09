// Chooses between a run and a sweep if a word may name either. Values in, a value out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace muster {

struct NamedRunOrSweep {
  std::string folder;
  bool is_sweep = false;

  bool operator==(const NamedRunOrSweep&) const = default;
};

// The run and the sweep that match a word.
struct RunOrSweepMatch {
  std::string folder;
  bool live = false;
  std::string stamp;         // "20261120-120616", from the folder's name; empty for a folder with another name
  std::int64_t made_ns = 0;  // the order within one second
};

enum class Prefer : std::uint8_t {
  kLive,    // for commands that control or follow: finished ones only if nothing is running
  kNewest,  // for commands that report on the past
};

// If both match: the one that is running, for a name that means both or with Prefer::kLive; otherwise, without a name
// the newer one, with a name the run. Nothing if none matches.
std::optional<NamedRunOrSweep> ChooseRunOrSweep(const std::optional<RunOrSweepMatch>& run,
                                                const std::optional<RunOrSweepMatch>& sweep, bool named, Prefer prefer);

}  // namespace muster
