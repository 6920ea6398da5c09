// Evaluating a recipe, from the parent's side: starts an evaluator process, answers its questions, decodes its answer
// as untrusted bytes. Also judges points of a sweep, and finds which parameters influence a derived value.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/mechanism.h"
#include "evaluation/exchange/evaluation.h"
#include "evaluator/evaluator_process.h"
#include "evaluator/recipe_files.h"
#include "muster/result.h"

namespace muster {

// Evaluating a recipe, from the parent's side: starts an evaluator process, answers its questions, decodes its answer
// as untrusted bytes.

// The override of name:=value on the command line.
Override ValueOverride(std::string name, Value value);

// Adds the values of a sweep's point, with the highest precedence.
void AddPoint(const Point& point, std::vector<Override>& overrides);

// A request about a recipe in a file, and how to answer the evaluator's questions about it.
struct EvaluationOptions : RecipeRequest {
  std::string beside = {};           // the folder of muster.here, if it is not the recipe's; absolute
  std::string reported_folder = {};  // the result of muster.here instead of that folder
  LogMetrics metrics = {};           // in addition to the recipe's, of which they replace those of the same name
  // The site files of which `site` consists: they become inputs and sources of the plan as well.
  std::vector<Input> site_inputs;
  std::map<std::string, std::string> site_sources;
  EvaluationLimits limits;
  std::string locale = {};  // the evaluator's locale, as in setlocale(3); empty: "C"
  // Why metrics cannot be read so; `plan` is null if none is made. Empty: not checked.
  std::function<Result<void>(const LogMetrics& metrics, const Plan* plan, const Place& place)> check_metrics = {};
  // Returns variables of muster's environment; empty: getenv.
  std::function<std::optional<std::string>(const std::string& name)> variable = {};
  Without without = WithoutByEnvironment();
  std::string program = {};                          // see EvaluatorStart
  std::function<void(const std::string&)> on_print;  // a line that the recipe printed; untrusted bytes
  std::function<void(unsigned seconds)> on_wait;     // called after each second that the evaluation takes
};

// How to start evaluators for these options; a fork server can serve all options with the same result.
EvaluatorStart StartOf(const EvaluationOptions& options);

// The places in all findings are in known files, or empty.
struct Evaluation : RecipeFindings {
  Plan plan;             // folded and valid; otherwise as far as EvaluationDepth says
  Diagnostics warnings;  // `metrics` are those of the recipe and of the options; also in the plan and in the sweep
  Site site;             // as given
  std::vector<Input> inputs;
  std::map<std::string, std::string> sources;
  std::uint64_t evaluate_ns = 0;  // from the request to its answer
};

using PendingEvaluation = Pending<Evaluation>;
using PendingJudgement = Pending<Judgement>;
using PendingPlanIds = Pending<std::vector<std::string>>;

// An evaluator process that is kept for further requests about one recipe: the recipe's own lines run once, its plan
// function once per request (lua/engine/engine.h). Started by the first request, and again after a request that failed.
class Evaluator {
 public:
  Evaluator();
  // Its processes are forked by the fork server if that has the same program, locale, mechanisms and memory limits; the
  // recipe is read through `files`.
  Evaluator(std::shared_ptr<EvaluatorForkServer> fork_server, RecipeFiles files);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  ~Evaluator();

  // Starts the process of the first request while that is still being prepared. Not used if the request needs another
  // start (StartOf), or if this fails: the request then reports why.
  void StartAhead(const EvaluatorStart& start);

  // Returns the plan, or all errors of the recipe together with its warnings. Starts no process except the evaluator,
  // and writes no file. Recipe, folder, release, program and mechanisms must be those of the first request; limits are
  // per request. Files are read once; `inputs` and `sources` contain everything read so far. After the `last` request
  // the process exits.
  Result<Evaluation> Evaluate(const EvaluationOptions& options, bool last = false);

  // The same without waiting; the previous request must be finished. The request continues if this object is
  // destroyed. Errors about setting a derived value do not name the parameters that change it. on_wait is not
  // called.
  Result<PendingEvaluation> Begin(EvaluationOptions options, bool last = false);
  // The sweep that the file describes; for a recipe with `words`, the sweep over these. Names and values are
  // checked against the recipe; CheckSweep checks whether the parts fit together. Error "no_sweep": the file returns a
  // recipe, and there are no words. Stores the recipe's own name in `recipe_name`, if not null. `chosen`: as in
  // SweepTask.
  Result<SweepDescription> DescribeSweep(const EvaluationOptions& options, std::optional<Space> words = {},
                                         std::string* recipe_name = nullptr, std::vector<Space> chosen = {},
                                         std::optional<SeedsChoice> seeds = {});

  // The keys of Evaluation::sources so far, also after a request that failed.
  std::vector<std::string> FilesRead() const;

  // Which points can be planned, in one batch: possibly fewer than requested, but at least one if there is one;
  // Judgement::points says where the next batch begins. Limits are per batch. A batch that differs from the previous
  // one only in JudgeRequest reuses its results.
  Result<Judgement> Judge(const EvaluationOptions& options, const SweepDescription& sweep, const JudgeRequest& request);
  // The same without waiting; see Begin.
  Result<PendingJudgement> BeginJudging(const EvaluationOptions& options, const SweepDescription& sweep,
                                        const JudgeRequest& request);

  // The ids of the plans of those points, from the first on: as many as were made within a time limit, at least one.
  // Fails with the errors of the first point. See Begin.
  Result<PendingPlanIds> BeginPlanIds(EvaluationOptions options, std::vector<Point> points);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// One request with its own evaluator process.
Result<Evaluation> EvaluateRecipe(const EvaluationOptions& options);

// Which parameters influence a derived value, and which influence nothing: found by evaluating the recipe again with
// each of them changed a little.

// Active parameters whose other values all gave the same plan. Secrets are left out, and parameters whose other values
// gave no plan at all. Makes at most three plans for each.
std::vector<std::string> ParametersWithoutEffect(Evaluator& evaluator, const EvaluationOptions& options,
                                                 const Evaluation& as_it_is);

// Names of parameters, and "hosts" and "devices_per_host", whose change alone changes the derived value. Parameters
// whose other values are all refused by the recipe are left out. Empty if the recipe itself has errors.
std::vector<std::string> ParametersLeadingTo(const EvaluationOptions& options, const std::string& derived);

}  // namespace muster
