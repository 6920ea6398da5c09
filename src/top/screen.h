// The screen of `muster top`: its lines as a pure function of state, view and size, and the bytes that update a
// terminal.
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

// At most size.rows lines, each at most size.columns wide. `page` is used in mode kLog
// only.
std::vector<ScreenLine> TopScreen(const TopState& state, const TopView& view, TopSize size, const LogPage& page);

// The same as a table for a file or a pipe: every process, nothing cut.
std::string TopTable(const TopState& state, PlotGlyphs glyphs = PlotGlyphs::kUnicode);

// The number of lines for the roles and the best trial, and the number of lines of a log.
std::size_t RoleRows(const TopState& state, TopSize size);
std::size_t LogRows(TopSize size);

// The bytes that change a screen from `before` to `after`: only lines that differ (ECMA-48).
std::string FrameBytes(const std::vector<ScreenLine>& before, const std::vector<ScreenLine>& after);

}  // namespace muster
