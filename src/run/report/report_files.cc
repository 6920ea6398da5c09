#include "run/report/report_files.h"

#include <utility>

#include "base/system/file_access.h"
#include "muster/result.h"
#include "run/directory/private_files.h"
#include "wire/files/run_layout.h"

namespace muster {

ReportFiles WriteReportFiles(int folder, const std::string& run_dir, std::shared_ptr<const Plan> plan) {
  ReportFiles account;
  // Through the descriptor, because another directory may have replaced it.
  Result<Report> report = MakeReport(FileBelow{folder, {}}.ThroughDescriptor(), std::move(plan));
  if (!report) return account;
  report->run_dir = run_dir;
  for (const auto& [name, bytes] :
       {std::pair{kReportEntry.name, ReportJson(*report)}, std::pair{kReportTextEntry.name, ReportText(*report)}}) {
    if (const Result<void> written = ReplaceFile(folder, name, bytes); !written) {
      account.problems.insert(account.problems.end(), written.error().begin(), written.error().end());
    }
  }
  account.report = *std::move(report);
  return account;
}

}  // namespace muster
