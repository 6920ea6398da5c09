#include "plan/environment/environment.h"

#include <algorithm>
#include <array>
#include <deque>
#include <initializer_list>
#include <set>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"

namespace muster {
namespace {

bool IsPattern(std::string_view key) { return key.ends_with('*'); }

// A name, or a pattern PREFIX* whose prefix could begin a name ("*" alone matches everything).
bool IsVariableKey(std::string_view key, bool unset) {
  if (!IsPattern(key)) return IsVariableName(key);
  return unset && (key == "*" || IsVariableName(key.substr(0, key.size() - 1)));
}

bool IsUsers(Layer layer) { return layer >= Layer::kJob && layer <= Layer::kCommandLine; }

std::string OwnerOf(const EnvironmentLayer& layer) {
  return layer.owner.empty() ? std::string(LayerName(layer.layer)) : layer.owner;
}

class Merge {
 public:
  Merge(std::span<const EnvironmentLayer* const> layers, bool with_sources)
      : layers_(layers.begin(), layers.end()), with_sources_(with_sources) {
    std::stable_sort(layers_.begin(), layers_.end(), [](auto* a, auto* b) { return a->layer < b->layer; });
    constexpr std::size_t kUsual = 64;
    set_.reserve(kUsual);
  }

  Result<MergedEnvironment> Run(const Variables& shared) {
    // Layers of one rank: apply all removals first, then all assignments.
    for (std::size_t begin = 0; begin < layers_.size();) {
      std::size_t end = begin;
      while (end < layers_.size() && layers_[end]->layer == layers_[begin]->layer) ++end;
      for (const bool unsetting : {true, false}) {
        for (std::size_t i = begin; i < end; ++i) {
          if (!layers_[i]->settled) Apply(*layers_[i], unsetting);
        }
      }
      begin = end;
    }
    if (!problems_.empty()) return Fail(std::move(problems_));
    MergedEnvironment merged;
    auto known = shared.begin();
    const auto pass = [&](const std::string* until) {
      for (; known != shared.end() && (until == nullptr || known->first < *until); ++known) {
        merged.absent.push_back(known->first);
      }
    };
    for (const auto& [key, text] : set_) {
      pass(key);
      const bool both = known != shared.end() && known->first == *key;
      if (!both || known->second != *text) merged.set.emplace_hint(merged.set.end(), *key, *text);
      if (both) ++known;
    }
    pass(nullptr);
    for (const std::string* key : unset_) merged.unset.push_back(*key);
    std::sort(merged.unset.begin(), merged.unset.end());
    merged.unset.erase(std::unique(merged.unset.begin(), merged.unset.end()), merged.unset.end());
    merged.sources = std::move(sources_);
    return merged;
  }

 private:
  struct ByText {
    bool operator()(const std::string* a, const std::string* b) const { return *a < *b; }
  };

  void Apply(const EnvironmentLayer& layer, bool unsetting) {
    auto next = set_.begin();  // names are sorted, so each search begins after the last match
    for (const auto& [key, variable] : layer.variables) {
      if (variable.value.has_value() == unsetting) continue;
      if (!IsSound(layer, key, variable) || Contradicts(layer, key, variable)) continue;
      if (unsetting) {
        Unset(layer, key, variable);
      } else if (variable.prepend) {
        Prepend(layer, key, variable);
        next = set_.begin();
      } else if (!IsOverridden(layer, key)) {
        next = std::next(set_.insert_or_assign(next, &key, &*variable.value));
        Decide(layer, key, variable);
      }
    }
  }

  void Unset(const EnvironmentLayer& layer, const std::string& key, const LayerVariable& variable) {
    if (IsPattern(key)) {
      for (auto set = set_.begin(); set != set_.end();) {
        const bool goes = Matches(key, *set->first) && !IsOverridden(layer, *set->first);
        if (goes) sources_.erase(*set->first);
        set = goes ? set_.erase(set) : std::next(set);
      }
    } else if (!IsOverridden(layer, key)) {
      set_.erase(&key);
    }
    unset_.push_back(&key);
    if (!set_.contains(&key)) Decide(layer, key, variable);
  }

