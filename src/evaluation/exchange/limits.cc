#include "evaluation/exchange/limits.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/values/utf8_text.h"

namespace muster {

void LastPlace::Note(std::string_view file, std::uint32_t line) {
  const std::uint32_t next = current.load(std::memory_order_relaxed) == 1 ? 1 : 0;
  Slot& slot = slots[next];
  const std::size_t size = std::min(file.size(), sizeof slot.file - 1);
  std::memcpy(slot.file, file.data(), size);
  slot.file[size] = '\0';
  slot.line = line;
  current.store(next + 1, std::memory_order_release);
}

Place LastPlace::Read() const {
  const std::uint32_t noted = current.load(std::memory_order_acquire);
  if (noted != 1 && noted != 2) return {};
  Slot copy = slots[noted - 1];
  copy.file[sizeof copy.file - 1] = '\0';
  const std::string file = copy.file;
  return IsUtf8(file) ? Place{file, copy.line} : Place{};
}

}  // namespace muster
