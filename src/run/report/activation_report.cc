#include "run/report/activation_report.h"

#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "run/directory/process_output.h"
#include "run/start/start_specs.h"

namespace muster {

std::vector<ActivationReport> ReadActivations(const Plan& plan, const CheckedJournal& journal, int folder) {
  std::vector<ActivationReport> activations;
  std::map<std::uint32_t, std::string> names;
  for (const JournalRecord& record : journal.records()) {
    if (const auto* connected = std::get_if<AgentConnected>(&record.entry))
      names[connected->host] = connected->host_name;
    const auto* reported = std::get_if<HostActivated>(&record.entry);
    if (reported == nullptr) continue;
    ActivationReport& activation = activations.emplace_back();
    const auto name = names.find(reported->host);
    activation.host = name == names.end() ? fmt::format("host{}", reported->host) : name->second;
    activation.seconds = static_cast<double>(reported->took_ms) / 1000;
    for (const auto& [variable, unused] : reported->set) activation.set.push_back(variable);
    activation.unset = reported->unset;
    activation.failed_step = reported->failed_step;
    activation.error = reported->error;
    activation.log = ActivationLogPath(plan, reported->host);
    if (!reported->error.empty()) activation.last_lines = LastLines(folder, activation.log);
  }
  return activations;
}

std::string FailedActivationText(const std::vector<ActivationReport>& activations) {
  std::string text;
  for (const ActivationReport& activation : activations) {
    if (activation.last_lines.empty()) continue;
    text += fmt::format("  last lines of {}:\n", activation.log);
    for (const std::string& line : activation.last_lines) text += fmt::format("    {}\n", Printable(line));
  }
  return text;
}

std::string ActivationText(const std::vector<ActivationReport>& activations) {
  constexpr std::size_t kShown = 4;
  std::string text;
  std::size_t good = 0;
  for (const ActivationReport& activation : activations) {
    if (!activation.error.empty() || ++good > kShown) continue;
    text += fmt::format("  {:<10}{} in {}: {} set, {} removed\n", "activated", Printable(activation.host),
                        DurationText(activation.seconds), activation.set.size(), activation.unset.size());
  }
  if (good > kShown) text += fmt::format("  {:<10}{} more hosts\n", "activated", good - kShown);
  return text;
}

}  // namespace muster
