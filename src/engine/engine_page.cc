#include "engine/engine_page.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <set>

#include "base/values/diagnostics.h"
#include "base/values/text_parts.h"
#include "base/values/utf8_text.h"
#include "engine/manifest.h"

namespace muster {
namespace {

// Calls `text` for literal parts and `name` for placeholders, in order. Returns a phrase if the word is malformed.
template <class Text, class Name>
std::string Parse(std::string_view word, Text text, Name name) {
  for (std::size_t i = 0; i < word.size();) {
    const char c = word[i];
    if (c != '{' && c != '}') {
      const std::size_t end = std::min(word.find_first_of("{}", i), word.size());
      text(word.substr(i, end - i));
      i = end;
    } else if (i + 1 < word.size() && word[i + 1] == c) {
      text(word.substr(i, 1));
      i += 2;
    } else if (c == '}') {
      return "a '}' without '{'; a brace is written twice";
    } else {
      const std::size_t close = word.find_first_of("{}", i + 1);
      if (close == std::string_view::npos || word[close] != '}')
        return "a '{' that is not closed; a brace is written twice";
      if (close == i + 1) return "a placeholder without a name; a brace is written twice";
      name(word.substr(i + 1, close - i - 1));
      i = close + 1;
    }
  }
  return {};
}

}  // namespace

tl::expected<std::vector<std::string>, std::string> PlaceholdersIn(std::string_view word) {
  std::vector<std::string> names;
  std::string why = Parse(
      word, [](std::string_view) {}, [&](std::string_view name) { names.emplace_back(name); });
  if (!why.empty()) return tl::unexpected(std::move(why));
  return names;
}

std::string Filled(std::string_view word, const TemplateValues& values) {
  std::string filled;
  const std::string why = Parse(
      word, [&](std::string_view text) { filled += text; },
      [&](std::string_view name) {
        const auto value = values.texts.find(name);
        assert(value != values.texts.end());
        if (value != values.texts.end()) filled += value->second;
      });
  assert(why.empty());
  return filled;
}

std::vector<std::string> FilledCommand(std::span<const std::string> words, const TemplateValues& values) {
  std::vector<std::string> filled;
  for (const std::string& word : words) {
    const bool alone = word.size() > 2 && word.front() == '{' && word.back() == '}';
    const auto list = alone ? values.lists.find(std::string_view(word).substr(1, word.size() - 2)) : values.lists.end();
    if (list == values.lists.end()) {
      filled.push_back(Filled(word, values));
    } else {
      filled.insert(filled.end(), list->second.begin(), list->second.end());
    }
  }
  return filled;
}

namespace {

// Reads tables of an engine's page field by field and collects what is wrong, at the lines of the user's file.
class PageReader {
 public:
  // Both must outlive the reader.
  PageReader(const std::string& file, const std::map<std::string, std::uint32_t>& lines) : file_(file), lines_(lines) {}

  // A table and its path ("hosts"; empty: the page itself). Fields are paths below it.
  struct Table {
    const Value::Map* map = nullptr;
    std::string path;

    std::string At(std::string_view field) const;
    const Value* Find(const std::string& field) const;
  };

  // The table, if the value is one with none but these fields.
  std::optional<Table> AsTable(const Value& value, const std::string& path, const std::vector<std::string>& known);

  // Fields of a table: `out` stays as it is if the field is missing or wrong. Texts are UTF-8 of one line; an empty one
  // is wrong unless `empty` allows it.
  void Text(const Table& table, const std::string& field, std::string& out, bool required = false, bool empty = false);
  void Texts(const Table& table, const std::string& field, std::vector<std::string>& out);
  void Flag(const Table& table, const std::string& field, bool& out);
  void Number(const Table& table, const std::string& field, std::uint32_t most, std::uint32_t& out);
  // A command: texts, whose placeholders are among `known` and contain each of `wanted`. {each_NAME} must be a whole
  // word.
  void Command(const Table& table, const std::string& field, const std::vector<std::string>& known,
               const std::vector<std::string>& wanted, std::vector<std::string>& out, bool required = false);
  void CheckPlaceholders(const std::string& path, std::string_view text, const std::vector<std::string>& known);

