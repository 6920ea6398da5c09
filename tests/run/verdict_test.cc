// Tests the verdicts after failures: each rule, and lives of jobs whose failures are known to be transient, to repeat,
// or to come from one host.
#include "run/supervise/verdict.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/places.h"

namespace muster {
namespace {

using Failures = std::vector<FailureJudged>;

FailureJudged At(const std::string& of, const std::string& host, std::optional<double> step = {}) {
  FailureJudged failure;
  failure.failure_class = of;
  failure.fingerprint = of;
  failure.what = of + ": a failure";
  failure.host_name = host;
  failure.step = step;
  failure.ready = true;
  failure.shape = "4x8x8";
  failure.replaceable = true;
  return failure;
}

GivenVerdict On(const Failures& failures) { return GiveVerdict(failures, DefaultVerdictRules()); }

TEST(Verdict, OnAFirstFailureIsARestart) {
  for (const char* of : {"exception", "exit", "crash", "killed", "memory", "disk", "port", "spawn", "unready", "silent",
                         "time", "host"}) {
    EXPECT_EQ(On({At(of, "n1", 7)}).verdict, RestartVerdict::kRestart) << of;
  }
  EXPECT_EQ(On({At("exit", "n1")}).rule, kNoVerdictRule);
}

TEST(Verdict, StopsWhatFailsInTheSameWayAtTheSameStep) {
  EXPECT_EQ(On({At("exception", "n1", 120), At("exception", "n2", 120)}),
            (GivenVerdict{RestartVerdict::kStop, "same failure elsewhere",
                          "the same failure happened 2 times at step 120, on different hosts"}));
  EXPECT_EQ(On({At("exit", "n1", 120), At("exit", "n1", 120)}).rule, "same failure again");
  EXPECT_EQ(On({At("exception", "n1", 120), At("exception", "n2", 90)}).verdict, RestartVerdict::kRestart);
  EXPECT_EQ(On({At("exception", "n1"), At("exception", "n2")}).verdict, RestartVerdict::kRestart) << "no step is known";
  EXPECT_EQ(On({At("silent", "n1", 120), At("silent", "n2", 120)}).verdict, RestartVerdict::kRestart)
      << "a checkpoint that hangs with its file system does so at the same step";
  Failures others = {At("exception", "n1", 120), At("exception", "n2", 120)};
  others[0].fingerprint = "other";
  EXPECT_EQ(On(others).verdict, RestartVerdict::kRestart);
  Failures right_after_its_checkpoint = {At("exit", "n1", 120), At("exit", "n1", 120)};
  right_after_its_checkpoint[0].fingerprint = "with its last line";
  right_after_its_checkpoint[0].what = "exit (code 1): step #";
  right_after_its_checkpoint[1].what = "exit (code 1)";
  EXPECT_EQ(On(right_after_its_checkpoint).rule, "same failure again");
  right_after_its_checkpoint[1].what = "exit (code 12)";
  EXPECT_EQ(On(right_after_its_checkpoint).rule, "same host again");
  right_after_its_checkpoint[1] = At("exit", "n1", 110);
  right_after_its_checkpoint[1].what = "exit (code 1)";
  EXPECT_EQ(On(right_after_its_checkpoint).rule, "same host again") << "at another step";
}

TEST(Verdict, ExcludesAHostOfTwoFailuresInARow) {
  EXPECT_EQ(On({At("killed", "n3", 10), At("silent", "n3", 40)}),
            (GivenVerdict{RestartVerdict::kExcludeHost, "same host again",
                          "the last 2 failures happened on n3, and none on the other hosts"}));
  EXPECT_EQ(On({At("host", "n2", 5), At("killed", "n3", 10), At("silent", "n3", 40)}).rule, "same host again");
  EXPECT_EQ(On({At("killed", "n3", 10), At("killed", "n2", 20), At("silent", "n3", 15)}).verdict,
            RestartVerdict::kRestart);
  Failures alone = {At("killed", "n3", 10), At("silent", "n3", 40)};
  alone.back().replaceable = false;
  EXPECT_EQ(On(alone).rule, "progress");
}

TEST(Verdict, CountsAgainstNoHostWhatMayBeOneOfAnother) {
  Failures hangs = {At("silent", "n1", 10), At("silent", "n1", 40)};
  for (FailureJudged& hang : hangs) hang.host_unclear = true;
  EXPECT_EQ(On(hangs).rule, "progress");
  Failures mixed = {At("killed", "n3", 10), At("silent", "n1", 20), At("killed", "n3", 30)};
  EXPECT_EQ(On(mixed).rule, "progress");
  mixed[1].host_unclear = true;
  EXPECT_EQ(On(mixed).rule, "same host again") << "it may have been n3";
}

TEST(Verdict, StopsWhatIsOutOfMemoryOrDiskAgainWithoutProgress) {
  Failures twice = {At("memory", "n1", 10), At("memory", "n2", 9)};
  EXPECT_EQ(On(twice).rule, "out of memory again");
  twice[1].shape = "3x8x8";
  EXPECT_EQ(On(twice).verdict, RestartVerdict::kRestart);
  Failures leaks = {At("memory", "n1", 1'000), At("memory", "n2", 2'000)};
  EXPECT_EQ(On(leaks).rule, "progress") << "it leaks, and a restart helps";
  EXPECT_EQ(On({At("disk", "n1", 10), At("disk", "n2", 9)}).rule, "full disk again");
}

TEST(Verdict, TakesANewerCheckpointForProgress) {
  Failures failures = {At("memory", "n1", 1'000), At("memory", "n2", 990)};
  failures[0].checkpoint = failures[1].checkpoint = "last.pt";
  failures[0].checkpoint_at = failures[1].checkpoint_at = 5;
  EXPECT_FALSE(GotFurther(failures, 1));
  failures[1].step = 5'000;
  EXPECT_FALSE(GotFurther(failures, 1)) << "a later step without a checkpoint is lost";
  failures[1].checkpoint_at = 6;
  EXPECT_TRUE(GotFurther(failures, 1)) << "one that is written over in its place";
  EXPECT_EQ(On(failures).rule, "progress");
  EXPECT_FALSE(GotFurther(failures, 0));
  EXPECT_FALSE(GotFurther(Failures{At("exit", "n1", 1'000), At("exit", "n1", 1'050)}, 1)) << "within a tenth";
}

TEST(Verdict, AllowsOneFailureBeforeReady) {
  Failures early = {At("exit", "n1"), At("exit", "n2")};
  for (FailureJudged& failure : early) failure.ready = false;
  EXPECT_EQ(On(early).rule, "not ready again");
  early[0].fingerprint = "other";
  EXPECT_EQ(On(early).verdict, RestartVerdict::kRestart);
  early[0].fingerprint = "exit";
  early.insert(early.begin(), At("host", "n3"));
  EXPECT_EQ(On(early).verdict, RestartVerdict::kRestart) << "it has been ready, so its program can be";
  Failures ports = {At("port", "n1"), At("port", "n2")};
  for (FailureJudged& failure : ports) failure.ready = false;
  EXPECT_EQ(On(ports).verdict, RestartVerdict::kRestart) << "who took it may go";
}

TEST(Verdict, GivesUpWhatNeverGetsFurther) {
  Failures stuck;
  for (int i = 0; i < 4; ++i) {
    stuck.push_back(At("exit", "n" + std::to_string(i)));
    EXPECT_EQ(On(stuck).verdict, RestartVerdict::kRestart);
  }
  stuck.push_back(At("exit", "n4"));
  EXPECT_EQ(On(stuck).rule, "no progress");
  for (FailureJudged& failure : stuck) failure.failure_class = "host";
  EXPECT_EQ(On(stuck).verdict, RestartVerdict::kRestart) << "lost hosts say nothing about the program";
}

TEST(Verdict, ComparesAProcessThatIsRestartedAloneWithItself) {
  Failures failures = {At("exception", "n1", 7), At("exception", "n2", 7)};
  for (FailureJudged& failure : failures) failure.alone = true;
  failures[1].process = 1;
  EXPECT_EQ(On(failures).verdict, RestartVerdict::kRestart) << "both met the same transient cause";
  failures.push_back(failures[1]);
  EXPECT_EQ(On(failures).rule, "same failure again");
}

TEST(Verdict, FollowsTheOrderOfTheRules) {
  auto rules = DefaultVerdictRules();
  rules.insert(rules.begin(), {.name = "of the site",
                               .verdict = RestartVerdict::kStop,
                               .because = "{class} on {host} at {step}, {times}: {what}"});
  EXPECT_EQ(GiveVerdict(Failures{At("port", "n1")}, rules),
            (GivenVerdict{RestartVerdict::kStop, "of the site", "port on n1 at unknown, 1: port: a failure"}));
}

// The first and last cells of the rows of a table of the page.
std::vector<std::string> TableOf(const std::string& heading) {
  std::ifstream page(MUSTER_SOURCE_DIR "/docs/verdicts.md");
  std::vector<std::string> rows;
  bool inside = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) inside = line == heading;
    if (inside && line.starts_with("| ") && !line.starts_with("| ---")) rows.push_back(line);
  }
  return rows;
}

TEST(Verdict, HasTheRulesOfItsPageInTheirOrder) {
  std::vector<std::string> described;
  for (const std::string& row : TableOf("## Rules")) {
    if (!row.starts_with("| `")) continue;
    const std::string verdict = row.substr(row.rfind("| `") + 3);
    described.push_back(row.substr(3, row.find('`', 3) - 3) + ": " + verdict.substr(0, verdict.find('`')));
  }
  std::vector<std::string> known;
  for (const VerdictRule& rule : DefaultVerdictRules())
    known.push_back(rule.name + ": " + std::string(RestartVerdictName(rule.verdict)));
  EXPECT_EQ(described, known);
}

// --- lives of jobs -----------------------------------------------------------------------------------------

constexpr int kHosts = 128;
constexpr double kStepSeconds = 5;
constexpr double kStartSeconds = 120;     // before the first step
constexpr double kCheckpointSteps = 360;  // every half hour
constexpr double kWorkSteps = 60'000;     // three and a half days
constexpr std::size_t kMaxFailures = 50;
constexpr double kHour = 3'600;
// Mean time between failures of jobs on 1,024 devices (Kokolis et al., HPCA 2025).
constexpr double kBetweenFailures = 8 * kHour;

// Draws the same on every machine.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  double Unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  double Between(double from, double to) { return from + (to - from) * Unit(); }
  int Below(int bound) { return static_cast<int>(random_() % static_cast<std::uint64_t>(bound)); }
  // Of times between failures of large machines: shape 0.7 (Schroeder and Gibson, DSN 2006).
  double Weibull(double mean) {
    constexpr double kShape = 0.7;
    return mean / std::tgamma(1 + 1 / kShape) * std::pow(-std::log(1 - Unit()), 1 / kShape);
  }

