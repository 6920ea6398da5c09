// Mutations of valid input with deterministic seeds, and a runner that feeds them to readers in a forked child. A case
// that crashes, takes more than 2 s of CPU time or more than 256 MiB of memory ends the child; it is reported with its
// seed and mutation, and a new child continues with the next seed.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace muster::testing {

// splitmix64: the same sequence on every machine.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}
  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  std::uint64_t Below(std::uint64_t n) { return n == 0 ? 0 : Next() % n; }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }
  template <class Range>
  auto& Of(Range& range) {
    return range[Below(range.size())];
  }

 private:
  std::uint64_t state_;
};

// --- mutations ------------------------------------------------------------------------------------

inline nlohmann::json OtherNumber(Dice& dice, const nlohmann::json& number) {
  static const std::vector<nlohmann::json> kEdges = {0,
                                                     1,
                                                     -1,
                                                     255,
                                                     65'536,
                                                     2'147'483'647LL,
                                                     2'147'483'648LL,
                                                     4'294'967'295LL,
                                                     4'294'967'296LL,
                                                     -2'147'483'649LL,
                                                     9'007'199'254'740'993LL,
                                                     1'152'921'504'606'846'976LL,
                                                     9'223'372'036'854'775'807LL,
                                                     std::int64_t{1} << 62,
                                                     -9'223'372'036'854'775'807LL,
                                                     0.5,
                                                     1e300};
  if (dice.OneIn(3) && number.is_number_integer()) {
    return number.get<std::int64_t>() + static_cast<std::int64_t>(dice.Below(5)) - 2;
  }
  return dice.Of(kEdges);
}

inline std::string OtherText(Dice& dice, const std::string& text) {
  static const std::vector<std::string> kTexts = {"",
                                                  "/",
                                                  "..",
                                                  "../../../../etc/passwd",
                                                  "/dev/zero",
                                                  "a/b",
                                                  "\x1b]0;x\x07\x1b[2J",
                                                  "$(touch x)`id`",
                                                  "${host:0.address}",
                                                  "\xef\xbf\xbd\xe2\x80\xae",
                                                  std::string("\0x", 2),
                                                  "\n\r\n",
                                                  "running",
                                                  "1",
                                                  std::string(70'000, 'x')};
  if (text.empty() || dice.OneIn(2)) return dice.Of(kTexts);
  std::string other = text;
  switch (dice.Below(3)) {
    case 0:
      other.erase(dice.Below(other.size()));
      break;
    case 1:
      other += other;
      break;
    default:
      other[dice.Below(other.size())] = static_cast<char>('!' + dice.Below(90));
  }
  return other;
}

// Lists every value of the tree that can be changed, with its place.
inline void PlacesIn(nlohmann::json& value, const std::string& place,
                     std::vector<std::pair<std::string, nlohmann::json*>>& places) {
  places.emplace_back(place, &value);
  if (value.is_object()) {
    for (auto& [name, member] : value.items()) PlacesIn(member, place + "." + name, places);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) PlacesIn(value[i], place + "[" + std::to_string(i) + "]", places);
  }
}

// Changes one value of the tree. Returns a description of the change.
inline std::string ChangeOne(nlohmann::json& tree, Dice& dice) {
  std::vector<std::pair<std::string, nlohmann::json*>> places;
  PlacesIn(tree, "", places);
  auto& [place, value] = dice.Of(places);
  const auto reported = [&](const std::string& what) { return place + ": " + what; };
  const auto set = [&](nlohmann::json other) {
    *value = std::move(other);
    const std::string shown = value->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    return reported("= " + shown.substr(0, 80));
  };
  if (dice.OneIn(12)) {  // another type
    switch (dice.Below(5)) {
      case 0:
        return set(nullptr);
      case 1:
        return set(dice.OneIn(2));
      case 2:
        return set(OtherNumber(dice, 0));
      case 3:
        return set(nlohmann::json::array({1, "x", nullptr}));
      default:
        return set(nlohmann::json::object({{"x", 1}}));
    }
  }
  if (value->is_number()) return set(OtherNumber(dice, *value));
  if (value->is_string()) return set(OtherText(dice, value->get<std::string>()));
  if (value->is_boolean()) return set(!value->get<bool>());
  if (value->is_array() && !value->empty()) {
    const std::size_t at = dice.Below(value->size());
    switch (dice.Below(4)) {
      case 0:
        value->erase(value->begin() + static_cast<std::ptrdiff_t>(at));
        return reported("without element " + std::to_string(at));
      case 1: {
        const nlohmann::json copy = (*value)[at];
        for (std::uint64_t n = dice.OneIn(10) ? 3'000 : 1; n > 0; --n) value->push_back(copy);
        return reported("element " + std::to_string(at) + " again");
      }
      case 2:
        std::swap((*value)[at], dice.Of(*value));
        return reported("elements swapped");
      default:
        return set(nlohmann::json::array());
    }
  }
  if (value->is_object() && !value->empty()) {
    auto member = value->begin();
    std::advance(member, static_cast<std::ptrdiff_t>(dice.Below(value->size())));
    const std::string name = member.key();
    const nlohmann::json copy = member.value();
    if (dice.OneIn(2)) value->erase(name);
    if (dice.OneIn(2)) (*value)[OtherText(dice, name)] = copy;
    return reported("member " + name + " renamed or left out");
  }
  return set(dice.OneIn(2) ? nlohmann::json::array({0}) : nlohmann::json::object({{"a", 0}}));
}

// Changes some bytes. Returns a description of the change.
inline std::string ChangeBytes(std::string& bytes, Dice& dice) {
  if (bytes.empty()) return "nothing";
  const std::uint64_t at = dice.Below(bytes.size());
  const std::uint64_t size = std::min<std::uint64_t>(1 + dice.Below(64), bytes.size() - at);
  switch (dice.Below(5)) {
    case 0:
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << dice.Below(8)));
      return "a bit at " + std::to_string(at);
    case 1:
      bytes.resize(at);
      return "cut at " + std::to_string(at);
    case 2:
      bytes.erase(at, size);
      return std::to_string(size) + " bytes gone at " + std::to_string(at);
    case 3:
      bytes.insert(at, bytes.substr(dice.Below(bytes.size()), size));
      return "some of it put in at " + std::to_string(at);
    default:
      for (std::uint64_t i = 0; i < size; ++i) bytes[at + i] = static_cast<char>(dice.Next());
      return std::to_string(size) + " random bytes at " + std::to_string(at);
  }
}

