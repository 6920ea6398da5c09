#include <gtest/gtest.h>

#include "run/session/process_orders.h"

namespace muster {
namespace {

constexpr MonotonicNs kNowNs = 1'000'000'000;

// `count` starts, eight per host.
StartWindow WindowOf(std::size_t count) {
  StartWindow window;
  for (std::size_t i = 0; i < count; ++i) {
    window.Ordered({static_cast<ProcessId>(i), 0}, static_cast<std::uint32_t>(i / 8));
  }
  return window;
}

TEST(StartWindow, SendsAFewStartsAtOnceInOrder) {
  StartWindow window = WindowOf(5);
  const auto starts = window.Take(kNowNs);
  ASSERT_EQ(starts.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(starts[i].order.process, i);
  EXPECT_FALSE(window.NextAt(kNowNs));
}

TEST(StartWindow, SendsManyStartsInBatchesAndWaitsForAnswers) {
  StartWindow window = WindowOf(8'192);
  std::size_t sent = 0;
  while (window.NextAt(kNowNs) == kNowNs) {
    const auto starts = window.Take(kNowNs);
    ASSERT_LE(starts.size(), StartWindow::kAtOnce);
    ASSERT_FALSE(starts.empty());
    sent += starts.size();
  }
  EXPECT_EQ(sent, StartWindow::kUnanswered);
  window.Answered(0, kNowNs + 5);
  EXPECT_EQ(window.NextAt(kNowNs + 5), kNowNs + 5);
  EXPECT_EQ(window.Take(kNowNs + 5).size(), 1U);
}

TEST(StartWindow, IsNotBlockedBySlowOrLostHosts) {
  StartWindow window = WindowOf(8'192);
  while (window.NextAt(kNowNs) == kNowNs) window.Take(kNowNs);
  EXPECT_EQ(window.NextAt(kNowNs), kNowNs + StartWindow::kPatience);
  const MonotonicNs later = kNowNs + StartWindow::kPatience;
  EXPECT_EQ(window.Take(later).size(), StartWindow::kAtOnce);
  EXPECT_TRUE(window.Take(later).empty()) << "a portion for each time that nobody answers";
  for (std::uint32_t host = 0; host < 40; ++host) window.Lost(host, later);
  EXPECT_EQ(window.Take(later).size(), StartWindow::kAtOnce);
}

TEST(StartWindow, ReleasesPendingStartsBeforeOtherCommands) {
  StartWindow window = WindowOf(8'192);
  const std::size_t first = window.Take(kNowNs).size();
  EXPECT_EQ(window.TakeAll().size(), 8'192 - first);
  EXPECT_FALSE(window.NextAt(kNowNs));
  window.Ordered({9'000, 1}, 0);
  EXPECT_GT(*window.NextAt(kNowNs), kNowNs);
  for (int i = 0; i < 8; ++i) {
    for (std::uint32_t host = 0; host < 1'024; ++host) window.Answered(host, kNowNs);
  }
  window.Answered(7, kNowNs);  // an unexpected answer
  EXPECT_EQ(window.Take(kNowNs).size(), 1U);
}

}  // namespace
}  // namespace muster