 private:
  std::mt19937_64 random_;
};

struct Failed {
  std::string of;
  int slot = 0;        // host of the plan
  double uptime = 0;   // seconds since the start of the attempt, …
  double at_step = 0;  // … or a step, if it is not 0
  std::string fingerprint = {};
  bool at_checkpoint = false;  // while it is written
};

// What one life goes through.
struct Job {
  explicit Job(std::uint64_t seed) : draw(seed), half(seed % 2 == 0), quarter(seed % 4 < 2) {
    fixed_slot = draw.Below(kHosts);
    fixed_step = std::floor(draw.Between(1, 20'000));
    bad_slot = draw.Below(kHosts);
  }
  int AnySlot() { return draw.Below(kHosts); }
  int SlotOfProgram() { return quarter ? fixed_slot : AnySlot(); }  // its rank, or whichever is first

  Draw draw;
  bool half;
  bool quarter;
  int fixed_slot = 0;
  double fixed_step = 0;
  int bad_slot = 0;
  bool bad_is_in = true;  // the bad host takes part
  int attempts = 0;
  double checkpoint = 0;
};

enum class Truth { kRepeats, kTransient, kHost };

struct LifeClass {
  std::string name;
  Truth truth = Truth::kTransient;
  std::function<std::optional<Failed>(Job& job)> next;  // nothing: no further failure
};

std::optional<Failed> AtFixedStep(Job& job, const std::string& of, double jitter = 0) {
  const double step = job.fixed_step + std::floor(job.draw.Between(0, jitter));
  return Failed{of, job.SlotOfProgram(), 0, std::max(step, job.checkpoint + 1)};
}

const std::vector<LifeClass>& LifeClasses() {
  static const std::vector<LifeClass> kClasses = {
      {"exit", Truth::kRepeats,
       [](Job& job) {
         if (job.half) return std::optional(Failed{"exit", job.AnySlot(), job.draw.Between(20, 50)});
         return AtFixedStep(job, "exit");
       }},
      {"exception at a fixed step", Truth::kRepeats, [](Job& job) { return AtFixedStep(job, "exception"); }},
      {"exception at random steps", Truth::kTransient,
       [](Job& job) {
         return std::optional(Failed{"exception", job.AnySlot(), job.draw.Weibull(kBetweenFailures), 0,
                                     std::to_string(job.draw.Below(6))});
       }},
      {"out of memory", Truth::kRepeats,
       [](Job& job) {
         if (job.half) return std::optional(Failed{"memory", job.SlotOfProgram(), job.draw.Between(60, 110)});
         return AtFixedStep(job, "memory", 4);
       }},
      {"full disk", Truth::kRepeats,
       [](Job& job) {
         return std::optional(Failed{"disk", 0, 0, job.checkpoint + kCheckpointSteps, {}, true});
       }},
      {"lost host", Truth::kTransient,
       [](Job& job) {
         return std::optional(Failed{"host", job.AnySlot(), job.draw.Weibull(kBetweenFailures)});
       }},
      {"slow host", Truth::kHost,
       [](Job& job) {
         if (!job.bad_is_in) return std::optional<Failed>();
         const bool it = job.draw.Unit() < 0.99;
         return std::optional(Failed{"silent", it ? job.bad_slot : job.AnySlot(), job.draw.Weibull(kHour)});
       }},
      {"hang", Truth::kTransient,
       [](Job& job) {
         return std::optional(Failed{"silent", job.AnySlot(), job.draw.Weibull(kBetweenFailures)});
       }},
      {"port taken", Truth::kTransient,
       [](Job& job) {
         if (job.attempts > 2) return std::optional<Failed>();
         return std::optional(Failed{"port", job.AnySlot(), job.draw.Between(1, 20)});
       }},
      {"bad host", Truth::kHost,
       [](Job& job) {
         if (!job.bad_is_in) return std::optional<Failed>();
         static const std::vector<std::string> kWays = {"exception", "crash", "killed", "silent", "host"};
         const std::string way = kWays[static_cast<std::size_t>(job.draw.Below(5))];
         const bool it = job.draw.Unit() < 0.99;
         return std::optional(Failed{way, it ? job.bad_slot : job.AnySlot(), job.draw.Weibull(kHour / 2)});
       }},
  };
  return kClasses;
}

struct Life {
  std::size_t failures = 0;  // until the first verdict that counts, or of all
  bool stopped = false;
  bool excluded_bad = false;
  std::size_t excluded_at = 0;  // failures until the bad host was excluded
  std::uint32_t excluded_other = 0;
};

// Until a STOP, the end of the work or kMaxFailures.
Life Live(Job job, const LifeClass& of) {
  Failures failures;
  Life life;
  std::vector<std::string> names;  // by slot
  for (int slot = 0; slot < kHosts; ++slot) names.push_back(fmt::format("n{}", slot));
  int spares = 2;
  while (failures.size() < kMaxFailures) {
    const std::optional<Failed> failed = of.next(job);
    ++job.attempts;
    if (!failed) break;
    const double steps = std::floor((failed->uptime - kStartSeconds) / kStepSeconds);
    const double step = failed->at_step > 0 ? failed->at_step : steps > 0 ? job.checkpoint + steps : 0;
    if (step >= kWorkSteps) break;
    FailureJudged failure = At(failed->of, names[static_cast<std::size_t>(failed->slot)]);
    failure.fingerprint += failed->fingerprint;
    failure.ready = step > 0 || failed->uptime >= 60;  // FailureLook::kReadyAfter
    if (step > 0) failure.step = step;
    const double written = std::floor((failed->at_checkpoint ? step - 1 : step) / kCheckpointSteps) * kCheckpointSteps;
    job.checkpoint = std::max(job.checkpoint, written);
    if (job.checkpoint > 0) failure.checkpoint = fmt::format("step_{}", job.checkpoint);
    failure.replaceable = spares > 0;
    failures.push_back(failure);
    const GivenVerdict given = GiveVerdict(failures, DefaultVerdictRules());
    life.stopped = given.verdict == RestartVerdict::kStop;
    if (life.stopped) break;
    // A lost host is replaced in any case; without a spare it comes back after its reboot.
    const bool excluded = given.verdict == RestartVerdict::kExcludeHost;
    if ((!excluded && failed->of != "host") || spares == 0) continue;
    const bool is_bad = of.truth == Truth::kHost && failed->slot == job.bad_slot;
    if (is_bad) {
      life.excluded_bad = true;
      life.excluded_at = failures.size();
    }
    if (excluded && !is_bad) ++life.excluded_other;
    names[static_cast<std::size_t>(failed->slot)] = fmt::format("s{}", spares--);
    if (is_bad) job.bad_is_in = false;
  }
  life.failures = failures.size();
  return life;
}

constexpr std::uint64_t kLivesOfClass = 100;

// "| exit | a restart repeats it | 94 | 6 | 0 | 0 | 100 |"
std::string Row(const LifeClass& of, std::uint64_t lives, std::uint64_t first_seed) {
  std::uint64_t early = 0;
  std::uint64_t late = 0;
  std::uint64_t excluded = 0;
  std::uint64_t excluded_early = 0;
  std::uint64_t others = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + lives; ++seed) {
    const Life life = Live(Job(seed), of);
    if (life.stopped) ++(life.failures <= 2 ? early : late);
    if (life.excluded_bad) ++excluded;
    if (life.excluded_bad && life.excluded_at <= 2) ++excluded_early;
    if (life.excluded_other > 0) ++others;
  }
  const char* truth = of.truth == Truth::kRepeats ? "repeats" : of.truth == Truth::kHost ? "host" : "transient";
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |", of.name, truth, early, early + late, excluded_early,
                     excluded, others);
}

TEST(VerdictsOnLives, AreThoseOfTheTable) {
  std::vector<std::string> rows;
  for (const LifeClass& of : LifeClasses()) rows.push_back(Row(of, kLivesOfClass, 0));
  std::vector<std::string> described = TableOf("## How often they are right");
  ASSERT_FALSE(described.empty());
  described.erase(described.begin());
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  EXPECT_EQ(described, rows) << text;
}

TEST(VerdictsOnLives, StopWhatRepeatsAfterTwoFailures) {
  std::uint64_t lives = 0;
  std::uint64_t early = 0;
  for (const LifeClass& of : LifeClasses()) {
    for (std::uint64_t seed = 0; of.truth == Truth::kRepeats && seed < kLivesOfClass; ++seed) {
      const Life life = Live(Job(seed), of);
      ++lives;
      EXPECT_TRUE(life.stopped) << of.name << ", seed " << seed;
      if (life.stopped && life.failures <= 2) ++early;
    }
  }
  EXPECT_EQ(lives, 4 * kLivesOfClass);
  EXPECT_GE(early * 100, lives * 95);
}

TEST(VerdictsOnLives, NeverStopATransientOne) {
  constexpr std::uint64_t kLives = 1'000;
  std::vector<const LifeClass*> transient;
  for (const LifeClass& of : LifeClasses()) {
    if (of.truth != Truth::kRepeats) transient.push_back(&of);
  }
  std::uint64_t failures = 0;
  for (std::uint64_t seed = 0; seed < kLives; ++seed) {
    const LifeClass& of = *transient[seed % transient.size()];
    const Life life = Live(Job(1'000 + seed), of);
    failures += life.failures;
    EXPECT_FALSE(life.stopped) << of.name << ", seed " << 1'000 + seed;
  }
  EXPECT_GT(failures, 5 * kLives);
}

TEST(VerdictsOnLives, ExcludeABadHostAfterTwoFailures) {
  for (const LifeClass& of : LifeClasses()) {
    if (of.name != "bad host") continue;
    std::uint64_t early = 0;
    for (std::uint64_t seed = 0; seed < kLivesOfClass; ++seed) {
      const Life life = Live(Job(seed), of);
      if (life.excluded_bad && life.excluded_at <= 2) ++early;
    }
    EXPECT_GE(early, kLivesOfClass * 95 / 100);
  }
}

}  // namespace
}  // namespace muster
