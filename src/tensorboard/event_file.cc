#include "tensorboard/event_file.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/values/fingerprint.h"
#include "base/values/value_text.h"

namespace muster {
namespace {

// A number in little-endian, whatever the machine.
template <class Unsigned>
void AppendFixed(std::string& bytes, Unsigned number) {
  for (std::size_t i = 0; i < sizeof number; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFFU);
}

// A message under construction: fields in the wire format of protocol buffers.
class Message {
 public:
  Message& Integer(std::uint32_t field, std::uint64_t number) {
    Key(field, 0);
    Varint(number);
    return *this;
  }
  Message& Double(std::uint32_t field, double number) {
    Key(field, 1);
    AppendFixed(bytes_, std::bit_cast<std::uint64_t>(number));
    return *this;
  }
  Message& Float(std::uint32_t field, float number) {
    Key(field, 5);
    AppendFixed(bytes_, std::bit_cast<std::uint32_t>(number));
    return *this;
  }
  Message& Bytes(std::uint32_t field, std::string_view bytes) {
    Key(field, 2);
    Varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  Message& Inner(std::uint32_t field, const Message& message) { return Bytes(field, message.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void Key(std::uint32_t field, std::uint32_t wire_type) { Varint(std::uint64_t{field} << 3U | wire_type); }
  void Varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7U) bytes_ += static_cast<char>(number | 0x80U);
    bytes_ += static_cast<char>(number);
  }

  std::string bytes_;
};

std::uint32_t MaskedCrc(std::string_view bytes) {
  constexpr std::uint32_t kMask = 0xA282EAD8;
  return std::rotr(Crc32c(bytes), 15) + kMask;
}

std::string Record(const Message& message) {
  std::string record;
  AppendFixed(record, std::uint64_t{message.bytes().size()});
  AppendFixed(record, MaskedCrc(record));
  record += message.bytes();
  AppendFixed(record, MaskedCrc(message.bytes()));
  return record;
}

// An Event with the only value of its Summary.
std::string SummaryRecord(double wall_time, std::int64_t step, const Message& value) {
  Message event;
  event.Double(1, wall_time);
  if (step != 0) event.Integer(2, static_cast<std::uint64_t>(step));
  return Record(event.Inner(5, Message().Inner(1, value)));
}

// A value without a number, whose metadata has data of the plugin HParams. `field`: of HParamsPluginData.
std::string HParamsRecord(double wall_time, std::string_view tag, std::uint32_t field, const Message& data) {
  const Message plugin = Message().Bytes(1, "hparams").Bytes(2, Message().Inner(field, data).bytes());
  constexpr std::uint64_t kFloat = 1;  // DataType
  std::string zero;
  AppendFixed(zero, std::uint32_t{0});
  const Message shape = Message().Inner(2, Message().Integer(1, 1));
  const Message tensor = Message().Integer(1, kFloat).Inner(2, shape).Bytes(5, zero);
  return SummaryRecord(wall_time, 0, Message().Bytes(1, tag).Inner(8, tensor).Inner(9, Message().Inner(1, plugin)));
}

// google.protobuf.Value
Message ParameterValue(const Value& value) {
  if (value.IsNull()) return Message().Integer(1, 0);
  if (value.IsNumber()) return Message().Double(2, value.Number());
  if (value.AsBool() != nullptr) return Message().Integer(4, *value.AsBool() ? 1 : 0);
  return Message().Bytes(3, value.AsString() != nullptr ? *value.AsString() : JsonText(value));
}

void AddParameters(const std::string& prefix, const Value::Map& parameters, Message& session) {
  for (const auto& [name, value] : parameters) {
    if (value.AsMap() != nullptr) {
      AddParameters(prefix + name + ".", *value.AsMap(), session);
    } else {
      session.Inner(1, Message().Bytes(1, prefix + name).Inner(2, ParameterValue(value)));
    }
  }
}

}  // namespace

std::string FileVersionRecord(double wall_time) {
  return Record(Message().Double(1, wall_time).Bytes(3, "brain.Event:2"));
}

std::string ScalarRecord(double wall_time, std::int64_t step, std::string_view tag, float value) {
  return SummaryRecord(wall_time, step, Message().Bytes(1, tag).Float(2, value));
}

std::string SessionBeganRecord(double wall_time, const Value::Map& parameters) {
  Message session;
  AddParameters("", parameters, session);
  session.Double(5, wall_time);
  return HParamsRecord(wall_time, "_hparams_/session_start_info", 3, session);
}

std::string SessionEndedRecord(double wall_time, SessionStatus status) {
  const Message session = Message().Integer(1, static_cast<std::uint64_t>(status)).Double(2, wall_time);
  return HParamsRecord(wall_time, "_hparams_/session_end_info", 4, session);
}

namespace {

using Put = std::function<bool(std::string_view)>;

constexpr double kMaxStep = 9e15;  // exact in a double
constexpr std::uint64_t kWholeFile = std::numeric_limits<std::uint64_t>::max();

bool IsStep(double number) { return number == std::floor(number) && std::abs(number) <= kMaxStep; }

// A metrics file, as far as it was read first: an active run appends to it.
struct ReadFile {
  std::string run_dir;
  MetricsFileName name;
  std::uint64_t bytes = 0;
  double first = 0;            // the number of its first report, from 1
  std::optional<double> from;  // the first value of the step
};

// The process of a role that counts: its files, and what has to be known before the first of its scalars is written.
class ProcessEvents {
 public:
  ProcessEvents(const RunForTensorboard& run, std::string role) : run_(&run), role_(std::move(role)) {}

