// muster params: lists the parameters of a recipe, with types, limits, values and sources.
#include <cstdio>
#include <memory>

#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/options/recipe_options.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

struct ParamsOptions {
  RecipeOptions recipe;
  bool json = false;
};

// What is printed as JSON, members in the order of their names.
struct PrintedPlace {
  Place place;
};
template <class V>
void Parts(V& v, const PrintedPlace& printed) {
  v("file", printed.place.file), v("line", printed.place.line);
}
struct PrintedParameter {
  ParameterState state;
};
template <class V>
void Parts(V& v, const PrintedParameter& printed) {
  const ParameterState& state = printed.state;
  const Parameter& parameter = state.parameter;
  const bool secret = parameter.type == ParameterType::kSecret;
  const auto set_in = state.place.file.empty() ? std::nullopt : std::optional(PrintedPlace{state.place});
  v("active", state.active), v("default", parameter.default_value), v("doc", parameter.doc);
  v("file", parameter.place.file), v("from_env", As<NullIfNone>(parameter.from_env));
  v("given", state.value.has_value()), v("line", parameter.place.line), v("name", parameter.name);
  v("origin", ParameterOriginText(state.origin)), v("profile", As<NullIfNone>(state.profile));
  v("range", ParameterRangeText(parameter)), v("set_in", set_in), v("type", ParameterTypeName(parameter.type));
  v("value", secret ? std::nullopt : state.value), v("was", As<NullIfNone>(parameter.was)), v("when", parameter.when);
}
struct PrintedProfileFacts {
  ProfileFacts profile;
};
template <class V>
void Parts(V& v, const PrintedProfileFacts& printed) {
  v("file", printed.profile.place.file), v("line", printed.profile.place.line), v("name", printed.profile.name);
}
struct PrintedParameters {
  std::string doc;
  std::string name;
  std::vector<PrintedParameter> parameters;
  std::vector<PrintedProfileFacts> profiles;
};
template <class V>
void Parts(V& v, const PrintedParameters& printed) {
  v("doc", printed.doc), v("format", 1), v("name", printed.name), v("params", printed.parameters);
  v("profiles", printed.profiles);
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
  PrintedParameters printed{evaluation->doc, evaluation->name, {}, {}};
  for (const ParameterState& state : evaluation->parameters) printed.parameters.push_back({state});
  for (const ProfileFacts& profile : evaluation->profiles) printed.profiles.push_back({profile});
  std::printf("%s\n", JsonOf<PartForms>(printed, 2).c_str());
  return kExitOk;
}

}  // namespace

std::string ParamsSchema() { return SchemaOf<PartForms>(PrintedParameters()); }

std::function<int()> SetupParams(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<ParamsOptions>();
  AddRecipeOptions(app, options->recipe, invocation);
  app.add_flag("--json", options->json, "print JSON for programs");
  return [options] { return RunParams(*options); };
}

}  // namespace muster
