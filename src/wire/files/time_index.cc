#include "wire/files/time_index.h"

namespace muster {
namespace {

void AppendNumber(std::string& bytes, std::uint64_t number) {
  for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>((number >> shift) & 0xFFU);
}

std::uint64_t NumberFrom(std::string_view bytes) {
  std::uint64_t number = 0;
  for (unsigned i = 0; i < 8; ++i) number |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  return number;
}

}  // namespace

void AppendLogTime(std::string& bytes, const LogTime& time) {
  AppendNumber(bytes, time.wall_ns);
  AppendNumber(bytes, time.offset);
}

LogTime LogTimeFrom(std::string_view bytes) { return {NumberFrom(bytes), NumberFrom(bytes.substr(8))}; }

std::string LogHeadBytes(const LogHead& head) {
  std::string bytes;
  for (const std::uint64_t number : {head.base, head.kept, head.moving, head.limit}) AppendNumber(bytes, number);
  return bytes;
}

LogHead LogHeadFrom(std::string_view bytes) {
  return {NumberFrom(bytes), NumberFrom(bytes.substr(8)), NumberFrom(bytes.substr(16)), NumberFrom(bytes.substr(24))};
}

std::uint64_t BaseOf(const LogHead& head, std::uint64_t inode, bool begins_with_hole) {
  if (head.moving == 0) return head.base;
  const bool moved = head.moving == kCollapsing ? !begins_with_hole : head.moving == inode;
  return moved ? head.kept : head.base;
}

std::string TimeIndexPath(std::string_view log_path) {
  constexpr std::string_view kLog = ".log";
  if (log_path.ends_with(kLog)) log_path.remove_suffix(kLog.size());
  return std::string(log_path) + ".idx";
}

}  // namespace muster
