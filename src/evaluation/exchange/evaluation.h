// Requests and results of an evaluation: plans, descriptions of sweeps, and which of their points give a plan. Plain
// values, so that they can be sent between processes (evaluation_archive.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/plan.h"
#include "muster/setting_source.h"
#include "muster/site.h"
#include "plan/environment/environment.h"
#include "plan/hosts/placement.h"
#include "settings/values/parameter.h"
#include "space/space.h"
#include "space/sweep_description.h"
#include "tl/expected.hpp"

namespace muster {

// Which points of a sweep give a plan, and why the others do not. Plain values, so that they can be sent to and from
// the evaluator (evaluation_archive.h).

struct JudgeRequest {
  enum class What : std::uint8_t {
    kTrials,   // of a sampler that is a sequence, by number
    kPoints,   // those given: number `first` and the following
    kLayouts,  // the discrete points of the space (CompiledSpace::DiscreteAt), including those of other shards
  };
  What what = What::kTrials;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  bool each = false;  // also return the numbers of the points of each group
  std::vector<Point> points = {};

  // Given points of a sweep, as trials from `first` on.
  static JudgeRequest Of(std::uint64_t first, std::vector<Point> points) {
    return {What::kPoints, first, points.size(), true, std::move(points)};
  }

  bool operator==(const JudgeRequest&) const = default;
};

// `count` consecutive numbers from `first` on.
struct PointNumbers {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  bool operator==(const PointNumbers&) const = default;
};

// Points that give no plan, for reasons of one kind at one place.
struct RefusedPoints {
  Diagnostic problem;  // the first one's
  Point example;       // the first one
  std::uint64_t points = 0;
  std::vector<PointNumbers> ranges = {};  // with JudgeRequest::each

  bool operator==(const RefusedPoints&) const = default;
};

// Points that give a plan, and that need so many hosts and devices in all.
struct PossiblePoints {
  std::uint32_t hosts = 0;
  std::uint64_t devices = 0;
  std::uint64_t points = 0;
  std::vector<PointNumbers> ranges = {};  // with JudgeRequest::each

  bool operator==(const PossiblePoints&) const = default;
};

struct Judgement {
  std::uint64_t total = 0;     // number of trials or layouts
  std::uint64_t points = 0;    // judged, from JudgeRequest::first on; possibly fewer than requested
  std::uint64_t possible = 0;  // of these
  // The number of plans that were made: points that agree in all inputs that the recipe read are judged once.
  std::uint64_t planned = 0;
  std::vector<RefusedPoints> reasons = {};      // in order of first occurrence
  std::vector<PossiblePoints> footprints = {};  // by hosts and devices
  std::vector<std::string> read = {};           // swept names that results depended on so far, sorted

  bool operator==(const Judgement&) const = default;
};

// The parameters of a judging request.
struct JudgeTask {
  SweepDescription sweep;
  JudgeRequest request;

  bool operator==(const JudgeTask&) const = default;
};

// Requests and results of an evaluation: plain values, so that they can be sent between processes
// (evaluation_archive.h).

// One override: name=text, name:=json, name@=file, --unset name; or a value that an extension or a profile of the
// recipe gives to a parameter.
struct Override {
  enum class Kind : std::uint8_t { kText, kValue, kFile, kUnset };
  Kind kind = Kind::kText;
  std::string name;
  // kText: a string. kFile: the file's content; it stays with the parent until a parameter requests it, and a secret
  // never does.
  Value value;
  std::string file;  // kFile: absolute path
  ParameterOrigin origin = ParameterOrigin::kCommandLine;
  std::string profile;  // kProfile: its name
  Place place;          // kExtension, kProfile: in the recipe

  bool operator==(const Override&) const = default;
};

// An override for the value of a parameter at a point of a sweep.
inline Override PointOverride(std::string name, Value value) {
  Override override;
  override.kind = Override::Kind::kValue;
  override.name = std::move(name);
  override.value = std::move(value);
  override.origin = ParameterOrigin::kSweep;
  return override;
}

// A folder of recipes and modules that recipes name with an '@': muster.load "@acme/gpt".
struct LibraryPlace {
  std::string folder;       // where its files are read
  std::string beside = {};  // result of muster.here; empty: `folder`. A repeated run reads the stored copy.

