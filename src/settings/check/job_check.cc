#include "settings/check/job_check.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/values/text_parts.h"
#include "muster/plan.h"
#include "settings/check/check_table.h"
#include "settings/check/check_value.h"
#include "settings/check/effective_value.h"
#include "settings/schema/schema.h"
#include "settings/schema/schema_text.h"

namespace muster {
namespace {

// Applies the schema's rules between settings to a job.

// "set_context.jit_config" of "set_context.jit_config.jit_level": the key of the setting in a context.
std::string_view KeyIn(std::string_view path) {
  const std::size_t dot = path.find('.');
  return dot == std::string_view::npos ? path : path.substr(0, path.find('.', dot + 1));
}

class OneRule {
 public:
  OneRule(const Rule& rule, const Context& context, const JobFacts& facts)
      : rule_(rule), context_(context), facts_(facts) {}

  std::optional<Diagnostic> Run() const {
    const EffectiveValue about = About();
    if (!about.set || IsUnsettled(rule_.when) || IsUnsettled(rule_.unless)) return std::nullopt;
    const auto holds = [&](const auto& asked) { return Holds(asked.second, Look(asked.first)); };
    if (!std::all_of(rule_.when.begin(), rule_.when.end(), holds)) return std::nullopt;
    if (std::any_of(rule_.unless.begin(), rule_.unless.end(), holds)) return std::nullopt;
    Diagnostic diagnostic = rule_.refused ? Error(rule_.kind, about.place, Filled(rule_.says), Filled(rule_.hint))
                                          : Warning(rule_.kind, about.place, Filled(rule_.says), Filled(rule_.hint));
    for (const auto& [path, condition] : rule_.when) {
      if (KeyIn(path) != KeyIn(rule_.about) && condition.set != false) Because(diagnostic, path);
      if (!condition.above_value_of.empty()) Because(diagnostic, condition.above_value_of);
    }
    diagnostic.notes.push_back(RuleNote(rule_.source));
    return diagnostic;
  }

 private:
  EffectiveValue Look(std::string_view path) const { return FindEffectiveValue(context_, facts_, path); }

  // Whether one of the values was set by a refused call.
  bool IsUnsettled(const std::map<std::string, Condition>& conditions) const {
    return std::any_of(conditions.begin(), conditions.end(), [&](const auto& asked) {
      const std::string& other = asked.second.above_value_of;
      return Look(asked.first).unsettled || (!other.empty() && Look(other).unsettled);
    });
  }

  // The setting that the rule reports; for a whole function, the first setting.
  EffectiveValue About() const {
    if (rule_.about.find('.') != std::string::npos) return Look(rule_.about);
    EffectiveValue first;
    for (const auto& [name, unused] : context_.schema().attributes(rule_.about)) {
      const Setting* setting = context_.Find(rule_.about, name);
      if (setting == nullptr) continue;
      const Place& place = setting->source.place;
      if (!first.set || std::tie(place.file, place.line) < std::tie(first.place.file, first.place.line)) {
        first.set = true;
        first.place = place;
      }
    }
    return first;
  }

  bool Holds(const Condition& asked, const EffectiveValue& found) const {
    if (asked.set && *asked.set != found.set) return false;
    const auto among = [&](const std::vector<Value>& values) {
      return std::find(values.begin(), values.end(), found.value) != values.end();
    };
    if (!asked.one_of.empty() && !among(asked.one_of)) return false;
    if (!asked.none_of.empty() && (found.value.IsNull() || among(asked.none_of))) return false;
    const auto above = [&](double number) { return found.value.IsNumber() && found.value.Number() > number; };
    if (asked.above && !above(*asked.above)) return false;
    if (asked.above_value_of.empty()) return true;
    const Value other = Look(asked.above_value_of).value;
    return other.IsNumber() && above(other.Number());
  }

  // Adds a note with the source of another value in the message.
  void Because(Diagnostic& diagnostic, const std::string& path) const {
    for (Note& note : Look(path).why) {
      auto& notes = diagnostic.notes;
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
    }
  }

  std::string Filled(const std::string& text) const {
    std::string filled;
    std::size_t from = 0;
    while (true) {
      const std::size_t open = text.find('{', from);
      const std::size_t close = text.find('}', open == std::string::npos ? from : open);
      if (open == std::string::npos || close == std::string::npos) return filled + text.substr(from);
      filled += text.substr(from, open - from) + Word(text.substr(open + 1, close - open - 1));
      from = close + 1;
    }
  }

  std::string Word(const std::string& name) const {
    static const std::string kTimes = " × ";
    if (name == "release") return "MindSpore " + ReleaseText(context_.release());
    const std::size_t times = name.find(kTimes);
    if (times == std::string::npos) return Look(name).shown;
    return NumberText(Look(name.substr(0, times)).value.Number() *
                      Look(name.substr(times + kTimes.size())).value.Number());
  }

