#include "cli/plan/golden_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/values/fingerprint.h"
#include "base/values/line_diff.h"
#include "base/values/shell_quote.h"
#include "cli/plan/plan_causes.h"
#include "explain/subject.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

constexpr std::string_view kId = "id ";

std::string PlaceSuffix(const Place& place) {
  return place.file.empty() ? "" : ", " + place.file + ":" + std::to_string(place.line);
}

// Removes the id line at the top of an excerpt, which is not part of a plan's text.
std::string_view WithoutId(std::string_view text) {
  return text.starts_with(kId) ? text.substr(std::min(text.find('\n') + 1, text.size())) : text;
}

std::string Excerpt(std::string_view text) {
  std::string excerpt;
  std::string_view process;  // whose lines are being read
  std::string_view last;     // its lines
  std::size_t number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    constexpr std::string_view kProcess = "process ";
    if (!line.starts_with(kProcess)) {
      excerpt += last;
      excerpt += line;
      number = 0;
      process = last = {};
      continue;
    }
    const std::string_view name = line.substr(0, line.find(' ', kProcess.size()));
    if (name != process) {
      if (++number <= 3) excerpt += last;  // the previous process
      last = line;
      process = name;
    } else {
      last = std::string_view(last.data(), last.size() + line.size());
    }
  }
  return excerpt.append(last);
}

}  // namespace

std::string KeptId(std::string_view kept) {
  if (kept.starts_with(kId)) return std::string(kept.substr(kId.size(), kept.find('\n') - kId.size()));
  std::string text;
  while (!kept.empty()) {
    const std::string_view line = kept.substr(0, std::min(kept.find('\n'), kept.size() - 1) + 1);
    kept.remove_prefix(line.size());
    const auto is_note = [&](std::string_view word) { return line.starts_with(word); };
    constexpr std::string_view kNotes[] = {"doc ", "named ", "profile ", "parameter ", "derived "};
    if (std::none_of(std::begin(kNotes), std::end(kNotes), is_note)) text += line;
  }
  return Sha256Hex(text);
}

std::string KeptPlan(const Plan& plan) {
  constexpr std::ptrdiff_t kLongest = 3000;  // lines
  const std::string text = PlanText(plan) + PlanNotesText(plan);
  if (std::count(text.begin(), text.end(), '\n') <= kLongest) return text;
  return std::string(kId) + PlanId(plan) + '\n' + Excerpt(text);
}

std::optional<PlanDifference> DiffOfKept(std::string_view kept, std::string_view said, const Evaluation& now) {
  const auto before = ReadPlanText(WithoutId(kept));
  const auto after = ReadPlanText(WithoutId(said));
  if (!before || !after) return std::nullopt;
  PlanDifference diff;
  diff.a.plan_id = KeptId(kept);
  diff.b.plan_id = KeptId(said);
  diff.changes = DiffPlans(before->plan, before->rest, after->plan, after->rest);
  std::map<std::string, std::string> sources;
  for (const ParameterState& state : now.parameters) {
    const auto [source, place] = SourceOf(state);
    sources[state.parameter.name] = source + PlaceSuffix(place);
  }
  std::set<std::string> names;
  for (const Plan* plan : {&before->plan, &after->plan}) {
    for (const auto& [name, unused] : plan->params) names.insert(name);
  }
  const std::map<std::string, std::string> former = RenamedParameters(before->plan, after->plan, now.parameters);
  for (const auto& [unused, was] : former) names.erase(was);
  for (const std::string& name : names) {
    const auto text = [](const Plan& plan, const std::string& by) -> std::optional<std::string> {
      const auto found = plan.params.find(by);
      return found == plan.params.end() ? std::nullopt : std::optional(ToText(found->second));
    };
    const auto was = former.find(name);
    PlanCause cause{"parameter",
                    name,
                    text(before->plan, was == former.end() ? name : was->second),
                    text(after->plan, name),
                    sources[name],
                    {},
                    {},
                    ""};
    if (was != former.end()) cause.details.push_back("it was called " + was->second);
    if (cause.before != cause.after || was != former.end()) diff.causes.push_back(std::move(cause));
  }
  return diff;
}

std::string LinesOfDiff(std::string_view kept, std::string_view said, std::size_t most) {
  const std::vector<LineChange> changes = DiffLines(kept, said);
  std::string text;
  for (std::size_t i = 0; i < std::min(changes.size(), most); ++i) {
    text +=
        (changes[i].added ? "+ " : "- ") + std::to_string(changes[i].line) + ": " + Printable(changes[i].text) + '\n';
  }
  if (changes.size() > most) text += "… and " + std::to_string(changes.size() - most) + " more lines\n";
  return text;
}

}  // namespace muster
