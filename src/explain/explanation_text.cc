// Formats explanations as text and JSON.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "base/values/value_text.h"
#include "explain/explain.h"
#include "plan/text/folded_texts.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

constexpr std::size_t kMaxValues = 12;     // of values with their processes, in text
constexpr std::size_t kHeadingWidth = 16;  // "depends on" and the like
constexpr std::size_t kLineWidth = 100;    // of lists of names
constexpr std::size_t kMaxColumnWidth = 44;

// "default, recipes/ps.lua:9"
std::string SourceText(const std::string& source, const Place& place) {
  std::string text = Printable(source);
  if (!place.file.empty())
    text += (text.empty() ? "" : ", ") + Printable(place.file) + ":" + std::to_string(place.line);
  return text;
}

void AppendNames(std::string& out, const std::string& heading, const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::string line = Padded(heading, kHeadingWidth);
  bool first = true;
  for (const std::string& name : names) {
    if (!first && Columns(line) + 1 + Columns(name) > kLineWidth) {
      out += line + '\n';
      line.assign(kHeadingWidth, ' ');
      first = true;
    }
    line += (first ? "" : " ") + Printable(name);
    first = false;
  }
  out += line + '\n';
}

void AppendValues(std::string& out, const Explanation& explanation) {
  const std::vector<SourcedValue>& values = explanation.values;
  const std::string name = Printable(explanation.subject.name);
  const SourcedValue& first = values.front();
  if (values.size() == 1) {
    out += name + (first.absent ? "    " : " = ") + Printable(first.text) + "    " +
           SourceText(first.source, first.place) +
           (first.processes.empty() ? "" : "    " + ShortProcessesText(first.processes)) + '\n';
    return;
  }
  const auto same = [&](auto member) {
    return std::all_of(values.begin(), values.end(),
                       [&](const SourcedValue& one) { return one.*member == first.*member; });
  };
  if (same(&SourcedValue::text) && same(&SourcedValue::source) && same(&SourcedValue::place)) {
    std::string processes;
    for (const SourcedValue& value : values)
      processes += (processes.empty() ? "" : ", ") + ShortProcessesText(value.processes);
    out += name + (first.absent ? "    " : " = ") + Printable(first.text) + "    " +
           SourceText(first.source, first.place) + "    " + processes + '\n';
    return;
  }
  out += name + '\n';
  std::size_t processes_width = 0;
  std::size_t text_width = 0;
  for (const SourcedValue& value : values) {
    processes_width = std::max(processes_width, Columns(ShortProcessesText(value.processes)));
    text_width = std::max(text_width, Columns(Printable(value.text)));
  }
  const std::size_t shown = values.size() > kMaxValues ? kMaxValues - 1 : values.size();
  for (std::size_t i = 0; i < shown; ++i) {
    const SourcedValue& value = values[i];
    out += "  " + Padded(ShortProcessesText(value.processes), std::min(processes_width, kMaxColumnWidth)) + "  " +
           Padded(Printable(value.text), std::min(text_width, kMaxColumnWidth)) + "  " +
           SourceText(value.source, value.place) + '\n';
  }
  if (shown < values.size()) {
    out += "  … and " + std::to_string(values.size() - shown) + " more values; use --rank N for one process\n";
  }
}

void AppendChain(std::string& out, const std::vector<ChainLink>& chain) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const ChainLink& link : chain) {
    name_width = std::max(name_width, 2 * link.depth + Columns(Printable(link.name)));
    value_width = std::max(value_width, Columns(Printable(link.value)));
  }
  for (const ChainLink& link : chain) {
    std::string line = "  " + Padded(std::string(std::size_t{2} * link.depth, ' ') + Printable(link.name),
                                     std::min(name_width, kMaxColumnWidth));
    line += "  " + Padded(Printable(link.value), std::min(value_width, kMaxColumnWidth)) + "  ";
    const std::string source = SourceText(link.source, link.place);
    line += source + (source.empty() || link.formula.empty() ? "" : " = ") + Printable(link.formula);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

// "context  mode device_num", a line per kind and role.
void AppendLeadsTo(std::string& out, const Explanation& explanation) {
  if (explanation.own.kind == Dependence::Kind::kUntried) {
    out += Padded("leads to", kHeadingWidth) + "not known: " + Printable(explanation.own.why) + '\n';
    return;
  }
  if (explanation.leads_to.empty()) {
    out += Padded("leads to", kHeadingWidth) + "nothing: other values give the same plan\n";
    return;
  }
  std::map<std::pair<PlanChange::Kind, std::string>, std::vector<std::string>> by_role;
  for (const PlanChange& change : explanation.leads_to) by_role[{change.kind, change.role}].push_back(change.name);
  // Roles with the same names share a line.
  std::map<std::pair<PlanChange::Kind, std::vector<std::string>>, std::string> rows;
  for (const auto& [row, names] : by_role) {
    std::string& roles = rows[{row.first, names}];
    roles += (roles.empty() ? "" : ", ") + row.second;
  }
  std::string heading = "leads to";
  for (const auto& [row, roles] : rows) {
    std::vector<std::string> words = {std::string(PlanChangeName(row.first)) + (roles.empty() ? "" : " of " + roles) +
                                      ":"};
    words.insert(words.end(), row.second.begin(), row.second.end());
    AppendNames(out, heading, words);
    heading.clear();
  }
}

void AppendPossible(std::string& out, const Possible& possible) {
  std::string line = Padded("possible", kHeadingWidth);
  std::string numbers;
  for (std::size_t i = 0; i < possible.numbers.size();) {
    std::size_t last = i;
    while (last + 1 < possible.numbers.size() && possible.numbers[last + 1] == possible.numbers[last] + 1) ++last;
    numbers += (numbers.empty() ? "" : " ") + std::to_string(possible.numbers[i]);
    if (last > i) numbers += (possible.numbers[i] < 0 ? " to " : "-") + std::to_string(possible.numbers[last]);
    i = last + 1;
  }
  line += numbers + "    (" + possible.description + " tried";
  std::size_t reported = 0;
  constexpr std::size_t kMaxRefusals = 4;
  for (const Refusal& refusal : possible.refusals) {
    if (reported == kMaxRefusals) break;
    line += (reported++ == 0 ? "; " : ", ") + std::to_string(refusal.count) + " refused at " + Printable(refusal.what);
  }
  if (reported < possible.refusals.size()) line += ", …";
  out += line + ")\n";
}

constexpr std::array<std::string_view, 4> kDependenceNames = {"changes", "processes", "none", "untried"};

std::optional<Place> OrNothing(const Place& place) { return place.file.empty() ? std::nullopt : std::optional(place); }

}  // namespace

