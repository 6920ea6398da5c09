// What a plan says of a subject: its value, of each process where processes differ, and who gave it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explain/subject.h"

namespace muster {

// Which processes are asked about; empty: all.
struct ProcessFilter {
  std::optional<std::string> role;
  std::optional<std::uint32_t> rank;  // in roles without ranks, the number
};

// Indices into Plan::processes, ascending. With a rank and no role: those of that rank, or, if no process has it, those
// of that number. Kind "no_process" if there are none.
Result<std::vector<std::uint32_t>> ChosenProcesses(const Plan& plan, const ProcessFilter& filter);

// The value as text: either of the job as a whole or, by role and index, of processes.
struct SubjectValue {
  std::optional<std::string> whole;
  std::map<std::pair<std::string, std::uint32_t>, std::string> of;

  bool operator==(const SubjectValue&) const = default;
};

SubjectValue ValueOf(const Evaluation& evaluation, const ContextApi& api, const Subject& subject,
                     const std::vector<std::uint32_t>& processes);

// A value with its source, of processes with equal ones.
struct ToldValue {
  std::string processes;  // "worker 0-7"; empty: of the job as a whole
  std::string text;       // plan/text/folded_texts.h
  bool rule = false;
  std::string source;  // "default", "command line", "contract mindspore", "each", "default of MindSpore 1.6.2"
  Place place;
  bool absent = false;  // `text` says that there is none, and why

  bool operator==(const ToldValue&) const = default;
};

// Nothing of a variable that the chosen processes neither get nor lose. Sources of variables and of what `each` sets
// are those of the process of its role that the evaluation explains.
std::vector<ToldValue> Tell(const Evaluation& evaluation, const ContextApi& api, const Subject& subject,
                            const std::vector<std::uint32_t>& processes);

// Where a parameter's or a cluster's number comes from.
std::pair<std::string, Place> SourceOf(const ParameterState& state);
std::pair<std::string, Place> SourceOf(const ClusterNumber& number);

// A parameter's or a derived value's, "hosts" or "devices": what the job has of it.
std::optional<Value> WholeValue(const Evaluation& evaluation, const Subject& subject);

}  // namespace muster
