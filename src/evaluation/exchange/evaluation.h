// What an evaluation is asked and what it answers: plain values, so that they can cross a process border
// (evaluation_archive.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluation/exchange/judgement.h"
#include "muster/diagnostic.h"
#include "muster/plan.h"
#include "muster/setting_source.h"
#include "muster/site.h"
#include "plan/environment/environment.h"
#include "plan/hosts/topology.h"
#include "settings/parameters/parameter.h"
#include "tl/expected.hpp"

namespace muster {

// One word of an override: name=text, name:=json, name@=file, --unset name; or a value that an extension or a profile
// of the recipe gives to a parameter.
struct Override {
  enum class Kind : std::uint8_t { kText, kValue, kFile, kUnset };
  Kind kind = Kind::kText;
  std::string name;
  // kText: a string. kFile: the file's content; it stays with the parent until a parameter asks for it, and a
  // secret never does.
  Value value;
  std::string file;  // kFile: absolute path
  ParameterOrigin origin = ParameterOrigin::kCommandLine;
  std::string profile;  // kProfile: which
  Place place;          // kExtension, kProfile: in the recipe

  bool operator==(const Override&) const = default;
};

// What a point of a sweep says of a parameter.
inline Override PointOverride(std::string name, Value value) {
  Override override;
  override.kind = Override::Kind::kValue;
  override.name = std::move(name);
  override.value = std::move(value);
  override.origin = ParameterOrigin::kSweep;
  return override;
}

// A folder of recipes and modules that recipes name with an '@' before its name: muster.load "@acme/gpt".
struct LibraryPlace {
  std::string folder;       // where its files are read
  std::string beside = {};  // what muster.here names; empty: the same. A run that is made again reads what it stored.

  bool operator==(const LibraryPlace&) const = default;
};

// What the site's rules are kept under, among the libraries.
inline constexpr char kRulesLibrary[] = "rules";

// How far a recipe is evaluated.
enum class EvaluationDepth : std::uint8_t {
  kParameters,  // they are settled; the plan function is not called
  kDerived,     // the plan function has run; the values that it derived are the answer, and no problems are told
  // The plan function has run, with all that it checks; roles are described, and no process is laid out. The plan of
  // the answer has the hosts, parameters and derived values alone.
  kJob,
  kPlan,
};

struct EvaluationRequest {
  std::string recipe_file;  // as the user wrote it: what diagnostics show
  std::string recipe_text;
  std::string recipe_dir;             // absolute: what muster.here gives
  std::vector<Override> overrides;    // from outside the recipe
  std::vector<std::string> profiles;  // of the recipe, the later ones stronger
  std::vector<Override> pins;         // derived values that are forced; kText or kValue
  std::vector<std::string> args;      // the words after --
  Site site;
  DeviceUse devices;      // what the command line says of them; its kind is the recipe's to say
  std::string mindspore;  // a release to check against instead of the recipe's own, if that names any; or empty
  std::string resumed;    // id of the run that the job goes on with; or empty
  EvaluationDepth depth = EvaluationDepth::kPlan;
  // "worker:2", the rank, or the number in a role without ranks: the process of its role whose variables' sources the
  // answer has; else, the role's first one.
  std::string explain = {};
  std::map<std::string, LibraryPlace> libraries = {};  // by name, without '@'; absolute folders
  std::string rules = {};  // a file of the library kRulesLibrary that judges the plan; empty: there is none
  bool site_file = false;  // what is evaluated is no recipe: it is a site file, and the answer has what it says
  // The sweep that the file describes is the answer; of a file that describes none, one over `words`.
  bool describe_sweep = false;
  // A space of the command line: its axes are choices of one text each, as ReadAxisText takes it.
  std::optional<Space> words = {};
  std::optional<JudgeTask> judge = {};  // points are judged; there is no plan
  // A plan is made for each of these, one after the other, on top of `overrides`: the answer has their ids.
  std::vector<Point> points = {};
  bool last = true;  // the evaluator need not wait for another request

  bool operator==(const EvaluationRequest&) const = default;
};

struct ParameterState {
  Parameter parameter;
  std::optional<Value> value;  // none: it has to be given
  ParameterOrigin origin = ParameterOrigin::kDefault;
  std::string profile = {};  // kProfile: which
  Place place = {};          // where an extension or a profile says so
  bool active = true;        // false: of a variant that is not chosen; it has no value

