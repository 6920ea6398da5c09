#include "sweep/index/sweep_view.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <tuple>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "sweep/index/database.h"
#include "sweep/record/failure_table.h"
#include "sweep/record/sweep_directory.h"

namespace muster {

struct SweepView::Rows {
  Database database;
  std::optional<SweepRows> above;
};

namespace {

AttemptOutcome OutcomeOf(const AttemptRow& attempt) {
  return {!attempt.ended.empty(), attempt.interrupted, attempt.trial_class, attempt.loss};
}

constexpr std::uint64_t kMaxValue = 64U << 20;  // of values in a line of the journal
constexpr char kColumns[] =
    "trial, attempt, over, id, point, plan, run, hosts, began, ended, class, interrupted, again, blamed, why, "
    "loss, metrics, ms, resumed, checkpoint, job, warning";
constexpr const char* kOwnTables[] = {"reasons", "rungs",      "promotions", "medians",
                                      "heads",   "departures", "quarantined"};

Value FromJson(std::string_view text) {
  auto value = ValueFromJsonText(text);
  return value ? *std::move(value) : Value();
}

std::map<std::string, Value> MapFrom(std::string_view json) {
  Value value = FromJson(json);
  return value.AsMap() == nullptr ? Value::Map() : *value.AsMap();
}

AttemptRow RowOf(const Statement& row) {
  AttemptRow attempt;
  attempt.trial = static_cast<TrialNumber>(row.Integer(0));
  attempt.attempt = static_cast<std::uint32_t>(row.Integer(1));
  attempt.trial_standing.over = row.Integer(2) != 0;
  attempt.id = row.Text(3);
  attempt.point = MapFrom(row.Text(4));
  attempt.plan = row.Text(5);
  attempt.run_id = row.Text(6);
  const Value hosts = FromJson(row.Text(7));
  if (const Value::List* list = hosts.AsList()) {
    for (const Value& host : *list) attempt.hosts.push_back(host.AsString() == nullptr ? "" : *host.AsString());
  }
  attempt.resumed = {static_cast<std::uint32_t>(row.Integer(18)), std::string(row.Text(19))};
  attempt.job = row.Text(20);
  attempt.warning = row.Text(21);
  attempt.began = row.Text(8);
  if (row.IsNull(9)) return attempt;
  attempt.ended = row.Text(9);
  attempt.trial_class = ParseTrialClass(row.Text(10)).value_or(TrialClass::kCrash);
  attempt.interrupted = row.Integer(11) != 0;
  attempt.again = row.Integer(12) != 0;
  attempt.blamed = row.Text(13);
  attempt.why = row.Text(14);
  if (!row.IsNull(15)) attempt.loss = row.Number(15);
  attempt.loss = ResultOf(OutcomeOf(attempt));
  attempt.metrics = MapFrom(row.Text(16));
  attempt.ms = static_cast<std::uint64_t>(row.Integer(17));
  return attempt;
}

// Completes what the attempts of a trial, in their order, say of each other; the place of the one that is kept.
std::size_t Together(std::vector<AttemptRow>& attempts, const SweepProgress& progress) {
  std::size_t kept = 0;
  for (std::size_t i = 1; i < attempts.size(); ++i) {
    if (IsKeptInstead(OutcomeOf(attempts[i]), OutcomeOf(attempts[kept]))) kept = i;
  }
  const AttemptRow latest = attempts.back();
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    AttemptRow& attempt = attempts[i];
    attempt.trial_standing = {latest.trial_standing.over, !latest.ended.empty(), latest.interrupted,
                              attempts[kept].trial_class, progress.IsPaused(latest.trial)};
    attempt.latest = latest.attempt;
    if (attempt.resumed.checkpoint.empty()) continue;
    const auto before = std::find_if(attempts.begin(), attempts.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](const AttemptRow& one) { return one.attempt == attempt.resumed.attempt; });
    if (before == attempts.begin() + static_cast<std::ptrdiff_t>(i)) continue;
    attempt.continued = before->continued;
    attempt.continued.push_back(before->attempt);
  }
  return kept;
}

// The text without numbers and quoted parts, in which the reasons of different points differ.
std::string Shape(const std::string& text) {
  std::string shape;
  for (const char c : text) {
    const bool digit = IsDigit(c);
    if (!digit) shape += c;
    if (digit && (shape.empty() || shape.back() != '#')) shape += '#';
  }
  return shape;
}

