#include "cli/runs/sweep_top.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/system/clock.h"
#include "base/values/shell_quote.h"
#include "base/values/units.h"

namespace muster {

namespace {

// "0,1", or "node1:0 node2:0,1" where a trial runs on hosts of the sweep.
std::string DevicesText(const RunningTrial& trial) {
  std::string text;
  for (const auto& [host, devices] : trial.run.devices) {
    std::string list;
    for (const std::string& device : devices) list += (list.empty() ? "" : ",") + device;
    if (list.empty()) continue;
    text += (text.empty() ? "" : " ") + (trial.hosts.empty() ? list : host + ":" + list);
  }
  return Printable(text);
}

}  // namespace

TopState TopStateOf(const ListedSweep& sweep, TrialCurves& curves) {
  const SweepSnapshot& look = sweep.look;
  TopState state;
  state.is_sweep = true;
  state.name = Printable(look.file.name);
  state.run = Printable(look.file.sweep_id);
  state.run_dir = look.dir;
  state.phase = look.waits.empty() ? look.state : "waiting for devices";
  state.why = Printable(look.why);
  state.live = look.live;
  state.seconds = look.seconds;
  state.seconds_left = look.seconds_left;
  state.best = look.BestText();
  if (const std::string point = look.BestPointWords(); !point.empty()) state.best += "  " + point;
  if (look.file.objective) state.objective = Printable(look.file.objective->metric);
  std::vector<std::string> run_dirs;
  for (const RunningTrial& trial : look.running) {
    TopProcess& row = state.processes.emplace_back();
    row.role = "trial";
    row.index =
        static_cast<std::uint32_t>(std::min<TrialNumber>(trial.trial, std::numeric_limits<std::uint32_t>::max()));
    row.name = Printable(sweep.NameOf(trial));
    for (const std::string& host : trial.hosts) row.host += (row.host.empty() ? "" : ",") + Printable(host);
    row.state = trial.run.waits.empty() ? trial.run.phase : "waiting";
    row.attempt = trial.attempt;
    const auto began = ParseUtc(trial.run.started_at);
    const std::uint64_t now = WallNowNs();
    if (began && now > *began) row.seconds = InSeconds(now - *began);
    row.last_line = trial.About();
    row.log_folder = trial.run.run_dir + "/logs";
    const TrialCurve& curve = curves.Read(trial.run.run_dir);
    row.trial = TopTrial{curve.step, curve.value, curve.points, DevicesText(trial), trial.PointWords()};
    run_dirs.push_back(trial.run.run_dir);
  }
  curves.Keep(run_dirs);
  CountRoles(state);
  // Finished and future trials have no rows.
  if (state.roles.empty()) state.roles.emplace_back().name = "trial";
  state.roles.front().ended = look.over;
  state.roles.front().bad = look.failed;
  state.roles.front().waiting += look.waiting;
  return state;
}

}  // namespace muster
