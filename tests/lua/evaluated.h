// Evaluates recipe texts in this process; answers their requests for files and variables from maps.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluation/exchange/evaluation.h"
#include "lua/engine/engine.h"

namespace muster::testing {

struct Outside {
  std::map<std::string, std::string> files;      // path below the recipe's folder -> content
  std::map<std::string, std::string> variables;  // of muster's environment
};

struct Evaluated {
  EvaluationAnswer answer;
  std::vector<std::string> printed;
  std::vector<std::string> asked;  // "file lib/a.lua", "variable HOME", …

  const Plan& plan() const { return answer.plan.value(); }
  // Returns lines such as "recipe.lua:4 error kind: message"; without the place if there is none.
  std::vector<std::string> problems() const;
};

// An override as typed on the command line: name=text.
Override Text(const std::string& name, const std::string& text);
Override Json(const std::string& name, Value value);

struct Request {
  std::string text;
  std::vector<Override> overrides = {};
  std::vector<std::string> args = {};
  Outside outside = {};
  StateLimits limits = {};
  Site site = {};
  DeviceUse devices = {};
  std::vector<std::string> profiles = {};
  std::vector<Override> pins = {};
  std::map<std::string, LibraryPlace> libraries = {};
  std::string rules = {};
  EvaluationTask task = PlanTask();
};
Evaluated Evaluate(const Request& request);

// A recipe whose plan function has this body, which begins on line 4. `fields`: further fields of the recipe, on line
// 2. The body can use `muster` and `context`.
std::string Recipe(const std::string& body, const std::string& fields = "");
inline constexpr int kBodyLine = 4;
// The end of a body: one process.
inline const std::string kOneWorker = " job:workers { count = 1, command = { 'x' } }";

// The problems of Recipe(body, fields).
std::vector<std::string> ProblemsOf(const std::string& body, const std::string& fields = "");
// The plan of Recipe(body, fields), which must have one.
Plan PlanOf(const std::string& body, const std::string& fields = "");
// The value of an expression within a plan function, as printed by tostring.
std::string ValueOf(const std::string& expression);

// `name`, such as "worker.0", must be in the plan.
const Process& ProcessNamed(const Plan& plan, const std::string& name);
std::vector<std::string> CommandOf(const Plan& plan, const std::string& name);
// The process's variables without MUSTER_*.
std::map<std::string, std::string> OwnEnv(const Plan& plan, const std::string& name);

using Lines = std::vector<std::string>;

}  // namespace muster::testing
