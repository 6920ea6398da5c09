#include "sweep/index/work_choice.h"

#include <tuple>

namespace muster {
namespace {

bool IsNewer(const WorkFound& a, const WorkFound& b) {
  return std::tie(a.stamp, a.made_ns) > std::tie(b.stamp, b.made_ns);
}

}  // namespace

std::optional<NamedWork> ChooseWork(const std::optional<WorkFound>& run, const std::optional<WorkFound>& sweep,
                                    bool named, Prefer prefer) {
  if (!run && !sweep) return std::nullopt;
  bool is_sweep = !run;
  if (run && sweep) {
    const bool by_life = run->live != sweep->live && (named || prefer == Prefer::kLive);
    is_sweep = by_life ? sweep->live : !named && IsNewer(*sweep, *run);
  }
  return NamedWork{is_sweep ? sweep->folder : run->folder, is_sweep};
}

}  // namespace muster
