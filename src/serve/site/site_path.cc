#include "serve/site/site_path.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"
#include "muster/value.h"
#include "settings/values/value_json.h"

namespace muster {
namespace {

constexpr std::size_t kLongestId = 64;
constexpr std::size_t kMostParts = 6;
constexpr std::int64_t kMostPageSlots = 1'000'000;
constexpr std::size_t kMostBodyValues = 64U << 10;  // bytes

bool IsId(std::string_view text) {
  return !text.empty() && text.size() <= kLongestId &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'); });
}

bool IsWord(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::vector<std::string_view> PartsOf(std::string_view path) {
  std::vector<std::string_view> parts;
  while (parts.size() < kMostParts) {
    const std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == path.npos) return parts;
    path.remove_prefix(slash + 1);
  }
  return {};
}

constexpr std::array<std::pair<std::string_view, PageRequest::What>, 5> kRequests = {
    {{"stop", PageRequest::What::kStop},
     {"dump", PageRequest::What::kDump},
     {"tag", PageRequest::What::kTag},
     {"note", PageRequest::What::kNote},
     {"steer", PageRequest::What::kSteer}}};

// Reads one member; false if the request has no such member, or it is of another type.
bool Take(PageRequest& request, const std::string& name, const Value& value) {
  using What = PageRequest::What;
  const std::int64_t* number = value.AsInt();
  if (request.what == What::kStop && name == "now" && value.AsBool() != nullptr) {
    request.now = *value.AsBool();
  } else if (request.what == What::kStop && name == "dump" && value.AsBool() != nullptr) {
    request.dump = *value.AsBool();
  } else if (request.what == What::kTag && name == "tag" && value.AsString() != nullptr) {
    request.tag = *value.AsString();
  } else if (request.what == What::kNote && name == "text" && value.AsString() != nullptr) {
    request.note = *value.AsString();
  } else if (request.what == What::kSteer && name == "slots" && number != nullptr && *number > 0 &&
             *number <= kMostPageSlots) {
    request.slots = static_cast<std::uint32_t>(*number);
  } else if (request.what == What::kSteer && name == "add_trials" && number != nullptr && *number > 0) {
    request.add_trials = static_cast<std::uint64_t>(*number);
  } else {
    return false;
  }
  return true;
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
  const auto json = ValueFromJsonText(body, kMostBodyValues);
  if (!json || json->AsMap() == nullptr) {
    problem = "the body is not a JSON object";
    return std::nullopt;
  }
  for (const auto& [name, value] : *json->AsMap()) {
    if (Take(request, name, value)) continue;
    problem = "unknown key " + Quoted(name) + ", or a value of the wrong type";
    return std::nullopt;
  }
  if (request.what == PageRequest::What::kTag && !request.tag) problem = "missing member \"tag\"";
  if (request.what == PageRequest::What::kNote && !request.note) problem = "missing member \"text\"";
  if (request.what == PageRequest::What::kSteer && !request.slots && request.add_trials == 0) {
    problem = "missing member \"slots\" or \"add_trials\"";
  }
  return problem.empty() ? std::optional(request) : std::nullopt;
}

}  // namespace muster
