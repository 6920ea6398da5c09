// The one reader of files that grow: the lines that programs append to files of metrics, and their logs, whose
// beginning may have been dropped. Used once or again and again.
//
// The bytes are the programs' and not trusted: memory for a line is bounded, links are not followed, and only regular
// files are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>

#include "base/system/unique_fd.h"
#include "metrics/metrics_line.h"
#include "wire/files/log_bytes.h"

namespace muster {

class GrowingFile {
 public:
  enum class Kind : std::uint8_t {
    kMetrics,  // neither the last part of the path nor the one before may be a link
    kLog,      // a carriage return ends a line, too, as in progress bars
  };
  static constexpr std::size_t kMaxAtOnce = 1U << 20;
  // Gets at most kMaxMetricsLine bytes of a line, and no empty ones. `whole`: the line was complete and not truncated.
  using Take = std::function<void(std::string_view line, bool whole)>;

  // `path` is relative to the open folder `at`, which must outlive this object. The file need not exist yet.
  explicit GrowingFile(Kind kind, std::string path, int at = AT_FDCWD) : kind_(kind), path_(std::move(path)), at_(at) {}

  // Whether there is such a file.
  bool Open();
  // Passes on new lines; reads at most `most` bytes. Returns whether there may be more. A file that has become shorter
  // is read from its beginning.
  bool Read(const Take& take, std::uint64_t most = kMaxAtOnce);
  // Passes on the lines that have not been read yet; if these are more than `most` bytes, those in the last ones. Does
  // not keep the file open.
  void ReadToEnd(const Take& take, std::uint64_t most);
  // Passes on the unfinished line at the end, if there is one.
  void Flush(const Take& take);
  // Skips all but the last `size` bytes of what was not read, and the line in which they begin.
  void SkipToLast(std::uint64_t size);
  // Up to where it was read.
  std::uint64_t offset() const { return offset_; }

 private:
  std::uint64_t End();
  void RestartIfShorter();
  void Feed(std::string_view bytes, const Take& take);
  // The next bytes do not follow the previous ones: the rest of the current line is dropped.
  void SkipLine();

  Kind kind_;
  std::string path_;
  int at_;
  UniqueFd file_;                // of kMetrics
  std::optional<LogBytes> log_;  // of kLog
  std::uint64_t offset_ = 0;
  std::string line_;  // its beginning, until its end is written
  bool cut_ = false;
  bool skips_ = false;
};

}  // namespace muster
