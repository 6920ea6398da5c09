#include "agent/dump/dump_notes.h"

#include <algorithm>
#include <cstddef>

#include "agent/dump/stack_text.h"

namespace muster {
namespace {

constexpr std::size_t kMostNotes = 8;

}  // namespace

void DumpNotes::Add(const std::string& kind, std::string detail) {
  const bool known = std::any_of(notes_.begin(), notes_.end(), [&](const DumpNote& note) { return note.kind == kind; });
  if (!known && notes_.size() < kMostNotes) notes_.push_back({kind, CutText(detail, 2 * kMostStackName)});
}

}  // namespace muster
