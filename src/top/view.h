// The user's view in `muster top`, and how keys change it. Pure: a view and a key give a view.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/values/text_plot.h"
#include "top/top_state.h"

namespace muster {

// A decoded key. kText carries a character.
enum class Key : std::uint8_t {
  kNone,
  kText,
  kEnter,
  kEscape,
  kBackspace,
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kRedraw  // Ctrl-L
};

struct KeyPress {
  Key key = Key::kNone;
  std::string text = {};  // kText: one character, UTF-8

  bool operator==(const KeyPress&) const = default;
};

// Takes the complete keys from the front of a terminal's input (ECMA-48, and xterm's cursor keys). A lone escape is a
// key if `no_more` input follows, else an incomplete sequence. Unknown sequences are dropped.
std::vector<KeyPress> TakeKeys(std::string& bytes, bool no_more);

struct TopSize {
  std::size_t rows = 24;
  std::size_t columns = 80;

  bool operator==(const TopSize&) const = default;
};

struct TopView {
  enum class Mode : std::uint8_t { kProcesses, kText, kLog, kQuit };  // kText: the filter text is being typed
  Mode mode = Mode::kProcesses;
  std::string role = {};  // only this role; empty: all
  bool outliers_only = false;
  std::string text = {};    // only processes whose name or last line contains it, ignoring case
  std::string before = {};  // kText: the text when typing began
  std::size_t cursor = 0;   // in the filtered list
  std::size_t top = 0;      // the first of them on the screen
  // kLog: the process and attempt, and how far to move: lines, or the whole way.
  std::size_t process = 0;  // in TopState::processes
  std::uint32_t attempt = 0;
  std::int64_t move = 0;
  std::size_t column = 0;                    // the first one shown
  PlotGlyphs glyphs = PlotGlyphs::kUnicode;  // of curves

  bool operator==(const TopView&) const = default;
};

// TopView::move to the beginning and to the end.
inline constexpr std::int64_t kWholeWay = std::int64_t{1} << 40;

// Indices into TopState::processes of those that pass the filters, in order.
std::vector<std::size_t> Shown(const TopState& state, const TopView& view);

// The state with those processes only.
TopState OnlyShown(TopState state, const TopView& view);

// The number of processes that fit on the screen; at least one.
std::size_t ProcessRows(const TopState& state, TopSize size);

TopView Pressed(TopView view, const KeyPress& key, const TopState& state, TopSize size);

// The same view with cursor, top and role adjusted to the state and the size.
TopView Fitted(TopView view, const TopState& state, TopSize size);

}  // namespace muster
