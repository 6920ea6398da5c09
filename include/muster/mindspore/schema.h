// The schema: the parameters of MindSpore's context functions, as records. One Attribute is one attribute of one
// function over a range of releases; every property for checks is a field, so that a new attribute or a new release is
// a record in lua/muster/schema/ and not a line of C++.
//
// Independent of set values (see context.h), Lua and files: records arrive as plain Values.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/result.h"
#include "muster/value.h"

namespace muster {

// A MindSpore release, ordered: 2.3.0-rc2 comes before 2.3.0.
struct Release {
  static constexpr std::uint32_t kFinal = 0xffffffffU;

  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t patch = 0;
  std::uint32_t candidate = kFinal;  // N of "-rcN"

  auto operator<=>(const Release&) const = default;
};

// "1.6", "1.6.2", "2.3.0-rc2"; a missing patch is 0. Nothing if the text is invalid.
std::optional<Release> ParseRelease(std::string_view text);
// "1.6.2", "2.3.0-rc2": the inverse of ParseRelease.
std::string ReleaseText(const Release& release);

enum class Kind : std::uint8_t {
  kBool,
  kInt,    // a whole number; never a bool
  kFloat,  // any number
  kString,
  kEnum,  // a string from `choices`
  kSize,  // memory as "3.5GB" (MindSpore's GB is 2^30 bytes); a plain number is bytes, at least 2^20, and is converted
  kPath,  // a non-blank string
  kListInt,
  kTuple,     // a list of lists of whole numbers
  kDict,      // a table with the sub-keys `keys`
  kTextMap,   // a table with arbitrary names, each with a text (from `choices`, if there are any)
  kWords,     // a text: words out of `choices`, separated by commas without blanks
  kListText,  // a list of texts
  kListMap,   // a table of free names, each with a list of texts, or of whole numbers if `min` is given
  kLayouts,   // a list of layouts: tables with the sub-keys `keys`, those of MindSpore's Layout
              // (settings/check/check_table.h)
  kAxes,      // a list of names of axes, or of lists of these
  kAny,
};

// "bool", "int", …: the name in records and messages.
std::string_view KindName(Kind kind);

// How a stored value reads back (MindSpore's get_context does not always return what was set).
enum class ReadBack : std::uint8_t {
  kAsStored,
  kGigabytes,    // "3.5GB" reads 3.5
  kByteProduct,  // "5GB" reads "5 * 1024 * 1024 * 1024"
  kText,         // true reads "1", 3 reads "3"
  kJson,         // a table reads as JSON text
  kDefault,      // the default, whatever was set
  kNever,        // reading is an error
};

// Whether MindSpore itself lets the attribute be set again within one process.
enum class Freeze : std::uint8_t { kNever, kOnceSet, kOnceRead };

// The source of a rule: a document, MindSpore's own behaviour, or both.
struct RuleSource {
  std::string document;   // "API page of 1.6"; may be empty
  std::string behaviour;  // of MindSpore: "fails when a graph is compiled"; may be empty

  bool operator==(const RuleSource&) const = default;
};

// Where the value of a deprecated attribute goes: the argument of a function that replaces it.
struct Move {
  std::string function;   // "runtime.set_memory"; empty: no function replaces the attribute
  std::string parameter;  // empty: the only one of the function, or the call itself (kCalled)
  // By value (as text): the argument, where it is another one. Without parameters false is no call.
  std::map<std::string, Value> values;
  bool literals = false;  // the function accepts fewer values
  bool pynative = false;  // the same meaning in PYNATIVE_MODE only
  std::string differs;    // why the meaning is never the same; empty: it is

  bool operator==(const Move&) const = default;
};

struct Attribute {
  std::string api;  // "set_context", "set_auto_parallel_context" or "set_ps_context"; empty for sub-keys
  std::string name;
  std::vector<Kind> kinds;  // at least one; the value must match one of them