  // Provenance remains that of the layer that set the end of the path, if any.
  void Prepend(const EnvironmentLayer& layer, const std::string& key, const LayerVariable& variable) {
    std::string path = variable.value->marked;
    const auto set = set_.find(&key);
    if (set != set_.end()) {
      if (!set->second->marked.empty()) path += ':' + set->second->marked;
    } else if (std::none_of(unset_.begin(), unset_.end(),
                            [&](const std::string* pattern) { return Matches(*pattern, key); })) {
      path += PlaceholderText({Placeholder::Kind::kInheritedPath, key, 0});
    }
    set_.insert_or_assign(&key, &joined_.emplace_back(std::move(path)));
    if (with_sources_) sources_[key].layer = layer.layer;
  }

  void Decide(const EnvironmentLayer& layer, const std::string& key, const LayerVariable& variable) {
    if (with_sources_) sources_.insert_or_assign(key, VariableSource{layer.layer, variable.place});
    if (variable.override && IsUsers(layer.layer)) overrides_.insert(key);
  }

  // Whether the recipe overrides this variable of the contract.
  bool IsOverridden(const EnvironmentLayer& layer, const std::string& key) const {
    return layer.layer == Layer::kContract && overrides_.contains(key);
  }

  bool IsSound(const EnvironmentLayer& layer, const std::string& key, const LayerVariable& variable) {
    if (layer.layer == Layer::kMuster) return true;
    const bool unset = !variable.value.has_value();
    const auto refuse = [&](const std::string& message, const char* hint) {
      problems_.push_back(Error("variable", variable.place, OwnerOf(layer) + ": " + message, hint));
      return false;
    };
    if (!IsVariableKey(key, unset)) {
      return refuse("\"" + key.substr(0, 100) + "\" is not a variable name", "a name is not empty and has no '='");
    }
    if (unset && layer.layer == Layer::kEach) {
      return refuse(key + " cannot be unset for one process", "unset it for the whole role");
    }
    if (!unset && !IsVariableValue(variable.value->marked)) {
      return refuse(key + " has a value that is not UTF-8 text or contains a zero byte", "");
    }
    return true;
  }

  // A recipe must use `override` to contradict the contract; muster's own variables cannot be overridden.
  bool Contradicts(const EnvironmentLayer& layer, const std::string& key, const LayerVariable& variable) {
    if (!IsUsers(layer.layer)) return false;
    for (const EnvironmentLayer* other : layers_) {
      if (other->layer < Layer::kContract) continue;
      const bool final = other->layer == Layer::kMuster;
      if (variable.override && !final) continue;
      const auto* ruling = Ruling(*other, key, variable);
      if (ruling == nullptr) continue;
      const bool removes = !ruling->second.value.has_value();
      Diagnostic diagnostic =
          Error("contract_variable", variable.place,
                OwnerOf(layer) + ": " + key + " belongs to " + OwnerOf(*other) + ", which " +
                    (removes ? "removes it" : "sets it"),
                final || layer.layer == Layer::kCommandLine ? "leave it out"
                                                            : "leave it out, or write override = true beside it");
      if (!ruling->second.place.file.empty()) {
        diagnostic.notes.push_back(
            {OwnerOf(*other) + (removes ? " removes " : " sets ") + ruling->first, ruling->second.place});
      }
      problems_.push_back(std::move(diagnostic));
      return true;
    }
    return false;
  }

  // The entry of `other` that conflicts with setting or unsetting the variable; null if there is no conflict.
  static const LayerVariables::value_type* Ruling(const EnvironmentLayer& other, const std::string& key,
                                                  const LayerVariable& variable) {
    if (IsPattern(key)) return nullptr;
    if (const auto exact = other.variables.find(key); exact != other.variables.end()) {
      if (exact->second.prepend) return nullptr;
      return variable.value || exact->second.value ? &*exact : nullptr;
    }
    if (!variable.value) return nullptr;
    for (const auto& entry : other.variables) {
      if (!entry.second.value && Matches(entry.first, key)) return &entry;
    }
    return nullptr;
  }

