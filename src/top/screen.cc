#include "top/screen.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/values/number_text.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"

namespace muster {
namespace {

using Look = ScreenLine::Look;
using Mode = TopView::Mode;
using Cells = std::vector<std::string>;

constexpr std::size_t kUncut = std::size_t{1} << 20;

// "812K", "1.4G": four or five characters, 1024-based.
std::string MemoryText(std::uint64_t kib) {
  constexpr std::string_view kUnits = "KMGT";
  auto size = static_cast<double>(kib);
  std::size_t unit = 0;
  for (; size >= 999.5 && unit + 1 < kUnits.size(); ++unit) size /= 1024;
  return fmt::format("{:.{}f}{}", size, unit > 0 && size < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string PercentText(double percent) { return fmt::format("{:.0f}%", percent); }

std::string DurationCell(const std::optional<double>& seconds) { return seconds ? DurationText(*seconds) : "-"; }

// The columns of a run's processes, or of a sweep's trials.
struct TableColumns {
  Cells heads;
  std::array<bool, 8> right;  // right-aligned
};

TableColumns ColumnsOf(const TopState& state) {
  if (!state.is_sweep) {
    return {{"PROCESS", "RANK", "STATE", "CPU", "MEMORY", "RESTARTS", "TIME", "LAST LINE"},
            {false, true, false, true, true, true, true, false}};
  }
  return {{"TRIAL", "STATE", "STEP", state.objective.empty() ? "VALUE" : state.objective, "CURVE", "DEVICES", "TIME",
           "POINT"},
          {false, false, true, true, false, false, true, false}};
}

struct CurveShape {
  std::size_t columns;
  PlotGlyphs glyphs;
};

Cells TrialCells(const TopProcess& process, const TopTrial& trial, CurveShape shape) {
  const auto number = [](const std::optional<double>& value, int digits) {
    return value ? fmt::format("{:.{}g}", *value, digits) : std::string("-");
  };
  const std::string curve = Sparkline(trial.curve, shape.columns, shape.glyphs);
  return {process.name,
          process.state,
          number(trial.step, 8),
          number(trial.value, 4),
          curve.empty() ? "-" : curve,
          trial.devices.empty() ? "-" : trial.devices,
          DurationCell(process.seconds),
          trial.point};
}

Cells ProcessCells(const TopProcess& process, CurveShape shape) {
  if (process.trial) return TrialCells(process, *process.trial, shape);
  return {process.name,
          process.rank ? std::to_string(*process.rank) : "-",
          process.state,
          process.cpu ? PercentText(*process.cpu) : "-",
          process.memory_kib ? MemoryText(*process.memory_kib) : "-",
          std::to_string(process.attempt),
          DurationCell(process.seconds),
          process.last_line};
}

using Widths = std::array<std::size_t, 8>;

void Widen(Widths& widths, const Cells& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], Columns(cells[i]));
}

std::string Row(const Cells& cells, const Widths& widths, const std::array<bool, 8>& right) {
  std::string row;
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    const std::size_t missing = widths[i] - std::min(widths[i], Columns(cells[i]));
    if (right[i]) row.append(missing, ' ');
    row += cells[i];
    if (!right[i]) row.append(missing, ' ');
    row += "  ";
  }
  row += cells.back();
  return row.substr(0, row.find_last_not_of(' ') + 1);
}

std::string Cut(std::string_view text, std::size_t columns) {
  if (Columns(text) <= columns) {
    std::string whole(text);
    std::replace(whole.begin(), whole.end(), '\t', ' ');
    return whole;
  }
  return InColumns(text, columns);
}

std::string Title(const TopState& state) {
  std::string text = fmt::format("{}  {} {}  {}  {}", state.name, state.is_sweep ? "sweep" : "run", state.run,
                                 state.phase, DurationText(state.seconds));
  if (!state.why.empty()) text += ": " + state.why;
  return text;
}

std::string RoleLine(const TopState& state, const TopRole& role, std::size_t name_width) {
  std::string text = InColumns(role.name, name_width);
  text += fmt::format("  {} running", role.running);
  if (role.waiting > 0) text += fmt::format(", {} waiting", role.waiting);
  if (role.ended > 0) text += fmt::format(", {} ended", role.ended);
  if (role.bad > 0) text += fmt::format(", {} failed", role.bad);
  if (role.restarts > 0) text += ", " + Counted(role.restarts, "restart");
  if (const auto metrics = state.metrics.find(role.name); metrics != state.metrics.end()) {
    text += "  " + MetricsText(metrics->second);
  }
  if (state.is_sweep && state.seconds_left) text += fmt::format(", about {} left", DurationText(*state.seconds_left));
  if (state.is_sweep) return text;
  if (role.running > 0) text += fmt::format("  cpu {}  memory {}", PercentText(role.cpu), MemoryText(role.memory_kib));
  return text;
}

std::vector<ScreenLine> RoleLines(const TopState& state, std::size_t most, std::size_t columns) {
  std::size_t width = 0;
  for (const TopRole& role : state.roles) width = std::max(width, Columns(role.name));
  width = std::min(width, std::max<std::size_t>(columns / 3, 1));
  std::vector<ScreenLine> lines;
  for (const TopRole& role : state.roles) {
    if (lines.size() + 1 == most && state.roles.size() > most) {
      lines.push_back(
          {Cut(fmt::format("… and {} more roles", state.roles.size() - lines.size()), columns), Look::kDim});
      break;
    }
    lines.push_back({Cut(RoleLine(state, role, width), columns), role.bad > 0 ? Look::kBad : Look::kPlain});
  }
  if (!state.best.empty() && lines.size() < most) {
    lines.push_back({Cut(InColumns("best", width) + "  " + state.best, columns)});
  }
  return lines;
}

std::string FilterText(const TopView& view) {
  std::string text;
  if (!view.role.empty()) text += "  role " + view.role;
  if (view.outliers_only) text += "  outliers only";
  if (!view.text.empty()) text += "  /" + view.text;
  return text;
}

std::vector<ScreenLine> LogScreen(const TopState& state, const TopView& view, TopSize size, const LogPage& page) {
  const TopProcess& process = state.processes[view.process];
  std::string title = process.name;
  if (process.rank) title += fmt::format(" rank {}", *process.rank);
  if (process.attempt > 0) title += fmt::format(" attempt {} of {}", view.attempt, process.attempt);
  std::vector<ScreenLine> lines = {
      {Cut(fmt::format("{}  {}  log at {}", title, process.state, page.where), size.columns), Look::kBold}};
  for (std::size_t i = 0; i < LogRows(size); ++i) {
    std::string_view line = i < page.lines.size() ? std::string_view(page.lines[i]) : std::string_view();
    line.remove_prefix(FirstColumns(line, view.column).size());
    lines.push_back({Cut(line, size.columns)});
  }
  lines.push_back({Cut("q back  arrows, space, b, g, G move  [ ] attempts  end follows what is written", size.columns),
                   Look::kDim});
  return lines;
}

ScreenLine KeyLine(const TopView& view, std::size_t shown, std::size_t all, std::size_t columns) {
  if (view.mode == Mode::kText)
    return {Cut("/" + view.text + "_   enter keeps it, esc does not", columns), Look::kBold};
  return {Cut(fmt::format("{} of {}{}   q quit  enter log  r role  o outliers  / text  esc all", shown, all,
                          FilterText(view)),
              columns),
          Look::kDim};
}

}  // namespace

