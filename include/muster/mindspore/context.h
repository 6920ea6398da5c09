// A context: the settings made by set_context, set_auto_parallel_context and set_ps_context, each with its source.
// Checks every call against the schema of one MindSpore release.
//
// Independent of Lua, processes and files. A call is applied as a whole or not at all: everything is checked first,
// then device_target, mode and parallel_mode are applied, then the rest by name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "muster/diagnostic.h"
#include "muster/mindspore/schema.h"
#include "muster/result.h"
#include "muster/setting_source.h"
#include "muster/value.h"

namespace muster {

// A file whose content is part of the plan: one beside the recipe, or one that the recipe describes (job:file).
struct ShippedFile {
  std::string shown;     // its path in diagnostics; of a file beside the recipe
  std::string content;   // UTF-8 text
  Place described = {};  // where the recipe describes it: its lines are not the user's
};
// By the text that refers to it in a plan: "${muster:run_dir}/files/speed_up.json".
using ShippedFiles = std::map<std::string, ShippedFile>;

struct Setting {
  Value value;  // the effective value, which is passed on
  SettingSource source;
  Value given = {};  // the table of the last call, if tables of several calls are merged; else null

  bool operator==(const Setting&) const = default;
};

// The result of a getter. `value` is null for a default that only the installed package knows (device_target).
struct Reading {
  Value value;
  SettingSource source;
  Diagnostics warnings;
};

class Context {
 public:
  // The job's context. `schema` must outlive it.
  Context(const Schema& schema, const Release& release);

  // The context of one process (for `each`): reads fall through to this one, which must outlive it and must not be
  // changed while overlays are in use.
  Context Overlay() const;
  // Files that attributes may name, which are checked then; must outlive the context and its overlays. Other paths are
  // not checked: they are on the host.
  void set_files(const ShippedFiles* files) { files_ = files; }

  // A call of a setter. `api` is the setter's name. Returns errors (then nothing was applied) and warnings. Kinds:
  // docs/diagnostics.md. An overlay refuses attributes that make no sense per process ("scope").
  Diagnostics Apply(std::string_view api, const Value::Map& arguments, const Place& place);

  // A call of a getter; `api` is still the setter's name. Values are in the form that the release returns.
  Result<Reading> Get(std::string_view api, std::string_view name, const Place& place);

  // reset_auto_parallel_context and reset_ps_context, by the setter's name. Refused in an overlay ("scope").
  Diagnostics Reset(std::string_view api, const Place& place);

  // The effective value if it was set, here or in the parent; otherwise null. Follows an alias only if `name` is the
  // name that was used.
  const Setting* Find(std::string_view api, std::string_view name) const;
  // Where a secret was given as a literal, which is not stored, here or in the parent; otherwise null.
  const Place* FindWithheld(std::string_view api, std::string_view name) const;
  // Whether the last call that set it was refused, here or in the parent: its value is unknown, and settings that
  // depend on it are not checked. Aliases count.
  bool IsUnsettled(std::string_view api, std::string_view name) const;
  // Whether a function of Schema::calls() has set something, here or in the parent.
  bool HasCalls() const { return has_calls_ || (base_ != nullptr && base_->HasCalls()); }
  // Records that a call was refused before Apply(); without arguments, any attribute of the function may be affected.
  void LeaveUnsettled(std::string_view api, const Value::Map& arguments);
  // Only the settings of this scope: "set_context.mode" -> 0. This is the part for a plan.
  std::map<std::string, Value> Settled() const;
  const std::map<std::string, Setting>& own() const { return own_; }

  const Schema& schema() const { return *schema_; }
  const Release& release() const { return release_; }
  const ShippedFiles* files() const { return files_; }
  bool is_overlay() const { return base_ != nullptr; }

 private:
  const Schema* schema_;
  Release release_;
  const Context* base_ = nullptr;
  const ShippedFiles* files_ = nullptr;
  bool has_calls_ = false;
  std::map<std::string, Setting> own_;      // "set_context.mode"
  std::map<std::string, Place> withheld_;   // "set_ps_context.client_password"
  std::set<std::string> unsettled_;         // "set_context.mode", or a function
  std::map<std::string, Place> was_reset_;  // function -> where
  std::map<std::string, Place> was_read_;   // attributes that cannot be set after being read
};

// --- checks over the whole job ---------------------------------------------------------------------

struct ProcessFacts {
  std::string name;                  // "worker.2"
  const Context* context = nullptr;  // its overlay, or null if `each` set nothing
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  std::optional<std::uint32_t> visible_devices;              // number of visible devices; nothing: unknown
  std::optional<std::uint32_t> host_devices = std::nullopt;  // number of devices of its host; nothing: unknown
  // The device_id by which it gets the device that the plan gives to it alone; nothing: it has none, or several.
  std::optional<std::uint32_t> device = std::nullopt;
};

struct JobFacts {
  // Number of processes in the role "worker" of the contract, without schedulers and servers.
  std::uint32_t workers = 0;
  // The source of that number: "device_num = 8 is hosts 1 (default) × devices_per_host 8", with places.
  std::vector<Note> workers_notes;
  // The largest number of processes on one host, including schedulers and servers, and its source.
  std::uint32_t processes_on_a_host = 0;
  std::vector<Note> processes_notes;
  // Whether the contract hands out devices by device_id, as a rank table does: the framework takes what is set.
  bool devices_by_id = false;
  // The worker processes, by rank.
  std::vector<ProcessFacts> processes;
};

// The checks over the whole job: device_num, global_rank and device_id against the processes, pipeline_stages against
// device_num, attributes against parallel_mode, and the schema's rules. Called once, when the plan is made. A
// diagnostic's last note has the source of its rule.
Diagnostics CheckTogether(const Context& job, const JobFacts& facts);

// Settings derived from the job, for display only: they are never part of a context.
struct DerivedSettings {
  Setting device_num;  // set by the recipe, else the number of workers
  std::uint32_t pipeline_stages = 1;
  std::vector<Setting> global_rank;  // one per JobFacts::processes
};
// The stages that the network is cut into: those of parallel { pipeline = … } where it is set, else pipeline_stages of
// set_auto_parallel_context; at least 1.
std::uint32_t PipelineStages(const Context& job);
DerivedSettings DeriveSettings(const Context& job, const JobFacts& facts);

}  // namespace muster
