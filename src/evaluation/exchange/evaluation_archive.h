// Serialisation of requests, results and questions for the evaluator process (wire/archive/archive.h).
#pragma once

#include <algorithm>
#include <iterator>

#include "evaluation/exchange/evaluation.h"
#include "plan/plan/plan_fields.h"
#include "space/sweep_fields.h"
#include "wire/archive/value_archive.h"

namespace muster {

// The fields of judgements for the archive (wire/archive/archive.h).

template <class A>
void Fields(A& archive, JudgeRequest& request) {
  InRange(archive, request.what, JudgeRequest::What::kLayouts);
  archive(request.first, request.count, request.each, request.points);
}

template <class A>
void Fields(A& archive, PointNumbers& range) {
  archive(range.first, range.count);
}

template <class A>
void Fields(A& archive, RefusedPoints& refused) {
  archive(refused.problem, refused.example, refused.points, refused.ranges);
}

template <class A>
void Fields(A& archive, PossiblePoints& possible) {
  archive(possible.hosts, possible.devices, possible.points, possible.ranges);
}

template <class A>
void Fields(A& archive, Judgement& judgement) {
  archive(judgement.total, judgement.points, judgement.possible, judgement.planned, judgement.reasons,
          judgement.footprints, judgement.read);
}

template <class A>
void Fields(A& archive, JudgeTask& task) {
  archive(task.sweep, task.request);
}

// Serialisation of requests, results and questions for the evaluator process (wire/archive/archive.h).

template <class A>
void Fields(A& archive, Override& override) {
  InRange(archive, override.kind, Override::Kind::kUnset);
  archive(override.name, override.value, override.file);
  InRange(archive, override.origin, ParameterOrigin::kSweep);
  archive(override.profile, override.place);
}

template <class A>
void Fields(A& archive, SiteHost& host) {
  archive(host.name, host.address, host.devices, host.slots, host.room);
}

template <class A>
void Fields(A& archive, Site& site) {
  archive(site.hosts, site.host_memory_bytes, site.host_devices, site.device_kind, site.devices_per_host,
          site.environment, site.places, site.sources);
}

template <class A>
void Fields(A& archive, LibraryPlace& library) {
  archive(library.folder, library.beside);
}

template <class A>
void Fields(A& archive, PlanTask& task) {
  InRange(archive, task.depth, EvaluationDepth::kPlan);
  archive(task.explain);
}

template <class A>
void Fields(A& archive, TableTask& task) {
  archive(task.engine_page);
}

template <class A>
void Fields(A& archive, SweepTask& task) {
  archive(task.words, task.chosen, task.seeds);
}

template <class A>
void Fields(A& archive, PlanIdsTask& task) {
  archive(task.points);
}

template <class A>
void Fields(A& archive, EvaluationRequest& request) {
  archive(request.recipe_file, request.recipe_text, request.recipe_dir, request.overrides, request.profiles,
          request.pins, request.args, request.env, request.site, request.devices, request.mindspore, request.resumed,
          request.libraries, request.rules, request.task, request.last);
}

template <class A>
void Fields(A& archive, Parameter& parameter) {
  archive(parameter.name);
  InRange(archive, parameter.type, ParameterType::kSecret);
  archive(parameter.default_value, parameter.min, parameter.max, parameter.above, parameter.below, parameter.one_of,
          parameter.doc, parameter.was, parameter.from_env, parameter.place, parameter.variant, parameter.when);
}

template <class A>
void Fields(A& archive, ParameterState& state) {
  archive(state.parameter, state.value);
  InRange(archive, state.origin, ParameterOrigin::kSweep);
  archive(state.profile, state.place, state.active);
}

template <class A>
void Fields(A& archive, DerivedOverride& override) {
  archive(override.name);
  InRange(archive, override.origin, ParameterOrigin::kSweep);
  archive(override.by_recipe, override.place);
}

template <class A>
void Fields(A& archive, ProfileFacts& profile) {
  archive(profile.name, profile.place);
}

template <class A>
void Fields(A& archive, VariableSource& source) {
  InRange(archive, source.layer, Layer::kMuster);
  archive(source.place);
}

template <class A>
void Fields(A& archive, SettingSource& source) {
  InRange(archive, source.kind, SettingSource::Kind::kReset);
  archive(source.place, source.text);
}

template <class A>
void Fields(A& archive, Division& division) {
  archive(division.place, division.name, division.number, division.by, division.quotient);
}

template <class A>
void Fields(A& archive, ClusterNumber& number) {
  archive(number.name, number.value, number.origin);
}

template <class A>
void Fields(A& archive, MeshAxis& axis) {
  archive(axis.name, axis.size);
}

template <class A>
void Fields(A& archive, MeshMade& mesh) {
  archive(mesh.place, mesh.axes);
}

template <class A>
void Fields(A& archive, Origins& origins) {
  archive(origins.derived, origins.divisions, origins.context, origins.each_context, origins.roles, origins.commands,
          origins.cluster, origins.meshes);
}

template <class A>
void Fields(A& archive, EngineField& field) {
  archive(field.engine, field.name, field.value, field.place);
}

template <class A>
void Fields(A& archive, SiteFileTable& site_file) {
  archive(site_file.table, site_file.lines);
}

template <class A>
void Fields(A& archive, EvaluationAnswer& answer) {
  archive(answer.name, answer.doc, answer.parameters, answer.profiles, answer.hosts, answer.devices_per_host,
          answer.derived, answer.not_settable, answer.plan, answer.provenance, answer.origins, answer.diagnostics,
          answer.lockdown, answer.engine_settings, answer.metrics, answer.metrics_place, answer.site_file, answer.sweep,
          answer.judgement, answer.plan_ids);
}

template <class A>
void Fields(A& archive, Question& question) {
  InRange(archive, question.kind, Question::Kind::kOverride);
  archive(question.text);
}

template <class A>
void Fields(A& archive, Reply& reply) {
  archive(reply.given, reply.text);
}

}  // namespace muster
