#include "cli/schemas.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/values/text_parts.h"
#include "cli/command/printed_schemas.h"
#include "explain/explain.h"
#include "plan/text/plan_diff.h"
#include "plan/text/plan_json.h"
#include "run/control/control_protocol.h"
#include "run/directory/job_record.h"
#include "run/directory/usage_history.h"
#include "run/hosts/host_history.h"
#include "run/hosts/inspection_report.h"
#include "run/journal/journal.h"
#include "run/notify/notifier.h"
#include "run/report/rehearsal.h"
#include "run/report/report_json.h"
#include "run/start/start_specs.h"
#include "space/sweep_description.h"
#include "stub/records/stub_report.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

using namespace schema;

// What commands print of values that they join from several descriptions: runs, trials, sweeps, findings. Members are
// in the order of their names.

Member Format() { return {"format", Only(1)}; }

std::string Words(const std::vector<std::string_view>& names) { return OneOf(names); }

// Of a command that prints `printed` unless it refuses.
std::string Unless(const std::string& printed) { return Either({printed, DiagnosticsSchema()}); }

std::string Check() {
  return Either({DiagnosticsSchema(), DeepCheckSchema(), ReleasesSchema(), FolderCheckSchema(), RewriteSchema()});
}

std::string Test() {
  const std::string skipped = List(Object({{"file", String()}, {"why", String()}}));
  const std::string tested = Object({{"name", String()},
                                     {"recipe", String()},
                                     {"words", List(String())},
                                     {"verdict", String()},
                                     {"why", String()},
                                     {"diff", OrNull(DiffSchema())},
                                     {"diagnostics", List(FindingSchema())}});
  const auto folder = [&](bool one_of_many) {
    std::vector<Member> tests = {Format(),
                                 {"ok", Truth()},
                                 {"cases", List(tested)},
                                 {"stale", List(String())},
                                 {"removed", List(String())},
                                 {"skipped", skipped},
                                 {"summary", String()}};
    std::vector<Member> refused = {Format(), {"ok", Truth()}, {"diagnostics", List(FindingSchema())}};
    if (!one_of_many) return Either({Object(tests), Object(refused)});
    tests.push_back({"folder", String()});
    refused.push_back({"folder", String()});
    return Either({Object(tests), Object(refused)});
  };
  return Either({folder(false), Object({Format(), {"ok", Truth()}, {"folders", List(folder(true))}})});
}

std::string Docs() { return Unless(Object({Format(), {"topics", List(R"({"type":"object"})")}})); }

std::string TextPoint() { return R"({"type":"object"})"; }

std::string SweepPreview() {
  const std::string judged =
      Object({{"what", Words({"layouts", "trials"})},
              {"points", Count()},
              {"possible", Count()},
              {"planned", Count()},
              {"sampled", Truth()},
              {"read", List(String())},
              {"reasons", List(Object({{"points", Count()}, {"problem", FindingSchema()}, {"example", TextPoint()}}))},
              {"footprints", List(Object({{"hosts", Count()}, {"devices", Count()}, {"points", Count()}}))}});
  return Unless(Object({Format(),
                        {"recipe", String()},
                        {"sweep", SweepDescriptionSchema("#/anyOf/0/properties/sweep")},
                        {"layouts", Count()},
                        {"trials", Count()},
                        {"possible_trials", Count()},
                        {"estimated", Truth()},
                        {"judged", judged},
                        {"rungs", List(Object({{"resource", Number()}, {"expected_trials", Count()}})), false},
                        {"cost", Object({{"resource", Number()}, {"share", Number()}}), false}}));
}

std::string SweepDumps() {
  return Object({Format(),
                 {"sweep", String()},
                 {"trials", List(Object({{"name", String()},
                                         {"trial", Count()},
                                         {"attempt", Count()},
                                         {"run_dir", String()},
                                         {"dump", DumpSchema(false)}}))}});
}

// Files whose values have no description of their own.

std::string Tags() { return Object({Format(), {"tags", List(String())}}); }

std::string Inputs() {
  const std::string input = Object({{"kind", String()}, {"name", String()}, {"sha256", String()}});
  return Object({Format(),
                 {"inherited", Map(String())},
                 {"inputs", List(input)},
                 {"evaluation", R"({"type":["object","null"]})"}});
}

std::string MetricsLine() { return Map(Anything()); }

std::string SchemaList() {
  return Object({Format(), {"schemas", List(Object({{"name", String()}, {"of", String()}}))}});
}