  const std::string& role() const { return role_; }
  bool empty() const { return files_.empty(); }

  // Reads the next attempt: which metrics there are, and which of them are steps. Returns whether it reported anything.
  bool Read(const std::string& run_dir, const MetricsFileName& name) {
    bool any = false;
    const double first = reports_ + 1;
    std::map<std::string, double> begins;
    const auto bytes = ReadMetricParts(run_dir, name, kWholeFile, [&](const MetricHistory& part) {
      any = true;
      reports_ += part.reports;
      for (const auto& [metric, column] : part.columns) {
        if (!names_.contains(metric) && names_.size() >= kMaxMetricNames) continue;
        bool& steps = names_.emplace(metric, true).first->second;
        steps = steps && std::all_of(column.values.begin(), column.values.end(),
                                     [](double step) { return std::isnan(step) || IsStep(step); });
        begins.emplace(metric, column.values.front());
      }
      return true;
    });
    if (!bytes || !any) return false;
    files_.push_back({run_dir, name, *bytes, first, {}});
    begins_.push_back(std::move(begins));
    return true;
  }

  // Once all are read.
  void ChooseStep() {
    step_ = StepMetric(names_);
    const auto found = names_.find(step_);
    if (found == names_.end() || !found->second) step_.clear();
    for (std::size_t i = 0; i < files_.size(); ++i) {
      const auto begin = begins_[i].find(step_);
      if (begin != begins_[i].end()) files_[i].from = begin->second;
    }
  }

  bool Write(const std::string& prefix, const Put& put, std::uint64_t& scalars) const {
    double before = 0;  // reports
    double step = std::numeric_limits<double>::quiet_NaN();
    bool more = true;
    for (const ReadFile& file : files_) {
      ReadMetricParts(file.run_dir, file.name, file.bytes, [&](const MetricHistory& part) {
        more = WritePart(part, before, step, prefix, put, scalars);
        before += part.reports;
        return more;
      });
      if (!more) return false;
    }
    return true;
  }

 private:
  // `before`: reports of earlier parts; `step`: the last one, which a report without one has.
  bool WritePart(const MetricHistory& part, double before, double& step, const std::string& prefix, const Put& put,
                 std::uint64_t& scalars) const {
    const std::vector<double> steps = StepsOf(part, before, step);
    for (const auto& [name, column] : part.columns) {
      if (name == step_ || !names_.contains(name)) continue;
      for (std::size_t i = 0; i < column.reports.size(); ++i) {
        const double at = steps[column.reports[i]];
        const double number = before + column.reports[i] + 1;
        if (std::isnan(at) || IsReplaced(number, at)) continue;
        const double wall = run_->began + (run_->ended - run_->began) * number / reports_;
        if (!put(ScalarRecord(wall, static_cast<std::int64_t>(at), prefix + name,
                              static_cast<float>(column.values[i])))) {
          return false;
        }
        ++scalars;
      }
    }
    return true;
  }

  // Of each report of the part; NaN before the first step.
  std::vector<double> StepsOf(const MetricHistory& part, double before, double& step) const {
    std::vector<double> steps(part.reports);
    HeldValue held(part, step_, step);
    for (std::uint32_t i = 0; i < part.reports; ++i) {
      step = held.At(i);
      steps[i] = step_.empty() ? before + i + 1 : step;
    }
    return steps;
  }

  // Whether a later attempt repeated the step.
  bool IsReplaced(double number, double step) const {
    return std::any_of(files_.begin(), files_.end(),
                       [&](const ReadFile& file) { return file.from && number < file.first && step >= *file.from; });
  }