  const Rule& rule_;
  const Context& context_;
  const JobFacts& facts_;
};

// The attributes that rules of this release read: "set_context.jit_config", and the functions they report.
std::set<std::string_view> KeysOf(const Schema& schema, const Release& release) {
  std::set<std::string_view> keys;
  for (const Rule& rule : schema.rules()) {
    if (!rule.HoldsIn(release)) continue;
    keys.insert(KeyIn(rule.about));
    for (const auto* conditions : {&rule.when, &rule.unless}) {
      for (const auto& [path, condition] : *conditions) {
        keys.insert(KeyIn(path));
        if (!condition.above_value_of.empty()) keys.insert(KeyIn(condition.above_value_of));
      }
    }
  }
  return keys;
}

// Every violated rule, once for each line of the recipe that it reports: first for the settings of the whole job, then
// for those of individual processes.
Diagnostics CheckRules(const Context& job, const JobFacts& facts) {
  const std::set<std::string_view> keys = KeysOf(job.schema(), job.release());
  // The job's own context, and those of processes with settings of their own.
  std::vector<const Context*> contexts;
  bool is_in_use = facts.processes.empty();
  for (const ProcessFacts& process : facts.processes) {
    const auto concerns = [&](const auto& entry) { return keys.contains(entry.first); };
    if (process.context != nullptr &&
        std::any_of(process.context->own().begin(), process.context->own().end(), concerns)) {
      contexts.push_back(process.context);
    } else {
      is_in_use = true;
    }
  }
  if (is_in_use) contexts.insert(contexts.begin(), &job);
  Diagnostics problems;
  for (const Rule& rule : job.schema().rules()) {
    if (!rule.HoldsIn(job.release())) continue;
    std::set<std::pair<std::string, std::uint32_t>> blamed;
    for (const Context* context : contexts) {
      auto problem = OneRule(rule, *context, facts).Run();
      if (problem && blamed.emplace(problem->place.file, problem->place.line).second) {
        problems.push_back(std::move(*problem));
      }
    }
  }
  // In the order of the recipe's lines.
  std::stable_sort(problems.begin(), problems.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.place.file, a.place.line) < std::tie(b.place.file, b.place.line);
  });
  return problems;
}

}  // namespace

// Validates settings against the processes of the whole job. Each rule is a field of an attribute's record
// (divides, below, modes) or one function here; rules that only need effective values are in
// settings/check/job_check.h.

namespace {

// "use 1, 2, 4 or 8"
std::string DivisorHint(std::int64_t number, std::int64_t wrong) {
  std::vector<std::int64_t> divisors;
  for (std::int64_t d = 1; d * d <= number; ++d) {
    if (number % d != 0) continue;
    divisors.push_back(d);
    if (d != number / d) divisors.push_back(number / d);
  }
  std::sort(divisors.begin(), divisors.end());
  constexpr std::size_t kShown = 8;
  const auto above = std::lower_bound(divisors.begin(), divisors.end(), wrong);
  std::vector<std::string> words;
  for (auto divisor = divisors.begin(); divisor != divisors.end(); ++divisor) {
    const bool near = divisor == above || divisor + 1 == above;
    if (divisors.size() <= kShown || near) words.push_back(std::to_string(*divisor));
  }
  return "use " + WordList(words, " or ");
}

class Together {
 public:
  Together(const Context& job, const JobFacts& facts) : job_(job), facts_(facts) {
    const Setting* set = job.Find(kSetAutoParallel, "device_num");
    const std::int64_t* number = set == nullptr ? nullptr : set->value.AsInt();
    device_num_ = number != nullptr ? *number : std::max<std::int64_t>(1, facts.workers);
  }

  Diagnostics Run() {
    DeviceNumIsTheWorkers();
    for (const std::string& api : job_.schema().Functions()) {
      for (const auto& [name, unused] : job_.schema().attributes(api)) {
        const Attribute* attribute = job_.schema().Find(api, name, job_.release());
        const Setting* setting = attribute == nullptr ? nullptr : job_.Find(api, name);
        if (setting == nullptr) continue;
        Divides(*attribute, *setting);
        FitsParallelMode(*attribute, *setting);
        IsForThisDevice(*attribute, *setting);
      }
      for (const auto& [name, unused] : job_.schema().attributes(api)) LayoutsFillAStage(api, name);
    }
    for (const auto& [function, unused] : job_.schema().calls()) {
      for (const auto& [name, records] : job_.schema().attributes(function)) {
        KeysDivide(function, name);
        LayoutsFillAStage(function, name);
      }
    }
    for (Diagnostic& problem : CheckRules(job_, facts_)) Add(std::move(problem));
    RanksAreTheProcesses();
    DevicesAreVisible();
    DevicesAreOfTheHost();
    DevicesAreTheirOwn();
    ShardsFillAStage(kSetAutoParallel, "optimizer_weight_shard_size", "");
    ShardsFillAStage(kSetAutoParallel, "parallel_optimizer_config", "optimizer_weight_shard_size");
    ShardsFillAStage(kParallel, "hsdp", "shard_size");
    CutsFitAStage(kSetAutoParallel);
    CutsFitAStage(kParallel);
    return std::move(problems_);
  }