  // A word of `words`.
  template <class E>
  void Word(const Table& table, const std::string& field, const std::vector<std::pair<std::string, E>>& words, E& out) {
    const Value* value = table.Find(field);
    if (value == nullptr) return;
    for (const auto& [word, member] : words) {
      if (value->AsString() != nullptr && *value->AsString() == word) {
        out = member;
        return;
      }
    }
    std::vector<std::string> known;
    for (const auto& [word, unused] : words) known.push_back(word);
    NoSuchWord(table.At(field), *value, known);
  }

  void Wrong(const char* kind, const std::string& path, std::string message, std::string hint = {});
  Diagnostics TakeProblems() { return std::move(problems_); }
  bool sound() const { return problems_.empty(); }

 private:
  void NoSuchWord(const std::string& path, const Value& value, const std::vector<std::string>& known);
  const std::string* TextIn(const std::string& path, const Value& value, bool empty);

  const std::string& file_;
  const std::map<std::string, std::uint32_t>& lines_;
  Diagnostics problems_;
};

constexpr std::size_t kMaxProblems = 20;
constexpr std::size_t kMaxPageText = 4'096;

bool IsOneLine(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

std::string PageReader::Table::At(std::string_view field) const {
  return path.empty() ? std::string(field) : path + "." + std::string(field);
}

const Value* PageReader::Table::Find(const std::string& field) const {
  const auto found = map->find(field);
  return found == map->end() ? nullptr : &found->second;
}

void PageReader::Wrong(const char* kind, const std::string& path, std::string message, std::string hint) {
  if (problems_.size() >= kMaxProblems) return;
  // The nearest line that is known: lists and computed tables have none of their own.
  Place place{file_, 0};
  for (std::string at = path; !at.empty(); at.resize(at.rfind('.') == std::string::npos ? 0 : at.rfind('.'))) {
    if (const auto line = lines_.find(at); line != lines_.end()) {
      place.line = line->second;
      break;
    }
  }
  problems_.push_back(Error(kind, std::move(place), std::move(message), std::move(hint)));
}

std::optional<PageReader::Table> PageReader::AsTable(const Value& value, const std::string& path,
                                                     const std::vector<std::string>& known) {
  const std::string what = path.empty() ? "an engine's page" : path;
  static const Value::Map kEmpty;
  // In Lua an empty list is an empty table.
  const bool empty = value.AsList() != nullptr && value.AsList()->empty();
  if (value.AsMap() == nullptr && !empty) {
    Wrong("type", path, what + " is a table of names and values, got " + ToText(value));
    return std::nullopt;
  }
  Table table{empty ? &kEmpty : value.AsMap(), path};
  for (const auto& [name, unused] : *table.map) {
    if (known.empty() || std::find(known.begin(), known.end(), name) != known.end()) continue;
    Wrong("unknown_key", table.At(name), what + " has no field " + name, DidYouMean(name, known));
  }
  return table;
}

const std::string* PageReader::TextIn(const std::string& path, const Value& value, bool empty) {
  const std::string* text = value.AsString();
  if (text == nullptr || (text->empty() && !empty)) {
    Wrong("type", path, path + " is a text, got " + ToText(value));
  } else if (!IsUtf8(*text) || !IsOneLine(*text) || text->size() > kMaxPageText) {
    Wrong("format", path, path + " is one line of UTF-8 of at most 4096 bytes, got " + ToText(value));
  } else {
    return text;
  }
  return nullptr;
}

void PageReader::Text(const Table& table, const std::string& field, std::string& out, bool required, bool empty) {
  const Value* value = table.Find(field);
  if (value == nullptr) {
    if (required)
      Wrong("missing", table.path, (table.path.empty() ? "an engine's page" : table.path) + " has no " + field);
    return;
  }
  if (const std::string* text = TextIn(table.At(field), *value, empty)) out = *text;
}

void PageReader::Texts(const Table& table, const std::string& field, std::vector<std::string>& out) {
  const Value* value = table.Find(field);
  if (value == nullptr) return;
  const std::string path = table.At(field);
  if (value->AsMap() != nullptr && value->AsMap()->empty()) return;
  const Value::List* list = value->AsList();
  if (list == nullptr) return Wrong("type", path, path + " is a list of texts, got " + ToText(*value));
  std::vector<std::string> texts;
  for (const Value& each : *list) {
    const std::string* text = TextIn(path, each, true);
    if (text == nullptr) return;
    texts.push_back(*text);
  }
  out = std::move(texts);
}

void PageReader::Flag(const Table& table, const std::string& field, bool& out) {
  const Value* value = table.Find(field);
  if (value == nullptr) return;
  if (value->AsBool() == nullptr) {
    return Wrong("type", table.At(field), table.At(field) + " is true or false, got " + ToText(*value));
  }
  out = *value->AsBool();
}

void PageReader::Number(const Table& table, const std::string& field, std::uint32_t most, std::uint32_t& out) {
  const Value* value = table.Find(field);
  if (value == nullptr) return;
  const std::int64_t* number = value->AsInt();
  if (number == nullptr || *number < 0 || *number > std::int64_t{most}) {
    return Wrong("range", table.At(field),
                 table.At(field) + " is a whole number from 0 to " + std::to_string(most) + ", got " + ToText(*value));
  }
  out = static_cast<std::uint32_t>(*number);
}

void PageReader::CheckPlaceholders(const std::string& path, std::string_view text,
                                   const std::vector<std::string>& known) {
  const auto names = PlaceholdersIn(text);
  if (!names) return Wrong("format", path, path + ": " + ToText(Value(text)) + " has " + names.error());
  for (const std::string& name : *names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      Wrong("unknown_key", path, path + " has no placeholder {" + name + "}", DidYouMean(name, known));
    } else if (name.starts_with("each_") && text.size() != name.size() + 2) {
      Wrong("format", path,
            path + ": {" + name + "} becomes several words, so it is a word of its own, got " + ToText(Value(text)));
    }
  }
}

void PageReader::Command(const Table& table, const std::string& field, const std::vector<std::string>& known,
                         const std::vector<std::string>& wanted, std::vector<std::string>& out, bool required) {
  const std::string path = table.At(field);
  if (table.Find(field) == nullptr) {
    if (required)
      Wrong("missing", table.path, (table.path.empty() ? "an engine's page" : table.path) + " has no " + field);
    return;
  }
  std::vector<std::string> words;
  Texts(table, field, words);
  if (words.empty() || words.front().empty()) {
    if (sound()) Wrong("type", path, path + " is a list of words, the program first");
    return;
  }
  for (const std::string& word : words) CheckPlaceholders(path, word, known);
  for (const std::string& name : wanted) {
    const bool there = std::any_of(words.begin(), words.end(), [&](const std::string& word) {
      return word.find("{" + name + "}") != std::string::npos;
    });
    if (!there) Wrong("missing", path, path + " has no placeholder {" + name + "}");
  }
  out = std::move(words);
}

void PageReader::NoSuchWord(const std::string& path, const Value& value, const std::vector<std::string>& known) {
  std::string words;
  for (const std::string& word : known) words += (words.empty() ? "\"" : ", \"") + word + "\"";
  Wrong("enum", path, path + " is one of " + words + ", got " + ToText(value),
        value.AsString() == nullptr ? "" : DidYouMean(*value.AsString(), known));
}

constexpr std::array<std::string_view, 14> kStateNames = {
    "queued",    "running",    "suspended", "ending",      "ended",         "succeeded", "failed",
    "cancelled", "time_limit", "preempted", "node_failed", "out_of_memory", "unknown",   "vanished"};

using Names = std::vector<std::string>;

const Names kManifestFields = {"name", "doc", "source", "tried", "form", "options"};
const Names kPageFields = {"form",        "name",   "doc",     "source",    "tried",     "inside",      "job",
                           "tasks",       "hosts",  "devices", "node_name", "start",     "clear",       "own",
                           "options",     "notice", "script",  "submit",    "cancel",    "signal",      "queries",
                           "query_clear", "states", "reasons", "exits",     "exit",      "signal_base", "host_query",
                           "time_left",   "aborts", "requeue", "allocate",  "preempted", "never",       "away",
                           "warning",     "ending"};
const Names kJobPlaceholders = {"job", "jobs", "each_job"};

const std::vector<std::pair<std::string, JobState>>& StateWords() {
  static const auto kWords = [] {
    std::vector<std::pair<std::string, JobState>> words;
    for (std::size_t i = 0; i < kStateNames.size(); ++i) {
      const auto state = static_cast<JobState>(i);
      if (state != JobState::kVanished) words.emplace_back(kStateNames[i], state);
    }
    return words;
  }();
  return kWords;
}

const std::vector<std::pair<std::string, JobField>> kJobFields = {
    {"", JobField::kNone},         {"job", JobField::kJob},   {"state", JobField::kState},
    {"reason", JobField::kReason}, {"exit", JobField::kExit}, {"hosts", JobField::kHosts}};

bool IsName(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name.front() >= 'a' && name.front() <= 'z' &&
         std::all_of(name.begin(), name.end(), [](char c) { return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '_'; });
}

bool IsManifestPage(const Value& value) {
  if (value.AsMap() == nullptr) return false;
  const auto form = value.AsMap()->find("form");
  return form != value.AsMap()->end() && form->second == Value("manifest");
}

// One page's table on its way to a page.
class EnginePageReading {
 public:
  EnginePageReading(const std::string& file, const std::map<std::string, std::uint32_t>& lines)
      : reader_(file, lines) {}

