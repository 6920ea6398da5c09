#include "plan/environment/explained_environment.h"

#include <algorithm>
#include <string_view>

#include "base/values/shell_quote.h"

namespace muster {
namespace {

void AppendLine(std::string& out, std::string_view layer, const std::string& what, const Place& place = {}) {
  constexpr std::size_t kWidth = 18;  // width of "muster's defaults" and a space
  out += "  ";
  out += layer;
  out.append(kWidth - std::min(kWidth, layer.size()), ' ');
  out += Printable(what);
  if (!place.file.empty()) out += "  (" + Printable(place.file) + ":" + std::to_string(place.line) + ")";
  out += '\n';
}

// A default of the contract is shown with the value for a process that inherits nothing.
std::string Shown(const Text& value) {
  const auto pieces = Pieces(value);
  if (!pieces || pieces->size() != 1 || !pieces->front().hole) return value.marked;
  const Placeholder& hole = *pieces->front().hole;
  return hole.kind == Placeholder::Kind::kInherited ? hole.text + " unless it is inherited" : value.marked;
}

}  // namespace

std::vector<ExplainedVariable> ExplainEnvironment(const Plan& plan, const Process& process,
                                                  const std::map<std::string, VariableSource>& sources) {
  const auto source_of = [&](const std::string& name) {
    const auto found = sources.find(name);
    return found == sources.end() ? VariableSource{Layer::kMuster, {}} : found->second;
  };
  std::vector<ExplainedVariable> explained;
  const Variables env = EffectiveEnv(plan, process);
  for (const auto& [name, value] : env) explained.push_back({name, value, source_of(name)});
  for (const std::string& name : plan.roles[process.role].unset) {
    if (!env.contains(name)) explained.push_back({name, std::nullopt, source_of(name)});
  }
  const SiteEnvironment& site = plan.site_environment;
  const auto decided = [&](const std::string& name) {
    return std::any_of(explained.begin(), explained.end(),
                       [&](const ExplainedVariable& variable) { return Matches(variable.name, name); });
  };
  std::vector<ExplainedVariable> of_site;
  for (const auto& [name, value] : site.set) {
    if (!decided(name)) of_site.push_back({name, Text(value), {Layer::kSite, source_of(name).place}});
  }
  for (const std::string& name : site.unset) {
    if (!env.contains(name)) of_site.push_back({name, std::nullopt, {Layer::kSite, source_of(name).place}});
  }
  explained.insert(explained.end(), of_site.begin(), of_site.end());
  return explained;
}

std::string ExplainedEnvironmentText(const Plan& plan, const Process& process,
                                     const std::vector<ExplainedVariable>& variables) {
  std::string out = "environment of " + ProcessName(plan, process) + ", over what it inherits\n";
  if (!plan.site_environment.pass.empty()) {
    std::string passed;
    for (const std::string& pattern : plan.site_environment.pass) passed += " " + pattern;
    AppendLine(out, LayerName(Layer::kSite), "of which pass" + passed);
  }
  for (const ActivationStep& step : plan.activation) {
    AppendLine(out, LayerName(Layer::kActivation), std::string(ActivationKindName(step.kind)) + " " + step.what);
  }
  for (const ExplainedVariable& variable : variables) {
    if (!variable.value) continue;
    AppendLine(out, LayerName(variable.source.layer), variable.name + "=" + Shown(*variable.value),
               variable.source.place);
  }
  const auto removed = [](const ExplainedVariable& variable) { return !variable.value; };
  if (std::none_of(variables.begin(), variables.end(), removed)) return out;
  out += "removed from what it inherits\n";
  for (const ExplainedVariable& variable : variables) {
    if (!variable.value) AppendLine(out, LayerName(variable.source.layer), variable.name, variable.source.place);
  }
  return out;
}

}  // namespace muster