 private:
  Diagnostic& Add(Diagnostic diagnostic) { return problems_.emplace_back(std::move(diagnostic)); }

  void Because(Diagnostic& diagnostic, std::string_view api, const std::string& name) const {
    const Setting* setting = job_.Find(api, name);
    if (setting == nullptr) return;
    diagnostic.notes.push_back({name + " = " + ToText(setting->value) + " was set here", setting->source.place});
  }

  // Adds the reason for the value of device_num.
  void BecauseDeviceNum(Diagnostic& diagnostic) const {
    Because(diagnostic, kSetAutoParallel, "device_num");
    if (job_.Find(kSetAutoParallel, "device_num") == nullptr) AddWorkersNotes(diagnostic);
  }
  void AddWorkersNotes(Diagnostic& diagnostic) const {
    diagnostic.notes.insert(diagnostic.notes.end(), facts_.workers_notes.begin(), facts_.workers_notes.end());
  }

  Value EffectiveValue(std::string_view api, std::string_view name) const {
    if (api == kSetAutoParallel && name == "device_num") return Value(device_num_);
    if (const Setting* setting = job_.Find(api, name)) return setting->value;
    const Attribute* attribute = job_.schema().Find(api, name, job_.release());
    return attribute == nullptr ? Value() : attribute->default_value;
  }

  // Whether the value was set by a refused call: values that depend on it are not checked.
  bool Unsettled(std::string_view api, std::string_view name) const { return job_.IsUnsettled(api, name); }

  std::string Version() const { return "MindSpore " + ReleaseText(job_.release()); }

  // Adds the source of the rule for an attribute that is given by name only.
  void CiteRule(Diagnostic& diagnostic, std::string_view api, std::string_view name, std::string_view rule) const {
    const Attribute* attribute = job_.schema().Find(api, name, job_.release());
    if (attribute != nullptr) Cite(diagnostic, *attribute, rule);
  }

  void DeviceNumIsTheWorkers() {
    const Setting* set = job_.Find(kSetAutoParallel, "device_num");
    if (set == nullptr || Unsettled(kSetAutoParallel, "device_num") || facts_.workers == 0 ||
        device_num_ == facts_.workers)
      return;
    Diagnostic& diagnostic = Add(Error("conflict", set->source.place,
                                       "device_num = " + std::to_string(device_num_) +
                                           " is not the number of workers, " + std::to_string(facts_.workers),
                                       "leave device_num out, or set it to " + std::to_string(facts_.workers) +
                                           "; scheduler and servers do not count"));
    AddWorkersNotes(diagnostic);
    CiteRule(diagnostic, kSetAutoParallel, "device_num", "workers");
  }

  void Divides(const Attribute& attribute, const Setting& setting) {
    if (attribute.divides.empty() || Unsettled(attribute.api, attribute.divides)) return;
    const Value whole = EffectiveValue(attribute.api, attribute.divides);
    const std::int64_t* dividend = whole.AsInt();
    const std::int64_t* divisor = setting.value.AsInt();
    if (dividend == nullptr || divisor == nullptr || *divisor < 1 || *dividend % *divisor == 0) return;
    Diagnostic& diagnostic = Add(Error("division", setting.source.place,
                                       attribute.name + " = " + std::to_string(*divisor) + " does not divide " +
                                           attribute.divides + " = " + std::to_string(*dividend),
                                       DivisorHint(*dividend, *divisor)));
    if (attribute.divides == "device_num") {
      BecauseDeviceNum(diagnostic);
    } else {
      Because(diagnostic, attribute.api, attribute.divides);
    }
    Cite(diagnostic, attribute, "divides");
  }

  // Sub-keys of a call's table against a fact about the job: stages against the workers.
  void KeysDivide(const std::string& function, const std::string& name) {
    const Attribute* attribute = job_.schema().Find(function, name, job_.release());
    const Setting* setting = attribute == nullptr ? nullptr : job_.Find(function, name);
    const Value::Map* table = setting == nullptr ? nullptr : setting->value.AsMap();
    if (table == nullptr) return;
    for (const Attribute& key : attribute->keys) {
      const auto given = table->find(key.name);
      if (key.divides.empty() || given == table->end() || !key.ExistsIn(job_.release())) continue;
      const auto whole = FindEffectiveValue(job_, facts_, key.divides);
      const std::int64_t* dividend = whole.value.AsInt();
      const std::int64_t* divisor = given->second.AsInt();
      if (dividend == nullptr || divisor == nullptr || *dividend % *divisor == 0) continue;
      Diagnostic& diagnostic = Add(
          Error("division", setting->source.place,
                function + ": " + name + "." + key.name + " = " + std::to_string(*divisor) + " does not divide " +
                    "the number of " + key.divides.substr(key.divides.find('.') + 1) + ", " + std::to_string(*dividend),
                DivisorHint(*dividend, *divisor)));
      diagnostic.notes.insert(diagnostic.notes.end(), whole.why.begin(), whole.why.end());
      Cite(diagnostic, key, "divides");
    }
  }

