// A context: the settings that set_context, set_auto_parallel_context and set_ps_context settled, each with
// where it came from. Checks every call against the schema of one MindSpore release.
//
// Knows no Lua, no process and no file. A call is applied whole or not at all: everything is checked first,
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
#include "muster/result.h"
#include "muster/schema.h"
#include "muster/setting_source.h"
#include "muster/value.h"

namespace muster {

// A file beside the recipe whose content the plan carries.
struct ShippedFile {
  std::string shown;    // its path as diagnostics show it
  std::string content;  // UTF-8 text
};
// By the text with which a plan names it: "${muster:run_dir}/files/speed_up.json".
using ShippedFiles = std::map<std::string, ShippedFile>;

struct Setting {
  Value value;  // what is in force and passed on
  SettingSource source;
  Value given = {};  // the table of the last call, where tables of several calls add up; else null

  bool operator==(const Setting&) const = default;
};

// What a getter gives. `value` is null for a default that only the installed package knows (device_target).
struct Reading {
  Value value;
  SettingSource source;
  Diagnostics warnings;
};

class Context {
 public:
  // The job's context. `schema` must outlive it.
  Context(const Schema& schema, const Release& release);

  // The context of one process (what `each` sets): reads fall through to this one, which must outlive it and
  // must not be set any more while overlays are used.
  Context Overlay() const;
  // Files that attributes may name, checked where they do; must outlive the context and its overlays. Paths that are
  // not among them are taken as they are: they lie on the host.
  void set_files(const ShippedFiles* files) { files_ = files; }

  // One call of a setter. `api` is the setter's name. Returns errors (then nothing was applied) and warnings.
  // Kinds: docs/diagnostics.md. In an overlay, attributes that make no sense per process are refused ("scope").
  Diagnostics Apply(std::string_view api, const Value::Map& arguments, const Place& place);

  // One call of a getter; `api` is still the setter's name. Values read back as the release reports them.
  Result<Reading> Get(std::string_view api, std::string_view name, const Place& place);

  // reset_auto_parallel_context and reset_ps_context, by the setter's name. Refused in an overlay ("scope").
  Diagnostics Reset(std::string_view api, const Place& place);

  // The value in force if somebody set it, here or below; null if nobody did. Follows shared names only if
  // asked by the name that was used.
  const Setting* Find(std::string_view api, std::string_view name) const;
  // Where a secret was given that is not kept (a literal one), here or below; null if none was.
  const Place* FindWithheld(std::string_view api, std::string_view name) const;
  // Whether the last call that was to set it was refused, here or below: what it is nobody knows, and what depends on
  // it is not judged. The other name of a shared value counts.
  bool IsUnsettled(std::string_view api, std::string_view name) const;
  // A call of the function was refused before Apply() was asked; without arguments, nobody knows what it was to set.
  void LeaveUnsettled(std::string_view api, const Value::Map& arguments);
  // Only what this scope set: "set_context.mode" -> 0. This is what a plan carries.
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
  std::map<std::string, Setting> own_;      // "set_context.mode"
  std::map<std::string, Place> withheld_;   // "set_ps_context.client_password"
  std::set<std::string> unsettled_;         // "set_context.mode", or a function
  std::map<std::string, Place> was_reset_;  // function -> where
  std::map<std::string, Place> was_read_;   // attributes that freeze once read
};

// --- what belongs together -------------------------------------------------------------------------

struct ProcessFacts {
  std::string name;                  // "worker.2"
  const Context* context = nullptr;  // its overlay, or null if `each` set nothing
  std::uint32_t rank = 0;
  std::uint32_t local_rank = 0;
  std::optional<std::uint32_t> visible_devices;              // how many devices it can see; nothing: unknown
  std::optional<std::uint32_t> host_devices = std::nullopt;  // how many its host has; nothing: unknown
};

struct JobFacts {
  // Number of processes that play "worker"; schedulers and servers do not count.
  std::uint32_t workers = 0;
  // Where that number comes from: "device_num = 8 is hosts 1 (default) × devices_per_host 8", with places.
  std::vector<Note> workers_notes;
  // The most processes that the job starts on one host, schedulers and servers too, and where that comes from.
  std::uint32_t processes_on_a_host = 0;
  std::vector<Note> processes_notes;
  // The worker processes, by rank.
  std::vector<ProcessFacts> processes;
};

// The checks that need the whole job: device_num, global_rank and device_id against what is really started,
// pipeline_stages against device_num, attributes against parallel_mode, and the schema's rules. Runs once, when the
// plan is made. A diagnostic's last note cites its rule.
Diagnostics CheckTogether(const Context& job, const JobFacts& facts);

// Settings that follow from the job, for display only: they are never put into a context.
struct DerivedSettings {
  Setting device_num;  // set by the recipe, else the number of workers
  std::uint32_t pipeline_stages = 1;
  std::vector<Setting> global_rank;  // one per JobFacts::processes
};
DerivedSettings DeriveSettings(const Context& job, const JobFacts& facts);

}  // namespace muster
