#include "sweep/index/sweep_rows.h"

#include <algorithm>
#include <limits>
#include <string>
#include <variant>

#include "base/values/overloaded.h"
#include "run/lines/json_lines.h"

namespace muster {
namespace {

constexpr auto kMost = static_cast<TrialNumber>(std::numeric_limits<std::int64_t>::max());

constexpr char kTables[] = R"(
CREATE TABLE IF NOT EXISTS attempts (
  trial INTEGER NOT NULL, attempt INTEGER NOT NULL, last INTEGER NOT NULL, over INTEGER NOT NULL,
  id TEXT NOT NULL, point TEXT NOT NULL, plan TEXT NOT NULL, run TEXT NOT NULL, hosts TEXT NOT NULL,
  began TEXT NOT NULL, ended TEXT, class TEXT, interrupted INTEGER, again INTEGER, blamed TEXT, why TEXT,
  loss REAL, metrics TEXT, ms INTEGER, resumed INTEGER, checkpoint TEXT, job TEXT,
  PRIMARY KEY (trial, attempt)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reasons (
  text TEXT NOT NULL, place TEXT NOT NULL, count INTEGER NOT NULL, trials TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rungs (
  trial INTEGER NOT NULL, attempt INTEGER NOT NULL, resource REAL, loss REAL, rung INTEGER NOT NULL,
  results INTEGER NOT NULL, rank INTEGER NOT NULL, threshold INTEGER NOT NULL, stop INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS medians (
  trial INTEGER NOT NULL, attempt INTEGER NOT NULL, resource REAL, best REAL, finished INTEGER NOT NULL,
  median REAL);
CREATE TABLE IF NOT EXISTS heads (wall TEXT NOT NULL, pid INTEGER NOT NULL, muster TEXT NOT NULL, recipe TEXT NOT NULL,
  accepted INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS departures (
  wall TEXT NOT NULL, complete INTEGER NOT NULL, why TEXT NOT NULL, exit_code INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS quarantined (wall TEXT NOT NULL, host TEXT NOT NULL, why TEXT NOT NULL);
)";

template <class T>
std::string Json(const T& value) {
  std::string text;
  LineWriter(text).Put(value);
  return text;
}

}  // namespace

bool SweepRows::MakeTables(Database& database) { return database.Run(kTables); }

SweepRows::SweepRows(Database& database, bool above)
    : copy_(database.Prepare(above ? "INSERT OR IGNORE INTO main.attempts SELECT * FROM held.attempts "
                                     "WHERE trial BETWEEN ?1 AND ?2 AND last"
                                   : "SELECT 1")),
      follow_(database.Prepare("UPDATE main.attempts SET last = 0, over = 0 WHERE trial = ?1 AND last")),
      begin_(database.Prepare(
          "INSERT OR REPLACE INTO main.attempts (trial, attempt, last, over, id, point, plan, run, "
          "hosts, began, resumed, checkpoint, job) VALUES (?1, ?2, 1, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")),
      end_(database.Prepare("UPDATE main.attempts SET ended = ?3, class = ?4, interrupted = ?5, again = ?6, "
                            "blamed = ?7, why = ?8, loss = ?9, metrics = ?10, ms = ?11, over = ?12 "
                            "WHERE trial = ?1 AND attempt = ?2")),
      reopen_(database.Prepare("UPDATE main.attempts SET over = 0 WHERE trial BETWEEN ?1 AND ?2 AND last")),
      reason_(database.Prepare("INSERT INTO main.reasons VALUES (?1, ?2, ?3, ?4)")),
      rung_(database.Prepare("INSERT INTO main.rungs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")),
      median_(database.Prepare("INSERT INTO main.medians VALUES (?1, ?2, ?3, ?4, ?5, ?6)")),
      head_(database.Prepare("INSERT INTO main.heads VALUES (?1, ?2, ?3, ?4, ?5)")),
      departure_(database.Prepare("INSERT INTO main.departures VALUES (?1, ?2, ?3, ?4)")),
      quarantine_(database.Prepare("INSERT INTO main.quarantined VALUES (?1, ?2, ?3)")),
      above_(above) {}

bool SweepRows::Copy(TrialNumber first, TrialNumber last) {
  return !above_ || copy_.Bind(1, std::min(first, kMost)).Bind(2, std::min(last, kMost)).Run();
}

bool SweepRows::Began(const AttemptBegan& entry, std::string_view wall) {
  if (entry.attempt > 0 && !(Copy(entry.trial, entry.trial) && follow_.Bind(1, entry.trial).Run())) return false;
  return begin_.Bind(1, entry.trial)
      .Bind(2, entry.attempt)
      .Bind(3, entry.id)
      .Bind(4, Json(entry.point))
      .Bind(5, entry.plan)
      .Bind(6, entry.run_id)
      .Bind(7, Json(entry.hosts))
      .Bind(8, wall)
      .Bind(9, entry.resumed.attempt)
      .Bind(10, entry.resumed.checkpoint)
      .Bind(11, entry.job)
      .Run();
}

bool SweepRows::Ended(const AttemptEnded& entry, std::string_view wall) {
  if (!Copy(entry.trial, entry.trial)) return false;
  end_.Bind(1, entry.trial)
      .Bind(2, entry.attempt)
      .Bind(3, wall)
      .Bind(4, TrialClassName(entry.trial_class))
      .Bind(5, entry.interrupted)
      .Bind(6, entry.again)
      .Bind(7, entry.blamed)
      .Bind(8, entry.why)
      .Bind(10, Json(entry.metrics))
      .Bind(11, entry.ms)
      .Bind(12, !entry.again && !entry.interrupted);
  if (entry.loss) {
    end_.Bind(9, *entry.loss);
  } else {
    end_.BindNull(9);
  }
  return end_.Run();
}

bool SweepRows::Take(const SweepRecord& record) {
  const std::string_view wall = record.wall;
  return std::visit(
      Overloaded{
          [&](const SweepBegan& e) {
            return head_.Bind(1, wall).Bind(2, e.pid).Bind(3, e.muster).Bind(4, e.recipe).Bind(5, e.accepted).Run();
          },
          [&](const PointsJudged& e) {
            return std::all_of(e.impossible.begin(), e.impossible.end(), [&](const PointsJudged::Reason& reason) {
              std::uint64_t count = 0;
              for (const auto& [first, last] : reason.trials) count += last - first + 1;
              return reason_.Bind(1, reason.text)
                  .Bind(2, reason.place)
                  .Bind(3, count)
                  .Bind(4, Json(reason.trials))
                  .Run();
            });
          },
          [&](const AttemptBegan& e) { return Began(e, wall); }, [&](const AttemptEnded& e) { return Ended(e, wall); },
          [&](const RungReached& e) {
            const StopDecision& d = e.decision;
            rung_.Bind(1, e.trial).Bind(2, e.attempt).Bind(3, e.resource).Bind(4, e.loss).Bind(5, d.rung);
            return rung_.Bind(6, d.results).Bind(7, d.rank).Bind(8, d.threshold).Bind(9, d.stop).Run();
          },
          [&](const MedianStopped& e) {
            median_.Bind(1, e.trial).Bind(2, e.attempt).Bind(3, e.resource).Bind(4, e.best);
            return median_.Bind(5, e.finished).Bind(6, e.median).Run();
          },
          [&](const HostQuarantined& e) { return quarantine_.Bind(1, wall).Bind(2, e.host).Bind(3, e.why).Run(); },
          [&](const TrialsReopened& e) {
            return std::all_of(e.trials.begin(), e.trials.end(), [&](const TrialRange& range) {
              const auto& [first, last] = range;
              return Copy(first, last) && reopen_.Bind(1, std::min(first, kMost)).Bind(2, std::min(last, kMost)).Run();
            });
          },
          [](const SweepSteered&) { return true; },  // part of the progress
          [&](const SweepEnded& e) {
            return departure_.Bind(1, wall).Bind(2, e.complete).Bind(3, e.why).Bind(4, e.exit_code).Run();
          }},
      record.entry);
}

}  // namespace muster
