#include "sweep/head/trial_planner.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "base/values/diagnostics.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "plan/text/plan_text.h"
#include "run/directory/checkpoints.h"
#include "space/space.h"
#include "sweep/record/sweep_directory.h"

namespace muster {

std::optional<TrialResumption> ResumptionOfTrial(const std::string& sweep_dir, const SweepProgress& progress,
                                                 TrialNumber trial, const CheckpointPlace& place) {
  const auto found = progress.open().find(trial);
  if (found == progress.open().end() || place.dir.marked.empty()) return std::nullopt;
  const OpenTrial& open = found->second;
  if (open.attempts <= open.first) return std::nullopt;
  const std::uint32_t last = open.attempts - 1;
  const std::string run_dir = sweep_dir + "/" + TrialFolder(open.id, last);
  const auto own = PlaceInRun(place, run_dir);
  if (!own || !own->dir.marked.starts_with(run_dir + "/")) return std::nullopt;
  if (const auto complete = CompleteCheckpoints(*own)) {
    return TrialResumption{open.run_id, {last, complete->back().path}};
  }
  std::error_code error;
  if (open.resumed.checkpoint.empty() || !std::filesystem::exists(open.resumed.checkpoint, error)) return std::nullopt;
  return TrialResumption{open.run_id, open.resumed};
}

namespace {

PointsJudged EntryOf(TrialNumber first, const Judgement& judgement, const std::string& recipe_file) {
  PointsJudged judged{first, judgement.points, {}};
  for (const RefusedPoints& refused : judgement.reasons) {
    PointsJudged::Reason reason{refused.problem.message, RecipePlaceText(refused.problem.place, recipe_file), {}};
    for (const PointNumbers& range : refused.ranges) {
      reason.trials.emplace_back(range.first, range.first + range.count - 1);
    }
    judged.impossible.push_back(std::move(reason));
  }
  return judged;
}

}  // namespace

std::string RecipePlaceText(const Place& place, const std::string& recipe_file) {
  if (place.file.empty()) return {};
  const std::string folder = recipe_file.substr(0, recipe_file.rfind('/') + 1);
  const std::string file = place.file.starts_with(folder) ? place.file.substr(folder.size()) : place.file;
  return place.line > 0 ? fmt::format("{}:{}", file, place.line) : file;
}

bool IsNotOfThePoint(const Diagnostics& problems) {
  return std::any_of(problems.begin(), problems.end(), [](const Diagnostic& problem) {
    return problem.blame == Blame::kMachine || problem.kind == "limit" || problem.kind == "crash";
  });
}

TrialPlanner::TrialPlanner(boost::asio::io_context& io, const EvaluationOptions& evaluation,
                           const SweepDescription& sweep, TrialPoints& points, RecipeFiles files, bool schema_too,
                           Resumption resumption)
    : io_(io),
      evaluation_(evaluation),
      sweep_(sweep),
      points_(points),
      files_(std::move(files)),
      resumption_(std::move(resumption)),
      schema_too_(schema_too),
      fork_server_(std::make_shared<EvaluatorForkServer>(StartOf(evaluation), schema_too)) {
  staying_.emplace(fork_server_, files_.Again());
}

void TrialPlanner::Edited(RecipeFiles files) {
  GiveUp();
  asking_ = checked_ = false;
  next_.clear();
  expected_.clear();
  files_ = std::move(files);
  fork_server_ = std::make_shared<EvaluatorForkServer>(StartOf(evaluation_), schema_too_);
  staying_.emplace(fork_server_, files_.Again());
}

EvaluationOptions TrialPlanner::OptionsOf(TrialNumber trial) {
  EvaluationOptions options = evaluation_;
  AddPoint(points_.At(trial), options.overrides);
  return options;
}

void TrialPlanner::Ask(std::function<void()> question) {
  questions_.push_back(std::move(question));
  if (std::exchange(asking_, true)) return;
  Answered();
}

void TrialPlanner::Answered() {
  asking_ = !questions_.empty();
  if (!asking_) return;
  const std::function<void()> next = std::move(questions_.front());
  questions_.pop_front();
  next();
}

void TrialPlanner::Judge(TrialPlanning::ToJudge batch, std::function<void(Result<PointsJudged>)> done) {
  Ask([this, batch = std::move(batch), done = std::move(done)] {
    const TrialNumber first = batch.first;
    auto pending = staying_->BeginJudging(evaluation_, sweep_, JudgeRequest::Of(first, batch.points));
    if (!pending) {
      Answered();
      return done(Fail(pending.error()));
    }
    judging_ = std::make_unique<AwaitedAnswer<Judgement>>(
        io_, *std::move(pending), [this, first, done](Result<Judgement> judgement) {
          Answered();
          if (!judgement) return done(Fail(judgement.error()));
          if (judgement->points == 0) return done(Fail(Error("evaluator", {}, "the evaluator judged no point")));
          done(EntryOf(first, *judgement, evaluation_.recipe_file));
        });
  });
}

void TrialPlanner::Plan(TrialNumber trial, std::vector<TrialNumber> next, std::function<void(Result<Planned>)> done) {
  next_ = std::move(next);
  PlanFresh(trial, OptionsOf(trial), [this, trial, done = std::move(done)](Result<Evaluation> evaluation) {
    if (!evaluation) return done(Fail(std::move(evaluation.error())));
    Compare(trial, *std::move(evaluation), [this, trial, done](Result<Planned> made) {
      if (!made) return done(std::move(made));
      Resume(trial, *std::move(made), done);
    });
  });
}

void TrialPlanner::PlanFresh(TrialNumber trial, EvaluationOptions options,
                             std::function<void(Result<Evaluation>)> done) {
  Evaluator fresh(fork_server_, files_.Again());
  auto pending = fresh.Begin(options, true);
  if (!pending) {
    boost::asio::post(io_, [done = std::move(done), why = pending.error()] { done(Fail(why)); });
    return;
  }
  planning_[trial] = std::make_unique<AwaitedAnswer<Evaluation>>(
      io_, *std::move(pending), [this, trial, done = std::move(done)](Result<Evaluation> evaluation) {
        planning_.erase(trial);
        done(std::move(evaluation));
      });
}

namespace {

Result<void> NotPromotable(const std::string& why, const char* hint) {
  return Fail(Error("promote", {}, "promoted trials continue from their checkpoints, and " + why, hint));
}

}  // namespace

Result<void> CheckKeepsCheckpoints(const Plan& plan) {
  constexpr const char* kDeclared = "checkpoint = { dir = \"checkpoints\", latest = \"step_*.pt\" } in the recipe";
  const CheckpointPlace& place = plan.checkpoints;
  if (place.dir.marked.empty()) return NotPromotable("the recipe declares none", kDeclared);
  const auto own = PlaceInRun(place, "/run");
  if (own && own->dir.marked.starts_with("/run/")) return {};
  return NotPromotable("those of this recipe, in " + Quoted(place.dir.marked) + ", are not below the run directory",
                       kDeclared);
}

Result<void> CheckTakesCheckpoint(const Plan& resumed) {
  if (UsesCheckpoint(resumed)) return {};
  return NotPromotable(
      "no process of this recipe is given one",
      "job.resume and { \"--resume\", job.resume.checkpoint } or false in a command: muster docs checkpoints");
}

void TrialPlanner::CheckFirst(TrialNumber trial, Planned fresh, const std::function<void(Result<Planned>)>& done) {
  if (auto keeps = CheckKeepsCheckpoints(fresh.evaluation.plan); !keeps) return done(Fail(std::move(keeps.error())));
  EvaluationOptions options = OptionsOf(trial);
  options.resumed = kAnyRun;
  auto made = std::make_shared<Planned>(std::move(fresh));
  PlanFresh(trial, std::move(options), [this, made, done](Result<Evaluation> evaluation) {
    if (!evaluation) return done(Fail(std::move(evaluation.error())));
    if (auto takes = CheckTakesCheckpoint(evaluation->plan); !takes) return done(Fail(std::move(takes.error())));
    checked_ = true;
    done(std::move(*made));
  });
}

void TrialPlanner::Resume(TrialNumber trial, Planned fresh, const std::function<void(Result<Planned>)>& done) {
  fresh.resumed = resumption_(trial, fresh.evaluation.plan.checkpoints);
  const bool promotes = sweep_.early_stop && sweep_.early_stop->promote;
  if (!fresh.resumed && promotes && !checked_) return CheckFirst(trial, std::move(fresh), done);
  if (!fresh.resumed) return done(std::move(fresh));
  EvaluationOptions options = OptionsOf(trial);
  options.resumed = fresh.resumed->run;
  auto made = std::make_shared<Planned>(std::move(fresh));
  PlanFresh(trial, std::move(options), [made, done](Result<Evaluation> evaluation) {
    if (!evaluation) return done(Fail(std::move(evaluation.error())));
    if (UsesCheckpoint(evaluation->plan)) {
      made->evaluation = *std::move(evaluation);
    } else {
      made->resumed.reset();  // its processes start from scratch, even if a checkpoint exists
    }
    done(std::move(*made));
  });
}

void TrialPlanner::Compare(TrialNumber trial, Evaluation fresh, const std::function<void(Result<Planned>)>& done) {
  auto made = std::make_shared<Planned>(Planned{std::move(fresh), {}, {}});
  made->plan_id = PlanId(made->evaluation.plan);
  if (CompareKnown(trial, *made, done)) return;
  Ask([this, trial, made, done] {
    if (CompareKnown(trial, *made, done)) return Answered();
    std::vector<TrialNumber> asked = {trial};
    for (const TrialNumber one : next_) {
      if (one != trial && !expected_.contains(one)) asked.push_back(one);
    }
    std::vector<Point> points;
    for (const TrialNumber one : asked) points.push_back(points_.At(one));
    auto pending = staying_->BeginPlanIds(evaluation_, std::move(points));
    if (!pending) {
      Answered();
      return done(Fail(pending.error()));
    }
    comparing_ = std::make_unique<AwaitedAnswer<std::vector<std::string>>>(
        io_, *std::move(pending), [this, asked, made, done](Result<std::vector<std::string>> ids) {
          for (std::size_t i = 0; ids && i < ids->size(); ++i) expected_[asked[i]] = (*ids)[i];
          Answered();
          if (ids) {
            CompareKnown(asked.front(), *made, done);
          } else if (IsNotOfThePoint(ids.error())) {
            done(Fail(ids.error()));
          } else {
            done(Fail(Differs(asked.front(), made->plan_id, "none: " + ids.error().front().message)));
          }
        });
  });
}

bool TrialPlanner::CompareKnown(TrialNumber trial, Planned& made, const std::function<void(Result<Planned>)>& done) {
  const auto expected = expected_.extract(trial);
  if (expected.empty()) return false;
  if (expected.mapped() == made.plan_id) {
    done(std::move(made));
  } else {
    done(Fail(Differs(trial, made.plan_id, ShortPlanId(expected.mapped()))));
  }
  return true;
}

Diagnostic TrialPlanner::Differs(TrialNumber trial, const std::string& id, const std::string& other) {
  return Error("plan_differs", {},
               fmt::format("trial {} ({}) has the plan {} in a fresh evaluator, and {} in one that made other plans "
                           "before",
                           trial, PointText(points_.At(trial)), ShortPlanId(id), other),
               "the recipe keeps something between plans: muster check --deep RECIPE");
}

void TrialPlanner::GiveUp() {
  questions_.clear();
  judging_.reset();
  comparing_.reset();
  planning_.clear();
}

namespace {

constexpr std::size_t kRunIdBytes = 6;
constexpr std::size_t kComparedAtOnce = 16;  // with the plans of the evaluator that stays alive

}  // namespace

int CodeOf(const Diagnostics& problems) { return problems.front().blame == Blame::kMachine ? 3 : 2; }

void TrialPreparation::Advance() {
  Judge();
  while (const auto trial = scheduler_.planning().NextToPlan()) Plan(*trial);
}

TrialPreparation::Prepared TrialPreparation::Take(TrialNumber trial) {
  Prepared prepared{{}, std::move(planned_.extract(trial).mapped())};
  AttemptBegan& began = prepared.began;
  began.trial = trial;
  began.attempt = scheduler_.NextAttempt(trial);
  began.point = points_.At(trial);
  began.id = PointId(began.point);
  began.plan = scheduler_.planning().PlanOf(trial);
  began.run_id = RandomHex(kRunIdBytes);
  if (const auto& resumed = prepared.planned.resumed) began.resumed = resumed->from;
  const auto open = scheduler_.progress().open().find(trial);
  const bool promoted = open != scheduler_.progress().open().end() && open->second.promoted;
  if (promoted && !prepared.planned.resumed) {
    began.warning = fmt::format("it has passed {}, and its checkpoint is missing: it starts from the beginning",
                                Counted(open->second.rungs, "rung"));
  }
  return prepared;
}

void TrialPreparation::Edited() {
  ++edits_;
  planned_.clear();
}

void TrialPreparation::Judge() {
  auto batch = scheduler_.planning().NextToJudge();
  if (!batch) return;
  const TrialNumber first = batch->first;
  planner_.Judge(*std::move(batch), [this, first, edits = edits_](Result<PointsJudged> judged) {
    if (edits != edits_) return;
    if (!judged) calls_.failed(Sentence(judged.error()), CodeOf(judged.error()));
    if (judged && scheduler_.progress().begun() == 0) reasons_.Keep(*judged);
    scheduler_.planning().Judged(judged ? *std::move(judged) : PointsJudged{first, 0, {}});
    calls_.changed();
  });
}

void TrialPreparation::Plan(TrialNumber trial) {
  planner_.Plan(trial, scheduler_.planning().Following(kComparedAtOnce),
                [this, trial, edits = edits_](Result<TrialPlanner::Planned> planned) {
                  if (edits == edits_) OnPlanned(trial, std::move(planned));
                });
}

void TrialPreparation::OnPlanned(TrialNumber trial, Result<TrialPlanner::Planned> made) {
  if (!made) {
    const Diagnostic& first = made.error().front();
    if (IsNotOfThePoint(made.error()) || first.kind == "plan_differs" || first.kind == "promote") {
      calls_.failed(Sentence(made.error()), CodeOf(made.error()));
      scheduler_.planning().Abandoned(trial);
    } else {
      scheduler_.planning().MarkImpossible(trial, first.message, RecipePlaceText(first.place, recipe_file_));
    }
    return calls_.changed();
  }
  auto planned = scheduler_.planning().Planned(trial, made->plan_id, NeedsOf(made->evaluation.plan));
  if (!planned) {
    calls_.failed(Sentence(planned.error()), 2);
  } else {
    planned_[trial] = *std::move(made);
  }
  calls_.changed();
}

}  // namespace muster