  const RunForTensorboard* run_;
  std::string role_;
  std::vector<ReadFile> files_;
  std::vector<std::map<std::string, double>> begins_;  // by file: the first value of each metric
  std::map<std::string, bool> names_;                  // of metrics; whether each value is a step
  std::string step_;
  double reports_ = 0;
};

// Of each role and directory the first process that reported anything.
std::vector<ProcessEvents> ReadProcesses(const RunForTensorboard& run) {
  std::vector<ProcessEvents> processes;
  for (const std::string& run_dir : run.run_dirs) {
    std::map<std::string, std::uint32_t> counts;  // role → index
    for (const MetricsFileName& file : MetricsFiles(run_dir)) {
      if (const auto known = counts.find(file.role); known != counts.end() && known->second != file.index) continue;
      auto process = std::find_if(processes.begin(), processes.end(),
                                  [&](const ProcessEvents& one) { return one.role() == file.role; });
      if (process == processes.end()) process = processes.emplace(processes.end(), run, file.role);
      if (process->Read(run_dir, file)) counts.emplace(file.role, file.index);
    }
  }
  std::erase_if(processes, [](const ProcessEvents& process) { return process.empty(); });
  for (ProcessEvents& process : processes) process.ChooseStep();
  return processes;
}

// What was found in a log. As of files, reports before a restart are replaced from the step on at which it continued.
bool WriteLog(const RunForTensorboard& run, const std::string& prefix, const Put& put, std::uint64_t& scalars) {
  const MetricHistory& history = run.log->history;
  std::string step = StepMetric(history.columns);
  if (const auto found = history.columns.find(step); found != history.columns.end()) {
    const auto& values = found->second.values;
    if (!std::all_of(values.begin(), values.end(), [](double at) { return std::isnan(at) || IsStep(at); }))
      step.clear();
  }
  // The step of each report: the last one that was found until then, or the number of the report.
  std::vector<double> steps(history.reports);
  HeldValue held(history, step);
  for (std::uint32_t i = 0; i < history.reports; ++i) steps[i] = step.empty() ? i + 1.0 : held.At(i);
  const auto is_replaced = [&](std::uint32_t report) {
    return std::any_of(run.log->attempt_starts.begin(), run.log->attempt_starts.end(), [&](std::uint32_t start) {
      return report < start && start < steps.size() && !step.empty() && steps[report] >= steps[start];
    });
  };
  for (const auto& [name, column] : history.columns) {
    if (name == step) continue;
    for (std::size_t i = 0; i < column.reports.size(); ++i) {
      const std::uint32_t report = column.reports[i];
      if (std::isnan(steps[report]) || is_replaced(report)) continue;
      const double wall = run.began + (run.ended - run.began) * (report + 1.0) / history.reports;
      const auto value = static_cast<float>(column.values[i]);
      if (!put(ScalarRecord(wall, static_cast<std::int64_t>(steps[report]), prefix + name, value))) return false;
      ++scalars;
    }
  }
  return true;
}

// The values at the end of a run.
bool WriteResults(const RunForTensorboard& run, const Put& put, std::uint64_t& scalars) {
  const auto given = run.results.find("step");
  const bool counted = given != run.results.end() && given->second.IsNumber() && IsStep(given->second.Number());
  for (const auto& [name, value] : run.results) {
    if (!value.IsNumber() || (counted && name == given->first)) continue;
    const auto step = counted ? static_cast<std::int64_t>(given->second.Number()) : 0;
    if (!put(ScalarRecord(run.ended, step, name, static_cast<float>(value.Number())))) return false;
    ++scalars;
  }
  return true;
}

}  // namespace

WrittenEvents WriteRunEvents(const RunForTensorboard& run, const std::function<bool(std::string_view)>& put) {
  WrittenEvents written;
  if (!put(FileVersionRecord(run.began)) || !put(SessionBeganRecord(run.began, run.parameters))) return written;
  const std::vector<ProcessEvents> processes = ReadProcesses(run);
  for (const ProcessEvents& process : processes) {
    const std::string prefix = processes.size() > 1 ? process.role() + "/" : "";
    if (!process.Write(prefix, put, written.scalars)) return written;
  }
  const std::string of_log = written.scalars == 0 ? "" : "log/";  // beside the metrics of processes
  if (run.log && !WriteLog(run, of_log, put, written.scalars)) return written;
  if (written.scalars == 0 && !WriteResults(run, put, written.scalars)) return written;
  if (run.status != SessionStatus::kRunning) put(SessionEndedRecord(run.ended, run.status));
  return written;
}

}  // namespace muster
