// Validates settings against the processes of the whole job. Each rule is a field of an attribute's record
// (divides, below, modes) or one function here; rules that only need effective values are in
// check_rules.h.
#include <algorithm>

#include "muster/mindspore/context.h"
#include "settings/check/check_layout.h"
#include "settings/check/check_rules.h"
#include "settings/check/check_value.h"
#include "settings/check/effective_value.h"
#include "settings/schema/rule_note.h"
#include "settings/schema/setting_key.h"
#include "settings/schema/word_list.h"

namespace muster {
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
      Diagnostic& diagnostic =
          Add(Warning("conflict", setting->source.place,
                      name + " holds a layout of " + std::to_string(*devices) +
                          (*devices == 1 ? " device" : " devices") + ", and a stage has " + std::to_string(stage),
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

}  // namespace muster
