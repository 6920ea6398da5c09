#include "cli/lookup/run_list.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include <errno.h>
#include <fmt/format.h>
#include <re2/re2.h>
#include <sys/stat.h>

#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/run_argument.h"
#include "run/directory/run_directory.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {

Result<std::function<bool(std::string_view line)>> LineSearch(const std::string& expression) {
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(2 << 20);
  auto regex = std::make_shared<const RE2>(expression, options);
  if (!regex->ok()) {
    return Fail(Error("regex", {},
                      fmt::format("{} is not a valid regular expression: {}", Quoted(expression), regex->error()),
                      PatternHint(regex->error())));
  }
  return
      [regex](std::string_view line) { return RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), *regex); };
}

namespace {

constexpr const char* kExample = R"(for example --where 'outcome == failed and lr > 0.1')";

struct Token {
  enum class Kind : std::uint8_t { kWord, kQuoted, kOperator };
  Kind kind = Kind::kWord;
  std::string text;
};

constexpr std::pair<std::string_view, RunCondition::Op> kOperators[] = {
    {"==", RunCondition::Op::kEqual},   {"!=", RunCondition::Op::kUnequal}, {"<=", RunCondition::Op::kAtMost},
    {">=", RunCondition::Op::kAtLeast}, {"=", RunCondition::Op::kEqual},    {"<", RunCondition::Op::kLess},
    {">", RunCondition::Op::kMore},     {"~", RunCondition::Op::kMatches}};

Result<std::vector<Token>> Tokens(std::string_view text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    const char first = text.front();
    if (first == ' ' || first == '\t' || first == '\n') {
      text.remove_prefix(1);
      continue;
    }
    if (first == '"' || first == '\'') {
      const std::size_t end = text.find(first, 1);
      if (end == std::string_view::npos) {
        return Fail(
            Error("where", {}, fmt::format("--where: the {} is not closed: {}", first, Quoted(text)), kExample));
      }
      tokens.push_back({Token::Kind::kQuoted, std::string(text.substr(1, end - 1))});
      text.remove_prefix(end + 1);
      continue;
    }
    std::string_view found;
    for (const auto& [word, op] : kOperators) {
      if (found.empty() && text.starts_with(word)) found = word;
    }
    Token::Kind kind = Token::Kind::kOperator;
    if (found.empty()) {
      kind = Token::Kind::kWord;
      found = text.substr(0, text.find_first_of(" \t\n\"'=!<>~"));
      if (found.empty()) found = text.substr(0, 1);
    }
    tokens.push_back({kind, std::string(found)});
    text.remove_prefix(found.size());
  }
  return tokens;
}

// The value of a word in a condition.
Value ValueOf(const Token& token) {
  if (token.kind == Token::Kind::kQuoted) return Value(token.text);
  if (token.text == "true" || token.text == "false") return Value(token.text == "true");
  if (const auto number = ValueFromJsonText(token.text); number && number->IsNumber()) return *number;
  return Value(token.text);
}

std::string TextOf(const Value& value) { return value.AsString() != nullptr ? *value.AsString() : ToText(value); }

// -1, 0 or 1; nothing if the two cannot be compared.
std::optional<int> Compare(const Value& a, const Value& b) {
  const auto order = [](const auto& x, const auto& y) { return x < y ? -1 : y < x ? 1 : 0; };
  if (a.IsNumber() && b.IsNumber()) return order(a.Number(), b.Number());
  if (a.AsString() != nullptr && b.AsString() != nullptr) return order(*a.AsString(), *b.AsString());
  if (a.AsBool() != nullptr && b.AsBool() != nullptr) return order(*a.AsBool(), *b.AsBool());
  if (a.IsNumber() && b.AsString() != nullptr) {
    if (const auto seconds = ParseDuration(*b.AsString())) return order(a.Number(), *seconds);
    if (const auto bytes = ParseBytes(*b.AsString())) return order(a.Number(), static_cast<double>(*bytes));
  }
  // The value of a tag is text, even if it looks like a number.
  if (a.AsString() != nullptr && b.IsNumber()) {
    if (const auto number = ValueFromJsonText(*a.AsString()); number && number->IsNumber()) {
      return order(number->Number(), b.Number());
    }
  }
  return std::nullopt;
}

// How to write the words from `first` up to an operator as one name.
std::string QuotingHint(const std::vector<Token>& tokens, std::size_t first) {
  std::string name;
  for (std::size_t i = first; i < tokens.size() && tokens[i].kind == Token::Kind::kWord && tokens[i].text != "and";
       ++i) {
    name += (name.empty() ? "" : " ") + tokens[i].text;
  }
  return fmt::format("a name with blanks is quoted: --where {}", ShellQuoted(fmt::format("\"{}\" > 0.1", name)));
}

}  // namespace

