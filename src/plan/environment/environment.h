// The environment of a process: who may set which variable, the precedence of layers, the merge with its origins, and
// its repetition for the other processes of a role. Pure: the inherited environment is an argument. Setting, setting
// to the empty text and unsetting are different.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/binding.h"
#include "muster/plan.h"
#include "muster/result.h"

namespace muster {

// The environment of a process: who may set which variable, the precedence of layers, and the final result.
//
// Pure: the inherited environment is an argument. Setting, setting to the empty text and unsetting are different.

// From low to high precedence. The contract takes precedence over all layers of the recipe and of the command line, and
// may only be contradicted with `override`; muster's own variables cannot be contradicted.
enum class Layer : std::uint8_t {
  kInherited,
  kSite,
  kActivation,
  kDefaults,  // muster's visible defaults, such as PYTHONUNBUFFERED
  kJob,
  kRole,
  kEach,
  kCommandLine,  // --env
  kContract,
  kMuster,
};

// "inherited", "job:env", "role", "each", "contract", …
std::string_view LayerName(Layer layer);

struct VariableSource {
  Layer layer = Layer::kInherited;
  Place place;

  bool operator==(const VariableSource&) const = default;
};

struct LayerVariable {
  std::optional<Text> value;  // nothing: unset
  Place place;
  bool override = false;  // may contradict the contract
  // The value is the beginning of a search path: values of lower layers follow after a ':', or the inherited value if
  // there are none. Conflicts with no other layer.
  bool prepend = false;
};

using LayerVariables = boost::container::flat_map<std::string, LayerVariable>;

struct EnvironmentLayer {
  Layer layer = Layer::kJob;
  std::string owner;         // for messages: "contract mindspore-ps", "role worker"; empty: the layer's name
  LayerVariables variables;  // a key may be a pattern PREFIX* if it is unset
  // The layer was already applied to the role as a whole: here it is only checked for conflicts.
  bool settled = false;
};

struct MergedEnvironment {
  Variables set;                                  // without the variables with equal values in `shared`
  std::vector<std::string> absent;                // variables of `shared` that are not set here, sorted
  std::vector<std::string> unset;                 // sorted: NAME or PREFIX*
  std::map<std::string, VariableSource> sources;  // of every key of `set` and `unset`: the layer that decided
};

// Merges layers given in any order. A recipe's layer may not set a variable that the contract sets or clears. Kinds:
// "contract_variable" (names both places), "variable" (an invalid name or value, a pattern that is set, or an unset
// within kEach: a plan removes variables for whole roles only). All errors are reported. Within one layer variables are
// unset before others are set, so that a contract may clear RANK_* and set RANK_ID. Without `with_sources`, `sources`
// stays empty, which saves time if thousands of processes are merged. `shared` holds variables stored elsewhere for all
// processes, so that only differences are copied.
Result<MergedEnvironment> MergeEnvironment(std::span<const EnvironmentLayer* const> layers, bool with_sources = true,
                                           const Variables& shared = {});

// Names: not empty, no '=', no NUL, UTF-8. Values: no NUL, UTF-8.
bool IsVariableName(std::string_view name);
bool IsVariableValue(std::string_view value);
// Whether `pattern` (NAME or PREFIX*) matches `name`.
bool Matches(std::string_view pattern, std::string_view name);

// muster's own variables for a process, documented in docs/environment.md: MUSTER_RUN_ID, MUSTER_PROCESS, … with
// placeholders for values known only at the start. The process's place in the plan must already be set.
Variables StandardVariables(const Plan& plan, const Process& process);
// Passes the same variables to `take` one by one, sorted by name; the texts live until `take` returns.
void GiveStandardVariables(const Plan& plan, const Process& process,
                           const std::function<void(std::string_view name, std::string_view text)>& take);
// All names that StandardVariables may produce, and MUSTER_CONTEXT_HOLDER, with which a launched Python marks the
// context as its own for its children (docs/python.md). Inherited values of these names never reach a process.
std::span<const std::string_view> StandardVariableNames();

// The environment of a process, as sorted "NAME=value": `inherited` without the variables that the role unsets and
// without StandardVariableNames(), then the role's and the process's variables with their placeholders filled. Later
// duplicates of `inherited` and entries without '=' are dropped. Kind "binding" if a placeholder cannot be filled.
Result<std::vector<std::string>> ComposeEnvironment(const std::vector<std::string>& inherited, const Plan& plan,
                                                    const Process& process, const Binding& binding,
                                                    std::uint32_t attempt);
// The same in two parts, so that the first can be sent once for many processes: variables that all processes of a role
// share, and those that one process adds or overrides.
Result<std::vector<std::string>> ComposeRoleEnvironment(const std::vector<std::string>& inherited, const Role& role,
                                                        const Binding& binding, std::uint32_t attempt);
Result<std::vector<std::string>> ComposeOwnEnvironment(const std::vector<std::string>& inherited, const Role& role,
                                                       const Process& process, const Binding& binding,
                                                       std::uint32_t attempt);

// An environment layer that is refilled for every process of a role. The names usually arrive in the same order, so
// each search begins after the last match, and values overwrite the previous ones.
class RefilledLayer {
 public:
  RefilledLayer() = default;
  explicit RefilledLayer(Layer layer, std::string owner = {}) : layer_{layer, std::move(owner), {}, false} {}

