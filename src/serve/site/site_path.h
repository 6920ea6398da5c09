// The names that the server answers to: what a path means, as a value. Pure; no part of a path is ever part of the path
// of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace muster {

struct SitePath {
  enum class Subject : std::uint8_t { kIndex, kRun, kSweep, kTrial };
  Subject subject = Subject::kIndex;
  std::string id;           // of the run or sweep; to be looked up
  std::uint64_t trial = 0;  // kTrial
  std::string what;         // "": its page; "data", "events", or what is requested of it: "stop"

  bool operator==(const SitePath&) const = default;
};

// "", "events", "run/3f9a1c2b4d5e", "sweep/bc4482469692/steer", "sweep/bc4482469692/trial/12/stop". Nothing for all
// other paths.
std::optional<SitePath> ParseSitePath(std::string_view path);

// A request of a page that changes something: the JSON object in its body, checked.
struct PageRequest {
  enum class What : std::uint8_t { kStop, kDump, kTag, kNote, kSteer, kResume };
  What what = What::kStop;
  bool now = false;                         // kStop
  bool dump = false;                        // kStop: take a dump first
  std::optional<std::string> tag = {};      // kTag: a change as of muster tag, "good" or "good-"
  std::optional<std::string> note = {};     // kNote; empty removes it
  std::optional<std::uint32_t> slots = {};  // kSteer
  std::uint64_t add_trials = 0;             // kSteer

  bool operator==(const PageRequest&) const = default;
};

// The request `what` ("stop") with that body. Its error is stored in `problem`: a sentence, empty if there is no such
// request.
std::optional<PageRequest> ParsePageRequest(std::string_view what, std::string_view body, std::string& problem);

}  // namespace muster