  std::vector<const EnvironmentLayer*> layers_;
  bool with_sources_;
  // Points into the layers, so that only the final values are copied.
  boost::container::flat_map<const std::string*, const Text*, ByText> set_;
  std::vector<const std::string*> unset_;
  std::deque<Text> joined_;  // texts made by Prepend
  std::map<std::string, VariableSource> sources_;
  std::set<std::string> overrides_;  // variables of the contract that the recipe overrides
  Diagnostics problems_;
};

constexpr std::array<std::string_view, 21> kStandardNames = {
    "MUSTER_ATTEMPT",   "MUSTER_CONTEXT",    "MUSTER_CONTEXT_HOLDER", "MUSTER_DEVICES",    "MUSTER_ERROR_FILE",
    "MUSTER_HOST",      "MUSTER_HOST_INDEX", "MUSTER_INDEX",          "MUSTER_LOCAL_RANK", "MUSTER_LOCAL_SIZE",
    "MUSTER_METRICS",   "MUSTER_POINT",      "MUSTER_PROCESS",        "MUSTER_RANK",       "MUSTER_ROLE",
    "MUSTER_RUN_DIR",   "MUSTER_RUN_ID",     "MUSTER_SWEEP_ID",       "MUSTER_TRIAL",      "MUSTER_TRIAL_ATTEMPT",
    "MUSTER_WORLD_SIZE"};

// Binding names of sweep facts, and the variables that hold them.
constexpr std::array<std::pair<const char*, const char*>, 4> kSweepNames = {{{"id", "MUSTER_SWEEP_ID"},
                                                                             {"trial", "MUSTER_TRIAL"},
                                                                             {"attempt", "MUSTER_TRIAL_ATTEMPT"},
                                                                             {"point", "MUSTER_POINT"}}};

void AddSweep(const Binding& binding, std::map<std::string, std::string>& variables) {
  for (const auto& [fact, name] : kSweepNames) {
    if (const auto said = binding.sweep.find(fact); said != binding.sweep.end()) variables[name] = said->second;
  }
}

// Variables that a role's processes inherit; the arguments must outlive it.
class Heritage {
 public:
  Heritage(const std::vector<std::string>& inherited, const Role& role) : inherited_(inherited), role_(role) {}

  std::map<std::string, std::string> All() const {
    std::map<std::string, std::string> kept;
    for (const std::string& entry : inherited_) {
      const std::string_view name = NameIn(entry);
      if (!name.empty() && IsKept(name)) kept.try_emplace(std::string(name), entry.substr(name.size() + 1));
    }
    return kept;
  }

  std::optional<std::string> Of(const std::string& name) const {
    if (!IsKept(name)) return std::nullopt;
    for (const std::string& entry : inherited_) {
      if (NameIn(entry) == name) return entry.substr(name.size() + 1);
    }
    return std::nullopt;
  }

 private:
  // The name in "NAME=value"; empty if the entry is not a variable.
  static std::string_view NameIn(std::string_view entry) {
    const std::size_t equals = entry.find('=');
    return equals == std::string_view::npos ? std::string_view() : entry.substr(0, equals);
  }

  bool IsKept(std::string_view name) const {
    if (std::find(kStandardNames.begin(), kStandardNames.end(), name) != kStandardNames.end()) return false;
    return std::none_of(role_.unset.begin(), role_.unset.end(),
                        [&](const std::string& pattern) { return Matches(pattern, name); });
  }

