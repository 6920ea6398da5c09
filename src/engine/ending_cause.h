// What an engine knows about the end of a run inside an allocation: the questions to ask it once a host is lost or a
// signal stops the head, and what its answers say.
//
// Phrases are for people; texts of the engine in them are printable. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine_calls.h"
#include "engine/engine_page.h"
#include "engine/job_status.h"

namespace muster {

// The allocation that a run is in.
struct EngineJob {
  EnginePage page;
  std::string id;
};

struct EngineQuestion {
  EngineCall call;
  // Empty if the answer explains nothing: the host or job is as usual, or the engine did not answer.
  std::function<std::string(const JobAnswer&)> phrase;
  // What the answer says about the end of the job, if it does; may be empty.
  std::function<std::optional<JobState>(const JobAnswer&)> state = {};
};

// About a lost host, and about the job, which may have lost it. The page must outlive the questions.
std::vector<EngineQuestion> QuestionsAboutHost(const EnginePage& page, const std::string& job, const std::string& host);
// About a job whose head got a signal.
std::vector<EngineQuestion> QuestionsAboutStop(const EnginePage& page, const std::string& job);

// About a job whose end the engine has announced: only causes besides its time limit.
std::vector<EngineQuestion> QuestionsAboutNotice(const EnginePage& page, const std::string& job);

// Whether the job is suspended, and what to say then ("slurm job 12 is suspended"); nothing if the engine cannot be
// asked about one job.
std::optional<EngineQuestion> QuestionAboutPause(const EnginePage& page, const std::string& job);

// The answer that a job is being ended, which does not say why: all that some engines say while its head still runs.
std::string EndingPhrase(const EnginePage& page, const std::string& job);

// What the output of the command that started agents says, as far as it explains the end of the job; may be empty.
std::string PhraseOfWords(const EnginePage& page, const std::string& job, std::string_view words);

// The state in which the job ended, as that output says; nothing if it does not.
std::optional<JobState> StateOfWords(const EnginePage& page, std::string_view words);

// Seconds in [[D-]HH:]MM:SS; nothing for other texts ("UNLIMITED").
std::optional<std::uint64_t> SecondsInClock(std::string_view text);

}  // namespace muster
