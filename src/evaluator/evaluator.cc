#include "evaluator/evaluator.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <utility>

#include "base/system/clock.h"
#include "evaluation/exchange/evaluation_archive.h"
#include "muster/diagnostic.h"
#include "muster/site.h"
#include "plan/check/plan_check.h"
#include "plan/text/plan_diff.h"
#include "settings/values/parameter.h"

namespace muster {
namespace {

// The places that an evaluator may report: those in files that were read for it. No other file is opened because an
// evaluator names it.

// Checks results of an evaluator: unknown places become empty.
class KnownPlaces {
 public:
  KnownPlaces(const std::string& recipe_file, const RecipeFiles& files, const Site& site);

  Place Checked(const Place& place) const;
  Diagnostics Checked(Diagnostics diagnostics) const;
  Provenance Checked(Provenance provenance) const;
  Origins Checked(Origins origins) const;
  SweepDescription Checked(SweepDescription sweep) const;
  Judgement Checked(Judgement judgement) const;

 private:
  void CheckSpace(Space& space) const;

  std::string recipe_file_;
  std::set<std::string> known_;
};

KnownPlaces::KnownPlaces(const std::string& recipe_file, const RecipeFiles& files, const Site& site)
    : recipe_file_(recipe_file) {
  const std::filesystem::path folder = std::filesystem::path(recipe_file).parent_path();
  for (const auto& [path, unused] : files.sources()) known_.insert(files.ShownPath(folder, path));
  for (const auto& [field, place] : site.places) known_.insert(std::filesystem::path(place.file).lexically_normal());
}

Place KnownPlaces::Checked(const Place& place) const {
  if (place.file == recipe_file_) return place;
  const std::string normal = std::filesystem::path(place.file).lexically_normal();
  // Errors in muster's own schema are for muster's developers.
  const bool schema = normal == place.file && normal.starts_with("lua/muster/schema/");
  return schema || known_.contains(normal) ? place : Place{};
}

Diagnostics KnownPlaces::Checked(Diagnostics diagnostics) const {
  for (Diagnostic& diagnostic : diagnostics) {
    diagnostic.place = Checked(diagnostic.place);
    for (Note& note : diagnostic.notes) note.place = Checked(note.place);
  }
  return diagnostics;
}

Provenance KnownPlaces::Checked(Provenance provenance) const {
  for (auto& [role, sources] : provenance) {
    for (auto& [variable, source] : sources) source.place = Checked(source.place);
  }
  return provenance;
}

Origins KnownPlaces::Checked(Origins origins) const {
  const auto check = [&](auto& by_name) {
    for (auto& [name, place] : by_name) place = Checked(place);
  };
  check(origins.derived);
  check(origins.roles);
  check(origins.commands);
  for (Division& division : origins.divisions) division.place = Checked(division.place);
  for (MeshMade& mesh : origins.meshes) mesh.place = Checked(mesh.place);
  for (auto& [attribute, source] : origins.context) source.place = Checked(source.place);
  for (auto& [role, sources] : origins.each_context) {
    for (auto& [attribute, source] : sources) source.place = Checked(source.place);
  }
  return origins;
}

SweepDescription KnownPlaces::Checked(SweepDescription sweep) const {
  const auto check = [&](auto& part) { part.place = Checked(part.place); };
  CheckSpace(sweep.space);
  check(sweep.sampler);
  if (sweep.sampler.seeds) check(*sweep.sampler.seeds);
  if (sweep.objective) check(*sweep.objective);
  if (sweep.second_objective) check(*sweep.second_objective);
  for (MetricConstraint& constraint : sweep.constraints) check(constraint);
  if (sweep.early_stop) check(*sweep.early_stop);
  check(sweep.metrics);
  check(sweep.retry);
  check(sweep.budget);
  check(sweep.stop_after);
  check(sweep.skip_after);
  return sweep;
}

void KnownPlaces::CheckSpace(Space& space) const {
  space.place = Checked(space.place);
  for (Space& part : space.parts) CheckSpace(part);
}

Judgement KnownPlaces::Checked(Judgement judgement) const {
  for (RefusedPoints& refused : judgement.reasons) {
    refused.problem = Checked(Diagnostics{std::move(refused.problem)}).front();
  }
  return judgement;
}

Reply AnswerQuestion(const Question& question, RecipeFiles& files, const EvaluationOptions& options) {
  switch (question.kind) {
    case Question::Kind::kFile: {
      auto content = files.Read(question.text);
      return content ? Reply{true, *std::move(content)} : Reply{false, content.error()};
    }
    case Question::Kind::kExists: {
      const auto exists = options.beside.empty() || question.text.starts_with('@')
                              ? files.Exists(question.text)
                              : files.ExistsBelow(options.beside, question.text);
      return exists ? Reply{true, ""} : Reply{false, exists.error()};
    }
    case Question::Kind::kVariable: {
      std::optional<std::string> value;
      if (question.text.find('\0') != std::string::npos) {
        // such a name cannot be set
      } else if (options.variable) {
        value = options.variable(question.text);
      } else if (const char* own = std::getenv(question.text.c_str())) {
        value = own;
      }
      files.RecordVariable(question.text, value ? value->c_str() : nullptr);
      return value ? Reply{true, *std::move(value)} : Reply{};
    }
    case Question::Kind::kPrint:
      if (options.on_print) options.on_print(question.text);
      return {true, ""};
    case Question::Kind::kOverride:
      for (std::size_t i = 0; i < options.overrides.size(); ++i) {
        const std::string* content = options.overrides[i].value.AsString();
        if (std::to_string(i) == question.text && content != nullptr) return {true, *content};
      }
      return {};
  }
  return {};
}

EvaluationRequest RequestOf(const EvaluationOptions& options, const RecipeFiles& files, bool last) {
  EvaluationRequest request{options, files.recipe_text(), options.beside.empty() ? files.folder() : options.beside,
                            last};
  if (!options.reported_folder.empty()) request.recipe_dir = options.reported_folder;
  for (Override& override : request.overrides) {
    if (override.kind == Override::Kind::kFile) override.value = Value();  // it may be a secret
  }
  return request;
}

// The error for setting a derived value; names the parameters that change it, if there is time to find them.
Diagnostic NotSettable(const EvaluationOptions& options, const KnownPlaces& places, const DerivedOverride& override,
                       bool may_take_long) {
  const std::string& name = override.name;
  const std::string message = name + (override.by_recipe ? " is derived by the recipe" : " follows from the context") +
                              ", so it cannot be set (from the " + std::string(ParameterOriginText(override.origin)) +
                              ")";
  if (!override.by_recipe) return Error("derived", {}, message, "change what the recipe sets");
  std::string names;
  const auto leading = may_take_long ? ParametersLeadingTo(options, name) : std::vector<std::string>();
  for (const std::string& parameter : leading) {
    names += (names.empty() ? "" : ", ") + parameter;
  }
  return Error("derived", places.Checked(override.place), message,
               (names.empty() ? "" : "it follows from " + names + "; ") + ("--pin " + name + "=… forces it"));
}

// A request, and the data by which its answer is checked.
struct Asked {
  EvaluationOptions options;
  bool awaited = false;  // the caller does nothing else until the answer arrives
  std::uint64_t began_ns = MonotonicNowNs();
};

// Adds those of `other` that `metrics` does not have.
void AddMetrics(const LogMetrics& other, LogMetrics& metrics) {
  metrics.patterns.insert(other.patterns.begin(), other.patterns.end());
  if (metrics.role.empty()) metrics.role = other.role;
}

Result<Evaluation> EvaluationOf(const Asked& asked, const RecipeFiles& files, Result<EvaluationAnswer> answer) {
  const EvaluationOptions& options = asked.options;
  const std::uint64_t evaluate_ns = MonotonicNowNs() - asked.began_ns;
  const KnownPlaces places(options.recipe_file, files, options.site);
  if (!answer) return Fail(places.Checked(answer.error()));
  answer->diagnostics = places.Checked(std::move(answer->diagnostics));
  if (options.depth() != EvaluationDepth::kDerived) {
    for (const DerivedOverride& override : answer->not_settable) {
      const bool asked_for = std::any_of(options.overrides.begin(), options.overrides.end(),
                                         [&](const Override& given) { return given.name == override.name; });
      if (!asked_for) continue;  // the evaluator is not trusted
      answer->diagnostics.push_back(NotSettable(options, places, override, asked.awaited));
    }
  }
  if (HasErrors(answer->diagnostics)) return Fail(std::move(answer->diagnostics));

  Evaluation evaluation{std::move(*answer), {}, std::move(answer->diagnostics), options.site, {}, {}, evaluate_ns};
  evaluation.provenance = places.Checked(std::move(evaluation.provenance));
  evaluation.origins = places.Checked(std::move(evaluation.origins));
  const auto* planned = std::get_if<PlanTask>(&options.task);
  if (planned != nullptr && planned->depth >= EvaluationDepth::kJob) {
    if (!answer->plan) return Fail(Error("evaluator", {options.recipe_file, 0}, "the evaluator gave no plan"));
    if (planned->depth == EvaluationDepth::kPlan) {
      Diagnostics invalid = ValidatePlan(*answer->plan);
      if (HasErrors(invalid)) return Fail(std::move(invalid));
    }
    evaluation.plan = *std::move(answer->plan);
  }
  const LogMetrics of_recipe = std::move(evaluation.metrics);
  evaluation.metrics = options.metrics;
  AddMetrics(of_recipe, evaluation.metrics);
  evaluation.plan.metrics = evaluation.metrics;
  if (options.check_metrics) {
    const bool whole = planned != nullptr && planned->depth == EvaluationDepth::kPlan;
    auto sound = options.check_metrics(evaluation.metrics, whole ? &evaluation.plan : nullptr,
                                       places.Checked(std::move(answer->metrics_place)));
    if (!sound) return Fail(std::move(sound.error()));
  }
  if (evaluation.sweep) {
    evaluation.sweep = places.Checked(*std::move(evaluation.sweep));
    AddMetrics(evaluation.metrics, evaluation.sweep->metrics);
  }
  if (evaluation.judgement) evaluation.judgement = places.Checked(*std::move(evaluation.judgement));
  for (EngineField& field : evaluation.engine_settings) field.place = places.Checked(std::move(field.place));
  evaluation.inputs = files.inputs();
  evaluation.sources = files.sources();
  evaluation.inputs.insert(evaluation.inputs.end(), options.site_inputs.begin(), options.site_inputs.end());
  evaluation.sources.insert(options.site_sources.begin(), options.site_sources.end());
  return evaluation;
}

}  // namespace

Override ValueOverride(std::string name, Value value) {
  Override override;
  override.kind = Override::Kind::kValue;
  override.name = std::move(name);
  override.value = std::move(value);
  return override;
}

void AddPoint(const Point& point, std::vector<Override>& overrides) {
  for (const auto& [name, value] : point) overrides.push_back(PointOverride(name, value));
}

EvaluatorStart StartOf(const EvaluationOptions& options) {
  return {options.program, options.locale, options.without, options.limits.memory_bytes, options.limits.stack_bytes};
}

struct Evaluator::Impl {
  std::shared_ptr<EvaluatorForkServer> fork_server;
  std::shared_ptr<RecipeFiles> files;
  std::shared_ptr<Conversation> conversation;
  std::unique_ptr<EvaluatorProcess> ahead;  // for the first conversation, if that starts so
  EvaluatorStart ahead_start;

