// What the head of a run asks other programs while it runs: the engine, why a host was lost or a signal stopped the
// head, and git, which code runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>

#include "code/git.h"
#include "engine/engine_page.h"
#include "spawn/start/limited_command.h"
#include "spawn/start/watched_fd.h"

namespace muster {

// Queries git for the state of the code of a run, in parallel with its start. The end of the run waits for the answer.

struct LiveRun;

class GitQuestion {
 public:
  explicit GitQuestion(LiveRun& run) : run_(run) {}

  // Queries the state of RunRequest::code_folder; does nothing if that is empty.
  void Ask();
  // Whether the answer is still missing; then `end` is called from the loop when it arrives.
  bool DelaysEnd(std::function<void()> end);
  bool end_waits() const { return end_ != nullptr; }
  // Stops the end from waiting.
  void GiveUp() { OnState(std::nullopt); }

 private:
  void OnState(const std::optional<GitState>& state);

  LiveRun& run_;
  std::unique_ptr<GitQuery> look_;
  std::function<void()> end_;
};

// Asks the engine, in whose allocation a run is, why a host was lost or a signal stopped the head, in parallel with the
// end of the run. Each question is asked once; the end of the run waits for the answers, a few seconds at most.

struct EngineQuestion;

class EngineInquiry {
 public:
  // From the first question on. Slurm's commands retry for some seconds if their controller does not answer.
  static constexpr std::chrono::seconds kWithin{6};
  // For the last words of the commands that started the agents, if no question has been answered with a cause, or if
  // they are about to end.
  static constexpr std::chrono::milliseconds kWordsWithin{1'000};

  explicit EngineInquiry(LiveRun& run);
  EngineInquiry(const EngineInquiry&) = delete;
  EngineInquiry& operator=(const EngineInquiry&) = delete;
  ~EngineInquiry();

  // These do nothing outside of an allocation.
  void AskAboutHost(std::uint32_t host);
  void AskAboutStop();
  // Whether a notice of the job's end is one of another cause than its time limit.
  void AskAboutNotice();
  // Called once the engine has said that the job ends, by an answer to AskAboutStop().
  void WhenJobEnds(std::function<void()> ends) { job_ends_ = std::move(ends); }
  // The engine has paused the job: shown and recorded, once for all hosts. Empty: not any more.
  void Paused(const std::string& phrase);
  bool paused() const { return !paused_.empty(); }
  // What the commands that started the agents wrote, for which the end of the run should wait that long: untrusted
  // bytes. They write the cause of a cancellation a moment after the agents have received its signal.
  void Hear(const std::string& words);
  std::chrono::milliseconds WaitForWords() const;
  // The end of the job, as these or the answers said; nothing if they did not.
  const std::optional<JobState>& job_end() const { return job_end_; }

  // Whether answers are still missing; then `end` is called from the loop when they have arrived.
  bool DelaysEnd(std::function<void()> end);
  bool end_waits() const { return end_ != nullptr; }
  // Stops the end from waiting.
  void GiveUp();

  // The cause that was found for the end of a run, with what ended it: "asked to stop; slurm job 12 was preempted".
  std::string Explained(std::string why) const;

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  struct Asked;

  void Ask(std::vector<EngineQuestion> questions, const std::string& host);
  void OnAnswer(Asked& asked);
  void Note(const std::string& phrase, const std::string& host);
  void Publish(const std::string& phrase, const std::string& host);
  void EndIfAnswered();

  LiveRun& run_;
  Launcher launcher_;
  std::list<Asked> asked_;  // without an answer
  std::vector<std::string> phrases_;
  std::string ending_;  // EndingPhrase, if that was an answer: used if nothing better is found
  Timer deadline_;
  bool late_ = false;
  bool stop_asked_ = false;
  bool ever_asked_ = false;
  std::optional<JobState> job_end_;
  std::function<void()> end_;
  std::function<void()> job_ends_;
  std::string paused_;  // what was shown last
};

}  // namespace muster
