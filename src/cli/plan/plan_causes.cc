#include "cli/plan/plan_causes.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "base/values/fingerprint.h"
#include "base/values/line_diff.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "explain/subject.h"
#include "plan/hosts/host_list.h"
#include "plan/text/plan_text.h"

namespace muster {
namespace {

struct VariableFacts {
  Value value;
  std::string source;  // "command line", "recipes/gpt.lua:12"; may be empty
  bool of_cluster = false;
};

std::string PlaceText(const Place& place) {
  return place.file.empty() ? "" : place.file + ":" + std::to_string(place.line);
}

// All inputs that can differ, by name.
std::map<std::string, VariableFacts> VariableFactsOf(const PlanArgument& thing) {
  std::map<std::string, VariableFacts> said;
  for (const auto& [name, value] : thing.plan.params) said[name] = {value, "", false};
  if (!thing.evaluation) {
    const std::set<std::uint32_t> devices = [&] {
      std::set<std::uint32_t> all;
      for (const PlanHost& host : thing.plan.hosts) all.insert(host.devices);
      return all;
    }();
    said.try_emplace("hosts", VariableFacts{Value(static_cast<std::int64_t>(thing.plan.hosts.size())), "", true});
    if (devices.size() == 1) {
      said.try_emplace("devices_per_host", VariableFacts{Value(std::int64_t{*devices.begin()}), "", true});
    }
    return said;
  }
  for (const ParameterState& state : thing.evaluation->parameters) {
    const auto found = said.find(state.parameter.name);
    if (found == said.end() || !state.active) continue;
    const auto [source, place] = SourceOf(state);
    found->second.source = place.line > 0 ? source + ", " + PlaceText(place) : source;
  }
  for (const ClusterNumber& number : thing.evaluation->origins.cluster) {
    said.try_emplace(number.name, VariableFacts{Value(number.value), number.origin, true});
  }
  return said;
}

// The changed lines of the sources, "-gpt.lua:12: …"; sources of recipes have names relative to the recipe's
// folder.
std::vector<std::string> ChangedLines(const PlanArgument& a, const PlanArgument& b) {
  std::set<std::string> files;
  for (const auto& [file, unused] : a.sources) files.insert(file);
  for (const auto& [file, unused] : b.sources) files.insert(file);
  const auto text = [](const PlanArgument& thing, const std::string& file) {
    const auto found = thing.sources.find(file);
    return found == thing.sources.end() ? std::string() : found->second;
  };
  std::vector<std::string> lines;
  for (const std::string& file : files) {
    for (const LineChange& change : DiffLines(text(a, file), text(b, file))) {
      lines.push_back((change.added ? "+ " : "- ") + file + ":" + std::to_string(change.line) + ": " + change.text);
    }
  }
  return lines;
}

class CauseFinder {
 public:
  CauseFinder(const PlanArgument& a, const PlanArgument& b, const std::function<void()>& on_plan)
      : a_(a), b_(b), on_plan_(on_plan), said_a_(VariableFactsOf(a)), said_b_(VariableFactsOf(b)) {
    for (const PlanArgument* side : {&a, &b}) {
      if (side->evaluation) former_.merge(RenamedParameters(a.plan, b.plan, side->evaluation->parameters));
    }
    for (const auto& [name, was] : former_) {
      for (auto* said : {&said_a_, &said_b_}) {
        if (auto entry = said->extract(was); !entry.empty()) {
          entry.key() = name;
          said->insert(std::move(entry));
        }
      }
    }
  }

  Causes Find() {
    ListCauses();
    if (found_.causes.empty()) return std::move(found_);
    if (!a_.made_by || !b_.made_by) {
      if (found_.causes.size() > 1) {
        found_.notes.push_back("what each of these does alone is not known: " + (a_.made_by ? b_.why_not : a_.why_not));
      }
      return std::move(found_);
    }
    constexpr std::size_t kMaxTried = 32;
    if (found_.causes.size() > kMaxTried) {
      found_.notes.push_back("what each of " + std::to_string(found_.causes.size()) +
                             " causes does alone was not tried");
    } else if (found_.causes.size() > 1) {
      TryAlone();
    }
    return std::move(found_);
  }

 private:
  bool TextDiffers() const { return !found_.causes.empty() && found_.causes.front().kind == "recipe"; }

  void ListCauses() {
    // Without sources on one side the texts cannot be compared.
    if (!a_.sources.empty() && !b_.sources.empty() && a_.sources != b_.sources) {
      PlanCause& text = found_.causes.emplace_back();
      text.kind = "recipe";
      text.name = "the recipe's text";
      text.details = ChangedLines(a_, b_);
      if (text.details.empty()) text.details.push_back("names of files");
    }
    std::set<std::string> names;
    for (const auto& [name, unused] : said_a_) names.insert(name);
    for (const auto& [name, unused] : said_b_) names.insert(name);
    for (const std::string& name : names) {
      const auto before = said_a_.find(name);
      const auto after = said_b_.find(name);
      const bool in_both = before != said_a_.end() && after != said_b_.end();
      const auto was = former_.find(name);
      if (in_both && before->second.value == after->second.value && was == former_.end()) continue;
      PlanCause& cause = found_.causes.emplace_back();
      const VariableFacts& one = after != said_b_.end() ? after->second : before->second;
      cause.kind = one.of_cluster ? "cluster" : "parameter";
      cause.name = name;
      if (was != former_.end()) cause.details.push_back("it was called " + was->second);
      if (before != said_a_.end()) cause.before = ToText(before->second.value);
      if (after != said_b_.end()) cause.after = ToText(after->second.value);
      cause.source = one.source;
      if (after == said_b_.end()) cause.source = "only in A";
      if (before == said_a_.end()) cause.source = "only in B";
    }
    AddCall();
  }

