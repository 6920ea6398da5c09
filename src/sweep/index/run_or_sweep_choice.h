// Which of a run and a sweep is meant where a word may name either. Values in, a value out.
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

// The run and the sweep that a word may mean.
struct RunOrSweepMatch {
  std::string folder;
  bool live = false;
  std::string stamp;         // "20261120-120616", of its folder; empty for a folder with another name
  std::int64_t made_ns = 0;  // orders those of one second
};

enum class Prefer : std::uint8_t {
  kLive,    // for commands that steer or follow: what is over only where nothing runs
  kNewest,  // for commands that tell how something went
};

// Of both: one that runs comes before one that does not if a name means both, or with Prefer::kLive; else the newer one
// without a name, the run with one. Nothing if there is neither.
std::optional<NamedRunOrSweep> ChooseRunOrSweep(const std::optional<RunOrSweepMatch>& run,
                                                const std::optional<RunOrSweepMatch>& sweep, bool named, Prefer prefer);

}  // namespace muster
