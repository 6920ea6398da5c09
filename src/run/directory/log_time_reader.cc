#include "run/directory/log_time_reader.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/unique_fd.h"

namespace muster {
namespace {

constexpr std::uint64_t kBlockEntries = 256;
constexpr std::uint64_t kBlock = 64U << 10;

UniqueFd OpenIndex(int folder, const std::string& name) {
  return UniqueFd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

std::uint64_t SizeOf(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0
             ? static_cast<std::uint64_t>(status.st_size)
             : 0;
}

std::string Read(int file, std::uint64_t begin, std::uint64_t size) {
  std::string bytes(size, '\0');
  const ssize_t got = ::pread(file, bytes.data(), bytes.size(), static_cast<off_t>(begin));
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

}  // namespace

LogTimeReader::LogTimeReader(int folder, std::string name, std::size_t entries_begin, std::uint64_t entries)
    : folder_(folder), name_(std::move(name)), entries_begin_(entries_begin), entries_(entries) {}

std::optional<LogTimeReader> LogTimeReader::Open(int logs_folder, const std::string& log_name) {
  std::string name = TimeIndexPath(log_name);
  const UniqueFd file = OpenIndex(logs_folder, name);
  if (!file) return std::nullopt;
  const std::uint64_t size = SizeOf(file.get());
  const std::string head = Read(file.get(), 0, kTimeIndexHead.size());
  if (head != kTimeIndexHead && head != kLimitedIndexHead) return std::nullopt;
  const std::size_t begin = EntriesBegin(head == kLimitedIndexHead);
  if (size < begin + kLogTimeBytes) return std::nullopt;
  // A partial entry at the end did not fit on the disk.
  return LogTimeReader(logs_folder, std::move(name), begin, (size - begin) / kLogTimeBytes);
}

const LogTime& LogTimeReader::At(std::uint64_t i) {
  if (i < block_begin_ || i >= block_begin_ + block_.size()) {
    block_begin_ = i - i % kBlockEntries;
    const UniqueFd file = OpenIndex(folder_, name_);
    const std::string bytes =
        Read(file.get(), entries_begin_ + block_begin_ * kLogTimeBytes, kBlockEntries * kLogTimeBytes);
    block_.clear();
    for (std::size_t at = 0; at + kLogTimeBytes <= bytes.size(); at += kLogTimeBytes) {
      block_.push_back(LogTimeFrom(std::string_view(bytes).substr(at)));
    }
    // The file was truncated after it was opened.
    if (i >= block_begin_ + block_.size()) block_.resize(i - block_begin_ + 1);
  }
  return block_[i - block_begin_];
}

template <class Holds>
std::uint64_t LogTimeReader::First(const Holds& holds) {
  std::uint64_t begin = 0;
  std::uint64_t end = entries_;
  while (begin < end) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    if (holds(At(middle))) {
      end = middle;
    } else {
      begin = middle + 1;
    }
  }
  return begin;
}

std::uint64_t LogTimeReader::TimeOf(std::uint64_t offset) {
  const auto covers = [&](const LogTime& entry) { return entry.offset > offset; };
  const bool still = covers(At(found_)) && (found_ == 0 || !covers(At(found_ - 1)));
  if (!still) found_ = std::min(First(covers), entries_ - 1);
  return At(found_).wall_ns;
}

std::uint64_t LogTimeReader::OffsetAt(std::uint64_t wall_ns) {
  // Bytes between the last entry before that moment and the next entry may have been written at or after it.
  const std::uint64_t first = First([&](const LogTime& entry) { return entry.wall_ns >= wall_ns; });
  return first == 0 ? 0 : At(first - 1).offset;
}

std::uint64_t LogTimeReader::End() { return At(entries_ - 1).wall_ns; }

std::uint64_t LineBegin(LogBytes& log, std::uint64_t offset) {
  std::uint64_t begin = 0;
  const LogExtent extent = log.Look();
  offset = std::clamp(offset, extent.begin, extent.end);
  const std::string before = log.ReadBefore(offset, kBlock, begin);
  const std::size_t newline = before.rfind('\n');
  if (newline != std::string::npos) return begin + newline + 1;
  return begin == extent.begin ? begin : offset;
}

std::uint64_t TailBegin(LogBytes& log, std::uint64_t lines) {
  const LogExtent extent = log.Look();
  if (lines == 0) return extent.end;
  std::uint64_t counted = 0;
  for (std::uint64_t end = extent.end; end > extent.begin;) {
    std::uint64_t begin = 0;
    const std::string block = log.ReadBefore(end, kBlock, begin);
    if (block.empty()) return end;  // a file hole, or dropped meanwhile
    bool found = false;
    for (std::uint64_t i = block.size(); i > 0; --i) {
      if (block[i - 1] != '\n' || begin + i == extent.end) continue;  // the final newline ends the last line
      found = true;
      if (++counted == lines) return begin + i;
    }
    if (!found && block.size() == kBlock && ++counted == lines) return begin;
    end = begin;
  }
  return extent.begin;
}

}  // namespace muster
