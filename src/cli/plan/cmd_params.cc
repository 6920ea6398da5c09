// muster params: lists the parameters of a recipe, with types, limits, values and sources.
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/options/recipe_options.h"

namespace muster {
namespace {

struct ParamsOptions {
  RecipeOptions recipe;
  bool json = false;
};

nlohmann::json ParameterJson(const ParameterState& state) {
  const Parameter& parameter = state.parameter;
  const bool secret = parameter.type == ParameterType::kSecret;
  nlohmann::json json = {
      {"name", parameter.name}, {"type", ParameterTypeName(parameter.type)},   {"range", ParameterRangeText(parameter)},
      {"doc", parameter.doc},   {"origin", ParameterOriginText(state.origin)}, {"active", state.active}};
  json["profile"] = state.profile.empty() ? nlohmann::json() : nlohmann::json(state.profile);
  json["when"] = parameter.when;
  json["set_in"] = state.place.file.empty() ? nlohmann::json()
                                            : nlohmann::json{{"file", state.place.file}, {"line", state.place.line}};
  json["value"] = state.value && !secret ? ToJson(*state.value) : nlohmann::json();
  json["given"] = state.value.has_value();
  json["default"] = parameter.default_value ? ToJson(*parameter.default_value) : nlohmann::json();
  json["was"] = parameter.was.empty() ? nlohmann::json() : nlohmann::json(parameter.was);
  json["from_env"] = parameter.from_env.empty() ? nlohmann::json() : nlohmann::json(parameter.from_env);
  json["file"] = parameter.place.file;
  json["line"] = parameter.place.line;
  return json;
}

// " [profile smoke, recipes/gpt_175b.lua:9]"; nothing for a default. For a parameter of another variant, the selected
// variant.
std::string OriginNote(const ParameterState& state) {
  std::string note;
  if (!state.active) {
    for (const auto& [chooser, choice] : state.parameter.when)
      note += (note.empty() ? "" : ", ") + chooser + "=" + choice;
    return " [with " + note + "]";
  }
  if (state.origin == ParameterOrigin::kDefault) return "";
  note = ParameterOriginText(state.origin);
  if (!state.profile.empty()) note += " " + state.profile;
  if (!state.place.file.empty()) note += ", " + state.place.file + ":" + std::to_string(state.place.line);
  return " [" + note + "]";
}

void PrintParameters(const Evaluation& evaluation) {
  std::printf("%s%s%s\n", Printable(evaluation.name).c_str(), evaluation.doc.empty() ? "" : ": ",
              Printable(evaluation.doc).c_str());
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  const auto shown_value = [](const ParameterState& state) {
    if (state.parameter.type == ParameterType::kSecret) return std::string(state.value ? "(secret)" : "(missing)");
    if (!state.active) return std::string("-");
    return state.value ? ToText(*state.value) : std::string("(missing)");
  };
  for (const ParameterState& state : evaluation.parameters) {
    name_width = std::max(name_width, state.parameter.name.size());
    value_width = std::max(value_width, std::min<std::size_t>(shown_value(state).size(), 40));
  }
  for (const ParameterState& state : evaluation.parameters) {
    std::string line = state.parameter.name;
    line.resize(std::max(line.size(), name_width), ' ');
    std::string value = shown_value(state);
    value.resize(std::max(value.size(), value_width), ' ');
    line += " = " + value + "  " + ParameterRangeText(state.parameter);
    line += OriginNote(state);
    if (!state.parameter.doc.empty()) line += "  " + state.parameter.doc;
    std::printf("  %s\n", Printable(line).c_str());
  }
  std::string profiles;
  for (const ProfileFacts& profile : evaluation.profiles) profiles += (profiles.empty() ? "" : ", ") + profile.name;
  if (!profiles.empty()) std::printf("profiles: %s\n", Printable(profiles).c_str());
}

int RunParams(const ParamsOptions& options) {
  const auto evaluation = EvaluateFrom(options.recipe, EvaluationDepth::kParameters);
  if (!evaluation) return Refuse(evaluation.error(), options.json);
  PrintDiagnostics(evaluation->warnings);
  if (!options.json) {
    PrintParameters(*evaluation);
    return kExitOk;
  }
  auto parameters = nlohmann::json::array();
  for (const ParameterState& state : evaluation->parameters) parameters.push_back(ParameterJson(state));
  auto profiles = nlohmann::json::array();
  for (const ProfileFacts& profile : evaluation->profiles) {
    profiles.push_back({{"name", profile.name}, {"file", profile.place.file}, {"line", profile.place.line}});
  }
  const nlohmann::json json = {{"format", 1},
                               {"name", evaluation->name},
                               {"doc", evaluation->doc},
                               {"params", parameters},
                               {"profiles", profiles}};
  std::printf("%s\n", SerializedJson(json, 2).c_str());
  return kExitOk;
}

}  // namespace

std::function<int()> SetupParams(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<ParamsOptions>();
  AddRecipeOptions(app, options->recipe, invocation);
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunParams(*options); };
}

}  // namespace muster