  bool operator==(const LibraryPlace&) const = default;
};

// The name of the library in which the site's rules are stored.
inline constexpr char kRulesLibrary[] = "rules";

// How far to evaluate a recipe.
enum class EvaluationDepth : std::uint8_t {
  kParameters,  // settle the parameters; do not call the plan function
  kDerived,     // call the plan function; the result has the derived values, but no problems
  // Call the plan function with all its checks; describe roles, but lay out no processes. The resulting plan has hosts,
  // parameters and derived values only.
  kJob,
  kPlan,
};

// What an evaluation is to return: the tasks.

// A plan, or as much of it as the depth says.
struct PlanTask {
  EvaluationDepth depth = EvaluationDepth::kPlan;
  // "worker:2" (the rank, or the number in a role without ranks): the process of its role whose variables' sources are
  // returned; otherwise the role's first one.
  std::string explain = {};

  bool operator==(const PlanTask&) const = default;
};

// The table that a site file, or the page of an engine, returns; it is no recipe.
struct TableTask {
  bool engine_page = false;  // a plain table

  bool operator==(const TableTask&) const = default;
};

// The sweep that the file describes; for a file without one, a sweep over `words`.
struct SweepTask {
  // A space from the command line: its axes are choices of one text each, as ReadAxisText parses it.
  std::optional<Space> words = {};
  // Chosen points of the command line, each of kind kFixed: texts in the form of their parameters, or other values.
  std::vector<Space> chosen = {};
  // From the command line, instead of those of the file.
  std::optional<SeedsChoice> seeds = {};

  bool operator==(const SweepTask&) const = default;
};

// The ids of a plan for each of these points, one after the other, on top of the request's overrides.
struct PlanIdsTask {
  std::vector<Point> points;

  bool operator==(const PlanIdsTask&) const = default;
};

using EvaluationTask = std::variant<PlanTask, TableTask, SweepTask, JudgeTask, PlanIdsTask>;

// What is asked about a recipe, wherever its text comes from.
struct RecipeRequest {
  std::string recipe_file;            // as the user wrote it, for diagnostics
  std::vector<Override> overrides;    // from outside the recipe
  std::vector<std::string> profiles;  // of the recipe, in order of increasing precedence
  std::vector<Override> pins;         // derived values to override; kText or kValue
  std::vector<std::string> args;      // the words after --
  // From the command line: the value of the recipe's parameter `env`, if it has one that is a map, else variables of
  // all processes.
  std::map<std::string, std::string> env = {};
  Site site;
  DeviceUse devices;      // from the command line, without the kind, which the recipe sets
  std::string mindspore;  // a release to check against instead of the recipe's own, if it has one; or empty
  std::string resumed;    // id of the run that the job resumes; or empty
  std::map<std::string, LibraryPlace> libraries = {};  // by name, without '@'; absolute folders
  std::string rules = {};  // a file of the library kRulesLibrary that checks the plan; empty: none
  EvaluationTask task = PlanTask();

  // How far the recipe is evaluated for the task.
  EvaluationDepth depth() const;

  bool operator==(const RecipeRequest&) const = default;
};

// The same for an evaluator, which opens no file.
struct EvaluationRequest : RecipeRequest {
  std::string recipe_text;
  std::string recipe_dir;  // absolute: the result of muster.here
  bool last = true;        // the evaluator need not wait for another request

  bool operator==(const EvaluationRequest&) const = default;
};

inline EvaluationDepth RecipeRequest::depth() const {
  if (const auto* plan = std::get_if<PlanTask>(&task)) return plan->depth;
  if (std::holds_alternative<JudgeTask>(task)) return EvaluationDepth::kJob;
  return std::holds_alternative<PlanIdsTask>(task) ? EvaluationDepth::kPlan : EvaluationDepth::kParameters;
}

struct ParameterState {
  Parameter parameter;
  std::optional<Value> value;  // none: it must be given
  ParameterOrigin origin = ParameterOrigin::kDefault;
  std::string profile = {};  // kProfile: its name
  Place place = {};          // in an extension or a profile
  bool active = true;        // false: of a variant that is not selected; it has no value

  bool operator==(const ParameterState&) const = default;
};

// An override of a value that the recipe derives, which is no parameter.
struct DerivedOverride {
  std::string name;
  ParameterOrigin origin = ParameterOrigin::kCommandLine;
  bool by_recipe = true;  // by job:derive, so that it can be pinned; else derived from the context
  Place place;            // where it is derived

  bool operator==(const DerivedOverride&) const = default;
};

struct ProfileFacts {
  std::string name;
  Place place;

