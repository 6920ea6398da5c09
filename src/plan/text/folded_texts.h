// Summarises texts of many processes: groups processes with equal texts, or, if the texts follow from the positions of
// processes, states one rule: "{rank}", "worker.{index}", "{stage × 16}", "{rank / 2 mod 4}".
//
// A rule is used only if it holds for every given process. Uses positions in a plan; independent of the meaning of the
// texts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace muster {

struct Plan;

struct ProcessText {
  std::uint32_t process = 0;  // index into Plan::processes
  std::string text;
};

struct FoldedText {
  std::vector<std::uint32_t> processes;  // indices into Plan::processes, ascending
  std::string text;
  bool rule = false;  // the text has rules in braces; literal braces are not escaped

  bool operator==(const FoldedText&) const = default;
};

// The positions that rules may use. Texts that state positions are described by rank alone: "the stage is the stage"
// would explain nothing.
enum class RuleBy : std::uint8_t { kAnyPosition, kRank };

// `texts` are of processes of one role, ascending. One text or one rule for all, else one entry per different text, in
// the order of their first processes. Time grows with the lengths of the texts.
std::vector<FoldedText> FoldTexts(const Plan& plan, std::span<const ProcessText> texts,
                                  RuleBy by = RuleBy::kAnyPosition);

// "worker 0-7": processes of one role by rank, or, without ranks, by index. "worker" alone for the only process of its
// role.
std::string ProcessesText(const Plan& plan, std::span<const std::uint32_t> processes);

// The same, shortened if the list is long: "256 of worker 4-511".
std::string ShortProcessesText(const std::string& text);

}  // namespace muster
