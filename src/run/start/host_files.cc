#include "run/start/host_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/private_files.h"
#include "base/values/quoting.h"

namespace muster {

void CodeShipment::Offer() {
  const std::vector<CodeEntry>& all = tree_->entries;
  std::size_t at = 0;
  do {
    const std::size_t end = std::min(at + kEntriesInPart, all.size());
    OfferCode offer{tree_->hash,
                    {all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(end)},
                    end == all.size()};
    send_(std::move(offer));
    at = end;
  } while (at < all.size());
}

std::string CodeShipment::Wanted(const CodeMissing& wanted) {
  if (std::adjacent_find(wanted.entries.begin(), wanted.entries.end(), std::greater_equal<>()) !=
      wanted.entries.end()) {
    return "it requested code twice";
  }
  queue_.assign(wanted.entries.begin(), wanted.entries.end());
  file_.reset();
  wanted_ = sent_;
  for (const std::uint32_t entry : queue_) {
    if (entry >= tree_->entries.size() || tree_->entries[entry].link || tree_->entries[entry].size == 0) {
      return "it requested code that was not offered";
    }
    wanted_ += tree_->entries[entry].size;
  }
  return SendOn();
}

std::string CodeShipment::Taken(const CodeReceived& taken) {
  if (taken.bytes > on_the_way_) return "it took more code than was sent";
  on_the_way_ -= taken.bytes;
  return SendOn();
}

std::string CodeShipment::SendOn() {
  while (!queue_.empty() && on_the_way_ + kPart <= kCodeWindow) {
    const CodeEntry& entry = tree_->entries[queue_.front()];
    const std::string path = tree_->folder + '/' + entry.path;
    if (!file_) {
      offset_ = 0;
      if (!folder_) folder_.reset(::open(tree_->folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      file_ = OpenBelow(folder_.get(), entry.path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
      if (!file_) return fmt::format("{}: {}", Quoted(path), std::strerror(errno));
    }
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(kPart, entry.size - offset_)), '\0');
    const ssize_t got = ::pread(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset_));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fmt::format("{} changed while it was sent", Quoted(path));
    bytes.resize(static_cast<std::size_t>(got));
    offset_ += bytes.size();
    on_the_way_ += bytes.size();
    sent_ += bytes.size();
    send_(CodeBytes{queue_.front(), std::move(bytes)});
    if (offset_ == entry.size) {
      queue_.pop_front();
      file_.reset();
    }
  }
  return {};
}

Result<void> KeepFileBytes(int folder, const FileBytes& bytes) {
  Result<UniqueFd> file = OpenOrCreateFile(folder, bytes.path);
  if (!file) return Fail(std::move(file.error()));
  const auto refused = [&](int error) {
    return Fail(SystemError("file", fmt::format("cannot write {}", Quoted(bytes.path)), error));
  };
  struct stat status = {};
  if (::fstat(file->get(), &status) != 0) return refused(errno);
  const auto there = static_cast<std::uint64_t>(status.st_size);
  std::string gap;
  if (bytes.offset > there) gap = fmt::format("\n[muster: {} bytes are not here yet]\n", bytes.offset - there);
  const std::uint64_t offset = std::min(bytes.offset, there);
  if (::lseek(file->get(), static_cast<off_t>(offset), SEEK_SET) < 0) return refused(errno);
  if (const int error = WriteAll(file->get(), gap)) return refused(error);
  if (const int error = WriteAll(file->get(), bytes.content)) return refused(error);
  const std::uint64_t end = offset + gap.size() + bytes.content.size();
  if (bytes.last && ::ftruncate(file->get(), static_cast<off_t>(end)) != 0) return refused(errno);
  return {};
}

}  // namespace muster
