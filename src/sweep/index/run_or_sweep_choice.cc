#include "sweep/index/run_or_sweep_choice.h"

#include <tuple>

namespace muster {
namespace {

bool IsNewer(const RunOrSweepMatch& a, const RunOrSweepMatch& b) {
  return std::tie(a.stamp, a.made_ns) > std::tie(b.stamp, b.made_ns);
}

}  // namespace

std::optional<NamedRunOrSweep> ChooseRunOrSweep(const std::optional<RunOrSweepMatch>& run,
                                                const std::optional<RunOrSweepMatch>& sweep, bool named,
                                                Prefer prefer) {
  if (!run && !sweep) return std::nullopt;
  bool is_sweep = !run;
  if (run && sweep) {
    const bool by_life = run->live != sweep->live && (named || prefer == Prefer::kLive);
    is_sweep = by_life ? sweep->live : !named && IsNewer(*sweep, *run);
  }
  return NamedRunOrSweep{is_sweep ? sweep->folder : run->folder, is_sweep};
}

}  // namespace muster