Result<std::vector<RunCondition>> ParseConditions(std::string_view text) {
  const auto tokens = Tokens(text);
  if (!tokens) return Fail(tokens.error());
  const auto fail = [&](const std::string& why) {
    return Fail(Error("where", {}, fmt::format("--where {}: {}", Quoted(text), why), kExample));
  };
  std::vector<RunCondition> conditions;
  for (std::size_t i = 0; i < tokens->size();) {
    if ((*tokens)[i].kind == Token::Kind::kOperator || (*tokens)[i].text.empty()) {
      return fail(fmt::format("expected a name, got {}", Quoted((*tokens)[i].text)));
    }
    RunCondition condition;
    condition.name = (*tokens)[i++].text;
    if (i < tokens->size() && (*tokens)[i].kind == Token::Kind::kOperator) {
      const std::string& word = (*tokens)[i++].text;
      for (const auto& [known, op] : kOperators) {
        if (known == word) condition.op = op;
      }
      if (i == tokens->size() || (*tokens)[i].kind == Token::Kind::kOperator) {
        return fail(fmt::format("expected a value after {} {}", condition.name, word));
      }
      condition.value = ValueOf((*tokens)[i++]);
      if (condition.name == "took" && condition.value.IsNumber() && condition.value.Number() != 0) {
        return Fail(Error("where", {},
                          fmt::format("--where {}: took is a time, got {}", Quoted(text), ToText(condition.value)),
                          DurationHint(ToText(condition.value), kExample)));
      }
      if (condition.op == RunCondition::Op::kMatches) {
        auto search = LineSearch(TextOf(condition.value));
        if (!search) return fail(search.error().front().message);
        condition.matches = *std::move(search);
      }
    }
    conditions.push_back(std::move(condition));
    if (i == tokens->size()) return conditions;
    if ((*tokens)[i].text == "or" || (*tokens)[i].text == "not") {
      return fail(fmt::format("there is no {}: conditions all have to hold", Quoted((*tokens)[i].text)));
    }
    if ((*tokens)[i].kind != Token::Kind::kWord || (*tokens)[i].text != "and") {
      const std::string why = fmt::format("expected \"and\", got {}", Quoted((*tokens)[i].text));
      if (conditions.back().op != RunCondition::Op::kSet) return fail(why);
      return Fail(Error("where", {}, fmt::format("--where {}: {}", Quoted(text), why), QuotingHint(*tokens, i - 1)));
    }
    ++i;
  }
  return fail("expected a condition");
}

bool Holds(const RunCondition& condition, const RunValue& value_of) {
  using Op = RunCondition::Op;
  const Value value = value_of(condition.name);
  if (const Value::List* list = value.AsList()) {
    const auto of_one = [&](const Value& one) { return Holds(condition, [&](const std::string&) { return one; }); };
    return condition.op == Op::kUnequal ? std::all_of(list->begin(), list->end(), of_one)
                                        : std::any_of(list->begin(), list->end(), of_one);
  }
  if (condition.op == Op::kSet) {
    if (const bool* truth = value.AsBool()) return *truth;
    return !value.IsNull() && !(value.AsString() != nullptr && value.AsString()->empty());
  }
  if (condition.op == Op::kMatches) {
    return !value.IsNull() && condition.matches(TextOf(value));
  }
  const std::optional<int> order = Compare(value, condition.value);
  if (!order) return condition.op == Op::kUnequal;
  switch (condition.op) {
    case Op::kEqual:
      return *order == 0;
    case Op::kUnequal:
      return *order != 0;
    case Op::kLess:
      return *order < 0;
    case Op::kAtMost:
      return *order <= 0;
    case Op::kMore:
      return *order > 0;
    default:
      return *order >= 0;
  }
}

bool CanBeAsked(const RunCondition& condition, const Value& value) {
  using Op = RunCondition::Op;
  if (const Value::List* list = value.AsList()) {
    return list->empty() ||
           std::any_of(list->begin(), list->end(), [&](const Value& one) { return CanBeAsked(condition, one); });
  }
  if (condition.op == Op::kSet || condition.op == Op::kMatches || Compare(value, condition.value)) return true;
  return value.AsString() != nullptr && (condition.op == Op::kEqual || condition.op == Op::kUnequal);
}

bool ComesBefore(const Value& a, const Value& b) {
  if (a.IsNull() || b.IsNull()) return !a.IsNull() && b.IsNull();
  if (a.IsNumber() != b.IsNumber()) return a.IsNumber();
  if (a.IsNumber()) return a.Number() < b.Number();
  return TextOf(a) < TextOf(b);
}