  Result<EnginePage> Read(const Value& value) {
    page_.manifest = IsManifestPage(value);
    const auto table = reader_.AsTable(value, "", page_.manifest ? kManifestFields : kPageFields);
    if (!table) return Fail(reader_.TakeProblems());
    bool manifest = false;
    reader_.Word<bool>(*table, "form", {{"script", false}, {"manifest", true}}, manifest);
    reader_.Text(*table, "name", page_.name, true);
    if (!page_.name.empty() && !IsName(page_.name)) {
      reader_.Wrong("format", "name",
                    "an engine's name is small letters, digits and '_', got " + ToText(Value(page_.name)));
    }
    reader_.Text(*table, "doc", page_.doc, true);
    reader_.Text(*table, "source", page_.source);
    // `tried = false` says that nobody has.
    if (const Value* tried = table->Find("tried"); tried != nullptr && tried->AsBool() == nullptr) {
      reader_.Text(*table, "tried", page_.tried);
    }
    ReadOptions(*table);
    if (!page_.manifest) {
      ReadAllocation(*table);
      ReadScript(*table);
      ReadJobs(*table);
    }
    if (!reader_.sound()) return Fail(reader_.TakeProblems());
    return std::move(page_);
  }

 private:
  using Table = PageReader::Table;

  // One of variable, file and command.
  void ReadText(const Table& table, EngineText& text, const Names& placeholders) {
    reader_.Text(table, "variable", text.variable);
    reader_.Text(table, "file", text.file);
    reader_.Command(table, "command", placeholders, {}, text.command);
    const int ways = (text.variable.empty() ? 0 : 1) + (text.file.empty() ? 0 : 1) + (text.command.empty() ? 0 : 1);
    if (ways == 1 || !reader_.sound()) return;
    reader_.Wrong("missing", table.path, table.path + " has one of variable, file and command",
                  table.path + " = { variable = \"NAME\" }");
  }

