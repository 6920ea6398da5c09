// The sweep of a recipe: its description, and the judgement of its points: for which of them the recipe can be
// planned. A plan function is pure, so the result is determined by the parameters that it reads, in order. Verdicts
// are stored in a trie over these reads; a point that agrees with an earlier one in all of them needs no plan.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <lua.hpp>

#include "evaluation/exchange/evaluation.h"
#include "evaluation/resolve/resolve.h"
#include "lua/bind/bind.h"
#include "lua/host/host.h"
#include "space/space.h"
#include "space/sweep_description.h"

namespace muster {

// Converts a sweep, as passed by lua/muster/sweep.lua, to its description. Reports errors in it.

// From the plain table at `index`; names and values are checked against the declarations.
SweepDescription ReadSweep(lua_State* lua, Host& host, int index, const Declared& declared,
                           const ParameterNames& names);

// Judging the points of a sweep: for which of them a recipe can be planned. A plan function is pure, so the result is
// determined by the parameters that it reads, in order. Verdicts are stored in a trie over these reads; a point that
// agrees with an earlier one in all of them needs no plan.

// An interpreter that has read the recipe, for one batch.
struct JudgingInterpreter {
  Host& host;
  const OwnModules& modules;
  int recipe = LUA_NOREF;  // in the registry
  int where = LUA_NOREF;   // the file's condition, if it has one
  // Calls the function in protected mode with the argument; false if it failed. Errors have been reported then.
  std::function<bool(lua_CFunction, void*)> call;
  std::function<void()> begin;      // before another plan: resets the limits
  std::function<bool()> is_spoilt;  // it has reached its limits, and refuses every further call
};

class PointJudge {
 public:
  // Kinds of CompiledSpace and Sampler.
  static Result<std::unique_ptr<PointJudge>> Of(SweepDescription sweep);
  PointJudge(const PointJudge&) = delete;
  PointJudge& operator=(const PointJudge&) = delete;
  ~PointJudge();

  // Judges as many of the requested points as kMaxPoints and kMaxPlans allow, at least one if there is one. Fails if
  // the recipe as read, or a condition of the command line, is wrong for every point.
  Result<Judgement> Judge(const JudgingInterpreter& interpreter, const JudgeRequest& request);

  static constexpr std::uint64_t kMaxPoints = 250'000;
  static constexpr std::uint64_t kMaxPlans = 500;

 private:
  struct Verdict;
  struct Node;
  struct Shape;
  struct PointCall;
  struct Tally;

  PointJudge(SweepDescription sweep, CompiledSpace space);

  bool Settle(const JudgingInterpreter& interpreter);
  void FindShapeNames();
  Shape& ShapeOf(const JudgingInterpreter& interpreter, const Point& point);
  const Verdict* Known(const Shape& shape, const Point& point) const;
  const Verdict& Plan(const JudgingInterpreter& interpreter, Shape& shape, const Point& point);
  static int DescribePoint(lua_State* lua);
  static int SettleCall(lua_State* lua);
  static int ResolveCall(lua_State* lua);

  SweepDescription sweep_;
  CompiledSpace space_;
  std::unique_ptr<Sampler> sampler_;
  std::optional<Declared> declared_;
  std::optional<ParameterNames> names_;
  std::map<std::string, std::size_t, std::less<>> numbers_;  // of the swept names
  std::vector<std::string> swept_;                           // by number
  std::vector<bool> read_;                                   // by number: verdicts depended on it
  // Swept names that change the set of parameters, or whose values must be settled one by one: hosts, devices,
  // variants, …; by number.
  std::vector<bool> shapes_;
  std::unordered_map<std::string, std::unique_ptr<Shape>> known_shapes_;
  std::size_t nodes_ = 0;
  std::unique_ptr<Verdict> last_;  // if it could not be stored
};

}  // namespace muster
