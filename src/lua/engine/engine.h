// The engine: from recipe text to plans. Runs inside the evaluator process.
#pragma once

#include <memory>
#include <string>

#include "evaluation/exchange/evaluation.h"
#include "evaluation/exchange/last_place.h"
#include "evaluation/exchange/limits.h"

struct lua_State;

namespace muster {

struct LoadedRecipe;
class PointJudge;

// Called with each new interpreter before muster's own files are loaded, so that tests can let something into it.
using OpenedInterpreter = int (*)(lua_State*);

// Reads a recipe with its first request, and makes one plan after the other of it. The recipe's own lines run once
// (again only after an evaluation that ran into its limits); settling parameters and the plan function run for each
// request. So a recipe whose plan function is not pure may show in a later plan what it kept of an earlier one.
class Engine {
 public:
  // `last_place` may be null. Limits are those of one request, memory of all together.
  Engine(const Ask& ask, const StateLimits& limits, LastPlace* last_place, OpenedInterpreter opened = nullptr);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // Makes ready what is the same for every recipe, before one is known; Evaluate does so itself where it must. The
  // schema of the context API, `schema_too`, is what recipes without a context can do without.
  void Prepare(bool schema_too = false);
  // Where it is noted from now on how far an evaluation came; may be null.
  void NoteAt(LastPlace* last_place);

  // Never fails as a function: what went wrong is in the answer's diagnostics. The recipe's file, text and folder and
  // the release must be those of the first request.
  EvaluationAnswer Evaluate(const EvaluationRequest& request);

 private:
  bool Call(int (*function)(lua_State*), void* argument);
  EvaluationAnswer EvaluateOnce(const EvaluationRequest& request);
  void Judge(const EvaluationRequest& request, EvaluationAnswer& answer);

  Ask ask_;
  StateLimits limits_;
  LastPlace* last_place_;
  OpenedInterpreter opened_;
  std::unique_ptr<LoadedRecipe> recipe_;
  std::unique_ptr<PointJudge> judge_;     // of the sweep that was judged last
  std::string judged_;                    // what it was made for
  std::unique_ptr<LoadedRecipe> spoilt_;  // kept until the next, so that who ends the process is spared its teardown
};

}  // namespace muster
