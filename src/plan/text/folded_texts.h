// Texts of many processes, told in few words: who has the same one together, or, where the texts follow from where a
// process stands, as one rule: "{rank}", "worker.{index}", "{stage × 16}", "{rank / 2 mod 4}".
//
// A rule is said only if it holds for every process that is asked about. Knows positions in a plan, and not what the
// texts are.
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
  bool rule = false;  // the text has rules in braces; literal braces stand in it as they are

  bool operator==(const FoldedText&) const = default;
};

// What a rule may be about. What says where processes stand is told by their ranks alone: a stage that is the stage
// explains nothing.
enum class RuleBy : std::uint8_t { kAnyPosition, kRank };

// `texts` are of processes of one role, ascending. One text or one rule for all, else one entry per different text, in
// the order of their first processes. Time grows with the lengths of the texts.
std::vector<FoldedText> FoldTexts(const Plan& plan, std::span<const ProcessText> texts,
                                  RuleBy by = RuleBy::kAnyPosition);

// "worker 0-7": processes of one role by their ranks, or, without ranks, by their numbers in it. "worker" alone for the
// only process of its role.
std::string ProcessesText(const Plan& plan, std::span<const std::uint32_t> processes);

// The same for people, where it is a long list: "256 of worker 4-511".
std::string ShortProcessesText(const std::string& text);

}  // namespace muster