  // A layout arranges the devices of one stage.
  void LayoutsFillAStage(const std::string& function, const std::string& name) {
    const Setting* setting = job_.Find(function, name);
    const std::int64_t stage = StageDevices();
    if (setting == nullptr || !IsListOfLayouts(setting->value) || stage == 0) return;
    for (const Value& layout : *setting->value.AsList()) {
      const auto devices = DevicesOf(layout);
      if (!devices || *devices == stage) continue;
      Diagnostic& diagnostic = Add(Warning(
          "conflict", setting->source.place,
          name + " holds a layout of " + Counted(*devices, "device") + ", and a stage has " + std::to_string(stage),
          "the product of device_matrix is the number of devices of a stage"));
      BecauseDeviceNum(diagnostic);
      CiteRule(diagnostic, function, name, "layouts");
      return;
    }
  }

  // The devices of a stage; 0 if they are not known.
  std::int64_t StageDevices() const {
    const std::int64_t stages = PipelineStages(job_);
    const bool known = facts_.workers > 0 && !Unsettled(kSetAutoParallel, "device_num") && device_num_ % stages == 0;
    return known ? device_num_ / stages : 0;
  }

  // The optimizer's weights are cut within a stage. More than device_num are refused by rules of the schema. `key` is
  // empty if the attribute itself is the number.
  void ShardsFillAStage(std::string_view api, const std::string& name, const std::string& key) {
    const Setting* setting = Unsettled(api, name) ? nullptr : job_.Find(api, name);
    const Attribute* record = setting == nullptr ? nullptr : job_.schema().Find(api, name, job_.release());
    const Value* given = setting == nullptr ? nullptr : &setting->value;
    if (record != nullptr && !key.empty()) {
      const auto of_key = std::find_if(record->keys.begin(), record->keys.end(), [&](const Attribute& each) {
        return each.name == key && each.ExistsIn(job_.release());
      });
      record = of_key == record->keys.end() ? nullptr : &*of_key;
      const Value::Map* table = given->AsMap();
      const auto inside = table == nullptr ? Value::Map::const_iterator() : table->find(key);
      given = table == nullptr || inside == table->end() ? nullptr : &inside->second;
    }
    const std::int64_t* shards = given == nullptr ? nullptr : given->AsInt();
    const std::int64_t stage = StageDevices();
    if (record == nullptr || shards == nullptr || *shards < 1 || stage == 0 || *shards > device_num_) return;
    if (api == kSetAutoParallel && EffectiveValue(api, "enable_parallel_optimizer") != Value(true)) return;
    if (*shards <= stage && stage % *shards == 0) return;
    const std::string shown = name + (key.empty() ? "" : "." + key) + " = " + std::to_string(*shards);
    const std::string whole = std::to_string(stage) + " devices of a stage";
    Diagnostic diagnostic =
        *shards > stage
            ? Warning("range", setting->source.place, shown + " is above the " + whole, DivisorHint(stage, *shards))
            : Warning("no_effect", setting->source.place,
                      shown + " does not divide the " + whole + ", and will not take effect",
                      DivisorHint(stage, *shards));
    BecauseStages(diagnostic);
    Cite(diagnostic, *record, "shards");
    Add(std::move(diagnostic));
  }

  // What is wrong with the cuts of one input; empty if nothing is. Sets the number of pieces.
  static std::string WrongCuts(const Value::List& cuts, const std::string& input, std::int64_t stage,
                               std::int64_t& pieces) {
    pieces = 1;
    std::size_t dimensions = 0;
    for (const Value& each : cuts) {
      const std::int64_t* count = each.AsInt();
      if (count == nullptr) return "";
      if (*count < 1)
        return "has " + std::to_string(*count) + " as a cut of " + input + ", which is no number of pieces";
      if (*count > 1) ++dimensions;
      pieces = *count > stage ? stage + 1 : std::min(pieces * *count, stage + 1);
    }
    if (pieces > stage || stage % pieces != 0)
      return "cuts " + input + " into pieces that do not fit the " + std::to_string(stage) + " devices of a stage";
    if (dimensions > 1) return "cuts " + input + " in " + std::to_string(dimensions) + " dimensions";
    return "";
  }