// Presents both databases as one: changed rows hide those in "held".
bool Join(Database& database, bool held) {
  std::string views = "CREATE TEMP VIEW trials_and_attempts AS SELECT * FROM main.attempts";
  if (held) {
    views +=
        " UNION ALL SELECT * FROM held.attempts h WHERE NOT EXISTS (SELECT 1 FROM main.attempts m WHERE m.trial = "
        "h.trial AND m.attempt = h.attempt)";
  }
  views += ";";
  for (const char* table : kOwnTables) {
    views += fmt::format("CREATE TEMP VIEW all_{0} AS {1} SELECT * FROM main.{0};", table,
                         held ? fmt::format("SELECT * FROM held.{} UNION ALL", table) : "");
  }
  return database.Run(views.c_str());
}

// Attaches the sweep's index for reading as "held", in its current state, and reads its progress. Nothing if no index
// matches; an error if it is damaged.
Result<std::optional<Indexed>> HoldIndex(Database& database, const std::string& sweep_dir, int folder,
                                         SweepProgress& progress) {
  const Result<std::uint64_t> bytes = IndexBytes(folder);
  if (!bytes) return Fail(bytes.error());
  if (*bytes == 0 || ::faccessat(folder, kIndexEntry.name, R_OK, 0) != 0) return std::nullopt;
  database.LimitValues(std::max(*bytes, kMaxValue));
  if (auto attached = database.Attach(kIndexEntry.In(sweep_dir), "held"); !attached) {
    if (database.WasInterrupted()) return std::nullopt;
    return Fail(attached.error());
  }
  // While the view exists, the index stays as it is; the head continues without it.
  if (!database.Run("BEGIN")) return Fail(MachineError("database", database.Problem()));
  auto indexed = WhatIsIndexed(database, "held", sweep_dir);
  if (!indexed && database.WasInterrupted()) return std::nullopt;
  if (!indexed || !*indexed) return indexed;
  if (auto checked = CheckRows(database, "held"); !checked) return Fail(checked.error());
  auto kept = StoredSweepProgress(database, "held");
  if (!kept) return Fail(kept.error());
  progress = *std::move(kept);
  return indexed;
}

Result<Database> OpenRows() {
  auto database = Database::Open({}, Database::Mode::kTemporary);
  if (!database) return database;
  database->WaitFor(kDatabaseWaitMs);
  if (database->Run("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;"))
    return database;
  return Fail(MachineError("database", database->Problem()));
}

Result<void> Reported(Result<void> read) {
  if (read) return read;
  return Fail(MachineError("sweep", "the rows of the sweep cannot be read: " + read.error().front().message));
}

// Collects the rows of a statement in a list.
template <class T, class F>
Result<std::vector<T>> ListOf(Statement statement, const F& of_row) {
  std::vector<T> list;
  auto read = Reported(statement.ForEach([&](const Statement& row) {
    list.push_back(of_row(row));
    return true;
  }));
  if (!read) return Fail(std::move(read.error()));
  return list;
}

// The text in the first column of the first row; empty if there is none.
Result<std::string> TextOf(Statement statement) {
  std::string text;
  auto read = Reported(statement.ForEach([&](const Statement& row) {
    text = row.Text(0);
    return false;
  }));
  if (!read) return Fail(std::move(read.error()));
  return text;
}

constexpr std::size_t kMinPrefix = 4;

auto None(std::string message, std::string hint = {}) {
  return Fail(Error("trial", {}, std::move(message), std::move(hint)));
}

Result<TrialNumber> Named(const SweepView& view, std::string_view name) {
  const SweepProgress& progress = view.progress();
  if (name == "best") {
    if (progress.best()) return progress.best()->trial;
    return None(
        "no trial has succeeded with a value of the objective",
        "muster show SWEEP names the objective and the trials that failed; a sweep without one has no best trial");
  }
  const auto number = ParseNumber<TrialNumber>(name);
  if (number && *number < progress.trials()) return *number;
  const auto found = name.size() < kMinPrefix ? std::vector<TrialNumber>() : view.TrialsOfId(name, 2);
  if (!found) return Fail(found.error());
  if (found->size() == 1) return found->front();
  if (found->size() > 1) {
    return None(fmt::format("{} begins the ids of trials {} and {}", Quoted(name), (*found)[0], (*found)[1]));
  }
  if (number)
    return None(fmt::format("the sweep has {} trials, counted from 0: there is no {}", progress.trials(), name));
  return None(fmt::format("the sweep has no trial {}", Quoted(name)),
              "a trial is named by its number, by at least 4 characters of its id once it has begun, or as best");
}

