#include "top/view.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/values/utf8_text.h"
#include "top/screen.h"

namespace muster {
namespace {

using Mode = TopView::Mode;

struct Sequence {
  std::string_view bytes;
  Key key;
};

// The bytes after the escape.
constexpr Sequence kSequences[] = {
    {"[A", Key::kUp},   {"[B", Key::kDown},    {"[C", Key::kRight},    {"[D", Key::kLeft}, {"OA", Key::kUp},
    {"OB", Key::kDown}, {"OC", Key::kRight},   {"OD", Key::kLeft},     {"[H", Key::kHome}, {"[F", Key::kEnd},
    {"OH", Key::kHome}, {"OF", Key::kEnd},     {"[1~", Key::kHome},    {"[4~", Key::kEnd}, {"[7~", Key::kHome},
    {"[8~", Key::kEnd}, {"[5~", Key::kPageUp}, {"[6~", Key::kPageDown}};

// The length of an escape sequence at the front; 0 if it is incomplete.
std::size_t SequenceLength(std::string_view bytes) {
  if (bytes.size() < 2) return 0;
  if (bytes[1] == 'O') return bytes.size() < 3 ? 0 : 3;
  if (bytes[1] != '[') return 2;  // Alt and a key
  for (std::size_t i = 2; i < bytes.size(); ++i) {
    if (bytes[i] >= 0x40 && bytes[i] <= 0x7e) return i + 1;
  }
  constexpr std::size_t kMax = 32;
  return bytes.size() > kMax ? bytes.size() : 0;
}

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool Holds(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return Lower(a) == Lower(b); }) != text.end();
}

void MoveCursor(TopView& view, std::int64_t by, std::size_t count) {
  const auto last = static_cast<std::int64_t>(count == 0 ? 0 : count - 1);
  view.cursor =
      static_cast<std::size_t>(std::clamp(static_cast<std::int64_t>(view.cursor) + by, std::int64_t{0}, last));
}

// The distance that a key moves in a list with pages of so many rows; 0 for other keys.
std::int64_t MoveOf(const KeyPress& press, std::size_t page) {
  const auto rows = static_cast<std::int64_t>(page);
  switch (press.key) {
    case Key::kUp:
      return -1;
    case Key::kDown:
      return 1;
    case Key::kPageUp:
      return -rows;
    case Key::kPageDown:
      return rows;
    case Key::kHome:
      return -kWholeWay;
    case Key::kEnd:
      return kWholeWay;
    case Key::kText:
      break;
    default:
      return 0;
  }
  if (press.text == "k") return -1;
  if (press.text == "j") return 1;
  if (press.text == "b") return -rows;
  if (press.text == " " || press.text == "f") return rows;
  if (press.text == "g") return -kWholeWay;
  if (press.text == "G") return kWholeWay;
  return 0;
}

void NextRole(TopView& view, const TopState& state) {
  const auto at =
      std::find_if(state.roles.begin(), state.roles.end(), [&](const TopRole& role) { return role.name == view.role; });
  const auto next = at == state.roles.end() ? state.roles.begin() : at + 1;
  view.role = next == state.roles.end() ? std::string() : next->name;
}

void PressedInText(TopView& view, const KeyPress& press) {
  if (press.key == Key::kEnter) {
    view.mode = Mode::kProcesses;
  } else if (press.key == Key::kEscape) {
    view.text = view.before;
    view.mode = Mode::kProcesses;
  } else if (press.key == Key::kBackspace) {
    while (!view.text.empty() && (static_cast<unsigned char>(view.text.back()) & 0xC0U) == 0x80U) view.text.pop_back();
    if (!view.text.empty()) view.text.pop_back();
  } else if (press.key == Key::kText) {
    view.text += press.text;
  }
}

void PressedInLog(TopView& view, const KeyPress& press, TopSize size) {
  constexpr std::size_t kSideways = 16;
  if (press.text == "q" || press.key == Key::kEscape) {
    view.mode = Mode::kProcesses;
  } else if (press.key == Key::kRight || press.text == "l") {
    view.column += kSideways;
  } else if (press.key == Key::kLeft || press.text == "h") {
    view.column -= std::min(view.column, kSideways);
  } else if (press.text == "[" && view.attempt > 0) {
    --view.attempt;
    view.move = kWholeWay;
  } else if (press.text == "]") {
    ++view.attempt;  // Fitted() limits it
    view.move = kWholeWay;
  } else {
    const std::int64_t by = MoveOf(press, LogRows(size));
    view.move = by == kWholeWay || by == -kWholeWay ? by : view.move + by;
  }
}

