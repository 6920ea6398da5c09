#include "engine/engine_page.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "engine/manifest.h"
#include "engine/page_reader.h"

namespace muster {
namespace {

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
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
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
    if (const auto requeue = Subtable(page, "requeue", {"line", "otherwise", "node_fail", "command"}, false)) {
      EngineRequeue& out = page_.requeue.emplace();
      reader_.Text(*requeue, "line", out.line, true);
      reader_.Text(*requeue, "otherwise", out.otherwise);
      reader_.Text(*requeue, "node_fail", out.node_fail);
      reader_.Command(*requeue, "command", kJobPlaceholders, {}, out.command, true);
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