  // Limits for the value. For lists `min` and `max` apply to every element; for sizes they count GB.
  std::optional<double> min;
  std::optional<double> max;
  std::optional<double> above;             // strictly greater
  std::optional<double> documented_max;    // larger values give a warning
  std::optional<double> no_effect_up_to;   // MindSpore ignores numbers up to this: a warning
  std::vector<Value> also;                 // accepted values outside the range
  bool whole = false;                      // sizes: a whole number of GB
  bool ascending = false;                  // lists: strictly ascending, hence no duplicates
  bool not_empty = false;                  // strings, lists, tables
  bool null = false;                       // an explicit null is accepted
  std::vector<Value> choices;              // exact and case-sensitive
  std::map<std::string, Value> aliases;    // alternative spelling -> stored value
  std::map<std::string, Value> constants;  // names of values in the documents, for messages: GRAPH_MODE -> 0
  std::vector<Attribute> keys;             // sub-keys of a table, or of each layout
  std::string keys_of;                     // "function.attribute" whose sub-keys these are, in the first release
  bool required = false;                   // sub-keys: must be present
  bool always = false;                     // parameters of calls: a call that leaves it out settles its default
  std::map<std::string, Value> when;       // sub-keys: the record applies if these siblings have these values
  // Sub-keys, by value (as text): siblings that must exist and have these values, or that must have these values if
  // they exist. { gpipe = { pipeline_interleave = true } }
  std::map<std::string, Value> needs;
  std::map<std::string, Value> fits;
  bool adds_up = false;  // tables: sub-keys from an earlier call stay in effect

  Value default_value;                      // in a fresh process, in the form of a setter's argument
  std::map<std::string, Value> default_on;  // instead, on these device targets
  std::string default_text;                 // instead, if it is not constant: "the device of the installed package"
  ReadBack reads = ReadBack::kAsStored;
  std::map<std::string, Value> read_values;  // stored value (as text) -> value read back: true -> 2
  std::vector<std::string> read_keys;        // tables: the sub-keys that are read back, with defaults
  bool own_name = false;                     // sub-keys: the getter also accepts their own name
  // An alias of the same value: for a sub-key the attribute, for an attribute "table.sub-key".
  std::string same_as;
  // Parameters of calls and their sub-keys: the "function.attribute" that the call overrides if both are set.
  std::string replaces;
  std::string passed_as;     // parameters of calls: MindSpore's own name, if it is another one
  std::string tells_if_set;  // read-only: whether this attribute was set

  // The releases and devices that have it. `until` is inclusive.
  Release since;
  std::optional<Release> until;
  std::vector<std::string> devices;   // documented device targets; empty: all. On others: a warning
  std::vector<std::string> enforced;  // the only device targets on which MindSpore applies it; empty: all

  // Dependencies on other settings (checked at the call or by CheckTogether, see context.h).
  std::vector<Value> pynative;                // if not empty: in PYNATIVE_MODE the value must be one of these
  std::vector<std::string> carried_modes;     // of `mode`: parallel modes allowed when entering PYNATIVE_MODE
  bool needs_pynative = false;                // in GRAPH_MODE MindSpore warns and stores nothing …
  std::map<std::string, Value> graph_with;    // … unless "attribute.sub-key" has one of these values …
  std::string graph_env;                      // … or this variable is 1 in the environment of the process
  std::vector<std::string> modes;             // parallel modes that accept other values than the default; others: error
  std::vector<std::string> modes_documented;  // the same according to the documents only: warning
  std::string divides;                        // the attribute that this must divide; of a sub-key: a rule's path
  std::string below;                          // the attribute that this must be less than
  // One value with two names: setting one replaces the other. `shared_values` translates this attribute's value (as
  // text) into the other's; empty: the same value.
  std::string shares;
  std::map<std::string, Value> shared_values;
  // Option texts, "--opt_level=2 --dump_as_text": the documented options with their values ("" is the option without a
  // value). MindSpore ignores invalid ones, so they give a warning.
  std::map<std::string, Value> flags;
  // The sources of these rules, by the field of the rule ("modes"), or by name for a rule that is code.
  std::map<std::string, RuleSource> sources;

  // Paths and ports.
  std::string file;        // the path names JSON of this kind (Schema::FindFile), checked if the recipe ships it
  std::string auto_port;   // accepts "auto" for the plan's port of this name, and a port's placeholder
  std::string writes;      // "folder" or "file": what every process writes at this path …
  std::string written_if;  // … if this attribute of the same function is enabled; empty: if the path is set
  // MindSpore adds "rank_N" below the path; N is this variable of the process's environment, 0 without it.
  std::string rank_from;
  // Texts: must begin with "/"; letters, digits and these characters only; longest name between two "/"; the end.
  bool absolute = false;
  std::string characters;
  std::optional<double> name_max;
  std::string suffix;  // must end with it
  // Files: MindSpore only warns about errors here and uses the default, or ignores unknown sub-keys.
  bool only_warns = false;
  bool ignores_unknown = false;