  Result<std::unique_ptr<EvaluatorProcess>> ProcessFor(const EvaluatorStart& start) {
    if (std::unique_ptr<EvaluatorProcess> started = std::move(ahead); started && ahead_start == start) return started;
    return fork_server && fork_server->start() == start ? fork_server->Fork() : EvaluatorProcess::Start(start);
  }

  Result<void> MakeReady(const EvaluationOptions& options) {
    if (!files) {
      auto opened = RecipeFiles::Open(
          options.recipe_file, options.libraries,
          std::holds_alternative<TableTask>(options.task) ? RecipeFiles::Link::kAnywhere : RecipeFiles::Link::kInside);
      if (!opened) return Fail(opened.error());
      files = std::make_shared<RecipeFiles>(*std::move(opened));
    }
    if (conversation) return {};
    const EvaluatorStart start = StartOf(options);
    auto process = ProcessFor(start);
    if (!process) return Fail(process.error());
    conversation = std::make_shared<Conversation>(*std::move(process), start);
    return {};
  }

  Result<EvaluationAnswer> AnswerOf(Result<std::string> bytes, bool last) {
    const std::shared_ptr<Conversation> spoken = conversation;
    if (last || !bytes) conversation.reset();
    if (!bytes) return Fail(std::move(bytes.error()));
    if (auto answer = Unarchived<EvaluationAnswer>(*bytes)) return *std::move(answer);
    conversation.reset();
    return Fail(spoken->Unreadable());
  }

