#include "sweep/head/optimizer_pipe.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/own_environment.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "spawn/start/reap.h"
#include "spawn/start/spawn_spec.h"

namespace muster {
namespace {

std::string LineOf(Value::Map object) {
  object.emplace("format", Value(1));
  return JsonText(Value(std::move(object))) + "\n";
}

// The axes that every point has, and the values that are the same in all, of the description as JSON.
void CollectAxes(const Value& space, Value::List& axes, Value::Map& fixed) {
  const Value* kind = FieldOf(space, "kind");
  const std::string name = kind != nullptr && kind->AsString() != nullptr ? *kind->AsString() : "";
  if (name == "axis") axes.push_back(space);
  const Value* values = FieldOf(space, "values");
  if (name == "fixed" && values != nullptr && values->AsMap() != nullptr) {
    fixed.insert(values->AsMap()->begin(), values->AsMap()->end());
  }
  const Value* parts = FieldOf(space, "parts");
  if ((name != "product" && name != "zip") || parts == nullptr || parts->AsList() == nullptr) return;
  for (const Value& part : *parts->AsList()) CollectAxes(part, axes, fixed);
}

constexpr std::size_t kMaxShown = 300;       // bytes of a wrong line
constexpr std::size_t kMaxSent = 16U << 20;  // bytes that are kept after they were sent

std::string Shown(std::string_view line) {
  return Quoted(line.substr(0, kMaxShown)) + (line.size() > kMaxShown ? " …" : "");
}

}  // namespace

std::string OptimizerLines::Begin(const SweepDescription& sweep, const std::string& sweep_id, std::uint64_t trials) {
  const Value description = SweepDescriptionValue(sweep);
  Value::Map begin = {{"event", Value("begin")}, {"name", Value(sweep.name)}, {"sweep", Value(sweep_id)}};
  Value::List axes;
  Value::Map fixed;
  if (const Value* space = FieldOf(description, "space")) {
    CollectAxes(*space, axes, fixed);
    begin["space"] = *space;
  }
  begin["axes"] = Value(std::move(axes));
  begin["fixed"] = Value(std::move(fixed));
  begin["seed"] = Value(static_cast<std::int64_t>(sweep.sampler.seed));
  begin["trials"] = Value(static_cast<std::int64_t>(trials));
  if (sweep.objective) {
    begin["metric"] = Value(sweep.objective->metric);
    begin["direction"] = Value(sweep.objective->maximize ? "maximize" : "minimize");
  }
  if (sweep.second_objective) {
    begin["second_metric"] = Value(sweep.second_objective->metric);
    begin["second_direction"] = Value(sweep.second_objective->maximize ? "maximize" : "minimize");
  }
  if (const Value* constraints = FieldOf(description, "constraints")) begin["constraints"] = *constraints;
  return LineOf(std::move(begin));
}

std::string OptimizerLines::Line(TrialNumber trial, std::string_view state, std::string_view trial_class,
                                 const AttemptEnded* ended) const {
  const auto point = points_.find(trial);
  if (point == points_.end()) return {};
  Value::Map result = {{"event", Value("result")},
                       {"trial", Value(static_cast<std::int64_t>(trial))},
                       {"point", Value(point->second)},
                       {"state", Value(std::string(state))}};
  if (!trial_class.empty()) result["class"] = Value(std::string(trial_class));
  if (ended != nullptr && ended->loss) {
    result["value"] = Value(ObjectiveValue(objective_, *ended->loss));
    if (const auto second = second_ ? LossOf(*second_, ended->metrics) : std::nullopt) {
      result["second_value"] = Value(ObjectiveValue(second_, *second));
    }
    Value::List beyond;
    for (const double by : ExcessOf(constraints_, ended->metrics)) {
      beyond.push_back(std::isfinite(by) ? Value(by) : Value());
    }
    if (!beyond.empty()) result["excess"] = Value(std::move(beyond));
  }
  return LineOf(std::move(result));
}

std::string OptimizerLines::Take(const SweepEntry& entry) {
  std::string lines;
  if (const auto* judged = std::get_if<PointsJudged>(&entry)) {
    for (std::size_t i = 0; i < judged->points.size(); ++i) points_[judged->first + i] = judged->points[i];
    for (const PointsJudged::Reason& reason : judged->impossible) {
      for (const auto& [first, last] : reason.trials) {
        for (TrialNumber trial = first; trial <= last; ++trial) lines += Line(trial, "impossible", {});
      }
    }
  } else if (const auto* ended = std::get_if<AttemptEnded>(&entry); ended != nullptr && !ended->again) {
    const bool failed = IsFailure(ended->trial_class) || !ended->loss;
    const std::string_view state = failed                                       ? "failed"
                                   : ended->trial_class == TrialClass::kStopped ? "pruned"
                                                                                : "complete";
    lines = Line(ended->trial, state, TrialClassName(ended->trial_class), failed ? nullptr : ended);
  }
  return lines;
}

namespace {

// The point with values as the space has them; nothing if the space does not have it.
std::optional<Point> PointInSpace(Point point, const CompiledSpace& space) {
  const auto spans = space.Locate(point);
  if (!spans) return std::nullopt;
  const auto centre = [&](const std::string& dimension) {
    const auto span = spans->find(dimension);
    constexpr double kLast = 1 - 0x1p-53;
    return span == spans->end() ? 0 : std::clamp((span->second.low + span->second.high) / 2, 0.0, kLast);
  };
  Point own = space.From(centre);
  for (const Axis& axis : space.continuous()) {  // as precise as the program has it
    if (axis.kind == Axis::Kind::kIntLogUniform) continue;
    const auto given = point.find(axis.name);
    if (given != point.end() && own.contains(axis.name)) own[axis.name] = Value(given->second.Number());
  }
  return own.size() == point.size() ? std::optional(std::move(own)) : std::nullopt;
}

}  // namespace

tl::expected<std::vector<Point>, std::string> ReadOptimizerAnswer(std::string_view line, std::uint64_t count,
                                                                  const Space& described, const CompiledSpace& space) {
  const auto refuse = [&](const std::string& why) {
    return tl::unexpected<std::string>(fmt::format("wrote {}: {}", Shown(line), why));
  };
  const auto json = ValueFromJsonText(line);
  if (!json) return refuse(json.error());
  const Value* list = json->AsMap() == nullptr ? nullptr : FieldOf(*json, "points");
  if (list == nullptr || list->AsList() == nullptr || json->AsMap()->size() != 1) {
    return refuse("an answer is {\"points\": [{\"NAME\": VALUE, …}, …]}");
  }
  if (list->AsList()->size() > count) {
    return refuse(fmt::format("{} points, and it was asked for {}", list->AsList()->size(), count));
  }
  std::vector<Point> points;
  for (const Value& each : *list->AsList()) {
    if (each.AsMap() == nullptr) return refuse("a point is an object of names and values");
    auto complete = CompletePoint(described, *each.AsMap());
    if (!complete) return refuse(complete.error().front().message);
    auto point = PointInSpace(*complete, space);
    if (!point) return refuse(fmt::format("the space of the sweep has no point {}", PointText(*complete)));
    points.push_back(*std::move(point));
  }
  return points;
}

Result<void> OptimizerPipe::Check(const SamplerChoice& choice) {
  SpawnSpec spec;
  spec.argv = choice.command;
  spec.env = OwnEnvironment();
  const auto found = FindProgram(spec);
  if (found) return {};
  return muster::Fail(Error(
      "optimizer", choice.place,
      fmt::format("the optimizer {} cannot be started: {}", ShellQuoted(choice.command), SpawnErrorText(found.error())),
      "its first word is a program on PATH, or a path with a slash"));
}

OptimizerPipe::OptimizerPipe(boost::asio::io_context& io, const SweepDescription& sweep, const CompiledSpace& space,
                             Calls calls)
    : sweep_(sweep),
      space_(space),
      calls_(std::move(calls)),
      in_(io.get_executor()),
      out_(io.get_executor()),
      deadline_(io) {}

tl::expected<std::shared_ptr<OptimizerPipe>, std::string> OptimizerPipe::Start(boost::asio::io_context& io,
                                                                               const SweepDescription& sweep,
                                                                               const CompiledSpace& space,
                                                                               std::string input, Calls calls) {
  int in[2] = {-1, -1};
  int out[2] = {-1, -1};
  // A socket: writing to one whose reader has ended is an error and no signal.
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) {
    return tl::unexpected<std::string>("no socket for its input");
  }
  const UniqueFd child_in(in[0]);
  UniqueFd own_in(in[1]);
  if (::pipe2(out, O_CLOEXEC) != 0) return tl::unexpected<std::string>("no pipe for its output");
  UniqueFd own_out(out[0]);
  const UniqueFd child_out(out[1]);
  ::shutdown(own_in.get(), SHUT_RD);
  ::fcntl(own_in.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(own_out.get(), F_SETFL, O_NONBLOCK);
  std::shared_ptr<OptimizerPipe> pipe(new OptimizerPipe(io, sweep, space, std::move(calls)));
  Launcher launcher;
  SpawnSpec spec;
  spec.argv = sweep.sampler.command;
  spec.stdin_fd = child_in.get();
  spec.stdout_fd = child_out.get();
  spec.parent_death_signal = SIGTERM;
  auto command = WatchedCommand::Start(io, launcher, std::move(spec), [weak = std::weak_ptr(pipe)] {
    if (const auto self = weak.lock()) self->OnEnd();
  });
  if (!command) return tl::unexpected(std::move(command.error()));
  pipe->command_ = std::move(*command);
  boost::system::error_code error;
  pipe->in_.assign(own_in.get(), error);
  if (!error) static_cast<void>(own_in.release());
  pipe->out_.assign(own_out.get(), error);
  if (!error) static_cast<void>(own_out.release());
  pipe->AwaitAnswers();
  pipe->Tell(input);
  return pipe;
}

OptimizerPipe::~OptimizerPipe() {
  if (!command_ || command_->end()) return;
  boost::system::error_code ignored;
  in_.close(ignored);  // which asks it to end
  if (failed_ || !command_->EndsWithin(kPartingTime)) {
    command_->Signal(SIGTERM);
    command_->EndsWithin(kPartingTime);
  }
  command_->KillSession();
  command_->Take();
}

void OptimizerPipe::Tell(const std::string& lines) {
  if (lines.empty() || failed_) return;
  waits_for_results_ = false;
  unread_ += lines;
  if (unread_.size() > kMaxUnread) return Fail("does not read its input");
  Write();
}

bool OptimizerPipe::Ask(std::uint64_t first, std::uint64_t count) {
  if (question_ || failed_) return true;
  if (waits_for_results_) return false;
  if (command_->end()) {  // it may end once it has given the last points
    Fail(EndText(*command_->end()) + ", and more points are needed");
    return true;
  }
  question_ = Question{first, count};
  deadline_.expires_after(std::chrono::milliseconds(sweep_.sampler.timeout_ms));
  deadline_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || !self->question_) return;
    self->Fail(fmt::format("did not answer within {}",
                           DurationText(static_cast<double>(self->sweep_.sampler.timeout_ms) / 1000)));
  });
  unread_ += LineOf({{"event", Value("ask")},
                     {"first", Value(static_cast<std::int64_t>(first))},
                     {"count", Value(static_cast<std::int64_t>(count))}});
  Write();
  return true;
}

