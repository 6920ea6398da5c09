// All records of a run's journal, read as the program reads them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "run/journal/journal.h"
#include "support/temp_dir.h"

namespace muster {

struct JournalContents {
  std::vector<JournalRecord> records;  // the longest valid prefix
  std::string stopped;                 // why reading stopped before the end of the file; empty if it did not
};

inline JournalContents ReadJournal(const std::string& path) {
  JournalContents contents;
  contents.stopped = ReadJournal(path, [&contents](JournalRecord record) {
    contents.records.push_back(std::move(record));
    return true;
  });
  return contents;
}

// Of a journal with these bytes.
inline JournalContents ParseJournal(std::string_view bytes) {
  static const testing::TempDir folder;
  static const std::string path = folder / "bytes";
  // Never cut to nothing: ext4 writes such a file to the disk when it is closed.
  static const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  const auto size = static_cast<off_t>(bytes.size());
  if (WriteMost(file.get(), bytes) != bytes.size() || ::ftruncate(file.get(), size) != 0) return {{}, "not written"};
  ::lseek(file.get(), 0, SEEK_SET);
  return ReadJournal(path);
}

}  // namespace muster
