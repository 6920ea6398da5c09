// Evaluating a recipe, from the parent's side: has an evaluator process started, answers its questions, decodes
// its answer as untrusted bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/without.h"
#include "evaluation/exchange/evaluation.h"
#include "evaluator/conversation.h"
#include "evaluator/evaluator_fork_server.h"
#include "evaluator/evaluator_process.h"
#include "evaluator/recipe_files.h"
#include "muster/result.h"

namespace muster {

// What name:=value says on the command line.
Override ValueOverride(std::string name, Value value);

// The values of a sweep's point, on top of all that is there.
void AddPoint(const Point& point, std::vector<Override>& overrides);

struct EvaluationOptions {
  std::string recipe_file;
  std::string beside = {};       // the folder that muster.here looks in instead of the recipe's; absolute
  std::string told_folder = {};  // what muster.here gives instead of the folder that it looks in
  std::vector<Override> overrides;
  std::vector<std::string> profiles;  // see EvaluationRequest, and for those that follow
  std::vector<Override> pins;
  std::vector<std::string> args;
  Site site;
  DeviceUse devices;
  std::string mindspore;
  std::string resumed;
  EvaluationDepth depth = EvaluationDepth::kPlan;
  std::string explain;
  std::map<std::string, LibraryPlace> libraries;
  std::string rules;
  bool site_file = false;
  bool engine_page = false;
  bool describe_sweep = false;
  std::optional<Space> words = {};
  std::optional<JudgeTask> judge = {};
  std::vector<Point> points = {};
  // Of the site files that made `site`: they become inputs and sources of the plan as well.
  std::vector<Input> site_inputs;
  std::map<std::string, std::string> site_sources;
  EvaluationLimits limits;
  std::string locale = {};  // that the evaluator is to run under, as setlocale(3) names it; empty: "C"
  // Answers what the recipe asks of muster's environment; empty: getenv.
  std::function<std::optional<std::string>(const std::string& name)> variable = {};
  Without without = WithoutByEnvironment();
  std::string program = {};                          // see EvaluatorStart
  std::function<void(const std::string&)> on_print;  // a line that the recipe printed; untrusted bytes
  std::function<void(unsigned seconds)> on_wait;     // it takes so long already: after the first second, each second
};

// How evaluators for them are started: a stem for these is one for all that agree in it.
EvaluatorStart StartOf(const EvaluationOptions& options);

struct Evaluation {
  std::string name;
  std::string doc;
  std::vector<ParameterState> parameters;
  std::vector<ProfileFacts> profiles;
  std::uint32_t hosts = 0;
  std::uint32_t devices_per_host = 0;
  std::map<std::string, Value> derived;  // if nothing else was asked for
  Plan plan;                             // folded and valid; otherwise as EvaluationDepth says
  Provenance provenance;                 // places are known files of the recipe, or nowhere; in `origins`, too
  Origins origins;
  Diagnostics warnings;
  std::vector<std::string> lockdown;         // what the evaluator says it had locked itself down by
  std::vector<EngineField> engine_settings;  // places are known
  std::optional<SiteFileTable> site_file;    // if that was asked for
  std::optional<SweepDescription> sweep;     // if that was asked for; places are known, in the judgement too
  std::optional<Judgement> judgement;
  std::vector<std::string> plan_ids;  // of EvaluationOptions::points, see EvaluationAnswer
  Site site;                          // that was given
  std::vector<Input> inputs;
  std::map<std::string, std::string> sources;
  std::uint64_t evaluate_ns = 0;  // from the evaluator's start to its answer
};

using PendingEvaluation = Pending<Evaluation>;
using PendingJudgement = Pending<Judgement>;
using PendingPlanIds = Pending<std::vector<std::string>>;

// An evaluator process that stays alive between requests about one recipe: its own lines run once, its plan function
// for each of them (lua/engine/engine.h). Started by the first request, and anew after one that it did not answer.
class Evaluator {
 public:
  Evaluator();
  // Its processes are forked by the stem, where that is for the same program, locale, mechanisms and limits of memory;
  // what is read of the recipe comes from `files`.
  Evaluator(std::shared_ptr<EvaluatorForkServer> stem, RecipeFiles files);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  ~Evaluator();

  // All errors of the recipe at once, with the warnings among them. Does nothing else: no process but the evaluator is
  // started, no file is written. Recipe, folder, release, program and mechanisms must be those of the first request;
  // limits are those of one. Files are read once; `inputs` and `sources` are all that were read so far. After the
  // `last` request the process ends.
  Result<Evaluation> Evaluate(const EvaluationOptions& options, bool last = false);

  // The same, without waiting for it; the one before is over. It goes on if this object does not live as long. Of a
  // value that is derived, and was to be set, it is not told by which parameters it could be changed. on_wait is not
  // called.
  Result<PendingEvaluation> Begin(EvaluationOptions options, bool last = false);
  // What the file says of a sweep; of a recipe, with options.words, the sweep over these. Names and values are the
  // recipe's; whether the parts fit together says CheckSweep. Kind "no_sweep": the file returns a recipe, and there are
  // no words. The recipe's own name is `recipe_name`, if that is wanted.
  Result<SweepDescription> DescribeSweep(const EvaluationOptions& options, std::string* recipe_name = nullptr);

  // Which points can be planned, in one batch: maybe fewer than were asked for, and at least one where there is one, so
  // that Judgement::points says where the next one begins. Limits are those of the batch. A batch that agrees with the
  // one before in all but JudgeRequest goes on with what was learnt.
  Result<Judgement> Judge(const EvaluationOptions& options, const SweepDescription& sweep, const JudgeRequest& request);
  // The same, without waiting for it; see Begin.
  Result<PendingJudgement> BeginJudging(const EvaluationOptions& options, const SweepDescription& sweep,
                                        const JudgeRequest& request);

  // The ids of the plans of those points, from the first on: as many as were made in a while, and one at least. Fails
  // with what is wrong with the first. See Begin.
  Result<PendingPlanIds> BeginPlanIds(EvaluationOptions options, std::vector<Point> points);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// One request by an evaluator of its own.
Result<Evaluation> EvaluateRecipe(const EvaluationOptions& options);

}  // namespace muster