  // Options other than parameters. Not tried alone: everything that no other cause explains is attributed to them.
  void AddCall() {
    if (!a_.made_by || !b_.made_by) return;
    const auto add = [&](const char* name, std::string before, std::string after) {
      if (before == after) return;
      PlanCause& cause = found_.causes.emplace_back();
      cause.kind = "call";
      cause.name = name;
      if (!before.empty()) cause.before = std::move(before);
      if (!after.empty()) cause.after = std::move(after);
    };
    add("words after --", ShellQuoted(a_.made_by->args), ShellQuoted(b_.made_by->args));
    const auto devices = [](const DeviceUse& use) {
      const std::string free = use.given.empty() ? "free" : "free of " + NumberListText(use.given);
      return (use.any ? free : NumberListText(use.given)) + (use.shared ? " shared" : "");
    };
    add("--resume", a_.made_by->resumed, b_.made_by->resumed);
    add("--devices", devices(a_.made_by->devices), devices(b_.made_by->devices));
    add("hosts by name", HostListText(a_.made_by->site.hosts), HostListText(b_.made_by->site.hosts));
  }

  tl::expected<Plan, std::string> PlanAgain(const EvaluationOptions& made_by, const std::vector<Override>& more) {
    EvaluationOptions options = made_by;
    options.overrides.insert(options.overrides.end(), more.begin(), more.end());
    auto evaluation = evaluator_.Evaluate(options);
    on_plan_();
    if (evaluation) return std::move(evaluation->plan);
    for (const Diagnostic& problem : evaluation.error()) {
      if (problem.severity != Severity::kError) continue;
      const std::string place = PlaceText(problem.place);
      return tl::unexpected((place.empty() ? "" : place + ": ") + problem.message);
    }
    return tl::unexpected(std::string("no plan"));
  }

  // A's values of all differing parameters, for the recipe of B.
  std::vector<Override> AsInA() const {
    std::vector<Override> values;
    for (const PlanCause& cause : found_.causes) {
      if (cause.kind == "recipe" || cause.kind == "call" || !cause.before || !cause.after) continue;
      values.push_back(ValueOverride(cause.name, said_a_.at(cause.name).value));
    }
    return values;
  }

  // Starts from A, with the recipe's text of B if that differs, and changes one parameter to B's at a time.
  void TryAlone() {
    const bool text_differs = TextDiffers();
    EvaluationOptions recipe = text_differs ? *b_.made_by : *a_.made_by;
    recipe.args = a_.made_by->args;
    recipe.devices = a_.made_by->devices;
    recipe.site = a_.made_by->site;
    const std::vector<Override> as_in_a = text_differs ? AsInA() : std::vector<Override>();
    tl::expected<Plan, std::string> base = a_.plan;
    if (text_differs) {
      base = PlanAgain(recipe, as_in_a);
      Keep(found_.causes.front(), a_.plan, base);
    }
    for (PlanCause& cause : found_.causes) {
      if (cause.kind == "recipe" || cause.kind == "call") continue;
      if (!cause.before || !cause.after) {
        cause.why_not = "only one of the recipes has it";
        continue;
      }
      if (!base) {
        cause.why_not = base.error();
        continue;
      }
      std::vector<Override> values = as_in_a;
      values.push_back(ValueOverride(cause.name, said_b_.at(cause.name).value));
      Keep(cause, *base, PlanAgain(recipe, values));
    }
  }

  static void Keep(PlanCause& cause, const Plan& base, const tl::expected<Plan, std::string>& plan) {
    if (plan) {
      cause.alone = DiffPlans(base, *plan);
    } else {
      cause.why_not = plan.error();
    }
  }

  const PlanArgument& a_;
  const PlanArgument& b_;
  const std::function<void()>& on_plan_;
  Evaluator evaluator_;                        // for one recipe: that of B if the texts differ, else that of A
  std::map<std::string, std::string> former_;  // names of parameters that one side has by their former names
  std::map<std::string, VariableFacts> said_a_;
  std::map<std::string, VariableFacts> said_b_;
  Causes found_;
};

}  // namespace

std::map<std::string, std::string> RenamedParameters(const Plan& a, const Plan& b,
                                                     const std::vector<ParameterState>& parameters) {
  std::map<std::string, std::string> former;
  for (const ParameterState& state : parameters) {
    const std::string& name = state.parameter.name;
    const std::string was = FormerName(state.parameter);
    if (was.empty()) continue;
    const auto between = [&](const Plan& old, const Plan& now) {
      return old.params.contains(was) && !old.params.contains(name) && now.params.contains(name) &&
             !now.params.contains(was);
    };
    if (between(a, b) || between(b, a)) former.emplace(name, was);
  }
  return former;
}

Causes FindCauses(const PlanArgument& a, const PlanArgument& b, const std::function<void()>& on_plan) {
  return CauseFinder(a, b, on_plan).Find();
}

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
  constexpr std::ptrdiff_t kMax = 3000;  // lines
  const std::string text = PlanText(plan) + PlanNotesText(plan);
  if (std::count(text.begin(), text.end(), '\n') <= kMax) return text;
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
