// evaluate_and_run RECIPE [NAME=TEXT …]: evaluates a recipe, prints the processes of its plan, runs it on this machine,
// and prints what failed first or that it succeeded. The whole of muster's C++ API on one page.
#include <cstdio>
#include <string>

#include "muster/evaluate.h"
#include "muster/report.h"
#include "muster/run.h"

namespace {

int Refused(const muster::Diagnostics& diagnostics) {
  for (const muster::Diagnostic& each : diagnostics) {
    std::fprintf(stderr, "%s:%u: %s\n", each.place.file.c_str(), each.place.line, each.message.c_str());
  }
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: evaluate_and_run RECIPE [NAME=TEXT …]\n", stderr);
    return 2;
  }
  muster::RecipeInput input;
  input.file = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) return Refused({muster::Error("usage", {}, "not NAME=TEXT: " + word)});
    input.parameters[word.substr(0, equals)] = word.substr(equals + 1);
  }

  const auto recipe = muster::EvaluateFile(input);
  if (!recipe) return Refused(recipe.error());
  for (const muster::Process& process : recipe->plan.processes) {
    const muster::Role& role = recipe->plan.roles[process.role];
    std::printf("%s.%u on %s\n", role.name.c_str(), process.index, recipe->plan.hosts[process.host].label.c_str());
  }

  const auto run = muster::RunHere(recipe->plan);
  if (!run) return Refused(run.error());
  const auto report = muster::ReadReport(run->run_dir);
  if (!report) return Refused(report.error());
  if (const auto& failure = report->first_failure) {
    std::printf("first failure: %s.%u: %s\n", failure->role.c_str(), failure->index, failure->why.c_str());
  } else {
    std::printf("%s\n", report->outcome == "ok" ? "succeeded" : report->why.c_str());
  }
  return run->exit_code;
}