namespace {

std::vector<std::string> Parts(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (comma != 0) parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return parts;
}

}  // namespace

std::vector<std::string> ListChoice::Names() const {
  std::vector<std::string> names = columns;
  for (const RunCondition& condition : conditions) names.push_back(condition.name);
  for (const SortKey& key : keys) names.push_back(key.name);
  return names;
}

void AddWhereOption(CLI::App& app, std::vector<std::string>& where, const std::string& rows) {
  app.add_option("--where", where,
                 "only " + rows +
                     " that match: NAME OP VALUE, joined by and. NAME is a column, in quotes if it has blanks "
                     "('\"val loss\" < 1'); OP is == != < <= > >= or ~ (a regular expression); NAME alone: it has "
                     "that tag or value, as 'tag == NAME'")
      ->type_name("CONDITION")
      ->allow_extra_args(false);
}

Result<ListChoice> ReadListChoice(const std::vector<std::string>& where, const std::string& columns,
                                  const std::string& sort) {
  ListChoice choice;
  for (const std::string& text : where) {
    auto conditions = ParseConditions(text);
    if (!conditions) return Fail(conditions.error());
    choice.conditions.insert(choice.conditions.end(), conditions->begin(), conditions->end());
  }
  choice.columns = Parts(columns);
  for (const std::string& part : Parts(sort)) {
    const bool descending = part.starts_with('-');
    choice.keys.push_back({descending ? part.substr(1) : part, descending});
  }
  return choice;
}

bool KeysComeBefore(const std::vector<SortKey>& keys, const std::vector<Value>& a, const std::vector<Value>& b) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const bool backward = keys[i].descending && !a[i].IsNull() && !b[i].IsNull();
    if (backward ? ComesBefore(b[i], a[i]) : ComesBefore(a[i], b[i])) return true;
    if (backward ? ComesBefore(a[i], b[i]) : ComesBefore(b[i], a[i])) return false;
  }
  return false;
}

Diagnostic NoSuchColumn(const std::string& noun, const std::string& name, const std::set<std::string>& known) {
  return Error("column", {}, fmt::format("no {} has a value {}", noun, Quoted(name)),
               DidYouMean(name, std::vector<std::string>(known.begin(), known.end())));
}

Diagnostic CannotBeCompared(const RunCondition& condition, const Value& example) {
  return Error("where", {},
               fmt::format("--where: {} is {}, which cannot be compared with {}", condition.name, ToText(example),
                           ToText(condition.value)),
               example.IsNumber() ? fmt::format("for example {} > 5, 90s or 30GiB", condition.name) : "");
}

