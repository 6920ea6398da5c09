#include "run/logs/log_merge.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <queue>
#include <utility>

#include "run/directory/log_time_reader.h"
#include "wire/files/log_bytes.h"

namespace muster {
namespace {

constexpr std::size_t kLargestBlock = 64U << 10;
constexpr std::size_t kSmallestBlock = 4U << 10;
constexpr std::size_t kAllBlocks = 2U << 20;

// One log, piece by piece, each with the time at which its line was complete.
class Cursor {
 public:
  Cursor(int folder, const LogSpan& span, std::size_t block, bool flushes)
      : folder_(folder),
        span_(span),
        block_size_(block),
        flushes_(flushes),
        at_(span.begin),
        times_(LogTimeReader::Open(folder, span.name)) {}

  // Moves to the next piece; returns false if there is none.
  bool Next() {
    if (!pieces_.empty()) pieces_.pop_front();
    while (pieces_.empty()) {
      if (used_ == block_.size() && !ReadBlock()) {
        if (!flushes_) return false;
        flushes_ = false;
        cutter_.Flush(Keep());
        continue;
      }
      const std::size_t newline = block_.find('\n', used_);
      const std::size_t end = newline == std::string::npos ? block_.size() : newline + 1;
      at_ += end - used_;
      // Not computed for each byte: a line has the time of its last one.
      time_ = times_ ? times_->TimeOf(at_ - 1) : 0;
      cutter_.Feed(std::string_view(block_).substr(used_, end - used_), Keep());
      used_ = end;
    }
    return true;
  }

  std::uint64_t time() const { return pieces_.front().time; }
  std::string_view text() const { return pieces_.front().text; }
  bool continues() const { return pieces_.front().continues; }
  LineCutter& cutter() { return cutter_; }
  // Bytes that were dropped before they were read, since the last call.
  std::uint64_t TakeDropped() { return std::exchange(dropped_, 0); }

 private:
  struct Piece {
    std::uint64_t time;
    std::string text;
    bool continues;
  };

  LineCutter::Emit Keep() {
    return [this](std::string_view text, bool continues) { pieces_.push_back({time_, std::string(text), continues}); };
  }

  bool ReadBlock() {
    block_.clear();
    used_ = 0;
    if (at_ >= span_.end) return false;
    auto file = LogBytes::Open(folder_, span_.name);
    if (!file) return false;
    block_.resize(std::min<std::uint64_t>(block_size_, span_.end - at_));
    std::uint64_t from = at_;
    block_.resize(file->Read(from, block_.data(), block_.size()));
    if (from != at_) {
      cutter_.Flush(Keep());  // the continuation was dropped meanwhile
      dropped_ += std::min(from, span_.end) - at_;
      at_ = from;
      if (at_ >= span_.end) block_.clear();
      block_.resize(std::min<std::uint64_t>(block_.size(), span_.end - std::min(at_, span_.end)));
    }
    return !block_.empty();
  }

  int folder_;
  LogSpan span_;
  std::size_t block_size_;
  bool flushes_;
  std::uint64_t at_;
  std::uint64_t dropped_ = 0;
  std::optional<LogTimeReader> times_;
  std::string block_;
  std::size_t used_ = 0;
  std::uint64_t time_ = 0;
  LineCutter cutter_;
  std::deque<Piece> pieces_;
};

}  // namespace

void MergeLogs(int logs_folder, const std::vector<LogSpan>& spans, const EmitMerged& emit,
               const ReportedDropped& dropped, std::vector<LineCutter>* rest) {
  const std::size_t block =
      std::clamp(kAllBlocks / std::max<std::size_t>(spans.size(), 1), kSmallestBlock, kLargestBlock);
  std::deque<Cursor> cursors;
  using Due = std::pair<std::uint64_t, std::size_t>;  // time and span
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due;
  const auto next = [&](std::size_t span) {
    const bool more = cursors[span].Next();
    if (const std::uint64_t bytes = cursors[span].TakeDropped(); bytes > 0 && dropped) dropped(span, bytes);
    return more;
  };
  for (const LogSpan& span : spans) {
    cursors.emplace_back(logs_folder, span, block, rest == nullptr);
    if (next(cursors.size() - 1)) due.emplace(cursors.back().time(), cursors.size() - 1);
  }
  bool wanted = true;
  while (wanted && !due.empty()) {
    const std::size_t first = due.top().second;
    due.pop();
    Cursor& cursor = cursors[first];
    // While no other log is earlier.
    bool more = true;
    do {
      wanted = emit(first, cursor.text(), cursor.continues());
      more = next(first);
    } while (wanted && more && (due.empty() || Due(cursor.time(), first) < due.top()));
    if (more) due.emplace(cursor.time(), first);
  }
  if (rest == nullptr) return;
  for (Cursor& cursor : cursors) rest->push_back(std::move(cursor.cutter()));
}

}  // namespace muster