  // dataset_strategy as one list of cuts per input: their product is the number of pieces of the input.
  void CutsFitAStage(std::string_view api) {
    const Setting* setting = Unsettled(api, "dataset_strategy") ? nullptr : job_.Find(api, "dataset_strategy");
    const Value::List* inputs = setting == nullptr ? nullptr : setting->value.AsList();
    const std::int64_t stage = StageDevices();
    if (inputs == nullptr || IsListOfLayouts(setting->value) || stage == 0) return;
    std::string why = inputs->empty() ? "names no input" : "";
    std::pair<std::size_t, std::int64_t> largest;           // dimensions and pieces of the input with most of them
    std::pair<std::int64_t, std::string> finest = {0, ""};  // pieces and name of the input that is cut most
    for (std::size_t number = 0; number < inputs->size() && why.empty(); ++number) {
      const Value::List* cuts = (*inputs)[number].AsList();
      if (cuts == nullptr) return;
      const std::string input = "input " + std::to_string(number + 1);
      std::int64_t pieces = 1;
      why = WrongCuts(*cuts, input, stage, pieces);
      largest = std::max(largest, {cuts->size(), pieces});
      if (pieces > finest.first) finest = {pieces, input};
    }
    if (why.empty() && finest.first > largest.second) {
      why = "cuts " + finest.second + " into " + std::to_string(finest.first) +
            " pieces, more than the input with most dimensions";
    }
    if (why.empty()) return;
    Diagnostic& diagnostic = Add(Warning(
        "conflict", setting->source.place, "dataset_strategy = " + ToText(setting->value) + " " + why,
        "the cuts of an input divide the devices of a stage, in one dimension; most are on that with most dimensions"));
    BecauseStages(diagnostic);
    CiteRule(diagnostic, api, "dataset_strategy", "cuts");
  }

  // Adds the reasons for the number of devices of a stage.
  void BecauseStages(Diagnostic& diagnostic) const {
    const bool called = job_.Find(kParallel, "pipeline") != nullptr;
    Because(diagnostic, called ? kParallel : kSetAutoParallel, called ? "pipeline" : "pipeline_stages");
    BecauseDeviceNum(diagnostic);
  }

  void FitsParallelMode(const Attribute& attribute, const Setting& setting) {
    if (setting.value == attribute.default_value || Unsettled(kSetAutoParallel, "parallel_mode")) return;
    const Value mode = EffectiveValue(kSetAutoParallel, "parallel_mode");
    const std::string* word = mode.AsString();
    if (word == nullptr) return;
    const auto lacks = [&](const std::vector<std::string>& modes) {
      return !modes.empty() && std::find(modes.begin(), modes.end(), *word) == modes.end();
    };
    const bool refused = lacks(attribute.modes);
    if (!refused && !lacks(attribute.modes_documented)) return;
    std::vector<std::string> wanted;
    for (const std::string& each : refused ? attribute.modes : attribute.modes_documented) {
      wanted.push_back("\"" + each + "\"");
    }
    Diagnostic diagnostic =
        Error("mode_conflict", setting.source.place,
              attribute.name + " = " + ShownValue(attribute, setting.value) +
                  (refused ? " needs another parallel_mode than " : " has no documented effect with parallel_mode = ") +
                  ToText(mode) + " in " + Version(),
              "it is for parallel_mode " + WordList(wanted, " or "));
    if (!refused) diagnostic.severity = Severity::kWarning;
    Because(diagnostic, kSetAutoParallel, "parallel_mode");
    if (diagnostic.notes.empty())
      diagnostic.notes.push_back({"parallel_mode = " + ToText(mode) + " is the default", {}});
    Cite(diagnostic, attribute, refused ? "modes" : "modes_documented");
    Add(std::move(diagnostic));
  }

  // device_target may have been set after the attribute.
  void IsForThisDevice(const Attribute& attribute, const Setting& setting) {
    const Setting* target = job_.Find(kSetContext, "device_target");
    const std::string* device = target == nullptr ? nullptr : target->value.AsString();
    if (device == nullptr || attribute.enforced.empty()) return;
    if (std::find(attribute.enforced.begin(), attribute.enforced.end(), *device) != attribute.enforced.end()) return;
    Because(Add(Warning("wrong_device", setting.source.place,
                        attribute.name + " is for " + WordList(attribute.enforced, " and ") + ": on " + *device + " " +
                            Version() + " skips it")),
            kSetContext, "device_target");
  }

  const Context& ContextOf(const ProcessFacts& process) const {
    return process.context == nullptr ? job_ : *process.context;
  }

  // One diagnostic for all processes with the same problem caused by one line of the recipe.
  struct Wrong {
    const Setting* setting;
    const ProcessFacts* first;
    std::size_t processes = 0;
  };
  static void Remember(std::vector<Wrong>& wrongs, const Setting& setting, const ProcessFacts& process) {
    for (Wrong& wrong : wrongs) {
      if (wrong.setting->source.place == setting.source.place) {
        ++wrong.processes;
        return;
      }
    }
    wrongs.push_back({&setting, &process, 1});
  }
  static std::string Others(const Wrong& wrong) {
    if (wrong.processes == 1) return "";
    return ", and so for " + std::to_string(wrong.processes - 1) +
           (wrong.processes == 2 ? " other process" : " other processes");
  }

