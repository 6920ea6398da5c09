// How a Plan and its parts cross a process border (wire/archive/archive.h): the evaluator's answer. Enums are checked
// here; everything else that a plan must satisfy is ValidatePlan's (plan_check.h).
#pragma once

#include "muster/plan.h"
#include "wire/archive/activation_archive.h"
#include "wire/archive/archive.h"
#include "wire/archive/value_archive.h"

namespace muster {

template <class A>
void Fields(A& archive, Text& text) {
  archive(text.marked);
}

template <class A>
void Fields(A& archive, StopPolicy& stop) {
  archive(stop.signal, stop.grace_ms, stop.checkpoint_signal, stop.checkpoint_ms);
}

template <class A>
void Fields(A& archive, Readiness& ready) {
  InRange(archive, ready.kind, Readiness::Kind::kDone);
  archive(ready.what, ready.command, ready.every_ms, ready.timeout_ms);
}

template <class A>
void Fields(A& archive, RestartPolicy& restart) {
  archive(restart.max, restart.within_ms);
  InRange(archive, restart.scope, RestartPolicy::Scope::kJob);
  archive(restart.any_failure, restart.success, restart.codes, restart.signals, restart.backoff_ms);
}

template <class A>
void Fields(A& archive, RoleLimits& limits) {
  archive(limits.time_ms, limits.silent_ms, limits.log_bytes);
}

template <class A>
void Fields(A& archive, CoreUse& cores) {
  InRange(archive, cores.kind, CoreUse::Kind::kList);
  archive(cores.count, cores.list);
}

template <class A>
void Fields(A& archive, DeviceUse& use) {
  archive(use.any, use.given, use.shared, use.kind);
}

template <class A>
void Fields(A& archive, Role& role) {
  archive(role.name, role.plays, role.world);
  InRange(archive, role.ending, Ending::kNever);
  archive(role.after, role.ready, role.restart, role.limits, role.cores);
  archive(role.linger_ms, role.stop, role.command, role.shell, role.cwd, role.env, role.unset, role.context);
}

template <class A>
void Fields(A& archive, Process& process) {
  archive(process.role, process.index, process.rank, process.world_size, process.local_rank, process.local_size,
          process.host, process.devices, process.stage, process.rank_in_stage, process.command, process.cwd,
          process.ready_what, process.env, process.context);
}

template <class A>
void Fields(A& archive, PlanHost& host) {
  archive(host.label, host.devices, host.name);
}

template <class A>
void Fields(A& archive, PlanPort& port) {
  archive(port.host, port.number, port.owner);
}

template <class A>
void Fields(A& archive, PlanFile& file) {
  archive(file.content);
}

template <class A>
void Fields(A& archive, SecretSource& secret) {
  archive(secret.from_env, secret.from_file);
}

template <class A>
void Fields(A& archive, CheckpointPlace& place) {
  archive(place.dir, place.latest, place.file, place.complete);
}

template <class A>
void Fields(A& archive, SiteEnvironment& environment) {
  archive(environment.set, environment.unset, environment.pass);
}

template <class A>
void Fields(A& archive, Plan& plan) {
  archive(plan.name, plan.framework, plan.mindspore, plan.accept_release, plan.hosts, plan.device_use, plan.roles,
          plan.processes, plan.ports, plan.files, plan.secrets, plan.checkpoints, plan.site_environment,
          plan.activation, plan.time_limit_ms, plan.start_limit_ms, plan.silent_limit_ms, plan.doc, plan.profiles,
          plan.params, plan.derived, plan.pinned);
}

}  // namespace muster
