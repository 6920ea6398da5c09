// muster tag and muster note: change the tags and the note of a run, a sweep or a trial after its start.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>

#include "base/system/unique_fd.h"
#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/print_diagnostics.h"
#include "cli/lookup/run_or_sweep.h"
#include "cli/runs/run_commands.h"
#include "run/directory/run_note.h"
#include "run/directory/run_tags.h"

namespace muster {
namespace {

struct TagOptions {
  std::vector<std::string> words;  // RUN or SWEEP, and changes
};

int RunTag(const TagOptions& options) {
  const std::vector<std::string> changes(options.words.begin() + 1, options.words.end());
  const auto target = FindRunOrSweep(options.words.front(),
                                     changes.empty() ? DirectoryUse::kRead : DirectoryUse::kWrite, Prefer::kNewest);
  if (!target) return Refuse(target.error());
  const UniqueFd folder(::open(target->folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  auto tags = ChangedTags(ReadTags(folder.get()), changes);
  if (!tags) return Refuse(tags.error());
  if (!changes.empty()) {
    if (auto written = WriteTags(folder.get(), *tags); !written) return Refuse(written.error());
  }
  for (const std::string& tag : *tags) std::printf("%s\n", Printable(tag).c_str());
  return kExitOk;
}

struct NoteOptions {
  std::string word;
  std::vector<std::string> text;
  bool remove = false;
};

int RunNote(const NoteOptions& options) {
  const bool changes = options.remove || !options.text.empty();
  if (options.remove && !options.text.empty()) {
    return Refuse({Error("usage", {}, "--remove removes the note, and a text would replace it", "give one of them")});
  }
  const auto target =
      FindRunOrSweep(options.word, changes ? DirectoryUse::kWrite : DirectoryUse::kRead, Prefer::kNewest);
  if (!target) return Refuse(target.error());
  const UniqueFd folder(::open(target->folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string text;
  for (const std::string& word : options.text) text += (text.empty() ? "" : " ") + word;
  if (changes) {
    if (auto written = WriteNote(folder.get(), text); !written) return Refuse(written.error());
  }
  if (const std::string note = ReadNote(folder.get()); !note.empty())
    std::printf("%s\n", PrintableLines(NoteText(note, 0)).c_str());
  return kExitOk;
}

}  // namespace

std::function<int()> SetupNote(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<NoteOptions>();
  AddRunOrSweepArgument(app, options->word);
  app.get_option("RUN")->required();
  app.add_option("TEXT", options->text, "replaces the note; without a text, the note is printed")->type_name("TEXT …");
  app.add_flag("--remove", options->remove, "remove the note");
  return [options] { return RunNote(*options); };
}

std::function<int()> SetupTag(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<TagOptions>();
  app.add_option(
         "RUN", options->words,
         "a RUN, a SWEEP or SWEEP:12, then changes: TAG or NAME=VALUE adds, NAME- removes; prints the resulting "
         "tags")
      ->type_name("RUN [TAG …]")
      ->required();
  return [options] { return RunTag(*options); };
}

}  // namespace muster