  std::optional<Table> Subtable(const Table& table, const std::string& field, const Names& known, bool required) {
    const Value* value = table.Find(field);
    if (value != nullptr) return reader_.AsTable(*value, table.At(field), known);
    if (required) reader_.Wrong("missing", table.path, "an engine's page has no " + field);
    return std::nullopt;
  }

  void ReadAllocation(const Table& page) {
    reader_.Text(page, "inside", page_.inside, true);
    if (const auto job = Subtable(page, "job", {"variable", "file", "command"}, true)) ReadText(*job, page_.job, {});
    if (const auto hosts = Subtable(page, "hosts", {"variable", "file", "command", "form", "expand"}, true)) {
      ReadText(*hosts, page_.hosts.text, {"job"});
      reader_.Word<HostListForm>(*hosts, "form",
                                 {{"compressed", HostListForm::kCompressed},
                                  {"lines", HostListForm::kLines},
                                  {"words", HostListForm::kWords},
                                  {"counts", HostListForm::kCounts},
                                  {"pairs", HostListForm::kPairs}},
                                 page_.hosts.form);
      reader_.Command(*hosts, "expand", {"list", "job"}, {"list"}, page_.hosts.expand);
    }
    if (const auto tasks = Subtable(page, "tasks", {"variable", "asked"}, false)) {
      reader_.Text(*tasks, "variable", page_.tasks.emplace().variable, true);
      reader_.Text(*tasks, "asked", page_.tasks->asked, true);
    }
    if (const auto devices = Subtable(page, "devices", {"command", "form", "kinds"}, false)) {
      EngineDevices& out = page_.devices.emplace();
      bool gres = true;
      reader_.Word<bool>(*devices, "form", {{"gres", true}}, gres);
      reader_.Command(*devices, "command", {"job"}, {}, out.command, true);
      reader_.Texts(*devices, "kinds", out.kinds);
      if (out.kinds.empty()) reader_.Wrong("missing", "devices", "devices has no kinds", "kinds = { \"gpu\" }");
    }
    reader_.Text(page, "node_name", page_.node_name);
    reader_.Command(page, "start",
                    {"agent", "dial_file", "count", "hosts", "host_list", "spaced_hosts", "each_host", "positions",
                     "each_position", "options", "each_option", "job"},
                    {"agent", "dial_file"}, page_.start, true);
    reader_.Texts(page, "clear", page_.clear);
    reader_.Texts(page, "own", page_.own);
    if (const auto allocate = Subtable(page, "allocate", {"command", "after"}, false)) {
      reader_.Command(*allocate, "command", {"name", "each_option"}, {"each_option"}, page_.allocate.command, true);
      reader_.Text(*allocate, "after", page_.allocate.after, true);
    }
  }