  const std::vector<std::string>& inherited_;
  const Role& role_;
};

// Fills the placeholders of `variables` into `filled`, replacing existing entries.
Diagnostics Fill(const Variables& variables, const Heritage& heritage, const Binding& binding, std::uint32_t attempt,
                 std::map<std::string, std::string>& filled) {
  const auto inherited = [&](const std::string& name) { return heritage.Of(name); };
  for (const auto& [name, text] : variables) {
    auto value = FillPlaceholders(text, binding, attempt, inherited);
    if (!value) return value.error();
    filled.insert_or_assign(name, std::move(*value));
  }
  return {};
}

std::vector<std::string> Joined(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> entries;
  entries.reserve(variables.size());
  for (const auto& [name, value] : variables) entries.push_back(name + '=' + value);
  return entries;
}

}  // namespace

std::string_view LayerName(Layer layer) {
  static constexpr std::array<std::string_view, 10> kNames = {"inherited", "site",  "activation", "muster's defaults",
                                                              "job:env",   "role",  "each",       "command line",
                                                              "contract",  "muster"};
  return kNames.at(static_cast<std::size_t>(layer));
}

Result<MergedEnvironment> MergeEnvironment(std::span<const EnvironmentLayer* const> layers, bool with_sources,
                                           const Variables& shared) {
  return Merge(layers, with_sources).Run(shared);
}

bool IsVariableName(std::string_view name) {
  return !name.empty() && name.find('=') == std::string_view::npos && name.find('\0') == std::string_view::npos &&
         IsUtf8(name);
}

bool IsVariableValue(std::string_view value) { return value.find('\0') == std::string_view::npos && IsUtf8(value); }

bool Matches(std::string_view pattern, std::string_view name) {
  return IsPattern(pattern) ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

Variables StandardVariables(const Plan& plan, const Process& process) {
  Variables variables;
  variables.reserve(kStandardNames.size());
  GiveStandardVariables(plan, process, [&](std::string_view name, std::string_view text) {
    variables.emplace_hint(variables.end(), name, text);
  });
  return variables;
}

void GiveStandardVariables(const Plan& plan, const Process& process,
                           const std::function<void(std::string_view name, std::string_view text)>& take) {
  static const std::string kRunId = PlaceholderText({Placeholder::Kind::kRunId, {}, 0});
  static const std::string kRunDir = PlaceholderText({Placeholder::Kind::kRunDir, {}, 0});
  static const std::string kAttempt = PlaceholderText({Placeholder::Kind::kAttempt, {}, 0});
  const std::string name = ProcessName(plan, process);
  std::string text;
  const auto add = [&](std::string_view variable, std::initializer_list<std::string_view> pieces) {
    text.clear();
    for (const std::string_view piece : pieces) text += piece;
    take(variable, text);
  };
  const auto add_number = [&](std::string_view variable, std::uint32_t number) {
    take(variable, fmt::format_int(number).c_str());
  };
  add("MUSTER_ATTEMPT", {kAttempt});
  if (!plan.mindspore.empty()) add("MUSTER_CONTEXT", {kRunDir, "/context/", name, ".json"});
  if (!process.devices.empty()) {
    std::string numbers;
    for (const std::uint32_t device : process.devices) {
      if (!numbers.empty()) numbers += ',';
      numbers += fmt::format_int(device).c_str();
    }
    text = PlaceholderText({Placeholder::Kind::kDevices, std::move(numbers), process.host});
    take("MUSTER_DEVICES", text);
  }
  add("MUSTER_ERROR_FILE", {kRunDir, "/errors/", name, ".", kAttempt, ".json"});
  add("MUSTER_HOST", {PlaceholderText({Placeholder::Kind::kHostName, "", process.host})});
  add_number("MUSTER_HOST_INDEX", process.host);
  add_number("MUSTER_INDEX", process.index);
  add_number("MUSTER_LOCAL_RANK", process.local_rank);
  add_number("MUSTER_LOCAL_SIZE", process.local_size);
  add("MUSTER_METRICS", {kRunDir, "/metrics/", name, ".", kAttempt, ".jsonl"});
  add("MUSTER_PROCESS", {kRunId, "/", name, ".", kAttempt});
  if (process.rank) add_number("MUSTER_RANK", *process.rank);
  add("MUSTER_ROLE", {plan.roles[process.role].name});
  add("MUSTER_RUN_DIR", {kRunDir});
  add("MUSTER_RUN_ID", {kRunId});
  if (process.rank) add_number("MUSTER_WORLD_SIZE", process.world_size);
}

std::span<const std::string_view> StandardVariableNames() { return kStandardNames; }

Result<std::vector<std::string>> ComposeEnvironment(const std::vector<std::string>& inherited, const Plan& plan,
                                                    const Process& process, const Binding& binding,
                                                    std::uint32_t attempt) {
  const Heritage heritage(inherited, plan.roles[process.role]);
  auto variables = heritage.All();
  AddSweep(binding, variables);
  if (auto problems = Fill(EffectiveEnv(plan, process), heritage, binding, attempt, variables); !problems.empty()) {
    return Fail(std::move(problems));
  }
  return Joined(variables);
}

Result<std::vector<std::string>> ComposeRoleEnvironment(const std::vector<std::string>& inherited, const Role& role,
                                                        const Binding& binding, std::uint32_t attempt) {
  const Heritage heritage(inherited, role);
  auto variables = heritage.All();
  AddSweep(binding, variables);
  if (auto problems = Fill(role.env, heritage, binding, attempt, variables); !problems.empty()) {
    return Fail(std::move(problems));
  }
  return Joined(variables);
}

Result<std::vector<std::string>> ComposeOwnEnvironment(const std::vector<std::string>& inherited, const Role& role,
                                                       const Process& process, const Binding& binding,
                                                       std::uint32_t attempt) {
  const Heritage heritage(inherited, role);
  std::map<std::string, std::string> variables;
  if (auto problems = Fill(process.env, heritage, binding, attempt, variables); !problems.empty()) {
    return Fail(std::move(problems));
  }
  return Joined(variables);
}

void RefilledLayer::Begin() {
  next_ = 0;
  as_before_ = true;
}

LayerVariable& RefilledLayer::At(std::string_view name) {
  LayerVariables& variables = layer_.variables;
  if (as_before_) {
    if (next_ < order_.size()) {
      const auto expected = variables.nth(order_[next_]);
      if (expected->first == name) {
        ++next_;
        return expected->second;
      }
    }
    as_before_ = false;
    arrived_.clear();
    for (std::size_t i = 0; i < next_; ++i) arrived_.push_back(variables.nth(order_[i])->first);
  }
  return variables[arrived_.emplace_back(name)];
}

std::string& RefilledLayer::TextAt(std::string_view name) {
  LayerVariable& variable = At(name);
  if (!variable.value) variable.value.emplace();
  return variable.value->marked;
}

void RefilledLayer::End() {
  if (as_before_ && next_ == order_.size()) return;
  LayerVariables& variables = layer_.variables;
  if (as_before_) {
    arrived_.clear();
    for (std::size_t i = 0; i < next_; ++i) arrived_.push_back(variables.nth(order_[i])->first);
  }
  std::vector<std::string_view> names(arrived_.begin(), arrived_.end());
  std::sort(names.begin(), names.end());
  auto kept = variables.extract_sequence();
  const auto gone = std::remove_if(kept.begin(), kept.end(), [&](const auto& entry) {
    return !std::binary_search(names.begin(), names.end(), entry.first);
  });
  kept.erase(gone, kept.end());
  variables.adopt_sequence(boost::container::ordered_unique_range, std::move(kept));
  order_.clear();
  for (const std::string& name : arrived_) {
    order_.push_back(static_cast<std::size_t>(variables.find(name) - variables.begin()));
  }
}

namespace {

constexpr std::uint32_t kPatience = 8;

}  // namespace

Result<MergedEnvironment> MergePrecedent::Merge(std::span<const EnvironmentLayer* const> layers,
                                                const Variables& shared) {
  if (Holds(layers, shared)) {
    if (auto followed = Follow(layers, shared)) {
      ++followed_;
      expected_ = std::max(expected_, followed->set.size());
      return *std::move(followed);
    }
  }
  const bool keeping = kept_in_vain_ < followed_ + kPatience;
  auto merged = MergeEnvironment(layers, keeping, shared);
  if (!merged || !keeping) return merged;
  Keep(layers, shared, *merged);
  ++kept_in_vain_;
  merged->sources.clear();
  return merged;
}

bool MergePrecedent::Holds(std::span<const EnvironmentLayer* const> layers, const Variables& shared) const {
  if (!kept_ || shared.size() != shared_names_ || layers.size() != shapes_.size()) return false;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const LayerShape& shape = shapes_[i];
    const EnvironmentLayer& layer = *layers[i];
    if (layer.layer != shape.layer || layer.settled != shape.settled) return false;
    const bool same = std::equal(shape.uses.begin(), shape.uses.end(), layer.variables.begin(), layer.variables.end(),
                                 [](const Use& use, const LayerVariables::value_type& entry) {
                                   const LayerVariable& variable = entry.second;
                                   return use.set == variable.value.has_value() && use.override == variable.override &&
                                          use.prepend == variable.prepend && use.name == entry.first;
                                 });
    if (!same) return false;
  }
  return std::all_of(parts_.begin(), parts_.end(),
                     [&](const Part& part) { return At(layers, part.spot).value == part.value; });
}

std::optional<MergedEnvironment> MergePrecedent::Follow(std::span<const EnvironmentLayer* const> layers,
                                                        const Variables& shared) const {
  MergedEnvironment merged;
  merged.set.reserve(expected_);
  auto common = shared.begin();
  for (const Decision& decision : decisions_) {
    const Text& value = decision.joined ? *decision.joined : *At(layers, decision.winner).value;
    if (decision.shared && (common++)->second == value) continue;
    const bool of_muster = layers[decision.winner.layer]->layer == Layer::kMuster;
    if (!of_muster && !IsVariableValue(value.marked)) return std::nullopt;
    merged.set.emplace_hint(merged.set.end(), decision.name, value);
  }
  merged.unset = unset_;
  return merged;
}

void MergePrecedent::Keep(std::span<const EnvironmentLayer* const> layers, const Variables& shared,
                          const MergedEnvironment& merged) {
  kept_ = false;
  if (!merged.absent.empty()) return;
  shapes_.clear();
  for (const EnvironmentLayer* layer : layers) {
    LayerShape& shape = shapes_.emplace_back(LayerShape{layer->layer, layer->settled, {}});
    shape.uses.reserve(layer->variables.size());
    for (const auto& [name, variable] : layer->variables) {
      shape.uses.push_back({name, variable.value.has_value(), variable.override, variable.prepend});
    }
  }
  shared_names_ = shared.size();
  unset_ = merged.unset;
  expected_ = merged.set.size();
  decisions_.clear();
  parts_.clear();
  // Every variable that is set is shared, or set for this process, or both.
  auto own = merged.set.begin();
  auto common = shared.begin();
  while (own != merged.set.end() || common != shared.end()) {
    const bool from_own = common == shared.end() || (own != merged.set.end() && own->first <= common->first);
    const bool is_shared = common != shared.end() && (!from_own || common->first == own->first);
    const auto& [name, value] = from_own ? *own : *common;
    const auto source = merged.sources.find(name);
    if (source == merged.sources.end()) return;
    if (!KeepDecision(layers, name, value, source->second.layer, is_shared)) return;
    if (from_own) ++own;
    if (is_shared) ++common;
  }
  kept_ = true;
}

bool MergePrecedent::KeepDecision(std::span<const EnvironmentLayer* const> layers, const std::string& name,
                                  const Text& value, Layer decider, bool shared) {
  Decision decision{name, {}, std::nullopt, shared};
  std::vector<Part> parts;
  bool found = false;
  for (std::uint32_t i = 0; i < layers.size(); ++i) {
    const auto variable = layers[i]->variables.find(name);
    if (layers[i]->settled || variable == layers[i]->variables.end() || !variable->second.value) continue;
    const Spot spot{i, static_cast<std::uint32_t>(variable - layers[i]->variables.begin())};
    parts.push_back({spot, *variable->second.value});
    if (layers[i]->layer != decider) continue;
    found = true;  // of two layers of one rank, the later one decides
    decision.winner = spot;
    decision.joined = variable->second.prepend ? std::optional(value) : std::nullopt;
  }
  if (!found) return false;
  if (decision.joined) std::move(parts.begin(), parts.end(), std::back_inserter(parts_));
  decisions_.push_back(std::move(decision));
  return true;
}

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
