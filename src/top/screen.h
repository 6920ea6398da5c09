// What the screen of `muster top` shows: lines, as a pure function of state, view and size; and the bytes by which a
// terminal comes to show them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "top/top_state.h"
#include "top/view.h"

namespace muster {

struct ScreenLine {
  enum class Look : std::uint8_t { kPlain, kBold, kDim, kBad, kCursor };
  std::string text;  // at most as wide as the screen
  Look look = Look::kPlain;

  bool operator==(const ScreenLine&) const = default;
};

// Part of a log, as TopScreen shows it.
struct LogPage {
  std::vector<std::string> lines;  // safe for a terminal
  std::string where;               // "end", "37%"
};

// At most size.rows lines, each at most size.columns wide. In the mode kLog the page is shown, else it is not looked
// at.
std::vector<ScreenLine> TopScreen(const TopState& state, const TopView& view, TopSize size, const LogPage& page);

// The same as a table for a file or a pipe: every process, nothing cut.
std::string TopTable(const TopState& state);

// How many lines the roles take, and how many of a log are shown.
std::size_t RoleRows(const TopState& state, TopSize size);
std::size_t LogRows(TopSize size);

// What turns a screen that shows `before` into one that shows `after`: the lines that differ only (ECMA-48).
std::string FrameBytes(const std::vector<ScreenLine>& before, const std::vector<ScreenLine>& after);

}  // namespace muster
