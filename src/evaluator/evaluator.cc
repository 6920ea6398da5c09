#include "evaluator/evaluator.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/system/clock.h"
#include "evaluation/exchange/evaluation_archive.h"
#include "evaluator/influence.h"
#include "evaluator/known_places.h"
#include "plan/check/plan_check.h"

namespace muster {
namespace {

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
  EvaluationRequest request;
  request.recipe_file = options.recipe_file;
  request.recipe_text = files.recipe_text();
  request.recipe_dir = options.beside.empty() ? files.folder() : options.beside;
  if (!options.reported_folder.empty()) request.recipe_dir = options.reported_folder;
  request.overrides = options.overrides;
  for (Override& override : request.overrides) {
    if (override.kind == Override::Kind::kFile) override.value = Value();  // it may be a secret
  }
  request.profiles = options.profiles;
  request.pins = options.pins;
  request.args = options.args;
  request.env = options.env;
  request.site = options.site;
  request.devices = options.devices;
  request.mindspore = options.mindspore;
  request.resumed = options.resumed;
  request.depth = options.depth;
  request.explain = options.explain;
  request.libraries = options.libraries;
  request.rules = options.rules;
  request.site_file = options.site_file;
  request.engine_page = options.engine_page;
  request.describe_sweep = options.describe_sweep;
  request.words = options.words;
  request.judge = options.judge;
  request.points = options.points;
  request.last = last;
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
  if (options.depth != EvaluationDepth::kDerived) {
    for (const DerivedOverride& override : answer->not_settable) {
      const bool asked_for = std::any_of(options.overrides.begin(), options.overrides.end(),
                                         [&](const Override& given) { return given.name == override.name; });
      if (!asked_for) continue;  // the evaluator is not trusted
      answer->diagnostics.push_back(NotSettable(options, places, override, asked.awaited));
    }
  }
  if (HasErrors(answer->diagnostics)) return Fail(std::move(answer->diagnostics));

  Evaluation evaluation;
  evaluation.name = std::move(answer->name);
  evaluation.doc = std::move(answer->doc);
  evaluation.parameters = std::move(answer->parameters);
  evaluation.profiles = std::move(answer->profiles);
  evaluation.hosts = answer->hosts;
  evaluation.devices_per_host = answer->devices_per_host;
  evaluation.derived = std::move(answer->derived);
  evaluation.lockdown = std::move(answer->lockdown);
  evaluation.warnings = std::move(answer->diagnostics);
  evaluation.provenance = places.Checked(std::move(answer->provenance));
  evaluation.origins = places.Checked(std::move(answer->origins));
  const bool about_sweep = options.describe_sweep || options.judge || !options.points.empty();
  if (!about_sweep && options.depth >= EvaluationDepth::kJob) {
    if (!answer->plan) return Fail(Error("evaluator", {options.recipe_file, 0}, "the evaluator gave no plan"));
    if (options.depth == EvaluationDepth::kPlan) {
      Diagnostics invalid = ValidatePlan(*answer->plan);
      if (HasErrors(invalid)) return Fail(std::move(invalid));
    }
    evaluation.plan = *std::move(answer->plan);
  }
  evaluation.metrics = options.metrics;
  AddMetrics(answer->metrics, evaluation.metrics);
  evaluation.plan.metrics = evaluation.metrics;
  if (options.check_metrics) {
    const bool planned = !about_sweep && options.depth == EvaluationDepth::kPlan;
    auto sound = options.check_metrics(evaluation.metrics, planned ? &evaluation.plan : nullptr,
                                       places.Checked(std::move(answer->metrics_place)));
    if (!sound) return Fail(std::move(sound.error()));
  }
  if (answer->sweep) {
    evaluation.sweep = places.Checked(*std::move(answer->sweep));
    AddMetrics(evaluation.metrics, evaluation.sweep->metrics);
  }
  if (answer->judgement) evaluation.judgement = places.Checked(*std::move(answer->judgement));
  evaluation.plan_ids = std::move(answer->plan_ids);
  evaluation.engine_settings = std::move(answer->engine_settings);
  for (EngineField& field : evaluation.engine_settings) field.place = places.Checked(std::move(field.place));
  evaluation.site_file = std::move(answer->site_file);
  evaluation.inputs = files.inputs();
  evaluation.sources = files.sources();
  evaluation.inputs.insert(evaluation.inputs.end(), options.site_inputs.begin(), options.site_inputs.end());
  evaluation.sources.insert(options.site_sources.begin(), options.site_sources.end());
  evaluation.site = options.site;
  evaluation.evaluate_ns = evaluate_ns;
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
          options.site_file || options.engine_page ? RecipeFiles::Link::kAnywhere : RecipeFiles::Link::kInside);
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

Result<PendingEvaluation> Evaluator::Begin(EvaluationOptions options, bool last) {
  return Impl::Begin(impl_, std::move(options), last, false);
}

Result<Evaluation> Evaluator::Evaluate(const EvaluationOptions& options, bool last) {
  auto pending = Impl::Begin(impl_, options, last, true);
  if (!pending) return Fail(pending.error());
  return pending->Await(options.on_wait);
}

Result<Evaluation> EvaluateRecipe(const EvaluationOptions& options) { return Evaluator().Evaluate(options, true); }

}  // namespace muster
