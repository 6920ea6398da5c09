#include "run/control/control_protocol.h"

#include <algorithm>
#include <array>
#include <utility>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>

#include "base/system/clock.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "muster/value.h"
#include "run/lines/json_lines.h"
#include "wire/archive/json_schema.h"

namespace muster {

// In the order of ControlRequest::Ask.
constexpr std::array<std::string_view, 9> kAskNames = {"status", "stop",  "watch", "dump", "processes",
                                                       "open",   "steer", "fault", "edit"};

// Members are in the order of their names.

template <class V>
void Fields(V& v, ControlRequest& request) {
  std::int64_t format = kControlFormat;
  v("add_trials", As<UnlessNone>(request.add_trials)), v("ask", WithNames(request.ask, kAskNames));
  v("device_hours", As<UnlessNone>(request.device_hours)), v("dump", As<UnlessNone>(request.dump));
  v("edit", As<UnlessNone>(request.edit)), v("fault", As<UnlessNone>(request.fault)), v("format", format);
  v("lasts_ms", As<UnlessNone>(request.lasts_ms)), v("now", As<UnlessNone>(request.now));
  v("points", As<UnlessNone>(request.points)), v("slots", As<UnlessNone>(request.slots));
  v("target", As<UnlessNone>(request.target)), v("trial", As<UnlessNone>(request.trial));
  v("unskip", As<UnlessNone>(request.unskip));
}

template <class V>
void Fields(V& v, SweepLimits& limits) {
  v("max_device_hours", As<UnlessNone>(limits.max_device_hours));
  v("max_trials", As<UnlessNone>(limits.max_trials)), v("slots", As<UnlessNone>(limits.slots));
  v("trials", limits.trials);
}

template <class V>
void Fields(V& v, RoleStatus& role) {
  v("ended", role.ended), v("restarts", role.restarts), v("role", role.name), v("running", role.running);
  v("waiting", role.waiting);
}

template <class V>
void Fields(V& v, RunStatus& status) {
  v("name", status.name), v("phase", status.phase), v("pid", status.pid), v("plan", status.plan);
  v("records", status.records), v("roles", status.roles), v("run", status.run), v("stops", status.stops);
  v("waits", status.waits);
}

template <class V>
void Fields(V& v, ProcessStatus& process) {
  v("attempt", process.attempt), v("exit_code", As<UnlessNone>(process.exit_code)), v("host", process.host);
  v("index", process.index), v("pid", process.pid), v("ran_ms", process.ran_ms);
  v("rank", As<UnlessNone>(process.rank)), v("role", process.role), v("signal", process.signal);
  v("spawn_stage", process.spawn_stage), v("start_ticks", process.start_ticks), v("state", process.state);
}

// The answer to a refused request.
struct ControlRefusal {
  std::string error;
  std::string muster = MUSTER_VERSION;  // of the head
};
template <class V>
void Fields(V& v, ControlRefusal& refusal) {
  std::int64_t format = kControlFormat;
  bool ok = false;
  v("error", refusal.error), v("format", format), v("muster", MayBeMissing(refusal.muster)), v("ok", ok);
  if constexpr (V::kReading) {
    if (format != kControlFormat || ok || refusal.error.empty()) v.Fail();
  }
}

// The answer to an accepted request.
template <class V>
void Fields(V& v, ControlAnswer& answer) {
  std::int64_t format = kControlFormat;
  bool ok = true;
  v("already", answer.already), v("dump", As<UnlessNone>(answer.dump)), v("format", format);
  v("limits", As<UnlessNone>(answer.limits)), v("ok", ok);
  if constexpr (V::kReading) {
    std::optional<std::vector<ProcessStatus>> processes;
    std::optional<std::uint64_t> ran_ms;
    v("processes", As<UnlessNone>(processes)), v("ran_ms", As<UnlessNone>(ran_ms));
    if (format != kControlFormat || !ok || processes.has_value() > ran_ms.has_value()) return v.Fail();
    if (processes) answer.processes = {*ran_ms, *std::move(processes)};
  } else {
    auto processes = answer.processes.value_or(ProcessStatuses{});
    v("processes", OnlyIf(answer.processes.has_value(), processes.processes));
    v("ran_ms", OnlyIf(answer.processes.has_value(), processes.ran_ms));
  }
  v("status", answer.status), v("under_way", As<UnlessNone>(answer.under_way));
}

namespace {

using Ask = ControlRequest::Ask;

constexpr std::uint32_t kMaxSlots = 1'000'000;

tl::unexpected<std::string> Refused(std::string why) { return tl::unexpected<std::string>(std::move(why)); }

// The object of a line whose format is supported.
tl::expected<Value, std::string> ObjectOf(std::string_view line) {
  tl::expected<Value, std::string> json = ValueFromJsonText(line);
  if (!json) return Refused("the line is not valid JSON: " + json.error());
  if (json->AsMap() == nullptr) return Refused("the line is not a JSON object");
  const Value* format = FieldOf(*json, "format");
  if (format == nullptr) return Refused("missing member \"format\"; this muster supports format 1");
  if (*format != Value(kControlFormat)) {
    return Refused(fmt::format("format {} is not supported, only format {}", Printable(JsonText(*format)).substr(0, 80),
                               kControlFormat));
  }
  return json;
}

template <class T>
std::string Line(const T& object) {
  return JsonOf(object) + '\n';
}

}  // namespace

std::string ControlRequestSchema() { return SchemaOf(ControlRequest()); }

std::string ControlAnswerSchema() { return schema::Either({SchemaOf(ControlAnswer()), SchemaOf(ControlRefusal())}); }

tl::expected<ControlRequest, std::string> ParseControlRequest(std::string_view line) {
  const tl::expected<Value, std::string> object = ObjectOf(line);
  if (!object) return Refused(object.error());
  const Value* ask = FieldOf(*object, "ask");
  if (ask == nullptr)
    return Refused("missing member \"ask\": status, stop, watch, dump, processes, open, steer, fault or edit");
  const std::string word = ask->AsString() != nullptr ? *ask->AsString() : JsonText(*ask);
  if (std::find(kAskNames.begin(), kAskNames.end(), word) == kAskNames.end()) {
    return Refused(fmt::format("unknown request {}; {}", Quoted(word),
                               DidYouMean(word, std::vector<std::string>(kAskNames.begin(), kAskNames.end()))));
  }
  ControlRequest request;
  JsonReader reader(JsonReading::kClosed);
  reader.Get(*object, request);
  if (request.slots && (*request.slots == 0 || *request.slots > kMaxSlots))
    reader.Wrong("slots", fmt::format("a whole number from 1 to {}", kMaxSlots));
  if (!reader.ok()) return Refused(reader.problem() + "; unknown keys and values of the wrong type are refused");
  if (request.now && request.ask != Ask::kStop) return Refused("\"now\" is valid only for a stop");
  if (request.dump && request.ask != Ask::kStop) return Refused("\"dump\" is valid only for a stop");
  if (request.trial.has_value() != (request.ask == Ask::kOpen))
    return Refused("\"trial\" is required for open, and valid only for it");
  const bool no_fault = request.fault.empty() && request.target.empty() && request.lasts_ms == 0;
  const bool whole = !request.fault.empty() && request.target.empty() == (request.fault == "head");
  if (request.ask == Ask::kFault ? !whole : !no_fault) {
    return Refused(
        "\"fault\" and \"target\" (of all but \"head\") are required for fault, and valid only for it, like "
        "\"lasts_ms\"");
  }
  if (request.device_hours && !(*request.device_hours > 0)) return Refused("\"device_hours\" must be above 0");
  const bool steers = request.slots || request.add_trials > 0 || request.device_hours || !request.points.empty() ||
                      !request.unskip.empty();
  if (steers != (request.ask == Ask::kSteer)) {
    return Refused(
        "\"slots\", \"add_trials\", \"device_hours\", \"points\" or \"unskip\" are required for steer, and valid only "
        "for it");
  }
  if (request.edit.empty() == (request.ask == Ask::kEdit))
    return Refused("\"edit\" is required for edit, and valid only for it");
  return request;
}

std::string ControlRequestLine(const ControlRequest& request) { return Line(request); }

std::string ControlAnswerLine(const ControlAnswer& answer) {
  return answer.error.empty() ? Line(answer) : Line(ControlRefusal{answer.error});
}

tl::expected<ControlAnswer, std::string> ParseControlAnswer(std::string_view line) {
  if (IsUtf8(line)) {
    ControlAnswer answer;
    LineReader reader(line);
    reader.Get(answer);
    if (reader.AtEnd()) return answer;
  }
  const tl::expected<Value, std::string> object = ObjectOf(line);
  if (!object) return Refused(object.error());
  ControlRefusal refusal;
  JsonReader refused;
  refused.Get(*object, refusal);
  if (refused.ok()) {
    if (refusal.muster == MUSTER_VERSION) return ControlAnswer{refusal.error, false, {}};
    return ControlAnswer{fmt::format("{} (the head is muster {}, this is muster " MUSTER_VERSION ")", refusal.error,
                                     Printable(refusal.muster).substr(0, 80)),
                         false,
                         {}};
  }
  ControlAnswer answer;
  JsonReader reader;
  reader.Get(*object, answer);
  if (!reader.ok()) return Refused("the answer is invalid: " + reader.problem());
  return answer;
}

namespace {

constexpr std::uint64_t kPatienceNs = 10'000'000'000;

tl::unexpected<Diagnostics> NoAnswer(std::string_view why) {
  return Fail(MachineError("control", fmt::format("the head of the run does not answer: {}", Printable(why))));
}

}  // namespace

Result<ControlConnection> ControlConnection::Open(const std::string& run_dir) {
  const UniqueFd folder(::open(run_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return Fail(SystemError("control", "cannot open " + Quoted(run_dir), errno));
  ControlConnection connection;
  connection.socket_ = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const sockaddr_un address = ControlAddress(folder.get());
  if (!connection.socket_ ||
      ::connect(connection.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Fail(SystemError("control", "the control socket of " + Quoted(run_dir) + " leads nowhere", errno));
  }
  return connection;
}

Result<void> ControlConnection::Send(const ControlRequest& request) {
  const std::string line = ControlRequestLine(request);
  // One short line fits into an empty buffer: it is sent completely or not at all.
  if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(line.size())) {
    return NoAnswer("it does not listen");
  }
  return {};
}

Result<ControlAnswer> ControlConnection::Ask(const ControlRequest& request) {
  if (Result<void> sent = Send(request); !sent) return Fail(std::move(sent.error()));
  const std::uint64_t deadline = MonotonicNowNs() + kPatienceNs;
  std::optional<std::string> answer = TakeLine();
  while (!answer) {
    const std::uint64_t now = MonotonicNowNs();
    pollfd ready{socket_.get(), POLLIN, 0};
    if (now >= deadline) return NoAnswer("it may be stopped, or its machine overloaded");
    if (::poll(&ready, 1, static_cast<int>((deadline - now) / 1'000'000) + 1) <= 0) continue;
    const bool open = Receive();
    answer = TakeLine();
    if (!answer && !open) return NoAnswer("it closed the connection");
  }
  tl::expected<ControlAnswer, std::string> parsed = ParseControlAnswer(*answer);
  if (!parsed) return NoAnswer(parsed.error());
  if (!parsed->error.empty()) return Fail(MachineError("control", "the head refuses: " + Printable(parsed->error)));
  return std::move(*parsed);
}

std::optional<std::string> ControlConnection::TakeLine() {
  const std::size_t end = input_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = input_.substr(0, end);
  input_.erase(0, end + 1);
  return line;
}

bool ControlConnection::Receive() {
  std::array<char, 64U << 10> bytes;
  const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  input_.append(bytes.data(), static_cast<std::size_t>(got));
  return input_.size() <= kMaxControlLine || input_.find('\n') != std::string::npos;
}

}  // namespace muster
