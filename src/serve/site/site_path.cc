#include "serve/site/site_path.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "base/values/value_json.h"
#include "muster/value.h"

namespace muster {
namespace {

constexpr std::size_t kMaxId = 64;
constexpr std::size_t kMaxParts = 6;
constexpr std::int64_t kMaxPageSlots = 1'000'000;
constexpr std::int64_t kMaxPageTrials = std::int64_t{1} << 40U;
constexpr std::size_t kMaxBodyValues = 64U << 10;  // bytes

bool IsId(std::string_view text) {
  return !text.empty() && text.size() <= kMaxId &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsDigit(c) || (c >= 'a' && c <= 'z'); });
}

bool IsWord(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::vector<std::string_view> PartsOf(std::string_view path) {
  std::vector<std::string_view> parts;
  while (parts.size() < kMaxParts) {
    const std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == path.npos) return parts;
    path.remove_prefix(slash + 1);
  }
  return {};
}

constexpr std::array<std::pair<std::string_view, PageRequest::What>, 6> kRequests = {
    {{"stop", PageRequest::What::kStop},
     {"dump", PageRequest::What::kDump},
     {"tag", PageRequest::What::kTag},
     {"note", PageRequest::What::kNote},
     {"steer", PageRequest::What::kSteer},
     {"resume", PageRequest::What::kResume}}};

// A member of a request: `take` stores its value, or returns false if the value is none of `takes`.
struct Member {
  PageRequest::What what;
  std::string_view name;
  std::string_view takes;
  bool (*take)(PageRequest& request, const Value& value);
};

bool TakeTruth(const Value& value, bool& out) {
  if (value.AsBool() != nullptr) out = *value.AsBool();
  return value.AsBool() != nullptr;
}

bool TakeText(const Value& value, std::optional<std::string>& out) {
  if (value.AsString() != nullptr) out = *value.AsString();
  return value.AsString() != nullptr;
}

std::optional<std::int64_t> CountIn(const Value& value, std::int64_t most) {
  const std::int64_t* const number = value.AsInt();
  return number != nullptr && *number > 0 && *number <= most ? std::optional(*number) : std::nullopt;
}

bool TakeSlots(PageRequest& request, const Value& value) {
  const auto slots = CountIn(value, kMaxPageSlots);
  if (slots) request.slots = static_cast<std::uint32_t>(*slots);
  return slots.has_value();
}

bool TakeTrials(PageRequest& request, const Value& value) {
  const auto trials = CountIn(value, kMaxPageTrials);
  if (trials) request.add_trials = static_cast<std::uint64_t>(*trials);
  return trials.has_value();
}

constexpr std::array<Member, 6> kMembers = {{
    {PageRequest::What::kStop, "now", "true or false",
     [](PageRequest& request, const Value& value) { return TakeTruth(value, request.now); }},
    {PageRequest::What::kStop, "dump", "true or false",
     [](PageRequest& request, const Value& value) { return TakeTruth(value, request.dump); }},
    {PageRequest::What::kTag, "tag", "a text",
     [](PageRequest& request, const Value& value) { return TakeText(value, request.tag); }},
    {PageRequest::What::kNote, "text", "a text",
     [](PageRequest& request, const Value& value) { return TakeText(value, request.note); }},
    {PageRequest::What::kSteer, "slots", "a whole number from 1 to 1000000", TakeSlots},
    {PageRequest::What::kSteer, "add_trials", "a whole number from 1 on", TakeTrials},
}};

// Reads one member; returns what is wrong with it, or nothing.
std::string Take(PageRequest& request, const std::string& name, const Value& value) {
  const auto* const member = std::find_if(kMembers.begin(), kMembers.end(), [&](const Member& one) {
    return one.what == request.what && one.name == name;
  });
  if (member == kMembers.end()) return "unknown key " + Quoted(name);
  if (member->take(request, value)) return {};
  constexpr std::size_t kMaxShown = 100;
  return name + " takes " + std::string(member->takes) + ", got " + Printable(ToText(value).substr(0, kMaxShown));
}

}  // namespace

std::optional<SitePath> ParseSitePath(std::string_view path) {
  const std::vector<std::string_view> parts = PartsOf(path);
  if (parts.empty()) return std::nullopt;
  SitePath site;
  std::size_t next = 0;
  if (parts[0] == "run" || parts[0] == "sweep") {
    if (parts.size() < 2 || !IsId(parts[1])) return std::nullopt;
    site.subject = parts[0] == "run" ? SitePath::Subject::kRun : SitePath::Subject::kSweep;
    site.id = parts[1];
    next = 2;
    if (parts[0] == "sweep" && parts.size() >= 4 && parts[2] == "trial") {
      const auto trial = ParseNumber<std::uint64_t>(parts[3]);
      if (!trial) return std::nullopt;
      site.subject = SitePath::Subject::kTrial;
      site.trial = *trial;
      next = 4;
    }
  }
  if (next == parts.size()) return site;
  if (next + 1 != parts.size() || !IsWord(parts[next])) return std::nullopt;
  if (parts[next].empty() && site.subject != SitePath::Subject::kIndex) return std::nullopt;
  site.what = parts[next];
  return site;
}

std::optional<PageRequest> ParsePageRequest(std::string_view what, std::string_view body, std::string& problem) {
  problem.clear();
  const auto* const known =
      std::find_if(kRequests.begin(), kRequests.end(), [what](const auto& one) { return one.first == what; });
  if (known == kRequests.end()) return std::nullopt;
  PageRequest request;
  request.what = known->second;
  const auto json = ValueFromJsonText(body, kMaxBodyValues);
  if (!json || json->AsMap() == nullptr) {
    problem = "the body is not a JSON object";
    return std::nullopt;
  }
  for (const auto& [name, value] : *json->AsMap()) {
    problem = Take(request, name, value);
    if (!problem.empty()) return std::nullopt;
  }
  if (request.what == PageRequest::What::kTag && !request.tag) problem = "missing member \"tag\"";
  if (request.what == PageRequest::What::kNote && !request.note) problem = "missing member \"text\"";
  if (request.what == PageRequest::What::kSteer && !request.slots && request.add_trials == 0) {
    problem = "missing member \"slots\" or \"add_trials\"";
  }
  return problem.empty() ? std::optional(request) : std::nullopt;
}

}  // namespace muster
