// The verdict after a failure: whether a restart can help, and where. An ordered table of rules, which are data, over
// the failures of a job; the first rule that applies decides, and gives its evidence in one sentence.
//
// Pure: no clock, no files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/journal/head_facts.h"
#include "run/supervise/restarts.h"
#include "wire/protocol/protocol.h"

namespace muster {

// A rule applies to the last failure if all its conditions hold. Of the failures so far, this one included, those count
// that are like this one.
struct VerdictRule {
  std::string name;
  RestartVerdict verdict = RestartVerdict::kRestart;
  std::vector<std::string> classes = {};  // of this failure (FailureJudged::failure_class); empty: any
  std::string mentions = {};              // a part of FailureJudged::what of this failure; empty: any
  std::optional<bool> was_ready = {};     // whether the job was ready at this failure or one before
  std::optional<bool> progress = {};      // whether the job got further than at the failure before
  bool same_fingerprint = false;          // what makes failures alike, …
  bool same_step = false;                 // … a step that is known
  bool same_host = false;
  bool same_shape = false;
  bool since_progress = false;  // failures before the last progress do not count
  bool in_a_row = false;        // nor do those before one that is not like this one
  std::uint32_t times = 1;      // so many are alike
  bool elsewhere = false;       // one of them was on another host
  std::string because = {};     // evidence, in which kEvidencePlaceholders are replaced

  bool operator==(const VerdictRule&) const = default;
};

inline constexpr std::array<std::string_view, 5> kEvidencePlaceholders = {"{class}", "{host}", "{step}", "{times}",
                                                                          "{what}"};

// The table of docs/verdicts.md.
const std::vector<VerdictRule>& DefaultVerdictRules();

struct GivenVerdict {
  RestartVerdict verdict = RestartVerdict::kRestart;
  std::string rule;      // "none": no rule applies
  std::string evidence;  // one sentence; texts in it are those of the failures

  bool operator==(const GivenVerdict&) const = default;
};

// A failure, as far as the supervisor knows it.
struct AskedFailure {
  ProcessAttempt who;
  HowEnded end;
  std::uint32_t machine = 0;
  std::optional<bool> ready = {};  // empty: its role has no readiness condition
};

// What only its output and the files of the job show.
struct FailureTraits {
  std::string failure_class;
  std::string fingerprint;
  std::string what;
  std::optional<double> step = {};
  std::string checkpoint = {};
  std::int64_t checkpoint_at = 0;
  bool ready = false;
};

// Asked once for each failure on which a verdict is given.
class FailureSource {
 public:
  virtual FailureTraits Look(const AskedFailure& failure) = 0;

 protected:
  ~FailureSource() = default;
};

inline constexpr std::string_view kNoVerdictRule = "none";
// So many of the last failures are looked at.
inline constexpr std::size_t kMaxJudgedFailures = 100;

// Whether the job got further before the failure `at` than before the one that preceded it: there is a newer
// checkpoint; of a job without checkpoints, a step that is later by a tenth than at all failures before. False for the
// first failure. Of a process that is restarted alone its own failures count.
bool GotFurther(std::span<const FailureJudged> failures, std::size_t at);

// On the last of the failures, of which there is at least one, oldest first; the verdicts in them are not read. Rules
// that exclude a host do not apply if no other can replace it (FailureJudged::replaceable).
GivenVerdict GiveVerdict(std::span<const FailureJudged> failures, std::span<const VerdictRule> rules);

}  // namespace muster
