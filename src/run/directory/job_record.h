// What a run directory says about the job of an engine that the run was submitted as: job.json, job_id, attempts.json
// and job_end.json (docs/run_directory.md). Each file has one writer at a time and is replaced as a whole.
//
// A run that its engine starts again is a chain of attempts, each with a run directory of its own. job.json of the
// later ones names the first, which has attempts.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "muster/result.h"

namespace muster {

// job.json, written when the run is submitted.
struct JobRecord {
  std::string engine;  // name of its page
  std::string page;    // the user's own page, absolute; empty: one of muster's
  std::string run;     // the id that the run gets
  std::string name;
  std::string submitted_at;             // UTC
  std::string first;                    // directory of the first attempt, absolute; empty: this one
  std::vector<std::string> requeue_on;  // "time_limit", "preempted", "node_fail", "failed"
  std::uint32_t requeue_max = 0;        // attempts after the first
  std::string parent;                   // as in RunRequest
  std::string resumed;
  std::string checkpoint;

  bool operator==(const JobRecord&) const = default;
};

// An attempt whose head has started.
struct JobAttempt {
  std::string run;
  std::string run_dir;            // absolute
  std::string host;               // of its head
  std::uint64_t output_from = 0;  // where its part of job.out begins
  std::string end;           // why its allocation ended: "time_limit", "preempted", "node_fail", …; empty: it did not
                             // end before the run, or it is unknown
  bool requeued = false;     // another attempt follows
  std::string lost;          // the host that was lost, of "node_fail"; empty: that of the head, or unknown
  std::string verdict = {};  // on its failure, if the job is requeued by verdicts: RestartVerdictName; else empty
  std::string evidence = {};  // … in one sentence
  std::string excluded = {};  // the host that later attempts do not get

  bool operator==(const JobAttempt&) const = default;
};

// What the engine said about the job when it was over.
struct JobEnd {
  std::string state;   // "cancelled", "node_failed", …: JobStateName
  std::string reason;  // the engine's words; may be empty
  std::string hosts;   // the engine's list; may be empty
  std::optional<int> exit_code;

  bool operator==(const JobEnd&) const = default;
};

// What is said of a job that ended so, by JobAttempt::end or JobEnd::state: "was cancelled", "lost its node n3" (`host`
// may be empty).
std::string JobEndText(const std::string& end, const std::string& host);

// The schemas (wire/archive/json_schema.h) of job.json, attempts.json and job_end.json.
std::string JobRecordSchema();
std::string JobAttemptsSchema();
std::string JobEndSchema();

Result<void> WriteJobRecord(int folder, const JobRecord& record);
// Nothing: the run was not submitted, or the file is invalid.
std::optional<JobRecord> ReadJobRecord(const std::string& run_dir);

// The engine's id of the job; empty while it is unknown.
Result<void> WriteJobId(int folder, const std::string& id);
std::string ReadJobId(const std::string& run_dir);

// The directory of the first attempt: `run_dir` itself, if that is the first or the only one.
std::string FirstAttemptOf(const std::string& run_dir);

// Of the directory of the first attempt; oldest first, empty before a head has started.
Result<void> WriteAttempts(const std::string& first_dir, const std::vector<JobAttempt>& attempts);
std::vector<JobAttempt> ReadAttempts(const std::string& first_dir);

Result<void> WriteJobEnd(const std::string& run_dir, const JobEnd& end);
std::optional<JobEnd> ReadJobEnd(const std::string& run_dir);

}  // namespace muster
