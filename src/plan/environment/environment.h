// The environment of a process: who may set what, in which order, and what finally reaches the process.
//
// Pure: the inherited environment is an argument. Setting, setting to nothing and unsetting are three things.
#pragma once

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

// Low to high: a later layer wins. The contract wins over all of the recipe's layers, and may only be
// contradicted with `override`; muster's own variables can not be contradicted at all.
enum class Layer : std::uint8_t {
  kInherited,
  kSite,
  kActivation,
  kDefaults,  // muster's visible defaults: PYTHONUNBUFFERED and the like
  kJob,
  kRole,
  kEach,
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
  // The value is the beginning of a search path: what lower layers say comes after it, behind a ':', and where they
  // say nothing what is inherited. Contradicts nobody.
  bool prepend = false;
};

using LayerVariables = boost::container::flat_map<std::string, LayerVariable>;

struct EnvironmentLayer {
  Layer layer = Layer::kJob;
  std::string owner;         // for messages: "contract mindspore-ps", "role worker"; empty: the layer's name
  LayerVariables variables;  // a key may be a pattern PREFIX* if it is unset
  // What it says was done for the role as a whole: here it only refuses what contradicts it.
  bool settled = false;
};

struct MergedEnvironment {
  Variables set;                                  // without what is the same in `shared`
  std::vector<std::string> absent;                // what of `shared` is not set here, in order
  std::vector<std::string> unset;                 // sorted: NAME or PREFIX*
  std::map<std::string, VariableSource> sources;  // of every key of `set` and `unset`: who decided
};

// Merges layers given in any order. A recipe's layer may not set what the contract sets or clears. Kinds:
// "contract_variable" (names both places), "variable" (a name or value that cannot be in an environment, a pattern that
// is set, unset within kEach: a plan removes variables for whole roles only). All errors are reported. Within one layer
// what is unset goes before what is set, so that a contract may clear RANK_* and set RANK_ID. Without `with_sources`,
// `sources` stays empty: for thousands of processes of which one is asked. `shared` is what is kept elsewhere for all
// of them, so that only differences are copied.
Result<MergedEnvironment> MergeEnvironment(std::span<const EnvironmentLayer* const> layers, bool with_sources = true,
                                           const Variables& shared = {});

// Names: not empty, no '=', no NUL, UTF-8. Values: no NUL, UTF-8.
bool IsVariableName(std::string_view name);
bool IsVariableValue(std::string_view value);
// Whether `pattern` (NAME or PREFIX*) covers `name`.
bool Matches(std::string_view pattern, std::string_view name);

// muster's own variables for a process, documented in docs/environment.md: MUSTER_RUN_ID, MUSTER_PROCESS, …
// with holes for what only a start knows. The process's place in the plan must already be set.
Variables StandardVariables(const Plan& plan, const Process& process);
// The same one by one, in the order of their names; the texts live until `take` returns.
void GiveStandardVariables(const Plan& plan, const Process& process,
                           const std::function<void(std::string_view name, std::string_view text)>& take);
// All names that StandardVariables may give, and MUSTER_CONTEXT_HOLDER, by which a launched Python tells its
// children that the context is its own (docs/python.md): an inherited one never reaches a process.
std::span<const std::string_view> StandardVariableNames();

// What a process receives, as sorted "NAME=value": `inherited` without what the role unsets and without
// StandardVariableNames(), then the role's and the process's variables with their holes filled. Later
// duplicates of `inherited` and entries without '=' are dropped. Kind "binding" if a hole cannot be filled.
Result<std::vector<std::string>> ComposeEnvironment(const std::vector<std::string>& inherited, const Plan& plan,
                                                    const Process& process, const Binding& binding,
                                                    std::uint32_t attempt);
// The same in two parts, so that the first can be sent once for many processes: what all processes of a role
// share, and what one process adds and overrides.
Result<std::vector<std::string>> ComposeRoleEnvironment(const std::vector<std::string>& inherited, const Role& role,
                                                        const Binding& binding, std::uint32_t attempt);
Result<std::vector<std::string>> ComposeOwnEnvironment(const std::vector<std::string>& inherited, const Role& role,
                                                       const Process& process, const Binding& binding,
                                                       std::uint32_t attempt);

}  // namespace muster
