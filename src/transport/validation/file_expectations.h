// Which files of its run directory an agent may send: if head and host do not share it, those of what it was given.
#pragma once

#include <string>
#include <string_view>

#include "transport/validation/message_verdict.h"
#include "wire/files/collected_files.h"
#include "wire/protocol/protocol.h"

namespace muster {

class FileExpectations {
 public:
  void Note(const Hello& command) { run_dir_ = command.run_dir; }
  void Note(const Activate& command) { files_.AddFile(Below(command.log_path)); }
  void Note(const StartProcess& command) { files_.AddAttempt(Below(command.log_path)); }
  void Note(const TakeDump& command);
  void Note(const Finish&) { finishing_ = true; }

  MessageVerdict On(const AgentReady& message);
  MessageVerdict On(const FileBytes& message);
  MessageVerdict On(const FilesSent& message);

 private:
  // The path relative to the run directory; empty if it is not below it.
  std::string_view Below(std::string_view path) const;

  std::string run_dir_;
  bool shares_files_ = true;
  bool finishing_ = false;
  bool files_sent_ = false;
  CollectedFiles files_;
};

}  // namespace muster
