// The fields of a plan and its parts: each is described once, for the evaluator's answer (wire/archive/archive.h), for
// the plan's JSON in both directions (plan/text/plan_json.h) and for the comparison of processes
// (plan/text/plan_diff.h).
//
// A field without a name is only in the archive: JSON repeats values shared by processes in each of them, which
// plan_json.cc computes. The canonical text is not described here, because its lines state several fields in words
// (plan_text.cc). Fields have no bounds of their own: the size of the whole answer is limited, and ValidatePlan
// (plan_check.h) checks the plan.
#pragma once

#include "muster/plan.h"
#include "plan/plan/roles.h"
#include "wire/archive/archive.h"
#include "wire/archive/value_archive.h"

namespace muster {

struct NameOfRole {};  // one or several indices that JSON writes as role names
struct NameOfHost {};  // … as host labels
struct OnePerLine {};  // a list that the plan's JSON writes with one element per line

inline bool IsNone(const RestartPolicy& restart) { return restart.max == 0; }
inline bool IsNone(const Container& container) { return container.image.marked.empty(); }
inline bool IsNone(const CheckpointPlace& place) { return place.dir.marked.empty(); }

template <class V>
void Fields(V& v, Text& text) {
  v(text.marked);
}

template <class V>
void Fields(V& v, StopPolicy& stop) {
  v("signal", stop.signal), v("grace_ms", stop.grace_ms);
  v("checkpoint_signal", As<UnlessNone>(stop.checkpoint_signal));
  v("checkpoint_ms", OnlyIf(!stop.checkpoint_signal.empty(), stop.checkpoint_ms));
}

template <class V>
void Fields(V& v, Readiness& ready) {
  v("kind", WithNames(ready.kind, kReadinessNames)), v("what", ready.what), v("command", ready.command);
  v("every_ms", ready.every_ms), v("timeout_ms", ready.timeout_ms);
}

template <class V>
void Fields(V& v, RestartPolicy& restart) {
  v("max", restart.max), v("within_ms", restart.within_ms), v("scope", WithNames(restart.scope, kRestartScopeNames));
  v("any_failure", restart.any_failure), v("success", restart.success);
  v("codes", restart.codes), v("signals", restart.signals), v("backoff_ms", restart.backoff_ms);
  v("verdict", As<UnlessNone>(restart.verdict));
}

template <class V>
void Fields(V& v, RoleLimits& limits) {
  v("time_ms", limits.time_ms), v("silent_ms", limits.silent_ms), v("log_bytes", As<UnlessNone>(limits.log_bytes));
}

// JSON has a word, a number or a list instead of an object (plan_json.cc).
template <class V>
void Fields(V& v, CoreUse& cores) {
  InRange(v, cores.kind, CoreUse::Kind::kList);
  v(cores.count, cores.list);
}

template <class V>
void Fields(V& v, DeviceUse& use) {
  v("any", use.any), v("given", use.given), v("shared", use.shared), v("kind", use.kind);
}

template <class V>
void Fields(V& v, ContainerRuntime& runtime) {
  v("name", runtime.name), v("run", runtime.run), v("script", As<UnlessNone>(runtime.script));
  v("mount", runtime.mount), v("variable", runtime.variable);
  v("variable_prefix", As<UnlessNone>(runtime.variable_prefix)), v("value", As<UnlessNone>(runtime.value));
  v("own", As<UnlessNone>(runtime.own)), v("devices", As<UnlessNone>(runtime.devices));
  v("descriptors", As<UnlessNone>(runtime.descriptors)), v("output", As<UnlessNone>(runtime.output));
  v("terminal", As<UnlessNone>(runtime.terminal)), v("remove", As<UnlessNone>(runtime.remove));
  v("exit_codes", As<UnlessNone>(runtime.exit_codes));
}

template <class V>
void Fields(V& v, ContainerMount& mount) {
  v("source", mount.source), v("target", mount.target), v("read_only", As<UnlessNone>(mount.read_only));
}

template <class V>
void Fields(V& v, Container& container) {
  v("image", container.image), v("mounts", As<UnlessNone>(container.mounts));
  v("options", As<UnlessNone>(container.options)), v("runtime", container.runtime);
}

template <class V>
void Fields(V& v, Role& role) {
  v("name", role.name), v("plays", role.plays), v("world", role.world);
  v("ending", WithNames(role.ending, kEndingNames)), v("linger_ms", role.linger_ms), v("stop", role.stop);
  v("after", As<NameOfRole>(role.after));
  v("ready", As<NullIfNone>(role.ready)), v("restart", As<NullIfNone>(role.restart));
  v("limits", role.limits), v("cores", MayBeMissing(role.cores));
  v("container", As<UnlessNone>(role.container));
  v("shell", role.shell), v("unset", role.unset);
  v(role.command, role.cwd, role.env, role.context);
}

template <class V>
void Fields(V& v, Process& process) {
  v("role", As<NameOfRole>(process.role)), v("index", process.index);
  v("rank", process.rank), v("world_size", process.world_size);
  v("local_rank", process.local_rank), v("local_size", process.local_size);
  v("host", As<NameOfHost>(process.host)), v("devices", process.devices);
  v("stage", process.stage), v("rank_in_stage", process.rank_in_stage);
  v(process.command, process.cwd, process.ready_what, process.env, process.context);
}

template <class V>
void Fields(V& v, PlanHost& host) {
  v("label", host.label), v("devices", host.devices), v("name", As<UnlessNone>(host.name));
}

template <class V>
void Fields(V& v, PlanPort& port) {
  v("host", As<NameOfHost>(port.host)), v("number", port.number), v("owner", port.owner);
}

template <class V>
void Fields(V& v, PlanFile& file) {
  v("content", file.content);
}

template <class V>
void Fields(V& v, SecretSource& secret) {
  v("from_env", secret.from_env), v("from_file", secret.from_file);
}

template <class V>
void Fields(V& v, LogMetrics& metrics) {
  v("patterns", metrics.patterns), v("role", metrics.role);
}

template <class V>
void Fields(V& v, Notification& notification) {
  v("command", As<UnlessNone>(notification.command)), v("webhook", As<UnlessNone>(notification.webhook));
  v("env", As<UnlessNone>(notification.env)), v("secrets", As<UnlessNone>(notification.secrets));
  v("on", notification.on), v("source", notification.source);
}

template <class V>
void Fields(V& v, CheckpointPlace& place) {
  v("dir", place.dir), v("latest", place.latest), v("file", place.file), v("complete", place.complete);
}

template <class V>
void Fields(V& v, SiteEnvironment& environment) {
  v("set", environment.set), v("unset", environment.unset), v("pass", environment.pass);
}

template <class V>
void Fields(V& v, Plan& plan) {
  v("name", plan.name), v("doc", plan.doc), v("framework", plan.framework);
  v("contract", As<UnlessNone>(plan.contract)), v("mindspore", plan.mindspore);
  v("accept_release", MayBeMissing(plan.accept_release));
  v("time_limit_ms", plan.time_limit_ms), v("start_limit_ms", plan.start_limit_ms);
  v("silent_limit_ms", plan.silent_limit_ms);
  v("hosts", As<OnePerLine>(plan.hosts)), v("device_use", MayBeMissing(plan.device_use));
  v("roles", As<OnePerLine>(plan.roles)), v("processes", As<OnePerLine>(plan.processes));
  v("ports", plan.ports), v("files", plan.files), v("secrets", plan.secrets);
  v("checkpoints", As<UnlessNone>(plan.checkpoints));
  v("site_environment", As<UnlessNone>(plan.site_environment));
  v("activation", MayBeMissing(plan.activation));
  v("params", plan.params), v("derived", plan.derived);
  v("profiles", As<UnlessNone>(plan.profiles)), v("pinned", As<UnlessNone>(plan.pinned));
  v("notifications", As<UnlessNone>(plan.notifications));
  v("metrics", As<UnlessNone>(plan.metrics));
}

}  // namespace muster