// --- running cases -----------------------------------------------------------------------------------

// The number of cases to run: `all` with MUSTER_LONG, otherwise one in `part`.
inline std::uint64_t CasesOf(std::uint64_t all, std::uint64_t part) {
  return std::getenv("MUSTER_LONG") != nullptr ? all : all / part;
}

// The mutations of the current case, in memory shared with the parent.
class CaseStory {
 public:
  void Did(const std::string& what) {
    const std::size_t room = text_.size() - 1 - std::strlen(text_.data());
    std::strncat(text_.data(), (what + "; ").c_str(), room);
  }
  std::string text() const { return text_.data(); }
  void Begin(std::uint64_t seed) {
    text_[0] = '\0';
    seed_ = seed;
  }
  std::uint64_t seed() const { return seed_; }

 private:
  std::atomic<std::uint64_t> seed_ = 0;
  std::array<char, 4000> text_ = {};
};

// Runs one case. Returns what is wrong with the result, or an empty text.
using Case = std::function<std::string(Dice& dice, CaseStory& story)>;

namespace mutation_detail {

inline constexpr std::uint64_t kMemory = 256U << 20;
inline constexpr int kBadResult = 99;

inline std::uint64_t SizeOfSelf() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

// 2 s of CPU time, and 60 s of wall time for a case that blocks.
inline void Arm() {
#ifdef MUSTER_SANITIZED
  constexpr time_t kSlower = 10;
#else
  constexpr time_t kSlower = 1;
#endif
  const itimerval processor = {{0, 0}, {2 * kSlower, 0}};
  const itimerval clock = {{0, 0}, {60 * kSlower, 0}};
  ::setitimer(ITIMER_PROF, &processor, nullptr);
  ::setitimer(ITIMER_REAL, &clock, nullptr);
}

inline void LimitMemory() {
#ifndef MUSTER_SANITIZED  // a sanitizer's shadow memory exceeds any limit
  const rlim_t most = SizeOfSelf() + kMemory;
  const rlimit limit = {most, most};
  ::setrlimit(RLIMIT_AS, &limit);
  std::set_new_handler([] { ::raise(SIGXCPU); });  // a signal instead of an exception, which a reader might catch
#endif
  const rlimit no_core = {0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
}

inline std::string EndText(int status) {
  if (WIFEXITED(status)) return "exit code " + std::to_string(WEXITSTATUS(status));
  switch (WTERMSIG(status)) {
    case SIGPROF:
      return "it took more than 2 s of the processor";
    case SIGALRM:
      return "it waited for a minute";
    case SIGXCPU:
      return "it wanted more than 256 MiB of memory";
    default:
      return std::string("signal ") + ::strsignal(WTERMSIG(status));
  }
}

}  // namespace mutation_detail

// Runs the cases with seeds first … first + count - 1. Returns the failures, at most five.
inline std::vector<std::string> TryCases(std::uint64_t first, std::uint64_t count, const Case& one) {
  namespace d = mutation_detail;
  constexpr std::size_t kEnough = 5;
  void* const shared = ::mmap(nullptr, sizeof(CaseStory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return {"mmap"};
  auto* const story = new (shared) CaseStory;
  std::vector<std::string> wrong;
  for (std::uint64_t seed = first; seed < first + count && wrong.size() < kEnough;) {
    const pid_t child = ::fork();
    if (child == 0) {
      d::LimitMemory();
      for (; seed < first + count; ++seed) {
        story->Begin(seed);
        d::Arm();
        Dice dice(seed);
        // noexcept: an exception counts as a crash; gtest would catch it.
        const std::string problem = [&]() noexcept { return one(dice, *story); }();
        if (problem.empty()) continue;
        story->Did(problem);
        ::_exit(d::kBadResult);
      }
      ::_exit(0);
    }
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status == 0) break;
    wrong.push_back("seed " + std::to_string(story->seed()) + ": " + story->text() + d::EndText(status));
    seed = story->seed() + 1;
  }
  ::munmap(shared, sizeof(CaseStory));
  return wrong;
}

inline std::string Lines(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + "\n";
  return lines;
}

}  // namespace muster::testing
