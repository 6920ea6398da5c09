// What a report says about the job of an engine that the run was submitted as: its attempts, and how their allocations
// ended.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "run/directory/job_record.h"

namespace muster {

struct JobReport {
  std::string engine;
  std::string job;                   // its id; empty if it is not known
  std::vector<JobAttempt> attempts;  // of the run, oldest first
  std::size_t attempt = 0;           // this one, from 1; 0: no head has begun
  std::string end;             // how the allocation of this attempt ended, if it did before the run: "time_limit", …
  std::string host;            // of its head; of an attempt that lost another one, that one
  std::optional<JobEnd> said;  // by the engine, once the job was over
};

// Nothing for a run that was not submitted.
std::optional<JobReport> MakeJobReport(const std::string& run_dir);

// Why the run had no end: "slurm job 12 was cancelled"; empty if it is not known.
std::string LostText(const JobReport& job);
// The lines of a report: the job, and earlier and later attempts.
std::string JobLines(const JobReport& job);
nlohmann::ordered_json JobJson(const JobReport& job);

}  // namespace muster