  static Result<PendingEvaluation> Begin(const std::shared_ptr<Impl>& impl, EvaluationOptions options, bool last,
                                         bool awaited) {
    const auto asked = std::make_shared<const Asked>(Asked{std::move(options), awaited});
    if (auto ready = impl->MakeReady(asked->options); !ready) return Fail(ready.error());
    const std::shared_ptr<RecipeFiles> files = impl->files;
    impl->conversation->Ask(
        Archived(RequestOf(asked->options, *files, last)),
        [asked, files](const Question& question) -> Result<Reply> {
          Reply reply = AnswerQuestion(question, *files, asked->options);
          if (files->exceeded()) return Fail(*files->exceeded());
          return reply;
        },
        asked->options.limits, last);
    return PendingEvaluation(impl->conversation, [asked, files, impl, last](Result<std::string> bytes) {
      return EvaluationOf(*asked, *files, impl->AnswerOf(std::move(bytes), last));
    });
  }
};

Evaluator::Evaluator() : impl_(std::make_shared<Impl>()) {}
Evaluator::Evaluator(std::shared_ptr<EvaluatorForkServer> fork_server, RecipeFiles files)
    : impl_(std::make_shared<Impl>(
          Impl{std::move(fork_server), std::make_shared<RecipeFiles>(std::move(files)), nullptr, nullptr, {}})) {}
Evaluator::~Evaluator() = default;

void Evaluator::StartAhead(const EvaluatorStart& start) {
  auto process = EvaluatorProcess::Start(start);
  if (!process) return;
  impl_->ahead = *std::move(process);
  impl_->ahead_start = start;
}

std::vector<std::string> Evaluator::FilesRead() const {
  std::vector<std::string> names;
  if (!impl_->files) return names;
  for (const auto& [name, unused] : impl_->files->sources()) names.push_back(name);
  return names;
}

Result<PendingEvaluation> Evaluator::Begin(EvaluationOptions options, bool last) {
  return Impl::Begin(impl_, std::move(options), last, false);
}

Result<Evaluation> Evaluator::Evaluate(const EvaluationOptions& options, bool last) {
  auto pending = Impl::Begin(impl_, options, last, true);
  if (!pending) return Fail(pending.error());
  return pending->Await(options.on_wait);
}

Result<Evaluation> EvaluateRecipe(const EvaluationOptions& options) { return Evaluator().Evaluate(options, true); }

// A sweep's requests to an evaluator: its description, which of its points can be planned, and the ids of their plans.

Result<SweepDescription> Evaluator::DescribeSweep(const EvaluationOptions& options, std::optional<Space> words,
                                                  std::string* recipe_name, std::vector<Space> chosen,
                                                  std::optional<SeedsChoice> seeds) {
  EvaluationOptions asked = options;
  asked.task = SweepTask{std::move(words), std::move(chosen), std::move(seeds)};
  auto evaluation = Evaluate(asked);
  if (!evaluation) return Fail(evaluation.error());
  if (recipe_name != nullptr) *recipe_name = std::move(evaluation->name);
  if (!evaluation->sweep) {
    return Fail(Error("evaluator", {options.recipe_file, 0}, "the evaluator described no sweep"));
  }
  return *std::move(evaluation->sweep);
}

namespace {

EvaluationOptions OptionsOf(const EvaluationOptions& options, const SweepDescription& sweep,
                            const JudgeRequest& request) {
  EvaluationOptions asked = options;
  asked.task = JudgeTask{sweep, request};
  return asked;
}

Result<Judgement> JudgementOf(Result<Evaluation> evaluation, const std::string& recipe_file, std::uint64_t most) {
  if (!evaluation) return Fail(evaluation.error());
  if (!evaluation->judgement || evaluation->judgement->points > most) {
    return Fail(Error("evaluator", {recipe_file, 0}, "the evaluator judged no points"));
  }
  return *std::move(evaluation->judgement);
}

}  // namespace

Result<Judgement> Evaluator::Judge(const EvaluationOptions& options, const SweepDescription& sweep,
                                   const JudgeRequest& request) {
  return JudgementOf(Evaluate(OptionsOf(options, sweep, request)), options.recipe_file, request.count);
}

Result<PendingJudgement> Evaluator::BeginJudging(const EvaluationOptions& options, const SweepDescription& sweep,
                                                 const JudgeRequest& request) {
  auto pending = Begin(OptionsOf(options, sweep, request));
  if (!pending) return Fail(pending.error());
  return (*std::move(pending))
      .Then<Judgement>([file = options.recipe_file, most = request.count](Result<Evaluation> evaluation) {
        return JudgementOf(std::move(evaluation), file, most);
      });
}

Result<PendingPlanIds> Evaluator::BeginPlanIds(EvaluationOptions options, std::vector<Point> points) {
  const std::size_t most = points.size();
  const Place recipe{options.recipe_file, 0};
  options.task = PlanIdsTask{std::move(points)};
  auto pending = Begin(std::move(options));
  if (!pending) return Fail(pending.error());
  return (*std::move(pending))
      .Then<std::vector<std::string>>(
          [recipe, most](Result<Evaluation> evaluation) -> Result<std::vector<std::string>> {
            if (!evaluation) return Fail(std::move(evaluation.error()));
            if (evaluation->plan_ids.empty() || evaluation->plan_ids.size() > most) {
              return Fail(Error("evaluator", recipe, "the evaluator made no plans"));
            }
            return std::move(evaluation->plan_ids);
          });
}

namespace {

constexpr std::size_t kMaxEvaluations = 200;

std::vector<Value> Nudged(const ParameterState& state) {
  return state.active && state.value ? Nudges(state.parameter, *state.value) : std::vector<Value>();
}

// Changed values of hosts or devices_per_host.
std::vector<Value> NudgedCount(std::uint32_t count, double least) {
  Parameter parameter;
  parameter.type = ParameterType::kInt;
  parameter.min = least;
  return Nudges(parameter, Value(std::int64_t{count}));
}

}  // namespace

std::vector<std::string> ParametersWithoutEffect(Evaluator& evaluator, const EvaluationOptions& options,
                                                 const Evaluation& as_it_is) {
  constexpr int kMaxPlans = 3;
  std::vector<std::string> names;
  for (const ParameterState& state : as_it_is.parameters) {
    int plans = 0;
    bool changes = false;
    for (Value& other : Nudged(state)) {
      if (plans == kMaxPlans || changes) break;
      EvaluationOptions changed = options;
      changed.overrides.push_back(ValueOverride(state.parameter.name, std::move(other)));
      const auto evaluation = evaluator.Evaluate(changed);
      if (!evaluation) continue;
      ++plans;
      changes = !DiffPlans(as_it_is.plan, evaluation->plan).empty();
    }
    if (plans > 0 && !changes) names.push_back(state.parameter.name);
  }
  return names;
}

std::vector<std::string> ParametersLeadingTo(const EvaluationOptions& options, const std::string& derived) {
  EvaluationOptions again = options;
  again.task = PlanTask{EvaluationDepth::kDerived};
  again.pins.clear();
  again.on_print = nullptr;
  again.on_wait = nullptr;
  // Without the override of the derived value itself.
  std::erase_if(again.overrides, [&](const Override& override) { return override.name == derived; });
  Evaluator evaluator;
  const auto as_it_is = evaluator.Evaluate(again);
  if (!as_it_is) return {};
  const auto value = as_it_is->derived.find(derived);
  if (value == as_it_is->derived.end()) return {};

  constexpr std::uint64_t kSecond = 1'000'000'000;
  const std::uint64_t begin = MonotonicNowNs();
  std::uint64_t seconds = 0;  // reported so far
  std::size_t evaluations = 0;
  const auto leads = [&](const std::string& name, const std::vector<Value>& nudged) {
    for (const Value& other : nudged) {
      if (++evaluations > kMaxEvaluations) return false;
      const std::uint64_t passed = (MonotonicNowNs() - begin) / kSecond;
      if (passed > seconds && options.on_wait) options.on_wait(static_cast<unsigned>(passed));
      seconds = passed;
      EvaluationOptions changed = again;
      changed.overrides.push_back(ValueOverride(name, other));
      const auto evaluation = evaluator.Evaluate(changed);
      if (!evaluation) continue;
      const auto then = evaluation->derived.find(derived);
      if (then != evaluation->derived.end()) return then->second != value->second;
    }
    return false;
  };
  std::vector<std::string> names;
  for (const ParameterState& state : as_it_is->parameters) {
    if (leads(state.parameter.name, Nudged(state))) names.push_back(state.parameter.name);
  }
  if (leads("cluster.hosts", NudgedCount(as_it_is->hosts, 1))) names.emplace_back("hosts");
  if (leads("cluster.devices_per_host", NudgedCount(as_it_is->devices_per_host, 0))) {
    names.emplace_back("devices_per_host");
  }
  return names;
}

}  // namespace muster
