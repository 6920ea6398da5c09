#include "engine/batch_script.h"

#include <algorithm>
#include <cctype>

#include "base/values/printable_lines.h"
#include "base/values/shell_quote.h"
#include "engine/command_template.h"

namespace muster {
namespace {

constexpr std::size_t kLongestName = 64;

bool HasLineEnd(std::string_view text) {
  return text.find_first_of(std::string_view("\n\r\0", 3)) != std::string_view::npos;
}

// The lines of one option: of a list one for each text.
std::vector<std::string> LinesOf(const EngineOption& option, const Value& value) {
  std::vector<std::string> texts;
  if (value.AsBool() != nullptr) {
    if (!*value.AsBool()) return {};
    texts.emplace_back();
  } else if (value.AsList() != nullptr) {
    for (const Value& text : *value.AsList()) texts.push_back(*text.AsString());
  } else {
    texts.push_back(value.AsString() != nullptr ? *value.AsString() : ToText(value));
  }
  std::vector<std::string> lines;
  for (std::string& text : texts) {
    TemplateValues values;
    values.texts["value"] = std::move(text);
    lines.push_back(Filled(option.line, values));
  }
  return lines;
}

}  // namespace

std::vector<std::string> SettingLines(const EnginePage& page, const EngineSettings& settings, std::uint32_t nodes,
                                      std::map<std::string, std::string, std::less<>>& into) {
  std::vector<std::string> lines;
  for (const EngineOption& option : page.options) {
    if (!option.into.empty()) into[option.into];
    const auto set = settings.find(option.name);
    Value value;
    if (option.name == "nodes") {
      value = Value(std::int64_t{nodes});
    } else if (set != settings.end()) {
      value = set->second.value;
    } else if (option.default_value) {
      value = *option.default_value;
    } else {
      continue;
    }
    if (option.line.empty()) continue;  // the number of nodes, where another line has it; requeue; each_trial
    for (std::string& line : LinesOf(option, value)) {
      if (option.into.empty()) {
        lines.push_back(std::move(line));
      } else {
        into[option.into] += line;
      }
    }
  }
  return lines;
}

std::string BatchJobName(std::string_view name) {
  std::string sound;
  for (const char c : name.substr(0, kLongestName)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
    sound += plain && static_cast<unsigned char>(c) < 0x80 ? c : '_';
  }
  if (sound.empty() || std::isalpha(static_cast<unsigned char>(sound.front())) == 0) sound.insert(0, "m");
  return sound;
}

Result<std::string> BatchScript(const EnginePage& page, const EngineSettings& settings, const BatchJob& job) {
  if (HasLineEnd(job.output) || HasLineEnd(job.folder) ||
      std::any_of(job.command.begin(), job.command.end(), HasLineEnd)) {
    return Fail(Error("format", {}, "a batch script cannot hold a word with a line end",
                      "give the value in a file: name@=file, or in the recipe"));
  }
  TemplateValues values;
  values.texts = {{"name", BatchJobName(job.name)}, {"nodes", std::to_string(job.nodes)}};
  const std::string notice = !page.notice || !job.notice.empty() ? job.notice : page.notice->signal;
  const auto lead = NoticeOf(page, settings, job.stop_seconds);
  if (!lead) return Fail(lead.error());
  if (*lead) {
    values.texts["notice_signal"] = notice;
    values.texts["notice_seconds"] = std::to_string((*lead)->seconds);
    values.texts["notice_minutes"] = std::to_string(((*lead)->seconds + 59) / 60);
  }
  const std::vector<std::string> own_lines = SettingLines(page, settings, job.nodes, values.texts);
  std::string script = "#!/bin/sh\n";
  for (const std::string& line : page.script.always) script += page.script.directive + Filled(line, values) + "\n";
  const bool warned = page.warning && job.notice.empty();
  if (warned) script += page.script.directive + page.warning->line + "\n";
  if (page.requeue) {
    const RequeueRule rule = RequeueOf(page, settings);
    const auto add = [&](const std::string& line) {
      if (!line.empty()) script += page.script.directive + line + "\n";
    };
    add(rule.on.empty() ? page.requeue->otherwise : page.requeue->line);
    if (rule.on.contains("node_fail")) add(page.requeue->node_fail);
  }
  if (!job.output.empty()) {
    TemplateValues file;
    file.texts["output"] = job.output;
    for (const std::string& line : page.script.output) script += page.script.directive + Filled(line, file) + "\n";
  }
  for (const std::string& line : own_lines) {
    if (*lead && !line.empty() && line == (*lead)->directive) continue;
    script += page.script.directive + line + "\n";
  }
  // Directives are read by the engine, which knows no quotes for such bytes.
  if (const std::string shown = PrintableLines(script); shown != script) {
    return Fail(
        Error("format", {},
              "a directive of a batch script cannot hold control characters: " + Printable(shown.substr(0, 300)),
              "use names of folders and values without them"));
  }
  script += "\n";
  if (!job.note.empty()) script += "# " + Printable(job.note) + "\n";
  // The signals may come before the command is ready to handle it.
  std::string early = notice == "TERM" ? std::string() : notice;
  if (warned) {
    early += (early.empty() ? "" : " ") + page.warning->signal;
    for (const std::string& signal : page.warning->ignored) early += " " + signal;
  }
  if (!early.empty()) script += "trap '' " + early + "\n";
  // Exit code 3: the machine's fault, as muster has it.
  script += "cd " + ShellQuoted(job.folder) + " || exit 3\n";
  script += "exec " + ShellQuoted(job.command) + "\n";
  return script;
}

}  // namespace muster
