// Fuzzes lines of a sweep's journal, which may be cut, torn or forged: any bytes must be refused or read as a record,
// which must round-trip and be processed. The first byte selects the treatment of the rest: unchanged, or with a valid
// checksum, so that the fields after it are reached.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "run/lines/journal_file.h"
#include "sweep/record/sweep_journal.h"
#include "sweep/record/sweep_progress.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string line(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 != 0) {
    muster::SealLine(line);
    line.pop_back();
  }
  const auto record = muster::ParseSweepJournalLine(line);
  if (!record) return 0;
  std::string again = muster::SweepJournalLine(*record);
  again.pop_back();
  const auto reread = muster::ParseSweepJournalLine(again);
  // Compared as text: a null is read as NaN, which equals nothing.
  if (!reread || muster::SweepJournalLine(*reread) != again + "\n") std::abort();
  muster::SweepProgress progress;
  const auto* judged = std::get_if<muster::PointsJudged>(&record->entry);
  if (judged == nullptr || judged->count < 4096) progress.Take(record->entry);
  return 0;
}