std::size_t RoleRows(const TopState& state, TopSize size) {
  return std::min(state.roles.size() + (state.best.empty() ? 0 : 1), std::max<std::size_t>(size.rows / 3, 1));
}

std::size_t LogRows(TopSize size) { return size.rows > 2 ? size.rows - 2 : 1; }

std::vector<ScreenLine> TopScreen(const TopState& state, const TopView& view, TopSize size, const LogPage& page) {
  std::vector<ScreenLine> lines;
  if (view.mode == Mode::kLog && view.process < state.processes.size()) {
    lines = LogScreen(state, view, size, page);
  } else {
    lines.push_back({Cut(Title(state), size.columns), Look::kBold});
    for (ScreenLine& line : RoleLines(state, RoleRows(state, size), size.columns)) lines.push_back(std::move(line));
    const std::vector<std::size_t> shown = Shown(state, view);
    const std::size_t rows = ProcessRows(state, size);
    const std::size_t end = std::min(shown.size(), view.top + rows);
    // Widths depend on what is on the screen; other cells are not even formatted.
    constexpr std::size_t kWide = 120;
    const CurveShape shape{size.columns < kWide ? std::size_t{10} : std::size_t{24}, view.glyphs};
    const TableColumns columns = ColumnsOf(state);
    Widths widths{};
    Widen(widths, columns.heads);
    std::vector<Cells> cells;
    for (std::size_t i = std::min(view.top, end); i < end; ++i) {
      cells.push_back(ProcessCells(state.processes[shown[i]], shape));
      Widen(widths, cells.back());
    }
    lines.push_back({Cut(Row(columns.heads, widths, columns.right), size.columns), Look::kBold});
    for (std::size_t i = 0; i < rows; ++i) {
      if (i >= cells.size()) {
        lines.emplace_back();
        continue;
      }
      const std::size_t place = view.top + i;
      const Look look = place == view.cursor                ? Look::kCursor
                        : state.processes[shown[place]].bad ? Look::kBad
                                                            : Look::kPlain;
      lines.push_back({Cut(Row(cells[i], widths, columns.right), size.columns), look});
    }
    lines.push_back(KeyLine(view, shown.size(), state.processes.size(), size.columns));
  }
  if (lines.size() > size.rows) lines.resize(size.rows);
  return lines;
}

std::string TopTable(const TopState& state, PlotGlyphs glyphs) {
  std::string text = Title(state) + "\n";
  for (const ScreenLine& line : RoleLines(state, state.roles.size() + 1, kUncut)) text += line.text + "\n";
  const TableColumns columns = ColumnsOf(state);
  Widths widths{};
  Widen(widths, columns.heads);
  std::vector<Cells> cells;
  for (const TopProcess& process : state.processes) {
    cells.push_back(ProcessCells(process, {24, glyphs}));
    Widen(widths, cells.back());
  }
  text += Row(columns.heads, widths, columns.right) + "\n";
  for (const Cells& row : cells) text += Row(row, widths, columns.right) + "\n";
  return text;
}

std::string FrameBytes(const std::vector<ScreenLine>& before, const std::vector<ScreenLine>& after) {
  // In the order of Look.
  constexpr std::array<std::string_view, 5> kLooks = {"", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[7m"};
  std::string bytes;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (i < before.size() && before[i] == after[i]) continue;
    bytes +=
        fmt::format("\x1b[{};1H\x1b[2K{}{}", i + 1, kLooks[static_cast<std::size_t>(after[i].look)], after[i].text);
    if (after[i].look != Look::kPlain) bytes += "\x1b[0m";
  }
  if (before.size() > after.size()) bytes += fmt::format("\x1b[{};1H\x1b[J", after.size() + 1);
  return bytes;
}

}  // namespace muster
