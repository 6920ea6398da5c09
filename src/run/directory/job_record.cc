#include "run/directory/job_record.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <errno.h>
#include <fcntl.h>

#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "muster/value.h"
#include "run/directory/private_files.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

UniqueFd Folder(const std::string& run_dir) {
  return UniqueFd(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

std::optional<Value::Map> ReadTable(const std::string& run_dir, const RunEntry& file) {
  const UniqueFd folder = Folder(run_dir);
  if (!folder) return std::nullopt;
  const Result<std::string> text = ReadFileAt(folder.get(), file.name, file.most, O_NOFOLLOW);
  if (!text) return std::nullopt;
  const auto value = ValueFromJsonText(*text);
  if (!value || value->AsMap() == nullptr) return std::nullopt;
  return *value->AsMap();
}

Result<void> WriteTable(const std::string& run_dir, const RunEntry& file, Value::Map table) {
  const UniqueFd folder = Folder(run_dir);
  if (!folder) return Fail(SystemError("run", "cannot open " + Quoted(run_dir), errno));
  table["format"] = Value(1);
  return ReplaceFile(folder.get(), file.name, JsonText(Value(std::move(table))) + "\n");
}

// It becomes a word of the engine's commands, and must not be an option of them.
bool IsJobId(std::string_view id) {
  return !id.empty() && std::isalnum(static_cast<unsigned char>(id.front())) != 0 &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string TextIn(const Value::Map& table, const std::string& name) {
  const auto found = table.find(name);
  return found != table.end() && found->second.AsString() != nullptr ? *found->second.AsString() : std::string();
}

std::optional<std::int64_t> NumberIn(const Value::Map& table, const std::string& name) {
  const auto found = table.find(name);
  if (found == table.end() || found->second.AsInt() == nullptr) return std::nullopt;
  return *found->second.AsInt();
}

}  // namespace

std::string JobEndText(const std::string& end, const std::string& host) {
  if (end == "time_limit") return "reached its time limit";
  if (end == "preempted") return "was preempted";
  if (end == "cancelled") return "was cancelled";
  if (end == "requeued") return "was requeued";
  if (end == "out_of_memory") return "ran out of memory";
  if (end == "node_fail" || end == "node_failed") {
    return host.empty() ? "lost a node" : "lost its node " + Printable(host);
  }
  if (end == "vanished") return "is not known to the engine any more";
  std::string words = Printable(end);
  std::replace(words.begin(), words.end(), '_', ' ');
  return "ended: " + words;
}

Result<void> WriteJobRecord(int folder, const JobRecord& record) {
  const Value::Map table = {{"format", Value(1)},
                            {"engine", Value(record.engine)},
                            {"page", Value(record.page)},
                            {"run", Value(record.run)},
                            {"name", Value(record.name)},
                            {"submitted_at", Value(record.submitted_at)},
                            {"first", Value(record.first)},
                            {"requeue_on", Value(Value::List(record.requeue_on.begin(), record.requeue_on.end()))},
                            {"requeue_max", Value(std::int64_t{record.requeue_max})},
                            {"parent", Value(record.parent)},
                            {"resumed", Value(record.resumed)},
                            {"checkpoint", Value(record.checkpoint)}};
  return ReplaceFile(folder, kJobEntry.name, JsonText(Value(table)) + "\n");
}

std::optional<JobRecord> ReadJobRecord(const std::string& run_dir) {
  const auto table = ReadTable(run_dir, kJobEntry);
  if (!table) return std::nullopt;
  JobRecord record;
  for (auto [name, text] :
       {std::pair{"engine", &record.engine}, std::pair{"page", &record.page}, std::pair{"run", &record.run},
        std::pair{"name", &record.name}, std::pair{"submitted_at", &record.submitted_at},
        std::pair{"first", &record.first}, std::pair{"parent", &record.parent}, std::pair{"resumed", &record.resumed},
        std::pair{"checkpoint", &record.checkpoint}}) {
    *text = TextIn(*table, name);
  }
  if (const auto on = table->find("requeue_on"); on != table->end() && on->second.AsList() != nullptr) {
    for (const Value& cause : *on->second.AsList()) {
      if (cause.AsString() != nullptr) record.requeue_on.push_back(*cause.AsString());
    }
  }
  record.requeue_max = static_cast<std::uint32_t>(NumberIn(*table, "requeue_max").value_or(0));
  if (record.engine.empty()) return std::nullopt;
  return record;
}

Result<void> WriteJobId(int folder, const std::string& id) { return ReplaceFile(folder, kJobIdEntry.name, id + "\n"); }

std::string ReadJobId(const std::string& run_dir) {
  const UniqueFd folder = Folder(FirstAttemptOf(run_dir));
  if (!folder) return {};
  const Result<std::string> text = ReadFileAt(folder.get(), kJobIdEntry.name, kJobIdEntry.most, O_NOFOLLOW);
  const std::string id = text ? text->substr(0, text->find('\n')) : std::string();
  return IsJobId(id) ? id : std::string();
}

std::string FirstAttemptOf(const std::string& run_dir) {
  const auto record = ReadJobRecord(run_dir);
  return record && !record->first.empty() ? record->first : run_dir;
}

Result<void> WriteAttempts(const std::string& first_dir, const std::vector<JobAttempt>& attempts) {
  Value::List list;
  for (const JobAttempt& attempt : attempts) {
    list.emplace_back(Value::Map{{"run", Value(attempt.run)},
                                 {"run_dir", Value(attempt.run_dir)},
                                 {"host", Value(attempt.host)},
                                 {"output_from", Value(static_cast<std::int64_t>(attempt.output_from))},
                                 {"end", Value(attempt.end)},
                                 {"requeued", Value(attempt.requeued)},
                                 {"lost", Value(attempt.lost)}});
  }
  return WriteTable(first_dir, kAttemptsEntry, {{"attempts", Value(std::move(list))}});
}

std::vector<JobAttempt> ReadAttempts(const std::string& first_dir) {
  std::vector<JobAttempt> attempts;
  const auto table = ReadTable(first_dir, kAttemptsEntry);
  if (!table) return attempts;
  const auto list = table->find("attempts");
  if (list == table->end() || list->second.AsList() == nullptr) return attempts;
  for (const Value& each : *list->second.AsList()) {
    const Value::Map* fields = each.AsMap();
    if (fields == nullptr) continue;
    const auto requeued = fields->find("requeued");
    attempts.push_back({TextIn(*fields, "run"), TextIn(*fields, "run_dir"), TextIn(*fields, "host"),
                        static_cast<std::uint64_t>(NumberIn(*fields, "output_from").value_or(0)),
                        TextIn(*fields, "end"),
                        requeued != fields->end() && requeued->second.AsBool() != nullptr && *requeued->second.AsBool(),
                        TextIn(*fields, "lost")});
  }
  return attempts;
}

Result<void> WriteJobEnd(const std::string& run_dir, const JobEnd& end) {
  return WriteTable(run_dir, kJobEndEntry,
                    {{"state", Value(end.state)},
                     {"reason", Value(end.reason)},
                     {"hosts", Value(end.hosts)},
                     {"exit_code", end.exit_code ? Value(std::int64_t{*end.exit_code}) : Value()}});
}

std::optional<JobEnd> ReadJobEnd(const std::string& run_dir) {
  const auto table = ReadTable(run_dir, kJobEndEntry);
  if (!table) return std::nullopt;
  JobEnd end{TextIn(*table, "state"), TextIn(*table, "reason"), TextIn(*table, "hosts"), std::nullopt};
  if (const auto code = NumberIn(*table, "exit_code")) end.exit_code = static_cast<int>(*code);
  return end;
}

}  // namespace muster
