#include "run/lines/journal_line.h"

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/values/fingerprint.h"

namespace muster {
namespace {

constexpr std::string_view kCrcOpen = ",\"crc\":\"";
constexpr std::string_view kCrcClose = "\"}";
constexpr std::size_t kCrcDigits = 8;
constexpr std::size_t kTail = kCrcOpen.size() + kCrcDigits + kCrcClose.size();

// `,"crc":"xxxxxxxx"}`
std::array<char, kTail> Tail(std::string_view body) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::array<char, kTail> tail;
  const std::uint32_t sum = Crc32c(body);
  kCrcOpen.copy(tail.data(), kCrcOpen.size());
  for (std::size_t i = 0; i < kCrcDigits; ++i) {
    tail[kCrcOpen.size() + i] = kDigits[(sum >> (4 * (kCrcDigits - 1 - i))) & 15U];
  }
  kCrcClose.copy(tail.data() + kCrcOpen.size() + kCrcDigits, kCrcClose.size());
  return tail;
}

}  // namespace

void SealLine(std::string& line, std::size_t begin) {
  const std::array<char, kTail> tail = Tail(std::string_view(line).substr(begin));
  line.append(tail.data(), tail.size());
  line += '\n';
}

tl::expected<std::string_view, std::string> OpenLine(std::string_view line) {
  if (line.size() <= kTail) return tl::unexpected<std::string>("a line is too short");
  const std::string_view body = line.substr(0, line.size() - kTail);
  const std::array<char, kTail> tail = Tail(body);
  if (line.substr(body.size()) != std::string_view(tail.data(), tail.size())) {
    return tl::unexpected<std::string>("a checksum does not match its line");
  }
  return body;
}

}  // namespace muster
