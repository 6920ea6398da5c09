// Notifications: which events of a run or a sweep are reported to whom (docs/notify.md). Plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

enum class NotifyEvent : std::uint8_t { kStarted, kFirstResult, kRestarted, kBest, kTrialFailed, kFailed, kEnded };

struct NotifyEventFacts {
  std::string_view name;
  bool of_runs;
  bool of_sweeps;
  bool repeats;  // may happen often: reported at most once a minute
};

// In the order in which they happen. recipe_fields.lua describes each in words (section "notify.on").
inline constexpr std::array<NotifyEventFacts, 7> kNotifyEvents = {{
    {"started", true, true, false},
    {"first_result", true, true, false},
    {"restarted", true, false, true},
    {"best", false, true, true},
    {"trial_failed", false, true, true},
    {"failed", true, true, false},
    {"ended", true, true, false},
}};
static_assert(kNotifyEvents.size() == static_cast<std::size_t>(NotifyEvent::kEnded) + 1);
inline constexpr std::string_view kDefaultNotifyEvent = "ended";

inline constexpr std::array<std::string_view, kNotifyEvents.size()> kNotifyEventNames = [] {
  std::array<std::string_view, kNotifyEvents.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kNotifyEvents[i].name;
  return names;
}();

constexpr const NotifyEventFacts& FactsOf(NotifyEvent event) { return kNotifyEvents[static_cast<std::size_t>(event)]; }

constexpr std::optional<NotifyEvent> NotifyEventCalled(std::string_view name) {
  for (std::size_t i = 0; i < kNotifyEvents.size(); ++i) {
    if (kNotifyEvents[i].name == name) return static_cast<NotifyEvent>(i);
  }
  return std::nullopt;
}

}  // namespace muster