  void RanksAreTheProcesses() {
    std::vector<Wrong> beyond;
    std::vector<Wrong> other;
    for (const ProcessFacts& process : facts_.processes) {
      const Setting* setting = ContextOf(process).Find(kSetAutoParallel, "global_rank");
      const std::int64_t* rank = setting == nullptr ? nullptr : setting->value.AsInt();
      if (rank == nullptr) continue;
      if (Unsettled(kSetAutoParallel, "device_num") ||
          ContextOf(process).IsUnsettled(kSetAutoParallel, "global_rank")) {
        continue;
      }
      if (*rank >= device_num_) {
        Remember(beyond, *setting, process);
      } else if (*rank != process.rank) {
        Remember(other, *setting, process);
      }
    }
    for (const Wrong& wrong : beyond) {
      Diagnostic& diagnostic =
          Add(Error("range", wrong.setting->source.place,
                    "global_rank = " + ToText(wrong.setting->value) + " of " + wrong.first->name +
                        " is not below device_num = " + std::to_string(device_num_) + Others(wrong),
                    "set it to process.rank inside each, or leave it out"));
      BecauseDeviceNum(diagnostic);
      CiteRule(diagnostic, kSetAutoParallel, "global_rank", "below");
    }
    for (const Wrong& wrong : other) {
      Diagnostic& diagnostic =
          Add(Warning("rank", wrong.setting->source.place,
                      "global_rank = " + ToText(wrong.setting->value) + " of " + wrong.first->name +
                          " is not its rank " + std::to_string(wrong.first->rank) + Others(wrong),
                      "set it to process.rank inside each, or leave it out"));
      CiteRule(diagnostic, kSetAutoParallel, "global_rank", "rank");
    }
  }

  void DevicesAreVisible() {
    const Value target = EffectiveValue(kSetContext, "device_target");
    if (target == Value("CPU") || Unsettled(kSetContext, "device_target")) return;
    std::vector<Wrong> wrongs;
    for (const ProcessFacts& process : facts_.processes) {
      const Setting* setting = ContextOf(process).Find(kSetContext, "device_id");
      const std::int64_t* device = setting == nullptr ? nullptr : setting->value.AsInt();
      if (device == nullptr || !process.visible_devices) continue;
      if (*process.visible_devices == 0 && target.IsNull()) continue;  // may run on a CPU
      if (*device >= *process.visible_devices) Remember(wrongs, *setting, process);
    }
    for (const Wrong& wrong : wrongs) {
      const std::uint32_t visible = *wrong.first->visible_devices;
      Diagnostic& diagnostic =
          Add(Error("range", wrong.setting->source.place,
                    "device_id = " + ToText(wrong.setting->value) + " of " + wrong.first->name +
                        " can not be seen by it: it sees " +
                        (visible == 1 ? "1 device" : std::to_string(visible) + " devices") + Others(wrong),
                    visible == 0 ? "give the role devices"
                                 : "use " + (visible == 1 ? std::string("0") : "0 to " + std::to_string(visible - 1)) +
                                       ", usually process.local_rank" + WayTo(wrong)));
      CiteRule(diagnostic, kSetContext, "device_id", "visible");
    }
  }

  // How a process gets the device that its host has and the plan does not give it.
  static std::string WayTo(const Wrong& wrong) {
    const std::int64_t device = *wrong.setting->value.AsInt();
    const std::uint32_t on_host = wrong.first->host_devices.value_or(0);
    if (wrong.processes > 1 || device >= on_host) return "";
    const std::string number = std::to_string(device);
    return "; the plan gives it " + std::to_string(*wrong.first->visible_devices) + " of the " +
           std::to_string(on_host) + " devices of its host: for device " + number + " start with --devices " + number +
           " and device_id = 0, or give the role devices = " + std::to_string(on_host);
  }

  // A role without devices may still name one of its host's.
  void DevicesAreOfTheHost() {
    if (EffectiveValue(kSetContext, "device_target") == Value("CPU") || Unsettled(kSetContext, "device_target")) return;
    std::vector<Wrong> wrongs;
    for (const ProcessFacts& process : facts_.processes) {
      const Setting* setting = ContextOf(process).Find(kSetContext, "device_id");
      const std::int64_t* device = setting == nullptr ? nullptr : setting->value.AsInt();
      const std::uint32_t devices = process.host_devices.value_or(0);
      if (device == nullptr || process.visible_devices || devices == 0) continue;
      if (*device >= devices) Remember(wrongs, *setting, process);
    }
    for (const Wrong& wrong : wrongs) {
      const std::uint32_t devices = *wrong.first->host_devices;
      Diagnostic& diagnostic =
          Add(Warning("range", wrong.setting->source.place,
                      "device_id = " + ToText(wrong.setting->value) + " of " + wrong.first->name +
                          " is not below the devices of its host, " + std::to_string(devices) + Others(wrong),
                      devices == 1 ? "use 0" : "use 0 to " + std::to_string(devices - 1)));
      CiteRule(diagnostic, kSetContext, "device_id", "host");
    }
  }