bool IsNewer(const RunOrSweepMatch& a, const RunOrSweepMatch& b) {
  return std::tie(a.stamp, a.made_ns) > std::tie(b.stamp, b.made_ns);
}

}  // namespace

SweepView::SweepView(LoadedSweep loaded, std::unique_ptr<Rows> rows)
    : loaded_(std::move(loaded)), rows_(std::move(rows)) {}
SweepView::SweepView(SweepView&&) noexcept = default;
SweepView& SweepView::operator=(SweepView&&) noexcept = default;
SweepView::~SweepView() = default;

Result<SweepView> SweepView::Open(const std::string& sweep_dir) {
  auto opened = OpenRows();
  if (!opened) return Fail(opened.error());
  const UniqueFd folder(::open(sweep_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  LoadedSweep loaded;
  auto held_index = HoldIndex(*opened, sweep_dir, folder.get(), loaded.progress);
  if (!held_index) loaded.damage = held_index.error().front().message;
  const std::optional<Indexed> indexed = held_index ? *held_index : std::nullopt;
  if (!indexed) {
    // The damaged index is not used any more.
    opened = OpenRows();
    if (!opened) return Fail(opened.error());
    if (!opened->Run("BEGIN")) return Fail(MachineError("database", opened->Problem()));
    loaded.progress = {};
  }
  auto rows = std::make_unique<Rows>(Rows{*std::move(opened), std::nullopt});
  Database& database = rows->database;
  if (!SweepRows::MakeTables(database) || !Join(database, indexed.has_value())) {
    return Fail(
        MachineError("sweep", fmt::format("the rows of {} cannot be read: {}", Quoted(sweep_dir), database.Problem())));
  }
  rows->above.emplace(database, indexed.has_value());
  bool written = true;
  const std::uint64_t held = indexed ? indexed->rows.seq : 0;
  SweepProgress& progress = loaded.progress;
  loaded.position = ReadSweepJournal(
      folder.get(), indexed ? indexed->progress : JournalPosition(),
      [&](const SweepRecord& record) {
        progress.Take(record.entry);
        if (record.seq > held) written = written && rows->above->Take(record);
      },
      loaded.stopped);
  if (!written) {
    return Fail(MachineError("sweep",
                             fmt::format("the rows of {} cannot be made: {}", Quoted(sweep_dir), database.Problem()),
                             "there has to be room where $TMPDIR or /var/tmp is"));
  }
  if (loaded.position.seq == 0) {
    return Fail(Error("sweep", {},
                      fmt::format("{} has no journal with a beginning: {}", Quoted(sweep_dir),
                                  loaded.stopped.empty() ? "it is empty" : loaded.stopped)));
  }
  return SweepView(std::move(loaded), std::move(rows));
}

std::string AttemptRow::AttemptState(bool live) const {
  if (ended.empty()) return live ? "running" : "lost";
  return interrupted ? "interrupted" : std::string(TrialClassName(trial_class));
}

std::vector<std::string> AttemptRow::RunDirs(const std::string& sweep_dir) const {
  std::vector<std::string> dirs;
  for (const std::uint32_t earlier : continued) dirs.push_back(sweep_dir + "/" + TrialFolder(id, earlier));
  dirs.push_back(sweep_dir + "/" + TrialFolder(id, attempt));
  return dirs;
}

Result<void> SweepView::ForEachGroup(const std::function<bool(std::vector<AttemptRow>, std::size_t kept)>& take) const {
  std::vector<AttemptRow> attempts;
  bool more = true;
  const auto pass = [&] {
    if (attempts.empty()) return true;
    const std::size_t kept = Together(attempts, progress());
    return take(std::exchange(attempts, {}), kept);
  };
  auto read =
      Reported(rows_->database
                   .Prepare(fmt::format("SELECT {} FROM trials_and_attempts ORDER BY trial, attempt", kColumns).c_str())
                   .ForEach([&](const Statement& row) {
                     AttemptRow attempt = RowOf(row);
                     if (!attempts.empty() && attempts.back().trial != attempt.trial) more = pass();
                     attempts.push_back(std::move(attempt));
                     return more;
                   }));
  if (read && more) pass();
  return read;
}

Result<void> SweepView::ForEachTrial(Order order, const std::function<bool(AttemptRow)>& take) const {
  if (order == Order::kNumber) {
    return ForEachGroup(
        [&](std::vector<AttemptRow> attempts, std::size_t kept) { return take(std::move(attempts[kept])); });
  }
  std::set<TrialNumber> taken;
  Result<void> kept_read;
  auto read = Reported(rows_->database
                           .Prepare("SELECT trial FROM trials_and_attempts WHERE class = 'ok' AND NOT interrupted AND "
                                    "loss IS NOT NULL ORDER BY loss, trial")
                           .ForEach([&](const Statement& row) {
                             const auto trial = static_cast<TrialNumber>(row.Integer(0));
                             if (!taken.insert(trial).second) return true;
                             auto kept = KeptOf(trial);
                             if (!kept) kept_read = Fail(std::move(kept.error()));
                             return kept && *kept && take(**std::move(kept));
                           }));
  return kept_read ? read : kept_read;
}

Result<void> SweepView::ForEachAttempt(const std::function<bool(AttemptRow)>& take) const {
  return ForEachGroup([&](std::vector<AttemptRow> attempts, std::size_t) {
    return std::all_of(attempts.begin(), attempts.end(), [&](AttemptRow& attempt) { return take(std::move(attempt)); });
  });
}

Result<std::vector<AttemptRow>> SweepView::AttemptsOf(TrialNumber trial) const {
  Statement rows = rows_->database.Prepare(
      fmt::format("SELECT {} FROM trials_and_attempts WHERE trial = ?1 ORDER BY attempt", kColumns).c_str());
  rows.Bind(1, trial);
  auto attempts = ListOf<AttemptRow>(std::move(rows), RowOf);
  if (attempts && !attempts->empty()) Together(*attempts, progress());
  return attempts;
}

Result<std::optional<AttemptRow>> SweepView::KeptOf(TrialNumber trial) const {
  auto attempts = AttemptsOf(trial);
  if (!attempts) return Fail(std::move(attempts.error()));
  if (attempts->empty()) return std::nullopt;
  const std::size_t kept = Together(*attempts, progress());
  return std::move((*attempts)[kept]);
}

Result<std::vector<TrialNumber>> SweepView::TrialsOfId(std::string_view prefix, std::size_t most) const {
  Statement rows = rows_->database.Prepare(
      "SELECT trial FROM trials_and_attempts WHERE last AND substr(id, 1, ?1) = ?2 ORDER BY trial LIMIT ?3");
  rows.Bind(1, prefix.size()).Bind(2, prefix).Bind(3, most);
  return ListOf<TrialNumber>(std::move(rows),
                             [](const Statement& row) { return static_cast<TrialNumber>(row.Integer(0)); });
}

Result<std::vector<SweepView::Reason>> SweepView::Reasons() const {
  const auto all =
      ListOf<Reason>(rows_->database.Prepare("SELECT text, place, count FROM all_reasons"), [](const Statement& row) {
        return Reason{std::string(row.Text(0)), std::string(row.Text(1)), static_cast<std::uint64_t>(row.Integer(2))};
      });
  if (!all) return all;
  std::vector<Reason> reasons;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const Reason& reason : *all) {
    const auto [at, fresh] = known.try_emplace({reason.place, Shape(reason.text)}, reasons.size());
    if (fresh) {
      reasons.push_back(reason);
    } else {
      reasons[at->second].count += reason.count;
    }
  }
  for (const auto& [text, skipped] : progress().skipped()) {
    if (skipped.trials.size() > 0) reasons.push_back({SkipReason(skipped.why), "", skipped.trials.size()});
  }
  std::stable_sort(reasons.begin(), reasons.end(), [](const Reason& a, const Reason& b) { return a.count > b.count; });
  return reasons;
}

Result<std::optional<SweepView::Reason>> SweepView::ReasonOf(TrialNumber trial) const {
  for (const auto& [text, skipped] : progress().skipped()) {
    if (skipped.trials.Has(trial)) return Reason{SkipReason(skipped.why), "", 1};
  }
  const auto number = static_cast<std::int64_t>(trial);
  std::optional<Reason> reason;
  auto read = Reported(
      rows_->database.Prepare("SELECT text, place, trials FROM all_reasons").ForEach([&](const Statement& row) {
        const Value ranges = FromJson(row.Text(2));
        for (const Value& range : ranges.AsList() == nullptr ? Value::List() : *ranges.AsList()) {
          const Value::List* ends = range.AsList();
          if (ends == nullptr || ends->size() != 2 || (*ends)[0].AsInt() == nullptr || (*ends)[1].AsInt() == nullptr)
            continue;
          if (*(*ends)[0].AsInt() <= number && number <= *(*ends)[1].AsInt()) {
            reason = Reason{std::string(row.Text(0)), std::string(row.Text(1)), 1};
            return false;
          }
        }
        return true;
      }));
  if (!read) return Fail(std::move(read.error()));
  return reason;
}

Result<std::vector<SweepView::Rung>> SweepView::Rungs() const {
  return ListOf<Rung>(
      rows_->database.Prepare(
          "SELECT rung, min(resource), count(DISTINCT trial), count(DISTINCT CASE WHEN stop AND trial || ' ' || rung "
          "NOT IN (SELECT trial || ' ' || rung FROM all_promotions) THEN trial END), min(loss) FROM all_rungs GROUP BY "
          "rung ORDER BY rung"),
      [](const Statement& row) {
        Rung rung;
        rung.rung = static_cast<std::size_t>(row.Integer(0));
        rung.resource = row.Number(1);
        rung.trials = static_cast<std::uint64_t>(row.Integer(2));
        rung.stopped = static_cast<std::uint64_t>(row.Integer(3));
        if (!row.IsNull(4)) rung.best = row.Number(4);
        return rung;
      });
}

Result<std::vector<std::string>> SweepView::DecisionsOn(TrialNumber trial) const {
  Statement rungs = rows_->database.Prepare(
      "SELECT attempt, resource, loss, rung, rank, results, threshold, stop + paused FROM all_rungs WHERE trial = ?1");
  rungs.Bind(1, trial);
  constexpr const char* kDecisions[] = {"continues", "stopped", "paused"};
  auto decisions = ListOf<std::string>(std::move(rungs), [&](const Statement& row) {
    return fmt::format("attempt {}: rung {} at {}: loss {} is {} of {}, the first {} continue: {}", row.Integer(0) + 1,
                       row.Integer(3) + 1, NumberText(row.Number(1)), NumberText(row.Number(2)), row.Integer(4),
                       row.Integer(5), row.Integer(6), kDecisions[std::clamp<std::int64_t>(row.Integer(7), 0, 2)]);
  });
  if (!decisions) return decisions;
  Statement promotions =
      rows_->database.Prepare("SELECT rung, rank, results, threshold FROM all_promotions WHERE trial = ?1");
  promotions.Bind(1, trial);
  auto promoted = ListOf<std::string>(std::move(promotions), [](const Statement& row) {
    return fmt::format("promoted from rung {}: {} of {}, the first {} continue", row.Integer(0) + 1, row.Integer(1),
                       row.Integer(2), row.Integer(3));
  });
  if (!promoted) return promoted;
  decisions->insert(decisions->end(), promoted->begin(), promoted->end());
  Statement medians =
      rows_->database.Prepare("SELECT attempt, resource, best, finished, median FROM all_medians WHERE trial = ?1");
  medians.Bind(1, trial);
  auto stops = ListOf<std::string>(std::move(medians), [](const Statement& row) {
    return fmt::format("attempt {}: at {} the best loss {} is worse than the median {} of {} trials: stopped",
                       row.Integer(0) + 1, NumberText(row.Number(1)), NumberText(row.Number(2)),
                       NumberText(row.Number(4)), row.Integer(3));
  });
  if (!stops) return stops;
  decisions->insert(decisions->end(), stops->begin(), stops->end());
  return decisions;
}

Result<std::vector<SweepView::Quarantine>> SweepView::Quarantined() const {
  return ListOf<Quarantine>(
      rows_->database.Prepare("SELECT host, why, wall FROM all_quarantined ORDER BY wall"), [](const Statement& row) {
        return Quarantine{std::string(row.Text(0)), std::string(row.Text(1)), std::string(row.Text(2))};
      });
}

Result<std::string> SweepView::Began() const {
  return TextOf(rows_->database.Prepare("SELECT min(wall) FROM all_heads"));
}

Result<SweepView::LastHead> SweepView::NewestHead() const {
  auto began = TextOf(rows_->database.Prepare("SELECT max(wall) FROM all_heads"));
  if (!began) return Fail(std::move(began.error()));
  LastHead head{*std::move(began), 0};
  Statement over =
      rows_->database.Prepare("SELECT count(*) FROM trials_and_attempts WHERE last AND over AND ended < ?1");
  over.Bind(1, head.began);
  auto read = Reported(over.ForEach([&](const Statement& row) {
    head.over = static_cast<std::uint64_t>(row.Integer(0));
    return false;
  }));
  if (!read) return Fail(std::move(read.error()));
  return head;
}

Result<std::string> SweepView::Last() const {
  return TextOf(rows_->database.Prepare(
      "SELECT max(wall) FROM (SELECT max(wall) AS wall FROM all_heads UNION ALL SELECT max(wall) FROM all_departures "
      "UNION ALL SELECT max(coalesce(ended, began)) FROM trials_and_attempts)"));
}

std::optional<std::pair<std::string, std::string>> SweepAndTrial(std::string_view word) {
  const std::size_t colon = word.rfind(':');
  if (colon == std::string_view::npos || colon + 1 == word.size()) return std::nullopt;
  if (word.find('/', colon) != std::string_view::npos) return std::nullopt;
  return std::pair{std::string(word.substr(0, colon)), std::string(word.substr(colon + 1))};
}

Result<ChosenTrial> ChooseTrial(const SweepView& view, std::string_view word) {
  ChosenTrial chosen;
  if (const std::size_t dot = word.rfind('.'); dot != std::string_view::npos) {
    const auto attempt = ParseNumber<std::uint32_t>(word.substr(dot + 1));
    if (attempt.value_or(0) == 0) {
      return None(fmt::format("{} names no attempt", Quoted(word)),
                  "attempts count from 1: 12.1 is the first of trial 12");
    }
    chosen.attempt = *attempt - 1;
    word = word.substr(0, dot);
  }
  const Result<TrialNumber> trial = Named(view, word);
  if (!trial) return Fail(trial.error());
  chosen.trial = *trial;
  // The best attempt need not be the last one.
  const auto& best = view.progress().best();
  if (word == "best" && !chosen.attempt && best) chosen.attempt = best->attempt;
  return chosen;
}

Result<std::string> RunDirectoryOf(const SweepView& view, const std::string& sweep_dir, const ChosenTrial& chosen) {
  const Result<std::vector<AttemptRow>> attempts = view.AttemptsOf(chosen.trial);
  const Result<std::optional<AttemptRow>> kept = view.KeptOf(chosen.trial);
  if (!attempts) return Fail(attempts.error());
  if (!kept) return Fail(kept.error());
  for (const AttemptRow& attempt : *attempts) {
    const std::uint32_t meant =
        chosen.attempt.value_or(attempt.trial_standing.over ? (*kept)->attempt : attempt.latest);
    if (attempt.attempt == meant) return sweep_dir + "/" + TrialFolder(attempt.id, attempt.attempt);
  }
  if (!attempts->empty()) {
    return None(fmt::format("trial {} has no attempt {}", chosen.trial, chosen.attempt.value_or(0) + 1),
                fmt::format("it has had {}", attempts->size()));
  }
  const auto reason = view.ReasonOf(chosen.trial);
  if (!reason) return Fail(reason.error());
  if (*reason) {
    return None(fmt::format("trial {} was not tried: it is impossible", chosen.trial),
                ((*reason)->place.empty() ? "" : (*reason)->place + ": ") + (*reason)->text);
  }
  return None(fmt::format("trial {} has not begun", chosen.trial), "see muster show SWEEP");
}

std::optional<TrialOfRun> FindTrialOfRun(const std::string& run_dir) {
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::canonical(run_dir, error);
  if (error) return std::nullopt;
  const std::string path = canonical;
  const std::string folder = canonical.filename();
  const std::size_t dot = folder.rfind('.');
  const auto attempt = ParseNumber<std::uint32_t>(dot == std::string::npos ? "" : folder.substr(dot + 1));
  if (!attempt || dot < kMinPrefix) return std::nullopt;
  const std::string below = "/" + TrialFolder(folder.substr(0, dot), *attempt);
  if (!path.ends_with(below)) return std::nullopt;
  const std::string sweep_dir = path.substr(0, path.size() - below.size());
  const auto file = ReadSweepFile(sweep_dir);
  if (!file) return std::nullopt;
  const auto view = SweepView::Open(sweep_dir);
  if (!view) return std::nullopt;
  const auto trials = view->TrialsOfId(folder.substr(0, dot), 1);
  if (!trials || trials->empty()) return std::nullopt;
  return TrialOfRun{fmt::format("{}:{}{}", file->name, trials->front(),
                                *attempt == 0 ? std::string() : fmt::format(".{}", *attempt + 1)),
                    sweep_dir, file->objective ? file->objective->metric : ""};
}

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