  void ReadOption(const Value& value, const std::string& path) {
    const auto table =
        reader_.AsTable(value, path, {"name", "type", "doc", "line", "into", "form", "devices", "tasks", "default"});
    if (!table) return;
    EngineOption option;
    reader_.Text(*table, "name", option.name, true);
    reader_.Text(*table, "doc", option.doc);
    reader_.Word<EngineOptionType>(*table, "type",
                                   {{"text", EngineOptionType::kText},
                                    {"count", EngineOptionType::kCount},
                                    {"duration", EngineOptionType::kDuration},
                                    {"flag", EngineOptionType::kFlag},
                                    {"list", EngineOptionType::kList},
                                    {"table", EngineOptionType::kTable},
                                    {"requeue", EngineOptionType::kRequeue},
                                    {"each_trial", EngineOptionType::kEachTrial},
                                    {"notice", EngineOptionType::kNotice}},
                                   option.type);
    reader_.Word<EngineDuration>(*table, "form",
                                 {{"d-hh:mm:ss", EngineDuration::kDaysClock},
                                  {"hh:mm:ss", EngineDuration::kClock},
                                  {"hh:mm", EngineDuration::kHoursMinutes},
                                  {"seconds", EngineDuration::kSeconds}},
                                 option.form);
    reader_.Text(*table, "line", option.line);
    if (page_.manifest) {
      reader_.Texts(*table, "into", option.path);
    } else {
      reader_.Text(*table, "into", option.into);
    }
    reader_.Flag(*table, "devices", option.devices);
    reader_.Flag(*table, "tasks", option.tasks);
    if (const Value* given = table->Find("default")) option.default_value = *given;
    reader_.CheckPlaceholders(path, option.line, {"value"});
    if (!IsName(option.name)) {
      reader_.Wrong("format", path,
                    "an option's name is small letters, digits and '_', got " + ToText(Value(option.name)));
    } else if (page_.FindOption(option.name) != nullptr) {
      reader_.Wrong("conflict", path, "there are two options " + option.name);
    } else if (page_.manifest) {
      CheckPlaceInManifest(option, path);
      page_.options.push_back(std::move(option));
    } else if (option.type == EngineOptionType::kTable) {
      reader_.Wrong("format", path, "the option " + option.name + " is a table: a directive has no place for one");
    } else if (option.name != "nodes" && option.type != EngineOptionType::kRequeue &&
               option.type != EngineOptionType::kEachTrial && option.type != EngineOptionType::kNotice &&
               option.line.empty()) {
      reader_.Wrong("missing", path, "the option " + option.name + " has no line",
                    "line = \"--" + option.name + "={value}\"");
    } else {
      page_.options.push_back(std::move(option));
    }
  }

