#include "evaluator/evaluate.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signal_name.h"
#include "base/units.h"
#include "base/utf8.h"
#include "evaluator/channel.h"
#include "evaluator/child.h"
#include "evaluator/influence.h"
#include "lua/evaluation_archive.h"
#include "lua/last_place.h"
#include "plan/plan_check.h"
#include "spawn/reap.h"
#include "spawn/spawn.h"

namespace muster {
namespace {

constexpr std::size_t kMaxQuestions = 20'000;

// The page in which the evaluator notes how far it came.
class SharedPage {
 public:
  SharedPage() : fd_(memfd_create("muster-place", MFD_CLOEXEC)) {
    if (fd_.get() < 0 || ftruncate(fd_.get(), sizeof(LastPlace)) != 0) return;
    void* page = mmap(nullptr, sizeof(LastPlace), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    if (page != MAP_FAILED) place_ = new (page) LastPlace;
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage() {
    if (place_ != nullptr) munmap(place_, sizeof(LastPlace));
  }

  int fd() const { return fd_.get(); }
  bool ok() const { return place_ != nullptr; }
  Place Read() const { return place_->Read(); }

 private:
  UniqueFd fd_;
  LastPlace* place_ = nullptr;
};

// A started evaluator; killed and reaped at the latest when this object ends.
class Child {
 public:
  explicit Child(Spawned spawned) : spawned_(std::move(spawned)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() { End(); }

  // Kills it if it still runs; returns how it ended.
  EndedProcess End() {
    if (ended_) return *ended_;
    KillChild(spawned_.ref());
    ended_ = ReapAtEnd(spawned_.ref());
    return *ended_;
  }
  // So many seconds from now on. SIGXCPU first, which tells this limit from others, and SIGKILL where the parent's own
  // limit is; where the time used so far cannot be told the wall clock alone limits it.
  void AllowProcessorTime(std::uint64_t seconds) const {
    clockid_t clock = 0;
    timespec used{};
    rlimit own{};
    if (clock_getcpuclockid(spawned_.ref().pid, &clock) != 0 || clock_gettime(clock, &used) != 0 ||
        getrlimit(RLIMIT_CPU, &own) != 0) {
      return;
    }
    const rlimit limit{std::min<rlim_t>(own.rlim_max, static_cast<rlim_t>(used.tv_sec) + seconds), own.rlim_max};
    prlimit(spawned_.ref().pid, RLIMIT_CPU, &limit, nullptr);
  }
  // Whether it has come to an end of its own by the deadline (monotonic).
  bool Ends(std::uint64_t deadline_ns) const { return EndsBy(spawned_.ref(), deadline_ns); }

 private:
  Spawned spawned_;
  std::optional<EndedProcess> ended_;
};

tl::expected<Spawned, SpawnError> StartChild(const EvaluationOptions& options, int socket, int page) {
  std::vector<std::string> variables;
  for (const char* name : {"MUSTER_LUA_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LLVM_PROFILE_FILE"}) {
    if (const char* value = std::getenv(name)) variables.push_back(std::string(name) + "=" + value);
  }
  if (!options.locale.empty()) variables.push_back("LC_ALL=" + options.locale);
  if (!options.without.empty()) variables.push_back(std::string(kWithoutVariable) + "=" + WithoutText(options.without));
  SpawnSpec spec;
  spec.argv = {options.program, kEvaluatorArgument};
  spec.env = EnvPointers(variables);
  spec.stderr_fd = STDERR_FILENO;  // only the interpreter's or a sanitizer's last words can come from there
  spec.passed = {{socket, kEvaluatorSocket}, {page, kEvaluatorPage}};
  spec.grouping = Grouping::kOwnGroup;  // Ctrl-C is the parent's to answer
  spec.parent_death_signal = SIGKILL;
  const auto limit = [](rlim_t value) { return rlimit{value, value}; };
  spec.limits = {{RLIMIT_CORE, limit(0)}, {RLIMIT_FSIZE, limit(0)}, {RLIMIT_STACK, limit(options.limits.stack_bytes)}};
#ifndef MUSTER_SANITIZED  // sanitizers reserve terabytes of address space
  spec.limits.push_back({RLIMIT_AS, limit(options.limits.memory_bytes)});
#endif
  Launcher launcher(MechanismsBut(options.without));
  return launcher.Spawn(spec);
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
                              : ExistsBelow(options.beside, question.text);
      return exists ? Reply{true, ""} : Reply{false, exists.error()};
    }
    case Question::Kind::kVariable: {
      std::optional<std::string> value;
      if (question.text.find('\0') != std::string::npos) {
        // no variable is called so
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

Diagnostic NoAnswerAtAll(const Place& last) {
  return Error("evaluator", last, "the evaluator's answer is not one; the recipe may have corrupted it");
}

// What ended an evaluator that did not answer.
Diagnostic NoAnswer(const EndedProcess& ended, ReadStatus read, const EvaluationOptions& options, const Place& last) {
  if (read == ReadStatus::kTimeout) {
    return Error("limit", last,
                 "the recipe did not finish within " + DurationText(static_cast<double>(options.limits.wall_ms) / 1000),
                 "a recipe only describes; this line was reached last");
  }
  if (read == ReadStatus::kBroken) return NoAnswerAtAll(last);
  if (ended.signalled && ended.code == SIGXCPU) {
    return Error("limit", last,
                 "the recipe took more than " + DurationText(static_cast<double>(options.limits.cpu_seconds)) +
                     " of processor time",
                 "a recipe only describes; this line was reached last");
  }
  if (ended.signalled) {
    const int signal = ended.code;
    if (signal == SIGSYS)
      return Error("forbidden", last, "the recipe made the evaluator try something that is forbidden to it");
    if (signal == SIGKILL) return Error("limit", last, "the evaluator was killed, for example for want of memory");
    return Error("crash", last, "the recipe crashed the evaluator (" + SignalName(signal) + ")",
                 "this line was reached last");
  }
  return MachineError("evaluator",
                      "the evaluator ended without an answer (exit code " + std::to_string(ended.code) + ")");
}

// A place that the evaluator named, if it is in the recipe or in a module that was read. Nobody opens a file
// because an evaluator says so.
class KnownPlaces {
 public:
  KnownPlaces(const std::string& recipe_file, const RecipeFiles& files, const Site& site) : recipe_file_(recipe_file) {
    const std::filesystem::path folder = std::filesystem::path(recipe_file).parent_path();
    for (const auto& [path, unused] : files.sources()) known_.insert(files.ShownPath(folder, path));
    for (const auto& [field, place] : site.places) known_.insert(std::filesystem::path(place.file).lexically_normal());
  }

  Place Checked(const Place& place) const {
    if (place.file == recipe_file_) return place;
    const std::string normal = std::filesystem::path(place.file).lexically_normal();
    // Mistakes in muster's own schema show to whoever works on it.
    const bool schema = normal == place.file && normal.starts_with("lua/muster/schema/");
    return schema || known_.contains(normal) ? place : Place{};
  }
  Diagnostics Checked(Diagnostics diagnostics) const {
    for (Diagnostic& diagnostic : diagnostics) {
      diagnostic.place = Checked(diagnostic.place);
      for (Note& note : diagnostic.notes) note.place = Checked(note.place);
    }
    return diagnostics;
  }
  Provenance Checked(Provenance provenance) const {
    for (auto& [role, sources] : provenance) {
      for (auto& [variable, source] : sources) source.place = Checked(source.place);
    }
    return provenance;
  }
  SweepDescription Checked(SweepDescription sweep) const {
    const auto check = [&](auto& part) { part.place = Checked(part.place); };
    CheckSpace(sweep.space);
    check(sweep.sampler);
    if (sweep.objective) check(*sweep.objective);
    if (sweep.early_stop) check(*sweep.early_stop);
    check(sweep.metrics);
    check(sweep.retry);
    check(sweep.budget);
    return sweep;
  }
  Judgement Checked(Judgement judgement) const {
    for (RefusedPoints& refused : judgement.reasons) {
      refused.problem = Checked(Diagnostics{std::move(refused.problem)}).front();
    }
    return judgement;
  }
  Origins Checked(Origins origins) const {
    const auto check = [&](auto& by_name) {
      for (auto& [name, place] : by_name) place = Checked(place);
    };
    check(origins.derived);
    check(origins.roles);
    check(origins.commands);
    for (Division& division : origins.divisions) division.place = Checked(division.place);
    for (auto& [attribute, source] : origins.context) source.place = Checked(source.place);
    for (auto& [role, sources] : origins.each_context) {
      for (auto& [attribute, source] : sources) source.place = Checked(source.place);
    }
    return origins;
  }

 private:
  void CheckSpace(Space& space) const {
    space.place = Checked(space.place);
    for (Space& part : space.parts) CheckSpace(part);
  }

  std::string recipe_file_;
  std::set<std::string> known_;
};

EvaluationRequest RequestOf(const EvaluationOptions& options, const RecipeFiles& files, bool last) {
  EvaluationRequest request;
  request.recipe_file = options.recipe_file;
  request.recipe_text = files.recipe_text();
  request.recipe_dir = options.beside.empty() ? files.folder() : options.beside;
  if (!options.told_folder.empty()) request.recipe_dir = options.told_folder;
  request.overrides = options.overrides;
  for (Override& override : request.overrides) {
    if (override.kind == Override::Kind::kFile) override.value = Value();  // it may be a secret
  }
  request.profiles = options.profiles;
  request.pins = options.pins;
  request.args = options.args;
  request.site = options.site;
  request.devices = options.devices;
  request.mindspore = options.mindspore;
  request.resumed = options.resumed;
  request.depth = options.depth;
  request.explain = options.explain;
  request.libraries = options.libraries;
  request.rules = options.rules;
  request.site_file = options.site_file;
  request.describe_sweep = options.describe_sweep;
  request.words = options.words;
  request.judge = options.judge;
  request.last = last;
  return request;
}

// An evaluator process and the way to it.
class Conversation {
 public:
  static Result<std::unique_ptr<Conversation>> Begin(const EvaluationOptions& options) {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
      return Fail(SystemError("evaluator", "the evaluator cannot be started: socketpair", errno));
    }
    UniqueFd ours(sockets[0]);
    const UniqueFd theirs(sockets[1]);
    auto page = std::make_unique<SharedPage>();
    if (!page->ok()) return Fail(SystemError("evaluator", "the evaluator cannot be started: shared page", errno));
    auto spawned = StartChild(options, theirs.get(), page->fd());
    if (!spawned) {
      return Fail(MachineError("evaluator", "the evaluator cannot be started: " + SpawnErrorText(spawned.error())));
    }
    return std::make_unique<Conversation>(std::move(ours), std::move(page), *std::move(spawned));
  }
  Conversation(UniqueFd socket, std::unique_ptr<SharedPage> page, Spawned spawned)
      : socket_(std::move(socket)), page_(std::move(page)), child_(std::move(spawned)) {}

  // After a failure there is no evaluator any more.
  Result<EvaluationAnswer> Ask(const EvaluationOptions& options, RecipeFiles& files, bool last) {
    child_.AllowProcessorTime(options.limits.cpu_seconds);
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const std::uint64_t begin = MonotonicNowNs();
    const std::uint64_t deadline = begin + options.limits.wall_ms * 1'000'000;
    unsigned seconds = 0;
    // A failure to write shows as a missing answer.
    WriteFrame(socket_.get(), FrameTag::kRequest, Archived(RequestOf(options, files, last)), deadline);

    for (std::size_t questions = 0; questions < kMaxQuestions; ++questions) {
      Frame frame;
      while (options.on_wait && begin + (seconds + 1) * kSecond < deadline &&
             AwaitFrame(socket_.get(), begin + (seconds + 1) * kSecond) == ReadStatus::kTimeout) {
        options.on_wait(++seconds);
      }
      ReadStatus read = ReadFrame(socket_.get(), frame, deadline);
      if (read == ReadStatus::kClosed && !child_.Ends(deadline)) read = ReadStatus::kTimeout;
      if (read != ReadStatus::kFrame) return Fail(NoAnswer(child_.End(), read, options, page_->Read()));
      if (frame.tag == FrameTag::kAnswer) {
        auto answer = Unarchived<EvaluationAnswer>(frame.payload);
        if (last) child_.End();
        if (!answer) return Fail(NoAnswerAtAll(page_->Read()));
        return *std::move(answer);
      }
      const auto question = frame.tag == FrameTag::kQuestion ? Unarchived<Question>(frame.payload) : std::nullopt;
      if (!question) return Fail(NoAnswerAtAll(page_->Read()));
      WriteFrame(socket_.get(), FrameTag::kReply, Archived(AnswerQuestion(*question, files, options)), deadline);
    }
    return Fail(
        Error("limit", page_->Read(),
              "the recipe asked for more than " + std::to_string(kMaxQuestions) + " files, variables and printed lines",
              "a recipe only describes; this line was reached last"));
  }

 private:
  UniqueFd socket_;
  std::unique_ptr<SharedPage> page_;
  Child child_;
};

// A derived value cannot be set; the message says by which parameters it can be changed.
Diagnostic NotSettable(const EvaluationOptions& options, const KnownPlaces& places, const DerivedOverride& override) {
  const std::string& name = override.name;
  const std::string message = name + (override.by_recipe ? " is derived by the recipe" : " follows from the context") +
                              ", so it cannot be set (from the " + std::string(ParameterOriginText(override.origin)) +
                              ")";
  if (!override.by_recipe) return Error("derived", {}, message, "change what the recipe sets");
  std::string names;
  for (const std::string& parameter : ParametersLeadingTo(options, name)) {
    names += (names.empty() ? "" : ", ") + parameter;
  }
  return Error("derived", places.Checked(override.place), message,
               (names.empty() ? "" : "it follows from " + names + "; ") + ("--pin " + name + "=… forces it"));
}

}  // namespace

Override ValueOverride(std::string name, Value value) {
  Override override;
  override.kind = Override::Kind::kValue;
  override.name = std::move(name);
  override.value = std::move(value);
  return override;
}

struct Evaluator::Impl {
  std::optional<RecipeFiles> files;
  std::unique_ptr<Conversation> conversation;
};

Evaluator::Evaluator() : impl_(std::make_unique<Impl>()) {}
Evaluator::~Evaluator() = default;

Result<Evaluation> Evaluator::Evaluate(const EvaluationOptions& options, bool last) {
  if (!impl_->files) {
    auto files = RecipeFiles::Open(options.recipe_file, options.libraries);
    if (!files) return Fail(files.error());
    impl_->files = *std::move(files);
  }
  RecipeFiles& files = *impl_->files;
  const std::uint64_t began = MonotonicNowNs();
  if (!impl_->conversation) {
    auto conversation = Conversation::Begin(options);
    if (!conversation) return Fail(conversation.error());
    impl_->conversation = *std::move(conversation);
  }
  auto answer = impl_->conversation->Ask(options, files, last);
  if (last || !answer) impl_->conversation.reset();
  const std::uint64_t evaluate_ns = MonotonicNowNs() - began;
  const KnownPlaces places(options.recipe_file, files, options.site);
  if (!answer) return Fail(places.Checked(answer.error()));
  answer->diagnostics = places.Checked(std::move(answer->diagnostics));
  if (options.depth != EvaluationDepth::kDerived) {
    for (const DerivedOverride& override : answer->not_settable) {
      const bool asked_for = std::any_of(options.overrides.begin(), options.overrides.end(),
                                         [&](const Override& given) { return given.name == override.name; });
      if (!asked_for) continue;  // the evaluator is not to be trusted
      answer->diagnostics.push_back(NotSettable(options, places, override));
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
  const bool about_sweep = options.describe_sweep || options.judge;
  if (!about_sweep && options.depth >= EvaluationDepth::kJob) {
    if (!answer->plan) return Fail(Error("evaluator", {options.recipe_file, 0}, "the evaluator gave no plan"));
    if (options.depth == EvaluationDepth::kPlan) {
      Diagnostics invalid = ValidatePlan(*answer->plan);
      if (HasErrors(invalid)) return Fail(std::move(invalid));
    }
    evaluation.plan = *std::move(answer->plan);
  }
  if (answer->sweep) evaluation.sweep = places.Checked(*std::move(answer->sweep));
  if (answer->judgement) evaluation.judgement = places.Checked(*std::move(answer->judgement));
  evaluation.site_file = std::move(answer->site_file);
  evaluation.inputs = files.inputs();
  evaluation.sources = files.sources();
  evaluation.inputs.insert(evaluation.inputs.end(), options.site_inputs.begin(), options.site_inputs.end());
  evaluation.sources.insert(options.site_sources.begin(), options.site_sources.end());
  evaluation.site = options.site;
  evaluation.evaluate_ns = evaluate_ns;
  return evaluation;
}

Result<Evaluation> EvaluateRecipe(const EvaluationOptions& options) { return Evaluator().Evaluate(options, true); }

}  // namespace muster