void PressedInList(TopView& view, const KeyPress& press, const TopState& state, TopSize size) {
  const std::vector<std::size_t> shown = Shown(state, view);
  if (press.text == "q") {
    view.mode = Mode::kQuit;
  } else if (press.text == "/") {
    view.before = view.text;
    view.mode = Mode::kText;
  } else if (press.text == "r") {
    NextRole(view, state);
  } else if (press.text == "o") {
    view.outliers_only = !view.outliers_only;
  } else if (press.key == Key::kEscape) {
    view.role.clear();
    view.text.clear();
    view.outliers_only = false;
  } else if (press.key == Key::kEnter && view.cursor < shown.size()) {
    view.mode = Mode::kLog;
    view.process = shown[view.cursor];
    view.attempt = state.processes[view.process].attempt;
    view.column = 0;
    view.move = kWholeWay;
  } else {
    MoveCursor(view, MoveOf(press, ProcessRows(state, size)), shown.size());
  }
}

}  // namespace

std::vector<KeyPress> TakeKeys(std::string& bytes, bool no_more) {
  std::vector<KeyPress> keys;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::string_view rest = std::string_view(bytes).substr(at);
    const char c = rest.front();
    if (c == '\x1b') {
      const std::size_t length = SequenceLength(rest);
      if (length == 0 && rest.size() == 1 && no_more) {
        keys.push_back({Key::kEscape});
        ++at;
        continue;
      }
      if (length == 0 && !no_more) break;
      const std::string_view sequence = rest.substr(1, length == 0 ? std::string_view::npos : length - 1);
      for (const Sequence& known : kSequences) {
        if (known.bytes == sequence) keys.push_back({known.key});
      }
      at += sequence.size() + 1;
      continue;
    }
    const std::size_t length = std::max<std::size_t>(1, Utf8Length(rest));
    if (c == '\r' || c == '\n') {
      keys.push_back({Key::kEnter});
    } else if (c == '\x7f' || c == '\b') {
      keys.push_back({Key::kBackspace});
    } else if (c == '\x0c') {
      keys.push_back({Key::kRedraw});
    } else if (static_cast<unsigned char>(c) >= 0x20 && (length > 1 || static_cast<unsigned char>(c) < 0x7f)) {
      keys.push_back({Key::kText, std::string(rest.substr(0, length))});
    }
    at += length;
  }
  bytes.erase(0, at);
  return keys;
}

std::vector<std::size_t> Shown(const TopState& state, const TopView& view) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < state.processes.size(); ++i) {
    const TopProcess& process = state.processes[i];
    if (!view.role.empty() && process.role != view.role) continue;
    if (view.outliers_only && !process.outlier) continue;
    if (!view.text.empty() && !Holds(process.last_line, view.text) && !Holds(process.name, view.text)) continue;
    shown.push_back(i);
  }
  return shown;
}

TopState OnlyShown(TopState state, const TopView& view) {
  std::vector<TopProcess> kept;
  for (const std::size_t place : Shown(state, view)) kept.push_back(std::move(state.processes[place]));
  state.processes = std::move(kept);
  return state;
}

std::size_t ProcessRows(const TopState& state, TopSize size) {
  const std::size_t around = RoleRows(state, size) + 3;  // title, heads, keys
  return size.rows > around ? size.rows - around : 1;
}

TopView Pressed(TopView view, const KeyPress& press, const TopState& state, TopSize size) {
  switch (view.mode) {
    case Mode::kText:
      PressedInText(view, press);
      break;
    case Mode::kLog:
      PressedInLog(view, press, size);
      break;
    case Mode::kProcesses:
      PressedInList(view, press, state, size);
      break;
    case Mode::kQuit:
      break;
  }
  return Fitted(std::move(view), state, size);
}

TopView Fitted(TopView view, const TopState& state, TopSize size) {
  if (view.mode == Mode::kLog) {
    if (view.process >= state.processes.size()) {
      view.mode = Mode::kProcesses;
    } else {
      view.attempt = std::min(view.attempt, state.processes[view.process].attempt);
    }
  }
  const std::size_t count = Shown(state, view).size();
  const std::size_t rows = ProcessRows(state, size);
  MoveCursor(view, 0, count);
  if (view.cursor < view.top) view.top = view.cursor;
  if (view.cursor >= view.top + rows) view.top = view.cursor - rows + 1;
  view.top = std::min(view.top, count > rows ? count - rows : 0);
  return view;
}

}  // namespace muster