std::vector<std::string> HeadOf(const std::vector<std::string>& columns) {
  std::vector<std::string> heads;
  for (const std::string& column : columns) {
    std::string head = column;
    std::transform(head.begin(), head.end(), head.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    heads.push_back(Printable(head));
  }
  return heads;
}

std::string CellText(const std::string& column, const Value& value) {
  if (value.IsNull()) return {};
  if (column == "took" && value.IsNumber()) return DurationText(value.Number());
  if (value.AsString() == nullptr) return Printable(ShownValue(value));
  const bool time = column == "started" || column == "ended";
  return time && !value.AsString()->empty() ? TimeText(*value.AsString()) : Printable(*value.AsString());
}

namespace {

constexpr std::size_t kBlanks = 2;   // between columns
constexpr std::size_t kMinCut = 20;  // ids, times and states, which are copied, are shorter
constexpr std::size_t kMinLast = 8;
constexpr std::size_t kMaxId = 12;
constexpr std::size_t kMinTime = 10;  // the day of a time

// Narrows columns until a row fits: the last one, which holds descriptions and notes, then the widest, then the last
// one again. The first one names what the row is about, and stays. `terminal` 0: unchanged.
void FitTerminal(std::vector<std::size_t>& widths, std::size_t terminal) {
  if (terminal == 0 || widths.size() < 2) return;
  std::size_t row = kBlanks * (widths.size() - 1);
  for (const std::size_t width : widths) row += width;
  const auto narrow = [&](std::size_t& width, std::size_t least) {
    const std::size_t by = std::min(row - std::min(row, terminal), width - std::min(width, least));
    width -= by;
    row -= by;
  };
  narrow(widths.back(), kMinCut);
  const std::vector<std::size_t> natural = widths;  // what fits into an id may be one, and is not cut
  const auto narrow_widest = [&](std::size_t least) {
    while (row > terminal) {
      std::size_t widest = 0;
      for (std::size_t i = 1; i + 1 < widths.size(); ++i) {
        if (natural[i] > kMaxId && widths[i] > least && widths[i] > (widest == 0 ? 0 : widths[widest])) widest = i;
      }
      if (widest == 0) break;
      narrow(widths[widest], widths[widest] - 1);
    }
  };
  narrow_widest(kMinCut);
  narrow(widths.back(), kMinLast);
  narrow_widest(kMinTime);
}

}  // namespace

void AddFoldersArgument(CLI::App& app, std::vector<std::string>& folders) {
  app.add_option("FOLDERS", folders, "folders of runs, or run directories; default: $MUSTER_HOME/runs or ./runs");
}

bool HasJournal(const std::string& directory) {
  struct stat status {};
  if (::lstat(kJournalEntry.In(directory).c_str(), &status) != 0) return errno != ENOENT;
  return !S_ISREG(status.st_mode) || status.st_size > 0;
}

Result<RunList> ListRuns(const std::vector<std::string>& folders, bool live_only, bool counted) {
  std::vector<std::string> places = folders;
  if (places.empty()) {
    Result<std::string> runs = DefaultRunsFolder();
    if (!runs) return Fail(runs.error());
    places.push_back(std::move(*runs));
  }
  RunList list;
  for (const std::string& place : places) {
    std::vector<std::string> paths;
    std::error_code error;
    if (std::filesystem::is_regular_file(kPlanEntry.In(place), error)) {
      paths.push_back(place);
    } else {
      for (const FoundRun& found : RunsBelow(place)) paths.push_back(found.path);
    }
    for (const std::string& path : paths) {
      if (live_only && !IsRunLive(path)) continue;
      if (!HasJournal(path)) continue;
      Result<RunSummary> run = SummarizeRun(path, counted);
      if (!run) {
        list.unreadable.insert(list.unreadable.end(), run.error().begin(), run.error().end());
      } else if (!live_only || run->outcome == "running") {
        list.runs.push_back(std::move(*run));
      }
    }
  }
  std::stable_sort(list.runs.begin(), list.runs.end(),
                   [](const RunSummary& a, const RunSummary& b) { return a.started_at > b.started_at; });
  return list;
}

int ExitListed(const Diagnostics& unreadable) {
  if (unreadable.empty()) return kExitOk;
  std::fflush(stdout);
  PrintDiagnostics(unreadable);
  return kExitUnreadable;
}

std::string TimeText(const std::string& utc) {
  std::string text = utc.substr(0, utc.find('.')) + "Z";
  if (const std::size_t t = text.find('T'); t != std::string::npos) text[t] = ' ';
  return Printable(text);
}

namespace {

// The rows without that column.
void LeaveOut(std::size_t column, std::vector<std::vector<std::string>>& rows) {
  for (std::vector<std::string>& row : rows) {
    if (column < row.size()) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  }
}

std::vector<std::size_t> FittedWidths(const std::vector<std::vector<std::string>>& rows, std::size_t terminal,
                                      bool& fits) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  FitTerminal(widths, terminal);
  std::size_t taken = kBlanks * (std::max(widths.size(), std::size_t{1}) - 1);
  for (const std::size_t width : widths) taken += width;
  fits = terminal == 0 || taken <= terminal;
  return widths;
}

}  // namespace

// On a terminal that is too narrow, without columns that are empty, and then without the last one, which is a folder or
// a note.
void PrintTable(const std::vector<std::vector<std::string>>& all) {
  std::vector<std::vector<std::string>> rows = all;
  const std::size_t terminal = OutputColumns(0);
  bool fits = true;
  std::vector<std::size_t> widths = FittedWidths(rows, terminal, fits);
  for (std::size_t column = rows.empty() ? 0 : rows.front().size(); !fits && column-- > 1;) {
    const bool empty = std::all_of(rows.begin() + 1, rows.end(), [&](const std::vector<std::string>& row) {
      return column >= row.size() || row[column].empty();
    });
    if (!empty) continue;
    LeaveOut(column, rows);
    widths = FittedWidths(rows, terminal, fits);
  }
  if (!fits && widths.size() > 2 && widths.back() <= kMinLast) {
    LeaveOut(widths.size() - 1, rows);
    widths = FittedWidths(rows, terminal, fits);
  }
  for (const std::vector<std::string>& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += InColumns(row[i], widths[i]);
      if (i + 1 < row.size()) line.append(kBlanks, ' ');
    }
    std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
  }
}

struct PrintedRuns {
  std::vector<PrintedRun> runs;
};
template <class V>
void Parts(V& v, const PrintedRuns& printed) {
  v("format", 1), v("runs", printed.runs);
}

void PrintRunsJson(std::vector<PrintedRun> runs) {
  std::printf("%s\n", JsonOf<PartForms>(PrintedRuns{std::move(runs)}, 2).c_str());
}

std::string RunsSchema() { return SchemaOf<PartForms>(PrintedRuns()); }

}  // namespace muster
