#include "run/logs/line_cutter.h"

#include <utility>

namespace muster {

void LineCutter::Feed(std::string_view bytes, const Emit& emit) {
  while (!bytes.empty()) {
    if (std::exchange(after_return_, false) && bytes.front() == '\n') {
      bytes.remove_prefix(1);
      continue;
    }
    const std::size_t end = bytes.find_first_of("\n\r");
    const std::size_t room = kMaxPiece - line_.size();
    if (end != std::string_view::npos && end <= room) {
      line_ += bytes.substr(0, end);
      after_return_ = bytes[end] == '\r';
      emit(line_, continues_);
      line_.clear();
      continues_ = false;
      bytes.remove_prefix(end + 1);
    } else if (bytes.size() <= room) {
      line_ += bytes;
      return;
    } else {
      line_ += bytes.substr(0, room);
      bytes.remove_prefix(room);
      std::size_t cut = line_.size();
      for (int back = 0; back < 4 && cut > 0; ++back) {
        const auto next = static_cast<unsigned char>(cut < line_.size() ? line_[cut] : bytes.front());
        if ((next & 0xC0U) != 0x80U) break;
        --cut;
      }
      if (cut + 4 <= line_.size()) cut = line_.size();  // not UTF-8: there is no character to preserve
      emit(std::string_view(line_).substr(0, cut), continues_);
      line_.erase(0, cut);
      continues_ = true;
    }
  }
}

void LineCutter::Flush(const Emit& emit) {
  if (!line_.empty()) emit(line_, continues_);
  line_.clear();
  continues_ = after_return_ = false;
}

}  // namespace muster
