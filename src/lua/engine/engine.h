// The engine: from recipe text to plans. Runs inside the evaluator process.
#pragma once

#include <memory>
#include <string>

#include "evaluation/exchange/evaluation.h"
#include "evaluation/exchange/limits.h"

struct lua_State;

namespace muster {

struct LoadedRecipe;
class PointJudge;

// Called with each new interpreter before muster's own files are loaded; lets tests add functions.
using OpenedInterpreter = int (*)(lua_State*);

// Reads a recipe with its first request, and makes one plan after the other from it. The recipe's own lines run once
// (again only after an evaluation that reached its limits); settling parameters and the plan function run for each
// request. So a recipe whose plan function is not pure may carry state from an earlier plan into a later one.
class Engine {
 public:
  // `last_place` may be null. Limits are per request; the memory limit is for all requests together.
  Engine(const Ask& ask, const StateLimits& limits, LastPlace* last_place, OpenedInterpreter opened = nullptr);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // Loads what is the same for every recipe, before one is known; Evaluate does this itself if necessary. `schema_too`
  // loads the schema of the context API, which recipes without a context do not need.
  void Prepare(bool schema_too = false);
  // Where to record the last position from now on; may be null.
  void NoteAt(LastPlace* last_place);

  // Does not fail: errors are in the answer's diagnostics. The recipe's file, text and folder and the release must be
  // those of the first request.
  EvaluationAnswer Evaluate(const EvaluationRequest& request);

 private:
  bool Call(int (*function)(lua_State*), void* argument);
  EvaluationAnswer EvaluateOnce(const EvaluationRequest& request);
  void Judge(const EvaluationRequest& request, const JudgeTask& task, EvaluationAnswer& answer);

  Ask ask_;
  StateLimits limits_;
  LastPlace* last_place_;
  OpenedInterpreter opened_;
  std::unique_ptr<LoadedRecipe> recipe_;
  std::unique_ptr<PointJudge> judge_;     // for the last judged sweep
  std::string judged_;                    // the request that it was made for
  std::unique_ptr<LoadedRecipe> spoilt_;  // kept until the next one: an exiting evaluator need not free it
};

}  // namespace muster
