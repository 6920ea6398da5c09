#include "cli/runs/report_page.h"

#include <cstdio>
#include <filesystem>
#include <utility>

#include <fcntl.h>

#include "base/values/shell_quote.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_or_sweep.h"
#include "page/collect/make_page.h"
#include "page/write/page_html.h"
#include "run/directory/private_files.h"
#include "run/report/report.h"
#include "sweep/index/run_or_sweep_choice.h"

namespace muster {
namespace {

Result<void> WritePage(const std::string& html, const std::string& file) {
  if (file == "-") {
    std::fwrite(html.data(), 1, html.size(), stdout);
    return {};
  }
  const std::filesystem::path path(file);
  const std::string parent = path.parent_path().empty() ? "." : path.parent_path().string();
  const auto folder = OpenFolder(AT_FDCWD, parent + "/.");
  if (!folder) return Fail(folder.error());
  return ReplaceFile(folder->get(), path.filename(), html);
}

}  // namespace

bool PrintUnreadableLogs(const Report& report) {
  Diagnostics problems;
  for (const std::string& log : report.unreadable_logs) {
    problems.push_back(MachineError("logs", Printable(report.run_dir + "/" + log), "the report is without its lines"));
  }
  if (!problems.empty()) PrintDiagnostics(problems);
  return problems.empty();
}

int WriteReportPage(const std::vector<std::string>& words, const std::string& file) {
  std::vector<NamedRunOrSweep> folders;
  for (const std::string& word : words.empty() ? std::vector<std::string>{""} : words) {
    auto found = FindRunOrSweep(word, DirectoryUse::kRead, Prefer::kNewest);
    if (!found) return Refuse(found.error());
    folders.push_back(*std::move(found));
  }
  const auto page = MakePage(folders);
  if (!page) return Refuse(page.error());
  const auto written = WritePage(WithArchiveNames(PageHtml(*page)), file);
  if (!written) return Refuse(written.error());
  if (file != "-") std::printf("%s\n", Printable(file).c_str());
  bool readable = true;
  for (const NamedRunOrSweep& each : folders) {
    const auto report = each.is_sweep ? Result<Report>(Fail(Diagnostics())) : MakeReport(each.folder);
    if (report && !PrintUnreadableLogs(*report)) readable = false;
  }
  return readable ? kExitOk : kExitUnreadable;
}

}  // namespace muster
