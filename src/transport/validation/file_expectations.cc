#include "transport/validation/file_expectations.h"

#include <utility>

namespace muster {

std::string_view FileExpectations::Below(std::string_view path) const {
  if (run_dir_.empty() || !path.starts_with(run_dir_) || path.size() <= run_dir_.size() ||
      path[run_dir_.size()] != '/') {
    return {};
  }
  return path.substr(run_dir_.size() + 1);
}

void FileExpectations::Note(const TakeDump& command) {
  for (const DumpTarget& one : command.processes) files_.AddFile(Below(one.path));
}

MessageVerdict FileExpectations::On(const AgentReady& message) {
  if (message.version == kProtocolVersion) shares_files_ = message.shares_run_dir;
  return {};
}

MessageVerdict FileExpectations::On(const FileBytes& message) {
  if (shares_files_) return MessageVerdict::If(false, "a file");
  return files_.Take(message.path) ? MessageVerdict() : MessageVerdict::Stray("a file that is not its own");
}

MessageVerdict FileExpectations::On(const FilesSent&) {
  const bool expected = !shares_files_ && finishing_ && !std::exchange(files_sent_, true);
  return MessageVerdict::If(expected, "the end of its files");
}

}  // namespace muster
