// muster tag: changes the tags of a run after its start.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>

#include "base/system/unique_fd.h"
#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/options/run_argument.h"
#include "cli/runs/run_commands.h"
#include "run/directory/run_tags.h"

namespace muster {
namespace {

struct TagOptions {
  std::vector<std::string> words;  // RUN, and changes
};

int RunTag(const TagOptions& options) {
  const std::vector<std::string> changes(options.words.begin() + 1, options.words.end());
  const auto run_dir = FindRun(options.words.front(), changes.empty() ? DirectoryUse::kRead : DirectoryUse::kWrite);
  if (!run_dir) return Refuse(run_dir.error());
  const UniqueFd folder(::open(run_dir->c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto tags = ChangedTags(ReadTags(folder.get()), changes);
  if (!tags) return Refuse(tags.error());
  if (!changes.empty()) {
    if (auto written = WriteTags(folder.get(), *tags); !written) return Refuse(written.error());
  }
  for (const std::string& tag : *tags) std::printf("%s\n", Printable(tag).c_str());
  return kExitOk;
}

}  // namespace

std::function<int()> SetupTag(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<TagOptions>();
  app.add_option("RUN", options->words,
                 "a RUN or SWEEP:12, then changes: TAG or NAME=VALUE adds, NAME- removes; prints the resulting tags")
      ->type_name("RUN [TAG …]")
      ->required();
  return [options] { return RunTag(*options); };
}

}  // namespace muster