  // Processes with a device each that select another process's. Up to 1.9 on Ascend, and with a rank table, nothing
  // corrects that; later releases set device_id to the local rank when init() has formed the group.
  void DevicesAreTheirOwn() {
    const Value target = EffectiveValue(kSetContext, "device_target");
    if (target == Value("CPU") || Unsettled(kSetContext, "device_target")) return;
    std::vector<Wrong> wrongs;
    for (const ProcessFacts& process : facts_.processes) {
      const Setting* setting = ContextOf(process).Find(kSetContext, "device_id");
      const std::int64_t* device = setting == nullptr ? nullptr : setting->value.AsInt();
      if (device == nullptr || !process.device || *device == *process.device) continue;
      if (*device < process.visible_devices.value_or(0) || !process.visible_devices) {
        Remember(wrongs, *setting, process);
      }
    }
    const bool taken = facts_.devices_by_id || (job_.release() < Release{2, 0} && target == Value("Ascend"));
    for (const Wrong& wrong : wrongs) {
      Diagnostic diagnostic =
          Error("devices", wrong.setting->source.place,
                "device_id = " + ToText(wrong.setting->value) + " of " + wrong.first->name + " is not its device " +
                    std::to_string(*wrong.first->device) + Others(wrong),
                facts_.devices_by_id ? "leave device_id out: the rank table has the device of each rank"
                                     : "set it to process.local_rank inside each, or leave it out");
      if (!taken) diagnostic.severity = Severity::kWarning;
      CiteRule(diagnostic, kSetContext, "device_id", "device");
      Add(std::move(diagnostic));
    }
  }

  const Context& job_;
  const JobFacts& facts_;
  std::int64_t device_num_ = 1;
  Diagnostics problems_;
};

}  // namespace

Diagnostics CheckTogether(const Context& job, const JobFacts& facts) { return Together(job, facts).Run(); }

std::uint32_t PipelineStages(const Context& job) {
  const Setting* pipeline = job.Find(kParallel, "pipeline");
  const Setting* plain = job.Find(kSetAutoParallel, "pipeline_stages");
  const Value* stages = plain == nullptr ? nullptr : &plain->value;
  static const Value kOne(std::int64_t{1});
  if (const Value::Map* table = pipeline == nullptr ? nullptr : pipeline->value.AsMap()) {
    const auto given = table->find("stages");
    stages = given == table->end() ? &kOne : &given->second;
  }
  const std::int64_t* number = stages == nullptr ? nullptr : stages->AsInt();
  return number == nullptr || *number < 1 ? 1
                                          : static_cast<std::uint32_t>(std::min<std::int64_t>(*number, 0xffffffffLL));
}

DerivedSettings DeriveSettings(const Context& job, const JobFacts& facts) {
  DerivedSettings derived;
  const auto from_workers = [&](Value value, std::string text) {
    return Setting{std::move(value), {SettingSource::Kind::kDerived, {}, std::move(text)}};
  };
  const Setting* device_num = job.Find(kSetAutoParallel, "device_num");
  derived.device_num = device_num != nullptr
                           ? *device_num
                           : from_workers(Value(std::max<std::int64_t>(1, facts.workers)), "the number of workers");
  derived.pipeline_stages = PipelineStages(job);
  derived.global_rank.reserve(facts.processes.size());
  for (const ProcessFacts& process : facts.processes) {
    const Context& context = process.context == nullptr ? job : *process.context;
    const Setting* rank = context.Find(kSetAutoParallel, "global_rank");
    derived.global_rank.push_back(
        rank != nullptr ? *rank : from_workers(Value(std::int64_t{process.rank}), "the process's rank"));
  }
  return derived;
}

