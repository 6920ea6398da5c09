// Fuzzes journals, which may be cut, torn or forged: any bytes must be read as a prefix of records, which must
// round-trip. The first byte selects the treatment of the rest: unchanged, or as lines with valid checksums, so that
// the fields after them are reached.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/values/fingerprint.h"
#include "support/journal_contents.h"

namespace {

std::string WithChecksums(std::string_view bodies) {
  std::string lines;
  while (!bodies.empty()) {
    const std::size_t end = bodies.find('\n');
    const std::string_view body = bodies.substr(0, end);
    lines += fmt::format("{},\"crc\":\"{:08x}\"}}\n", body, muster::Crc32c(body));
    bodies.remove_prefix(end == std::string_view::npos ? bodies.size() : end + 1);
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string bytes = data[0] % 2 == 0 ? std::string(rest) : WithChecksums(rest);
  const muster::JournalContents contents = muster::ParseJournal(bytes);
  const auto lines = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  if (contents.records.size() > lines) std::abort();
  if (contents.stopped.empty() && (contents.records.size() < lines || (!bytes.empty() && bytes.back() != '\n')))
    std::abort();

  std::string again;
  for (const muster::JournalRecord& record : contents.records) again += muster::JournalLine(record);
  const muster::JournalContents reread = muster::ParseJournal(again);
  if (!reread.stopped.empty() || reread.records != contents.records) std::abort();
  return 0;
}