void OptimizerPipe::Write() {
  while (!writing_ && !unread_.empty() && in_.is_open()) {
    const ssize_t sent =
        ::send(in_.native_handle(), unread_.data() + sent_, unread_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      sent_ += static_cast<std::size_t>(sent);
      if (sent_ < unread_.size() && sent_ < kMaxSent) continue;
      unread_.erase(0, std::exchange(sent_, 0));
      continue;
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN) return;  // it has ended, or will
    writing_ = true;
    in_.async_wait(WatchedFd::wait_write, [weak = weak_from_this()](const boost::system::error_code& error) {
      const auto self = weak.lock();
      if (error || !self) return;
      self->writing_ = false;
      self->Write();
    });
  }
}

void OptimizerPipe::AwaitAnswers() {
  if (!out_.is_open()) return;
  out_.async_wait(WatchedFd::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->failed_) return;
    if (self->ReadAnswers() && !self->failed_) self->AwaitAnswers();
  });
}

// False at the end of the stream.
bool OptimizerPipe::ReadAnswers() {
  char bytes[16'384];
  while (!failed_) {
    const ssize_t got = out_.is_open() ? ::read(out_.native_handle(), bytes, sizeof bytes) : 0;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    answer_.append(bytes, static_cast<std::size_t>(got));
    for (std::size_t end = answer_.find('\n'); end != std::string::npos && !failed_; end = answer_.find('\n')) {
      const std::string line = answer_.substr(0, end);
      answer_.erase(0, end + 1);
      TakeLine(line);
    }
    if (answer_.size() > kMaxAnswer) Fail(fmt::format("wrote a line of more than {} bytes", kMaxAnswer));
  }
  return false;
}

void OptimizerPipe::TakeLine(const std::string& line) {
  if (!question_) return Fail(fmt::format("wrote {}, and it was not asked", Shown(line)));
  const Question question = *std::exchange(question_, std::nullopt);
  deadline_.cancel();
  auto points = ReadOptimizerAnswer(line, question.count, sweep_.space, space_);
  if (!points) return Fail(points.error());
  waits_for_results_ = points->empty();
  calls_.answered(question.first, *std::move(points));
}

void OptimizerPipe::OnEnd() {
  const auto keep = shared_from_this();
  ReadAnswers();
  command_->KillSession();
  command_->Take();
  if (question_) Fail(EndText(*command_->end()) + " while it was asked for points");
}

std::string OptimizerPipe::Name() const { return ShellQuoted(sweep_.sampler.command); }

void OptimizerPipe::Fail(const std::string& what) {
  if (std::exchange(failed_, true)) return;
  deadline_.cancel();
  question_.reset();
  std::string words = command_->Words();
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  const std::size_t line = words.rfind('\n');
  if (line != std::string::npos) words.erase(0, line + 1);
  std::string why = fmt::format("the optimizer {} {}", Name(), what);
  if (!words.empty()) why += "; its last message: " + Printable(words.substr(0, kMaxShown));
  calls_.failed(why);
}

}  // namespace muster