  bool operator==(const ParameterState&) const = default;
};

// An override of something that the recipe derives, which is no parameter.
struct DerivedOverride {
  std::string name;
  ParameterOrigin origin = ParameterOrigin::kCommandLine;
  bool by_recipe = true;  // job:derive gave it, so that it can be pinned; else, it follows from the context
  Place place;            // where it is derived

  bool operator==(const DerivedOverride&) const = default;
};

struct ProfileFacts {
  std::string name;
  Place place;

  bool operator==(const ProfileFacts&) const = default;
};

// Who set or removed a variable, by role and variable: of each role's first process, or the one that was asked for.
using Provenance = std::map<std::string, std::map<std::string, VariableSource>>;

// An exact_div of the plan function: quotient = number / (the product of `by`).
struct Division {
  Place place;
  std::string name;  // of what was divided
  std::int64_t number = 0;
  std::map<std::string, std::int64_t> by;
  std::int64_t quotient = 0;

  bool operator==(const Division&) const = default;
};

// A job:mesh of the plan function: its axes, the last one varying fastest.
struct MeshMade {
  Place place;
  std::vector<MeshAxis> axes;

  bool operator==(const MeshMade&) const = default;
};

// hosts or devices_per_host, and who said it: "default", "recipes/ps.lua:5", "command line", "site".
struct ClusterNumber {
  std::string name;
  std::int64_t value = 0;
  std::string origin;

  bool operator==(const ClusterNumber&) const = default;
};

// Where what a plan holds was said, variables apart (Provenance).
struct Origins {
  std::map<std::string, Place> derived;  // by name: the job:derive that gave it; values of muster's own are not here
  std::vector<Division> divisions;       // in order; those inside `each` are left out
  std::map<std::string, SettingSource> context;  // "set_context.mode": set for the whole job
  // By role: set by `each` of the process that Provenance is of.
  std::map<std::string, std::map<std::string, SettingSource>> each_context;
  std::map<std::string, Place> roles;     // where each is described
  std::map<std::string, Place> commands;  // by role: where that process's command was set by `each`
  std::vector<ClusterNumber> cluster;
  std::vector<MeshMade> meshes;  // in order; those inside `each` are left out

  bool operator==(const Origins&) const = default;
};

// What a site file says, not checked yet: its table, and by path ("environment.set") the lines of its keys.
struct SiteFileTable {
  Value table;
  std::map<std::string, std::uint32_t> lines;

  bool operator==(const SiteFileTable&) const = default;
};

struct EvaluationAnswer {
  std::string name;  // of the recipe
  std::string doc;
  std::vector<ParameterState> parameters;
  std::vector<ProfileFacts> profiles;  // that the recipe has, by name
  std::uint32_t hosts = 0;
  std::uint32_t devices_per_host = 0;         // of the host with the fewest
  std::map<std::string, Value> derived;       // by job:derive
  std::vector<DerivedOverride> not_settable;  // then there is no plan
  std::optional<Plan> plan;  // folded; none if there are errors, or if only the parameters were asked for
  Provenance provenance;
  Origins origins;
  Diagnostics diagnostics;
  std::vector<std::string> lockdown;       // what the evaluator had locked itself down by (evaluator/lockdown.h)
  std::optional<SiteFileTable> site_file;  // if that was asked for, and there are no errors
  std::optional<SweepDescription> sweep;   // the same
  std::optional<Judgement> judgement;      // the same
  // Of EvaluationRequest::points, from the first on: as many as were made in a while, and one at least, or what is
  // wrong with the first.
  std::vector<std::string> plan_ids;

  bool operator==(const EvaluationAnswer&) const = default;
};

// Bytes of a question's text; longer names name nothing, and longer lines are cut.
inline constexpr std::size_t kLongestQuestion = 64U << 10;

// What the evaluation may ask of the outside. It opens nothing itself.
struct Question {
  enum class Kind : std::uint8_t {
    kFile,      // content of a file below the recipe's folder
    kExists,    // whether there is one (content is empty)
    kVariable,  // a variable of muster's environment
    kPrint,     // a line that the recipe printed; told, not asked: nobody waits for a reply
    kOverride,  // content of the file of override number `text`; asked for once its parameter is known
  };
  Kind kind = Kind::kFile;
  std::string text;

  bool WantsReply() const { return kind != Kind::kPrint; }
  bool operator==(const Question&) const = default;
};

// Content, or nothing with one line that says why (empty for an unset variable).
struct Reply {
  bool given = false;
  std::string text;

  bool operator==(const Reply&) const = default;
};

using Ask = std::function<Reply(const Question&)>;

}  // namespace muster