  const EnvironmentLayer& layer() const { return layer_; }

  void Begin();
  // The variable of that name, with its previous content or empty; valid until At or End is called again.
  LayerVariable& At(std::string_view name);
  // The text alone, of a variable that is set and has no other properties.
  std::string& TextAt(std::string_view name);
  // Removes names that were not used since Begin().
  void End();

 private:
  EnvironmentLayer layer_;
  std::vector<std::size_t> order_;  // positions in the layer, in the order of the previous process
  std::size_t next_ = 0;            // into order_, while names arrive in the same order
  bool as_before_ = true;
  std::vector<std::string> arrived_;  // names, once the order differs
};

// Caches decisions when the environments of one role's processes are merged one after the other. Which layer decides a
// variable depends on the names in the layers, and processes of a role differ in values but rarely in names. So the
// decisions of one merge are stored and reused for the next one with the same names.
//
// Contains no merging rules: those are MergeEnvironment's, whose results are cached.
class MergePrecedent {
 public:
  // Like MergeEnvironment without sources; time grows with the number of variables. Between two calls `shared` may lose
  // names, but must not change otherwise.
  Result<MergedEnvironment> Merge(std::span<const EnvironmentLayer* const> layers, const Variables& shared);

 private:
  // What a layer does with one name, without the value.
  struct Use {
    std::string name;
    bool set = false;
    bool override = false;
    bool prepend = false;
  };
  struct LayerShape {
    Layer layer = Layer::kInherited;
    bool settled = false;
    std::vector<Use> uses;
  };
  // A variable of a layer: index of the layer, and position among its sorted names.
  struct Spot {
    std::uint32_t layer = 0;
    std::uint32_t position = 0;
  };
  struct Decision {
    std::string name;
    Spot winner;
    std::optional<Text> joined;  // instead of the winner's value, if several layers contribute to it
    bool shared = false;         // whether `shared` has the name
  };
  // A value that a joined text was made of.
  struct Part {
    Spot spot;
    Text value;
  };

  static const LayerVariable& At(std::span<const EnvironmentLayer* const> layers, const Spot& spot) {
    return layers[spot.layer]->variables.nth(spot.position)->second;
  }
  bool Holds(std::span<const EnvironmentLayer* const> layers, const Variables& shared) const;
  // Nothing if a value is invalid in an environment: then the full merge reports the error.
  std::optional<MergedEnvironment> Follow(std::span<const EnvironmentLayer* const> layers,
                                          const Variables& shared) const;
  void Keep(std::span<const EnvironmentLayer* const> layers, const Variables& shared, const MergedEnvironment& merged);
  bool KeepDecision(std::span<const EnvironmentLayer* const> layers, const std::string& name, const Text& value,
                    Layer decider, bool shared);

  bool kept_ = false;
  std::vector<LayerShape> shapes_;
  std::size_t shared_names_ = 0;
  std::vector<Decision> decisions_;  // by name
  std::vector<Part> parts_;
  std::vector<std::string> unset_;
  std::size_t expected_ = 0;  // number of variables that are not shared
  // If the names change all the time, storing decisions has no benefit.
  std::uint32_t followed_ = 0;
  std::uint32_t kept_in_vain_ = 0;
};

// The environment of one process with the origin of each variable, as shown by `muster plan --env`.

struct ExplainedVariable {
  std::string name;           // for removed variables also PREFIX*
  std::optional<Text> value;  // nothing: removed from the inherited environment
  VariableSource source;

  bool operator==(const ExplainedVariable&) const = default;
};

// Set variables by name, then removed ones by name. `sources` is the result of merging the process's layers; variables
// that it lacks count as muster's own.
std::vector<ExplainedVariable> ExplainEnvironment(const Plan& plan, const Process& process,
                                                  const std::map<std::string, VariableSource>& sources);

// Text for users, one line each: layer, variable, place; preceded by the steps of the plan's activation. Safe for a
// terminal.
std::string ExplainedEnvironmentText(const Plan& plan, const Process& process,
                                     const std::vector<ExplainedVariable>& variables);

}  // namespace muster