  void CheckPlaceInManifest(const EngineOption& option, const std::string& path) {
    if (!option.line.empty()) {
      reader_.Wrong("unknown_key", path, "the option " + option.name + " has a line, and there is no batch script",
                    "into = { \"pod\", \"priorityClassName\" }");
    }
    const auto& known = ManifestOptions();
    const bool by_name = std::find(known.begin(), known.end(), option.name) != known.end();
    if (by_name == option.path.empty()) return;
    reader_.Wrong("missing", path,
                  by_name ? "the option " + option.name + " has its own place in manifests, and no into"
                          : "the option " + option.name + " has no into",
                  "into = { \"pod\", \"priorityClassName\" }");
  }

  void ReadOptions(const Table& page) {
    const Value* value = page.Find("options");
    const Value::List* list = value == nullptr ? nullptr : value->AsList();
    if (list == nullptr) {
      return reader_.Wrong("type", "options", "options is a list of tables",
                           "options = { { name = \"nodes\", type = \"count\", line = \"--nodes={value}\" } }");
    }
    for (const Value& option : *list) ReadOption(option, "options");
    const EngineOption* nodes = page_.FindOption("nodes");
    if (reader_.sound() && (nodes == nullptr || nodes->type != EngineOptionType::kCount)) {
      reader_.Wrong("missing", "options", "options has no count called nodes",
                    "{ name = \"nodes\", type = \"count\" }");
    }
  }

