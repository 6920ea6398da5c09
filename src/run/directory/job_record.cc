#include "run/directory/job_record.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include <errno.h>
#include <fcntl.h>

#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {

// Members are in the order of their names.

template <class V>
void Fields(V& v, JobRecord& record) {
  std::int64_t format = 1;
  v("checkpoint", record.checkpoint), v("engine", record.engine), v("first", record.first), v("format", format);
  v("name", record.name), v("page", record.page), v("parent", record.parent), v("requeue_max", record.requeue_max);
  v("requeue_on", record.requeue_on), v("resumed", record.resumed), v("run", record.run);
  v("submitted_at", record.submitted_at);
}

template <class V>
void Fields(V& v, JobAttempt& attempt) {
  v("end", attempt.end), v("evidence", MayBeMissing(attempt.evidence));
  v("excluded", MayBeMissing(attempt.excluded)), v("host", attempt.host), v("lost", attempt.lost);
  v("output_from", attempt.output_from), v("requeued", attempt.requeued), v("run", attempt.run);
  v("run_dir", attempt.run_dir), v("verdict", MayBeMissing(attempt.verdict));
}

struct JobAttempts {
  std::vector<JobAttempt> attempts;
};
template <class V>
void Fields(V& v, JobAttempts& file) {
  std::int64_t format = 1;
  v("attempts", file.attempts), v("format", format);
}

template <class V>
void Fields(V& v, JobEnd& end) {
  std::int64_t format = 1;
  v("exit_code", end.exit_code), v("format", format), v("hosts", end.hosts), v("reason", end.reason);
  v("state", end.state);
}

namespace {

UniqueFd Folder(const std::string& run_dir) {
  return UniqueFd(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// What the file says as far as it is valid; nothing if it is no JSON object.
template <class T>
std::optional<T> Read(const std::string& run_dir, const RunEntry& file) {
  const UniqueFd folder = Folder(run_dir);
  if (!folder) return std::nullopt;
  const Result<std::string> text = ReadFileAt(folder.get(), file.name, file.most, O_NOFOLLOW);
  if (!text) return std::nullopt;
  const auto json = ValueFromJsonText(*text);
  if (!json || json->AsMap() == nullptr) return std::nullopt;
  T record;
  JsonReader(JsonReading::kLenient).Get(*json, record);
  return record;
}

template <class T>
Result<void> Write(const std::string& run_dir, const RunEntry& file, const T& record) {
  const UniqueFd folder = Folder(run_dir);
  if (!folder) return Fail(SystemError("run", "cannot open " + Quoted(run_dir), errno));
  return ReplaceFile(folder.get(), file.name, JsonOf(record) + "\n");
}

// It becomes a word of the engine's commands, and must not be an option of them.
bool IsJobId(std::string_view id) {
  return !id.empty() && std::isalnum(static_cast<unsigned char>(id.front())) != 0 &&
         std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

}  // namespace

std::string JobEndText(const std::string& end, const std::string& host) {
  if (end == "time_limit") return "reached its time limit";
  if (end == "preempted") return "was preempted";
  if (end == "cancelled") return "was cancelled";
  if (end == "requeued") return "was requeued";
  if (end == "failed") return "failed";
  if (end == "out_of_memory") return "ran out of memory";
  if (end == "node_fail" || end == "node_failed") {
    return host.empty() ? "lost a node" : "lost its node " + Printable(host);
  }
  if (end == "vanished") return "is not known to the engine any more";
  std::string words = Printable(end);
  std::replace(words.begin(), words.end(), '_', ' ');
  return "ended: " + words;
}

std::string JobRecordSchema() { return SchemaOf(JobRecord()); }
std::string JobAttemptsSchema() { return SchemaOf(JobAttempts()); }
std::string JobEndSchema() { return SchemaOf(JobEnd()); }

Result<void> WriteJobRecord(int folder, const JobRecord& record) {
  return ReplaceFile(folder, kJobEntry.name, JsonOf(record) + "\n");
}

std::optional<JobRecord> ReadJobRecord(const std::string& run_dir) {
  auto record = Read<JobRecord>(run_dir, kJobEntry);
  if (record && record->engine.empty()) return std::nullopt;
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
  return Write(first_dir, kAttemptsEntry, JobAttempts{attempts});
}

std::vector<JobAttempt> ReadAttempts(const std::string& first_dir) {
  return Read<JobAttempts>(first_dir, kAttemptsEntry).value_or(JobAttempts()).attempts;
}

Result<void> WriteJobEnd(const std::string& run_dir, const JobEnd& end) { return Write(run_dir, kJobEndEntry, end); }

std::optional<JobEnd> ReadJobEnd(const std::string& run_dir) { return Read<JobEnd>(run_dir, kJobEndEntry); }

}  // namespace muster