  bool operator==(const ProfileFacts&) const = default;
};

// What set or removed a variable, by role and variable: for each role's first process, or the requested one.
using Provenance = std::map<std::string, std::map<std::string, VariableSource>>;

// An exact_div call of the plan function: quotient = number / (the product of `by`).
struct Division {
  Place place;
  std::string name;  // of the dividend
  std::int64_t number = 0;
  std::map<std::string, std::int64_t> by;
  std::int64_t quotient = 0;

  bool operator==(const Division&) const = default;
};

// A job:mesh call of the plan function: its axes, the last one varying fastest.
struct MeshMade {
  Place place;
  std::vector<MeshAxis> axes;

  bool operator==(const MeshMade&) const = default;
};

// hosts or devices_per_host, and its source: "default", "recipes/ps.lua:5", "command line", "site".
struct ClusterNumber {
  std::string name;
  std::int64_t value = 0;
  std::string origin;

  bool operator==(const ClusterNumber&) const = default;
};

// The sources of a plan's values, except variables (Provenance).
struct Origins {
  std::map<std::string, Place> derived;  // by name: the job:derive call; without values that muster derives itself
  std::vector<Division> divisions;       // in order; those inside `each` are left out
  std::map<std::string, SettingSource> context;  // "set_context.mode": set for the whole job
  // By role: set by `each` for the process of Provenance.
  std::map<std::string, std::map<std::string, SettingSource>> each_context;
  std::map<std::string, Place> roles;     // where each is described
  std::map<std::string, Place> commands;  // by role: where `each` set that process's command
  std::vector<ClusterNumber> cluster;
  std::vector<MeshMade> meshes;  // in order; those inside `each` are left out

  bool operator==(const Origins&) const = default;
};

// One option of an engine that the recipe sets, not checked yet: slurm = { partition = "gpu" }.
struct EngineField {
  std::string engine;
  std::string name;
  Value value;
  Place place;

  bool operator==(const EngineField&) const = default;
};

// The content of a site file or of an engine's page, not checked yet: its table, and by path ("environment.set") the
// lines of its keys.
struct SiteFileTable {
  Value table;
  std::map<std::string, std::uint32_t> lines;

  bool operator==(const SiteFileTable&) const = default;
};

// What is found out about a recipe, as far as the task needs it.
struct RecipeFindings {
  std::string name;  // of the recipe
  std::string doc;
  std::vector<ParameterState> parameters;
  std::vector<ProfileFacts> profiles;  // all of the recipe, by name
  std::uint32_t hosts = 0;
  std::uint32_t devices_per_host = 0;    // smallest number of any host
  std::map<std::string, Value> derived;  // EvaluationDepth::kDerived: by job:derive
  Provenance provenance;
  Origins origins;
  std::vector<std::string> lockdown;         // lockdown mechanisms in use in the evaluator (evaluator/child.h)
  std::vector<EngineField> engine_settings;  // of the recipe, by engine and name
  LogMetrics metrics;
  std::optional<SiteFileTable> site_file;  // TableTask
  std::optional<SweepDescription> sweep;   // SweepTask
  std::optional<Judgement> judgement;      // JudgeTask
  // PlanIdsTask: from the first point on, as many as were made within a time limit, at least one, or the problems of
  // the first.
  std::vector<std::string> plan_ids;

  bool operator==(const RecipeFindings&) const = default;
};

struct EvaluationAnswer : RecipeFindings {
  std::vector<DerivedOverride> not_settable;  // if any, there is no plan
  std::optional<Plan> plan;                   // folded; none if there are errors, or if less was requested
  Diagnostics diagnostics;
  Place metrics_place;  // where the recipe gives its metrics

  bool operator==(const EvaluationAnswer&) const = default;
};

// Limit for the text of a question; longer names are unknown, and longer lines are cut.
inline constexpr std::size_t kMaxQuestion = 64U << 10;

// A request of the evaluator to its parent. The evaluator opens nothing itself.
struct Question {
  enum class Kind : std::uint8_t {
    kFile,      // content of a file below the recipe's folder
    kExists,    // whether such a file exists (content is empty)
    kVariable,  // a variable of muster's environment
    kPrint,     // a line that the recipe printed; there is no reply
    kOverride,  // content of the file of override number `text`, once its parameter is known
  };
  Kind kind = Kind::kFile;
  std::string text;

  bool WantsReply() const { return kind != Kind::kPrint; }
  bool operator==(const Question&) const = default;
};

// Content, or nothing with an error of one line (empty for an unset variable).
struct Reply {
  bool given = false;
  std::string text;

  bool operator==(const Reply&) const = default;
};

using Ask = std::function<Reply(const Question&)>;

}  // namespace muster
