#include "lua/evaluated.h"

#include <stdexcept>

#include <gtest/gtest.h>

#include "plan/check/plan_check.h"

namespace muster::testing {

Override Text(const std::string& name, const std::string& text) {
  Override override;
  override.name = name;
  override.value = Value(text);
  return override;
}

Override Json(const std::string& name, Value value) {
  Override override;
  override.kind = Override::Kind::kValue;
  override.name = name;
  override.value = std::move(value);
  return override;
}

std::vector<std::string> Evaluated::problems() const {
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : answer.diagnostics) {
    std::string line = diagnostic.place.file;
    if (diagnostic.place.line > 0) line += ":" + std::to_string(diagnostic.place.line);
    if (!line.empty()) line += " ";
    line += diagnostic.severity == Severity::kError ? "error " : "warning ";
    lines.push_back(line + diagnostic.kind + ": " + diagnostic.message);
  }
  return lines;
}

Evaluated Evaluate(const Request& request) {
  EvaluationRequest asked;
  asked.recipe_file = "recipe.lua";
  asked.recipe_text = request.text;
  asked.recipe_dir = "/recipes";
  asked.overrides = request.overrides;
  asked.args = request.args;
  asked.site = request.site;
  asked.devices = request.devices;
  asked.profiles = request.profiles;
  asked.pins = request.pins;
  asked.libraries = request.libraries;
  asked.rules = request.rules;
  asked.task = request.task;
  Evaluated evaluated;
  const auto found = [](const auto& map, const std::string& key, const char* why) {
    const auto entry = map.find(key);
    return entry == map.end() ? Reply{false, why} : Reply{true, entry->second};
  };
  const Ask ask = [&](const Question& question) -> Reply {
    switch (question.kind) {
      case Question::Kind::kFile:
        evaluated.asked.push_back("file " + question.text);
        return found(request.outside.files, question.text, "there is none");
      case Question::Kind::kExists:
        evaluated.asked.push_back("exists " + question.text);
        return found(request.outside.files, question.text, "there is none");
      case Question::Kind::kVariable:
        evaluated.asked.push_back("variable " + question.text);
        return found(request.outside.variables, question.text, "");
      case Question::Kind::kOverride:
        evaluated.asked.push_back("override " + question.text);
        return {true, *request.overrides.at(std::stoul(question.text)).value.AsString()};
      case Question::Kind::kPrint:
        evaluated.printed.push_back(question.text);
        return {true, ""};
    }
    return {};
  };
  LastPlace last_place;
  evaluated.answer = Engine(ask, request.limits, &last_place).Evaluate(asked);
  return evaluated;
}

std::string Recipe(const std::string& body, const std::string& fields) {
  return "local muster, context = require \"muster\", require \"muster.context\"\n"
         "return muster.recipe { name = \"t\", " +
         fields + "\n  plan = function(p, job)\n" + body + "\nend }\n";
}

std::vector<std::string> ProblemsOf(const std::string& body, const std::string& fields) {
  return Evaluate({Recipe(body, fields)}).problems();
}

Plan PlanOf(const std::string& body, const std::string& fields) {
  const Evaluated evaluated = Evaluate({Recipe(body, fields)});
  EXPECT_EQ(evaluated.problems(), Lines{});
  if (!evaluated.answer.plan) throw std::runtime_error("there is no plan");
  EXPECT_EQ(ValidatePlan(*evaluated.answer.plan), Diagnostics{});
  return *evaluated.answer.plan;
}

std::string ValueOf(const std::string& expression) {
  const Evaluated evaluated =
      Evaluate({Recipe("print(" + expression + ") job:workers { count = 1, command = { 'x' } }")});
  EXPECT_EQ(evaluated.problems(), Lines{}) << expression;
  return evaluated.printed.size() == 1 ? evaluated.printed.front() : "nothing was printed";
}

const Process& ProcessNamed(const Plan& plan, const std::string& name) {
  for (const Process& process : plan.processes) {
    if (ProcessName(plan, process) == name) return process;
  }
  // A process that the plan has not would refer to roles that it has not either.
  throw std::runtime_error("there is no " + name);
}

std::vector<std::string> CommandOf(const Plan& plan, const std::string& name) {
  std::vector<std::string> words;
  for (const muster::Text& word : EffectiveCommand(plan, ProcessNamed(plan, name))) words.push_back(word.marked);
  return words;
}

std::map<std::string, std::string> OwnEnv(const Plan& plan, const std::string& name) {
  std::map<std::string, std::string> env;
  for (const auto& [variable, text] : EffectiveEnv(plan, ProcessNamed(plan, name))) {
    if (!variable.starts_with("MUSTER_")) env[variable] = text.marked;
  }
  return env;
}

}  // namespace muster::testing