namespace {

bool IsOn(const Setting* setting) {
  if (setting == nullptr) return false;
  if (const bool* on = setting->value.AsBool()) return *on;
  return setting->value.IsNumber() && setting->value.Number() > 0;
}

// Without empty and "." components. ".." stays: it can only be resolved on the host.
std::string JoinedPath(std::initializer_list<std::string_view> parts) {
  std::string path;
  for (std::string_view part : parts) {
    if (path.empty() && part.starts_with('/')) path = "/";
    while (!part.empty()) {
      const std::string_view name = part.substr(0, part.find('/'));
      part.remove_prefix(std::min(name.size() + 1, part.size()));
      if (name.empty() || name == ".") continue;
      if (!path.empty() && path != "/") path += '/';
      path += name;
    }
  }
  return path.empty() ? "." : path;
}

bool IsAbsolute(std::string_view path) {
  return path.starts_with('/') || path.starts_with(std::string(kPlaceholderOpen) + "run_dir}");
}

// The reason why the process writes there: the path setting, else the setting that enabled writing.
const Setting* Cause(const Attribute& attribute, const Context& context) {
  const Setting* path = context.Find(attribute.api, attribute.name);
  return path != nullptr ? path : context.Find(attribute.api, attribute.written_if);
}

std::string PathOf(const Attribute& attribute, const WritingProcess& process) {
  const Setting* setting = process.context->Find(attribute.api, attribute.name);
  if (attribute.written_if.empty() ? setting == nullptr
                                   : !IsOn(process.context->Find(attribute.api, attribute.written_if)))
    return "";
  const Value& value = setting != nullptr ? setting->value : attribute.default_value;
  const std::string* text = value.AsString();
  if (text == nullptr || (text->empty() && attribute.written_if.empty())) return "";
  std::string below;
  if (!attribute.rank_from.empty()) {
    const std::string rank = process.variable(attribute.rank_from);
    below = "rank_" + (rank.empty() ? "0" : rank);
  }
  return JoinedPath({IsAbsolute(*text) ? std::string_view() : process.cwd, *text, below});
}

struct Shared {
  std::vector<std::size_t> processes;
  std::string path;
};

Diagnostic SharedPath(const Attribute& attribute, const Setting& cause, const std::vector<const Shared*>& shared,
                      std::span<const WritingProcess> processes) {
  const Shared& first = *shared.front();
  constexpr std::size_t kNamed = 4;
  std::vector<std::string> names;
  for (const std::size_t process : first.processes) {
    if (names.size() < kNamed) names.push_back(processes[process].name);
  }
  if (first.processes.size() > kNamed) names.push_back(std::to_string(first.processes.size() - kNamed) + " more");
  std::string message = attribute.name + ": " + WordList(names) + " of one host would write to the same " +
                        attribute.writes + ", " + first.path;
  if (shared.size() > 1) {
    message += ", and so for " + std::to_string(shared.size() - 1) + " other " + attribute.writes +
               (shared.size() == 2 ? "" : "s");
  }
  Diagnostic warning =
      Warning("shared_path", cause.source.place, std::move(message), "set " + attribute.name + " inside each");
  if (attribute.rank_from.empty()) return warning;
  for (const std::size_t process : first.processes) {
    if (!processes[process].variable(attribute.rank_from).empty()) continue;
    warning.notes.push_back({"MindSpore adds rank_N below the path, and " + attribute.rank_from + " is not set for " +
                                 processes[process].name + ": N is 0",
                             {}});
    break;
  }
  return warning;
}

// Disabled for the job, unless processes may enable it for themselves.
bool IsOffForAll(const Attribute& attribute, const Context& job) {
  const std::string& name = attribute.written_if.empty() ? attribute.name : attribute.written_if;
  const Attribute* gate = job.schema().Find(attribute.api, name, job.release());
  if (gate == nullptr || gate->per_process) return false;
  const Setting* setting = job.Find(attribute.api, name);
  return attribute.written_if.empty() ? setting == nullptr : !IsOn(setting);
}

}  // namespace

std::vector<WrittenPaths> PredictWrittenPaths(const Context& job, std::span<const WritingProcess> processes) {
  std::vector<WrittenPaths> written;
  for (const std::string& api : job.schema().Functions()) {
    for (const auto& [name, unused] : job.schema().attributes(api)) {
      const Attribute* attribute = job.schema().Find(api, name, job.release());
      if (attribute == nullptr || attribute->writes.empty() || IsOffForAll(*attribute, job)) continue;
      WrittenPaths paths{attribute, {}};
      for (std::size_t i = 0; i < processes.size(); ++i) {
        if (std::string path = PathOf(*attribute, processes[i]); !path.empty())
          paths.paths.push_back({i, std::move(path)});
      }
      if (!paths.paths.empty()) written.push_back(std::move(paths));
    }
  }
  return written;
}

Diagnostics CheckWrittenPaths(const std::vector<WrittenPaths>& written, std::span<const WritingProcess> processes) {
  Diagnostics warnings;
  for (const auto& [attribute, paths] : written) {
    std::map<std::pair<std::uint32_t, std::string_view>, Shared> by_path;
    for (const WrittenPath& path : paths) {
      Shared& shared = by_path[{processes[path.process].host, path.path}];
      shared.processes.push_back(path.process);
      shared.path = path.path;
    }
    std::map<std::pair<std::string, std::uint32_t>, std::vector<const Shared*>> by_line;
    for (const auto& [where, shared] : by_path) {
      if (shared.processes.size() < 2) continue;
      const Place& place = Cause(*attribute, *processes[shared.processes.front()].context)->source.place;
      by_line[{place.file, place.line}].push_back(&shared);
    }
    for (const auto& [place, shared] : by_line) {
      const Setting* cause = Cause(*attribute, *processes[shared.front()->processes.front()].context);
      warnings.push_back(SharedPath(*attribute, *cause, shared, processes));
    }
  }
  return warnings;
}

}  // namespace muster