  void ReadScript(const Table& page) {
    Names placeholders = {"name", "nodes"};
    if (const auto table = Subtable(page, "notice", {"signal", "seconds", "given"}, false)) {
      EngineNotice& notice = page_.notice.emplace();
      reader_.Text(*table, "signal", notice.signal, true);
      reader_.Number(*table, "seconds", 86'400, notice.seconds);
      reader_.Text(*table, "given", notice.given);
      placeholders.insert(placeholders.end(), {"notice_signal", "notice_seconds", "notice_minutes"});
    }
    if (const auto table = Subtable(page, "warning", {"line", "signal", "ignored"}, false)) {
      EngineWarning& warning = page_.warning.emplace();
      reader_.Text(*table, "line", warning.line, true);
      reader_.Text(*table, "signal", warning.signal, true);
      reader_.Texts(*table, "ignored", warning.ignored);
    }
    for (const EngineOption& option : page_.options) {
      if (!option.into.empty()) placeholders.push_back(option.into);
    }
    const auto script = Subtable(page, "script", {"directive", "always", "output"}, true);
    if (!script) return;
    reader_.Text(*script, "directive", page_.script.directive, true);
    if (!page_.script.directive.empty() && page_.script.directive.front() != '#') {
      reader_.Wrong("format", "script.directive",
                    "script.directive begins with '#', got " + ToText(Value(page_.script.directive)));
    }
    reader_.Texts(*script, "always", page_.script.always);
    for (const std::string& line : page_.script.always) reader_.CheckPlaceholders("script.always", line, placeholders);
    reader_.Texts(*script, "output", page_.script.output);
    for (const std::string& line : page_.script.output) reader_.CheckPlaceholders("script.output", line, {"output"});
  }

  void ReadQuery(const Value& value) {
    const std::string path = "queries";
    const auto table = reader_.AsTable(value, path, {"command", "form", "separator", "columns", "head", "absent"});
    if (!table) return;
    EngineQuery query;
    reader_.Command(*table, "command", kJobPlaceholders, {}, query.command, true);
    reader_.Word<JobAnswerForm>(
        *table, "form",
        {{"columns", JobAnswerForm::kColumns}, {"pairs", JobAnswerForm::kPairs}, {"stanzas", JobAnswerForm::kStanzas}},
        query.form);
    reader_.Text(*table, "separator", query.separator);
    if (query.separator == " ") query.separator.clear();
    reader_.Text(*table, "head", query.head);
    reader_.Texts(*table, "absent", query.absent);
    const Value* columns = table->Find("columns");
    std::set<JobField> found;
    if (query.form == JobAnswerForm::kColumns && columns != nullptr && columns->AsList() != nullptr) {
      for (const Value& column : *columns->AsList()) {
        const Value::Map one = {{"columns", column}};
        JobField field = JobField::kNone;
        reader_.Word<JobField>({&one, path}, "columns", kJobFields, field);
        query.columns.push_back(field);
        found.insert(field);
      }
    } else if (query.form != JobAnswerForm::kColumns && columns != nullptr && columns->AsMap() != nullptr) {
      const auto names = reader_.AsTable(*columns, path + ".columns", {"job", "state", "reason", "exit", "hosts"});
      for (const auto& [word, field] : kJobFields) {
        std::string name;
        if (names && !word.empty()) reader_.Text(*names, word, name);
        if (name.empty()) continue;
        query.names[name] = field;
        found.insert(field);
      }
      if (!query.head.empty()) found.insert(JobField::kJob);
    } else {
      return reader_.Wrong("type", path, "columns of a query is a list for the form \"columns\", else a table of names",
                           "columns = { \"job\", \"state\" }, or columns = { job = \"JobId\", state = \"JobState\" }");
    }
    if (!found.contains(JobField::kJob) || (!found.contains(JobField::kState) && !found.contains(JobField::kExit))) {
      reader_.Wrong("missing", path, "columns of a query has job, and state or exit");
    }
    page_.queries.push_back(std::move(query));
  }

  void ReadStates(const Table& page, const std::string& field, std::map<std::string, JobState>& out) {
    const Value* value = page.Find(field);
    if (value == nullptr) return;
    const auto table = reader_.AsTable(*value, field, {});
    if (!table) return;
    for (const auto& [word, unused] : *table->map) reader_.Word<JobState>(*table, word, StateWords(), out[word]);
  }

  void ReadAborts(const Table& page) {
    const Value* value = page.Find("aborts");
    if (value == nullptr) return;
    if (value->AsList() == nullptr) {
      return reader_.Wrong("type", "aborts", "aborts is a list of tables",
                           "aborts = { { text = \"DUE TO TIME LIMIT\", state = \"time_limit\" } }");
    }
    for (const Value& one : *value->AsList()) {
      const auto table = reader_.AsTable(one, "aborts", {"text", "state"});
      if (!table) continue;
      auto& [text, state] = page_.aborts.emplace_back("", JobState::kUnknown);
      reader_.Text(*table, "text", text, true);
      reader_.Word<JobState>(*table, "state", StateWords(), state);
    }
  }

  void ReadJobs(const Table& page) {
    if (const auto submit = Subtable(page, "submit", {"command", "after", "before"}, true)) {
      reader_.Command(*submit, "command", {"script"}, {}, page_.submit.command, true);
      reader_.Text(*submit, "after", page_.submit.after);
      reader_.Text(*submit, "before", page_.submit.before);
    }
    reader_.Command(page, "cancel", kJobPlaceholders, {}, page_.cancel, true);
    Names with_signal = kJobPlaceholders;
    with_signal.push_back("signal");
    reader_.Command(page, "signal", with_signal, {"signal"}, page_.signal);
    const Value* queries = page.Find("queries");
    if (queries == nullptr || queries->AsList() == nullptr || queries->AsList()->empty()) {
      reader_.Wrong("type", "queries", "queries is a list of tables, one at least");
    } else {
      for (const Value& query : *queries->AsList()) ReadQuery(query);
    }
    reader_.Texts(page, "query_clear", page_.query_clear);
    reader_.Texts(page, "away", page_.away);
    reader_.Texts(page, "never", page_.never);
    if (page.Find("ending") != nullptr) reader_.Word<JobState>(page, "ending", StateWords(), page_.ending);
    ReadStates(page, "states", page_.states);
    ReadStates(page, "reasons", page_.reasons);
    ReadStates(page, "exits", page_.exits);
    if (const auto requeue =
            Subtable(page, "requeue", {"line", "otherwise", "node_fail", "command", "exclude"}, false)) {
      EngineRequeue& out = page_.requeue.emplace();
      reader_.Text(*requeue, "line", out.line, true);
      reader_.Text(*requeue, "otherwise", out.otherwise);
      reader_.Text(*requeue, "node_fail", out.node_fail);
      reader_.Command(*requeue, "command", kJobPlaceholders, {}, out.command, true);
      Names with_hosts = kJobPlaceholders;
      with_hosts.push_back("hosts");
      reader_.Command(*requeue, "exclude", with_hosts, {"hosts"}, out.exclude);
    }
    for (const EngineOption& option : page_.options) {
      if (option.type == EngineOptionType::kRequeue && !page_.requeue) {
        reader_.Wrong("missing", "options", "the option " + option.name + " needs the field requeue of the page");
      }
      if (option.type == EngineOptionType::kEachTrial && page_.allocate.command.empty()) {
        reader_.Wrong("missing", "options", "the option " + option.name + " needs the field allocate of the page");
      }
    }
    if (page_.states.empty()) reader_.Wrong("missing", "states", "states has no words of the engine");
    if (const auto host = Subtable(page, "host_query", {"command", "separator", "usual"}, false)) {
      EngineHostQuery& query = page_.host_query.emplace();
      reader_.Command(*host, "command", {"host"}, {"host"}, query.command, true);
      reader_.Text(*host, "separator", query.separator, true);
      reader_.Texts(*host, "usual", query.usual);
    }
    if (const auto table = Subtable(page, "preempted", {"command", "after", "unset"}, false)) {
      EnginePreemptQuery& query = page_.preempted.emplace();
      reader_.Command(*table, "command", {"job"}, {"job"}, query.command, true);
      reader_.Text(*table, "after", query.after, true);
      reader_.Texts(*table, "unset", query.unset);
    }
    reader_.Command(page, "time_left", {"job"}, {"job"}, page_.time_left);
    ReadAborts(page);
    reader_.Word<bool>(page, "exit", {{"code", false}, {"code:signal", true}}, page_.exit_has_signal);
    reader_.Number(page, "signal_base", 1'024, page_.signal_base);
  }

  PageReader reader_;
  EnginePage page_;
};

}  // namespace

std::string_view JobStateName(JobState state) { return kStateNames[static_cast<std::size_t>(state)]; }

const EngineOption* EnginePage::FindOption(std::string_view option) const {
  const auto found =
      std::find_if(options.begin(), options.end(), [&](const EngineOption& each) { return each.name == option; });
  return found == options.end() ? nullptr : &*found;
}

Result<EnginePage> ReadEnginePage(const Value& table, const std::string& file,
                                  const std::map<std::string, std::uint32_t>& lines) {
  return EnginePageReading(file, lines).Read(table);
}

}  // namespace muster