  Freeze freezes = Freeze::kNever;
  bool reset_first = false;      // the documents advise to call the function's reset before setting another value
  bool per_process = true;       // may be set inside `each`
  bool secret = false;           // never shown, never stored as a literal
  bool undocumented = false;     // works, with a warning
  bool documented_only = false;  // documented, but MindSpore does not have it
  bool deprecated = false;       // works, with a warning
  bool withdrawn = false;        // accepted and ignored, with a warning
  bool kept_on_reset = false;    // the function's reset leaves it alone
  std::string successor;         // of a deprecated or withdrawn attribute, or the one to read instead
  Move moved;                    // of a deprecated one: the function behind `successor`

  std::string group;  // of the documents: "system", "debug", "execution", …
  std::string area;   // of the programming guide of 1.0: "mode", "hardware", "distributed", "maintenance"
  std::string doc;    // one line
  std::string rule;   // the source of the rule if documents and behaviour disagree

  bool operator==(const Attribute&) const = default;

  bool ExistsIn(const Release& release) const { return since <= release && (!until || release <= *until); }
  bool Is(Kind kind) const;
};

// Creates the attributes of one record: one, plus one for each release in its `changed` table (whose fields apply from
// that release on). A record is a map whose "1" is the name; unknown fields, wrong types and contradictions are errors
// of kind "schema" at `place`.
Result<std::vector<Attribute>> AttributesFromValue(std::string_view api, const Value& record, const Place& place);

// A function that is called with parameters of its own: mindspore.set_device, mindspore.runtime.set_memory. Its
// parameters are attributes of the schema under the function's name.
struct Function {
  enum class Repeats : std::uint8_t { kFree, kSame, kOnce };

  std::string name;                     // as below the module mindspore: "runtime.set_memory"
  std::vector<std::string> parameters;  // in the order of the call
  Repeats repeats = Repeats::kOnce;     // kSame: again with equal values only
  std::vector<std::string> devices;     // elsewhere a call logs an error and does nothing; empty: all
  bool by_name = false;                 // takes one table of names, never values by position
  Release since;
  std::string doc;  // one line

  bool operator==(const Function&) const = default;
};

// The one "parameter" under which the call of a function without parameters is settled: true.
constexpr std::string_view kCalled = "called";

// The parameter of the function that the move names; empty if it names none of several.
std::string ParameterOf(const Move& move, const Function& function);

// A condition on one effective value. An unknown value (a default that only the installed package knows, an attribute
// that the release lacks) satisfies only `set = false`.
struct Condition {
  std::vector<Value> one_of;   // it is one of these
  std::vector<Value> none_of;  // it is known, and not one of these
  std::optional<double> above;
  std::string above_value_of;  // it is greater than the value at this path
  std::optional<bool> set;     // whether the recipe set it

  bool operator==(const Condition&) const = default;
};

// A rule between settings, checked once the job is known. Values are named by paths: "set_context.jit_config.jit_level"
// is a sub-key, "set_context.graph_kernel_flags.opt_level" an option in an option text, "job.workers" and
// "job.processes_on_a_host" are facts about the job.
struct Rule {
  std::string name;
  std::string kind;                         // of its diagnostics
  bool refused = false;                     // MindSpore fails: an error; else a warning
  std::string about;                        // the setting to report; for a function alone: the first setting of it
  std::map<std::string, Condition> when;    // all of these by path …
  std::map<std::string, Condition> unless;  // … and none of these
  // In a record a path is given in full or by its end: {parallel_mode}. {PATH} becomes "name = value" (for a fact: its
  // value), {PATH × PATH} the product, {release} "MindSpore 1.6.2".
  std::string says;
  std::string hint;
  Release since;
  std::optional<Release> until;  // inclusive
  RuleSource source;

  bool operator==(const Rule&) const = default;

