#include "run/session/inquiries.h"

#include <algorithm>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "engine/engine_calls.h"
#include "run/session/live_run.h"
#include "spawn/start/launcher.h"

namespace muster {

void GitQuestion::Ask() {
  if (run_.request.code_folder.empty()) return;
  look_ = std::make_unique<GitQuery>(run_.io, run_.request.code_folder, run_.request.environment,
                                     [this](const std::optional<GitState>& state) { OnState(state); });
}

bool GitQuestion::DelaysEnd(std::function<void()> end) {
  if (!look_) return false;
  end_ = std::move(end);  // not for long: the query was started at the beginning
  return true;
}

void GitQuestion::OnState(const std::optional<GitState>& state) {
  if (state) {
    run_.journal.Record(CodeSeen{run_.request.code_folder, state->commit, state->branch, state->changed,
                                 state->untracked, state->names});
  }
  // Later, because the query itself calls this function.
  run_.Later([this] {
    look_.reset();
    if (const auto end = std::exchange(end_, nullptr)) end();
  });
}

struct EngineInquiry::Asked {
  EngineQuestion question;
  std::string host = {};
  std::unique_ptr<CapturedCommand> command = {};
  std::unique_ptr<WatchedFd> ended = {};
};

EngineInquiry::EngineInquiry(LiveRun& run) : run_(run), deadline_(run.io.get_executor()) {}

EngineInquiry::~EngineInquiry() = default;

void EngineInquiry::AskAboutHost(std::uint32_t host) {
  if (!run_.request.engine) return;
  const EngineJob& job = *run_.request.engine;
  Ask(QuestionsAboutHost(job.page, job.id, run_.NameOf(host)), run_.NameOf(host));
}

void EngineInquiry::AskAboutStop() {
  if (!run_.request.engine || std::exchange(stop_asked_, true)) return;
  const EngineJob& job = *run_.request.engine;
  Ask(QuestionsAboutStop(job.page, job.id), {});
}

void EngineInquiry::AskAboutNotice() {
  if (!run_.request.engine) return;
  const EngineJob& job = *run_.request.engine;
  Ask(QuestionsAboutNotice(job.page, job.id), {});
}

void EngineInquiry::Hear(const std::string& words) {
  if (!run_.request.engine) return;
  // For these words a preemption that the engine has reported is a cancellation.
  if (!job_end_) {
    job_end_ = StateOfWords(run_.request.engine->page, words);
    Note(PhraseOfWords(run_.request.engine->page, run_.request.engine->id, words), {});
  }
  if (!phrases_.empty() || ending_.empty()) return;
  const JobState ending = run_.request.engine->page.ending;
  if (!job_end_ && ending != JobState::kEnding) job_end_ = ending;
  Publish(ending_, {});
}

std::chrono::milliseconds EngineInquiry::WaitForWords() const {
  return ever_asked_ && phrases_.empty() ? kWordsWithin : std::chrono::milliseconds(0);
}

void EngineInquiry::Ask(std::vector<EngineQuestion> questions, const std::string& host) {
  ever_asked_ = true;
  if (late_) return;
  if (asked_.empty()) {
    deadline_.expires_after(kWithin);
    deadline_.async_wait([weak = run_.session, this](const boost::system::error_code& error) {
      if (const auto self = weak.lock(); self && !error) GiveUp();
    });
  }
  for (EngineQuestion& question : questions) {
    const std::vector<std::string> environment = WithoutVariables(run_.request.environment, question.call.clear);
    SpawnSpec spec;
    spec.argv = question.call.words;
    spec.env = EnvPointers(environment);
    auto command = std::make_unique<CapturedCommand>(launcher_, std::move(spec));
    // Without pidfds the end cannot be watched, so nothing is asked.
    const int watched =
        command->going() && command->ref().pidfd >= 0 ? ::fcntl(command->ref().pidfd, F_DUPFD_CLOEXEC, 0) : -1;
    if (watched < 0) continue;
    asked_.push_back(
        {std::move(question), host, std::move(command), std::make_unique<WatchedFd>(run_.io.get_executor(), watched)});
    asked_.back().ended->async_wait(WatchedFd::wait_read, [weak = run_.session, this, asked = &asked_.back()](
                                                              const boost::system::error_code& error) {
      if (const auto self = weak.lock(); self && !error) OnAnswer(*asked);
    });
  }
}

void EngineInquiry::OnAnswer(Asked& asked) {
  const CommandOutput output = asked.command->Take(std::chrono::milliseconds(0));
  const JobAnswer answer{output.out, output.err, output.exit_code};
  const std::string phrase = asked.question.phrase(answer);
  const std::string host = asked.host;
  const auto state = asked.question.state ? asked.question.state(answer) : std::nullopt;
  if (state && *state != JobState::kEnding && !job_end_) job_end_ = state;
  asked_.remove_if([&asked](const Asked& one) { return &one == &asked; });
  Note(phrase, host);
  if (!phrase.empty() && host.empty() && job_ends_) run_.Later(std::exchange(job_ends_, nullptr));
  EndIfAnswered();
}

void EngineInquiry::Note(const std::string& phrase, const std::string& host) {
  if (phrase.empty() || std::find(phrases_.begin(), phrases_.end(), phrase) != phrases_.end()) return;
  if (phrase == EndingPhrase(run_.request.engine->page, run_.request.engine->id)) {
    ending_ = phrase;
  } else {
    Publish(phrase, host);
  }
}

void EngineInquiry::Publish(const std::string& phrase, const std::string& host) {
  if (phrase.empty()) return;
  phrases_.push_back(phrase);
  run_.journal.Record(EngineAnswered{host, phrase});
  run_.console.Warn(phrase);
}

void EngineInquiry::Paused(const std::string& phrase) {
  if (std::exchange(paused_, phrase) == phrase || phrase.empty()) return;
  run_.journal.Record(EngineAnswered{{}, phrase});
  run_.console.Warn(phrase);
}

bool EngineInquiry::DelaysEnd(std::function<void()> end) {
  if (asked_.empty()) return false;
  end_ = std::move(end);
  return true;
}

void EngineInquiry::GiveUp() {
  late_ = true;
  asked_.clear();  // kills the commands
  EndIfAnswered();
}

void EngineInquiry::EndIfAnswered() {
  if (!asked_.empty()) return;
  deadline_.cancel();
  if (end_) run_.Later(std::exchange(end_, nullptr));
}

std::string EngineInquiry::Explained(std::string why) const {
  // The notice was one of a preemption.
  if (job_end_ == JobState::kPreempted && why == run_.request.notice) {
    why = fmt::format("asked to stop by {}", run_.request.engine->page.name);
  }
  for (const std::string& phrase : phrases_) why += "; " + phrase;
  return why;
}

}  // namespace muster
