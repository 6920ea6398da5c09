// The functions of include/muster for other programs: evaluating a recipe, running a plan here, and reading a report.
// Translates values; decides nothing.
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "base/system/own_environment.h"
#include "evaluator/evaluator.h"
#include "muster/evaluate.h"
#include "muster/report.h"
#include "muster/run.h"
#include "run/directory/run_tags.h"
#include "run/report/report.h"
#include "run/session/run_request.h"
#include "transport/local_transport.h"

namespace muster {

Result<EvaluatedRecipe> EvaluateFile(const RecipeInput& input) {
  EvaluationOptions options;
  options.recipe_file = input.file;
  for (const auto& [name, value] : input.parameters) options.overrides.push_back(ValueOverride(name, value));
  options.profiles = input.profiles;
  options.args = input.args;
  options.site = input.site;
  options.program = input.evaluator;
  auto evaluation = EvaluateRecipe(options);
  if (!evaluation) return Fail(std::move(evaluation.error()));
  Diagnostics refused;
  for (const Diagnostic& warning : evaluation->warnings) {
    if (warning.kind != "secret_literal") continue;
    refused.push_back(warning);
    refused.back().severity = Severity::kError;
  }
  if (!refused.empty()) return Fail(std::move(refused));
  return EvaluatedRecipe{std::move(evaluation->name), std::move(evaluation->doc), std::move(evaluation->plan),
                         std::move(evaluation->warnings)};
}

Result<RunResult> RunHere(const Plan& plan, const RunSettings& settings) {
  if (std::any_of(plan.hosts.begin(), plan.hosts.end(), [](const PlanHost& host) { return !host.name.empty(); })) {
    return Fail(Error("hosts", {}, "the plan names hosts, and it is to run on this machine alone",
                      "store it as JSON and use: muster run --plan FILE"));
  }
  RunRequest request;
  request.plan = plan;
  auto tags = NewTags(settings.tags);
  if (!tags) return Fail(tags.error());
  request.tags = *std::move(tags);
  request.environment = OwnVariables();
  std::error_code error;
  request.cwd = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  request.run_dir = settings.run_dir;
  request.runs_folder = std::filesystem::path(request.cwd) / settings.runs_folder;
  request.console = ConsoleOptions::Silent();
  if (settings.show) request.console = {};
  request.catch_signals = settings.catch_signals;
  LocalTransport transport(settings.agent);
  auto outcome = RunPlan(request, transport);
  if (!outcome) return Fail(std::move(outcome.error()));
  return RunResult{std::move(outcome->run_id), std::move(outcome->run_dir), std::move(outcome->outcome),
                   outcome->exit_code, std::move(outcome->why)};
}

namespace {

FailureSummary Summary(FailureReport failure) {
  return {std::move(failure.role), failure.index,          failure.rank,
          std::move(failure.host), failure.exit_code,      std::move(failure.signal),
          std::move(failure.why),  std::move(failure.log), std::move(failure.last_lines)};
}

ProcessSummary Summary(ProcessReport process) {
  const auto started = std::count_if(process.attempts.begin(), process.attempts.end(),
                                     [](const AttemptReport& attempt) { return !attempt.started_at.empty(); });
  return {std::move(process.role),
          process.index,
          process.rank,
          std::move(process.host),
          static_cast<std::uint32_t>(started),
          std::move(process.verdict)};
}

}  // namespace

Result<ReportSummary> ReadReport(const std::string& run_dir) {
  auto report = MakeReport(run_dir);
  if (!report) return Fail(std::move(report.error()));
  ReportSummary summary;
  summary.run_id = std::move(report->run);
  summary.plan_id = std::move(report->plan);
  summary.name = std::move(report->name);
  summary.outcome = std::move(report->outcome);
  summary.exit_code = report->exit_code;
  summary.why = std::move(report->why);
  if (report->first_failure) summary.first_failure = Summary(*std::move(report->first_failure));
  for (ProcessReport& process : report->processes) summary.processes.push_back(Summary(std::move(process)));
  summary.seconds = report->timings.total;
  return summary;
}

}  // namespace muster