  bool HoldsIn(const Release& release) const { return since <= release && (!until || release <= *until); }
};

// Kind "schema" for unknown fields, wrong types, and an error without a behaviour of MindSpore as its source.
Result<Rule> RuleFromValue(const Value& record, const Place& place);

struct ReleaseFacts {
  Release release;
  std::string short_name;  // "1.6": an alias of the newest of its line; may be empty
  bool described = false;  // whether the schema holds this release's attributes
  std::string doc;
  std::string described_from;  // what its records were taken from, if not from the release itself

  bool operator==(const ReleaseFacts&) const = default;
};

class Schema {
 public:
  // Lists of records: { "1.6.2", short = "1.6", described = true, doc = … } and those of AttributesFromValue. Adds
  // valid records and reports the others.
  Diagnostics AddReleases(const Value& records, const Place& place);
  Diagnostics Add(std::string_view api, const Value& records, const Place& place);
  // The same for the JSON files that attributes name: each record is a dict, its keys those of the file.
  Diagnostics AddFiles(const Value& records, const Place& place);
  // Functions with parameters: { "runtime.set_memory", parameters = { … }, repeats = "once", … }. They come after the
  // attributes: one that moved to another function or parameter than these is refused.
  Diagnostics AddFunctions(const Value& records, const Place& place);
  // Rules come after the attributes: one that names an attribute of no release is refused.
  Diagnostics AddRules(const Value& records, const Place& place);

  // The release with that full or short name. Kind "release": unknown, or known but not described.
  Result<Release> FindRelease(std::string_view text, const Place& place) const;

  // Null if the function has no such attribute in that release. Pointers stay valid until something is added.
  const Attribute* Find(std::string_view api, std::string_view name, const Release& release) const;
  const Attribute* FindFile(std::string_view name, const Release& release) const;
  // In any release: the record nearest to the requested one, for "only since 2.3" or "until 1.6".
  const Attribute* FindInAnyRelease(std::string_view api, std::string_view name, const Release& release) const;
  // Names of the attributes in that release, sorted.
  std::vector<std::string> Names(std::string_view api, const Release& release) const;
  // Another function that has an attribute of that name in that release.
  std::optional<std::string> OtherFunctionWith(std::string_view api, std::string_view name,
                                               const Release& release) const;

  bool Knows(std::string_view api) const;
  // Whether the function exists in that release, and the release that introduced it (nothing if it does not
  // exist).
  bool Knows(std::string_view api, const Release& release) const;
  std::optional<Release> FirstRelease(std::string_view api) const;

  // A sub-key that the getter of `api` accepts by its own name in that release, and its table.
  struct OwnName {
    const Attribute* table = nullptr;
    const Attribute* key = nullptr;
  };
  std::optional<OwnName> FindOwnName(std::string_view api, std::string_view name, const Release& release) const;

  // For a name of the context module that stands for a value ("GRAPH_MODE", "ParallelMode.AUTO_PARALLEL") or for a
  // group of values ("ParallelMode"): the error of kind "release" if that release lacks it. Nothing if it has it, and
  // nothing if no release has it.
  std::optional<Diagnostic> MissingConstant(std::string_view name, const Release& release, const Place& place) const;

  std::vector<std::string> Functions() const;  // "set_auto_parallel_context", "set_context", …
  // The functions with parameters, by name; null if there is no such function.
  const std::map<std::string, Function, std::less<>>& calls() const { return calls_; }
  const Function* FindCall(std::string_view name) const;
  const std::vector<ReleaseFacts>& releases() const { return releases_; }

  // "MindSpore 2.7.0 is described from its release candidate of …", or "" for a release described from itself.
  std::string ReservationAbout(const Release& release) const;
  const std::vector<Rule>& rules() const { return rules_; }
  // All attributes of a function by name, each with its releases in order: for documentation.
  using ByName = std::map<std::string, std::vector<Attribute>, std::less<>>;
  const ByName& attributes(std::string_view api) const;
  // The same of the JSON files that attributes name.
  const ByName& files() const { return files_; }

  bool operator==(const Schema&) const = default;

 private:
  template <class A>
  friend void Fields(A& archive, Schema& schema);  // settings/schema/schema_records.cc

  std::vector<ReleaseFacts> releases_;
  std::vector<Rule> rules_;
  std::map<std::string, ByName, std::less<>> functions_;  // including those of calls_
  std::map<std::string, Function, std::less<>> calls_;
  ByName files_;
};

}  // namespace muster
