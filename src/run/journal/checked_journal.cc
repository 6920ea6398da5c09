#include "run/journal/checked_journal.h"

#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "plan/text/plan_json.h"
#include "run/directory/hidden_values.h"
#include "run/directory/run_files.h"
#include "run/journal/plan_fit.h"

namespace muster {

CheckedJournal::CheckedJournal(const Plan& plan, JournalContents contents)
    : records_(std::move(contents.records)), damage_(std::move(contents.stopped)) {
  PlanFit fit(plan);
  std::string first;
  const std::size_t left_out = std::erase_if(records_, [&](const JournalRecord& record) {
    if (fit.Take(record)) return false;
    if (first.empty()) first = fit.problem();
    return true;
  });
  if (left_out == 0) return;
  if (!damage_.empty()) damage_ += "; ";
  damage_ += left_out == 1 ? first : fmt::format("{} records do not match the plan, the first: {}", left_out, first);
}

Result<RecordedRun> ReadRun(const std::string& run_dir, std::shared_ptr<const Plan> plan) {
  UniqueFd folder(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!plan) {
    const Result<std::string> json = ReadPlanJson(folder.get(), run_dir);
    if (!json) return Fail(json.error());
    Result<Plan> read = PlanFromJson(*json);
    if (!read) return Fail(std::move(read.error()));
    plan = std::make_shared<const Plan>(*std::move(read));
  }
  HideSecretsOf(*plan);  // what the reader quotes of the run's output
  CheckedJournal journal(*plan, ReadJournal(run_dir + "/journal.jsonl"));
  return RecordedRun{std::move(folder), std::move(plan), std::move(journal)};
}

}  // namespace muster