std::string ExplanationText(const Explanation& explanation) {
  std::string out;
  AppendValues(out, explanation);
  if (!explanation.formula.empty()) out += "  = " + Printable(explanation.formula) + '\n';
  if (!explanation.allowed.empty() || !explanation.doc.empty()) {
    const bool both = !explanation.allowed.empty() && !explanation.doc.empty();
    out += "  " + Printable(explanation.doc) + (both ? "; " : "") + Printable(explanation.allowed) + '\n';
  }
  AppendChain(out, explanation.chain);

  std::map<Dependence::Kind, std::vector<std::string>> names;
  for (const Dependence& dependence : explanation.dependences) names[dependence.kind].push_back(dependence.name);
  AppendNames(out, "depends on", names[Dependence::Kind::kChanges]);
  AppendNames(out, "which processes", names[Dependence::Kind::kProcesses]);
  AppendNames(out, "no effect", names[Dependence::Kind::kNone]);
  for (const Dependence& dependence : explanation.dependences) {
    if (dependence.kind != Dependence::Kind::kUntried) continue;
    out += Padded("not known", kHeadingWidth) + Printable(dependence.name) +
           ": no other value that was tried gives a plan: " + Printable(dependence.why) + '\n';
  }
  if (!explanation.own.name.empty()) AppendLeadsTo(out, explanation);
  if (explanation.possible) AppendPossible(out, *explanation.possible);
  std::vector<std::string> also;
  for (const Subject& subject : explanation.also) also.push_back(SubjectText(subject));
  AppendNames(out, "also", also);
  return out;
}

template <class V>
void Parts(V& v, const Place& place) {
  v("file", place.file), v("line", place.line);
}
template <class V>
void Parts(V& v, const SourcedValue& value) {
  v("processes", value.processes), v("value", value.text), v("rule", value.rule), v("source", value.source);
  v("place", OrNothing(value.place)), v("absent", value.absent);
}
template <class V>
void Parts(V& v, const ChainLink& link) {
  v("depth", link.depth), v("name", link.name), v("value", link.value), v("source", link.source);
  v("place", OrNothing(link.place)), v("formula", link.formula);
}
template <class V>
void Parts(V& v, const Dependence& dependence) {
  Dependence::Kind kind = dependence.kind;
  v("name", dependence.name), v("effect", WithNames(kind, kDependenceNames)), v("why", dependence.why);
}
template <class V>
void Parts(V& v, const Refusal& refusal) {
  v("what", refusal.what), v("count", refusal.count);
}
template <class V>
void Parts(V& v, const Possible& possible) {
  v("numbers", possible.numbers), v("tried", possible.tried), v("which", possible.description);
  v("refused", possible.refusals);
}

namespace {

// What changes with the subject, without the values.
struct Effect {
  std::string kind;
  std::string role;
  std::string name;
};
template <class V>
void Parts(V& v, const Effect& effect) {
  v("kind", effect.kind), v("role", effect.role), v("name", effect.name);
}

}  // namespace

template <class V>
void Parts(V& v, const Explanation& explanation) {
  std::vector<Effect> effects;
  for (const PlanChange& change : explanation.leads_to)
    effects.push_back({std::string(PlanChangeName(change.kind)), change.role, change.name});
  std::vector<std::string> also;
  for (const Subject& subject : explanation.also) also.push_back(SubjectText(subject));
  v("format", 1), v("name", explanation.subject.name), v("kind", SubjectKindName(explanation.subject.kind));
  v("values", explanation.values), v("formula", explanation.formula), v("doc", explanation.doc);
  v("allowed", explanation.allowed), v("chain", explanation.chain), v("dependences", explanation.dependences);
  v("leads_to", effects);
  v("own", explanation.own.name.empty() ? std::nullopt : std::optional(explanation.own));
  v("possible", explanation.possible), v("also", also), v("plans", explanation.plans);
}

std::string ExplanationJson(const Explanation& explanation) { return JsonOf<PartForms>(explanation, 1) + "\n"; }

std::string ExplanationSchema() { return SchemaOf<PartForms>(Explanation()); }

}  // namespace muster