constexpr auto kSchemas = std::to_array<PublishedSchema>({
    // Files of a run directory, and of a sweep.
    {"plan", "plan.json; muster plan --json", PlanSchema},
    {"journal", "a line of a run's journal.jsonl; muster watch RUN --json", JournalSchema},
    {"report", "report.json; muster report RUN --json, which adds run_dir",
     [] {
       return Either({ReportSchema(), QueuedReportSchema()});
     }},
    {"inputs", "inputs.json", Inputs},
    {"binding", "binding.json", BindingSchema},
    {"context", "context/ROLE.INDEX.json, which $MUSTER_CONTEXT names", ContextFileSchema},
    {"metrics", "a line of metrics/…, which processes write", MetricsLine},
    {"usage", "a line of usage.jsonl", UsageSchema},
    {"tags", "tags.json", Tags},
    {"notifications", "a line of notifications.jsonl", NotificationsSchema},
    {"notice", "what commands and webhooks of notifications get", NoticeSchema},
    {"job", "job.json", JobRecordSchema},
    {"attempts", "attempts.json", JobAttemptsSchema},
    {"job-end", "job_end.json", JobEndSchema},
    {"sweep", "sweep.json", SweepFileSchema},
    {"sweep-journal", "a line of a sweep's journal.jsonl; muster watch SWEEP --json", SweepJournalSchema},
    // The control socket of a run or sweep.
    {"control-request", "a request to the control socket", ControlRequestSchema},
    {"control-answer", "an answer of the control socket", ControlAnswerSchema},
    // What commands print.
    {"diagnostics", "what commands print with --json when they refuse", DiagnosticsSchema},
    {"check", "muster check --json, also of a folder, with --deep, --mindspore or --rewrite", Check},
    {"params", "muster params --json", [] { return Unless(ParamsSchema()); }},
    {"environment", "muster plan --env PROCESS --json", EnvironmentSchema},
    {"diff", "muster diff --json", [] { return Unless(DiffSchema()); }},
    {"explain", "muster explain --json", [] { return Unless(ExplanationSchema()); }},
    {"suggestion", "muster explain SWEEP:TRIAL --json", [] { return Unless(SuggestionSchema()); }},
    {"why-not", "muster why-not --json", [] { return Unless(WhyNotSchema()); }},
    {"test", "muster test --json", Test},
    {"docs", "muster docs --json", Docs},
    {"schemas", "muster docs --schema --json", SchemaList},
    {"doctor", "muster doctor --json", [] { return Unless(InspectionSchema()); }},
    {"rehearsal", "muster rehearse --json", [] { return Unless(RehearsalSchema()); }},
    {"drill", "muster drill --json", [] { return Unless(DrillSchema()); }},
    {"stub", "muster stub --json", StubReportSchema},
    {"recipes", "muster ls --recipes --json", [] { return Unless(RecipesSchema()); }},
    {"runs", "muster ls --json", [] { return Unless(RunsSchema()); }},
    {"ps", "muster ps --json", [] { return Unless(PsSchema()); }},
    {"dump", "muster dump RUN --json", [] { return DumpSchema(true); }},
    {"dumps", "muster dump SWEEP --json", SweepDumps},
    {"clean", "muster clean --json", CleanSchema},
    {"server", "muster serve --json", ServerSchema},
    {"preview", "muster sweep --preview --json", SweepPreview},
    {"sweeps", "muster ls --sweeps --json", [] { return Unless(SweepsSchema()); }},
    {"trials", "muster ls SWEEP --json", [] { return Unless(TrialsSchema()); }},
    {"comparison", "muster ls SWEEP SWEEP --json", [] { return Unless(ComparisonSchema()); }},
    {"best", "muster best --json", [] { return Unless(BestSchema()); }},
    {"edit", "muster edit --json", [] { return Unless(EditSchema()); }},
    {"simulation", "muster simulate --json", [] { return Unless(SimulationSchema()); }},
    {"importance", "muster importance --json", [] { return Unless(ImportanceSchema()); }},
    {"whatif", "muster whatif SWEEP --json", [] { return Unless(WhatIfSchema()); }},
    {"whatif-run", "muster whatif RUN --json", [] { return Unless(WhatIfOfRunSchema()); }},
    {"sweep-report", "muster show SWEEP --json; muster report SWEEP --json",
     [] { return Unless(SweepReportSchema()); }},
    {"trial", "muster show SWEEP:TRIAL --json", [] { return Unless(TrialSchema()); }},
    {"ledger", "muster report --ledger --json", [] { return Unless(LedgerSchema()); }},
    {"hosts", "muster hosts --json", [] { return Unless(HostsSchema()); }},
    {"host-history", "a line of the user's host_history.jsonl", HostHistorySchema},
    {"limits", "muster steer --json", [] { return Unless(LimitsSchema()); }},
});

struct Listed {
  std::string_view name;
  std::string_view of;
};
template <class V>
void Parts(V& v, const Listed& listed) {
  v("name", listed.name), v("of", listed.of);
}
struct AllListed {
  std::vector<Listed> schemas;
};
template <class V>
void Parts(V& v, const AllListed& all) {
  v("format", 1), v("schemas", all.schemas);
}

}  // namespace

std::span<const PublishedSchema> PublishedSchemas() { return kSchemas; }

std::string SchemaText(const PublishedSchema& schema) { return Document(schema.make(), schema.name, schema.of); }

std::string SchemaTable() {
  std::size_t width = 0;
  for (const PublishedSchema& each : kSchemas) width = std::max(width, each.name.size());
  std::string text;
  for (const PublishedSchema& each : kSchemas) {
    text += Padded(std::string(each.name), width) + "  " + std::string(each.of) + "\n";
  }
  return text;
}

std::string SchemaListJson() {
  AllListed all;
  for (const PublishedSchema& each : kSchemas) all.schemas.push_back({each.name, each.of});
  return JsonOf<PartForms>(all, 2) + "\n";
}

}  // namespace muster
