#include "pods/pod_transport.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/system/own_environment.h"
#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "muster/diagnostic.h"
#include "spawn/start/watched_fd.h"
#include "transport/watched_command.h"

namespace muster {
namespace {

constexpr std::size_t kMaxLine = 300;
// What `exec` adds to its stderr if the program in the container failed.
constexpr std::string_view kRemoteEnd = "command terminated with exit code";
constexpr std::string_view kAgentName = "muster-agent: ";

struct Known {
  std::string_view words;
  std::string_view hint;
};

// The first that occurs in a message.
constexpr std::array kKnown = {
    Known{"no matches for kind \"JobSet\"", "the cluster has no JobSets: --as job, or install JobSet"},
    Known{"the server doesn't have a resource type \"jobset",
          "the cluster has no JobSets: --as job, or install JobSet"},
    Known{"executable file not found", "the image needs muster-agent on its PATH; --agent names another path"},
    Known{"no such file or directory", "the image needs muster-agent on its PATH; --agent names another path"},
    Known{"exceeded quota", "ask for less, or for another namespace: --kubernetes namespace=NAME"},
    Known{"(Forbidden)", "kubectl auth can-i create jobs, pods and pods/exec, get pods, delete jobs: all are needed"},
    Known{"(Unauthorized)", "log in to the cluster again; kubectl auth whoami"},
    Known{"You must be logged in", "log in to the cluster again; kubectl auth whoami"},
    Known{"was refused - did you specify the right host or port",
          "kubectl config current-context: is it the right one?"},
    Known{"context was not found", "kubectl config get-contexts lists the contexts"},
    Known{"does not exist", "kubectl config get-contexts lists the contexts"},
};

std::vector<std::string> Begin(const PodSettings& settings, std::initializer_list<std::string> words) {
  std::vector<std::string> argv = {settings.program};
  argv.insert(argv.end(), settings.options.begin(), settings.options.end());
  argv.insert(argv.end(), words);
  return argv;
}

std::string Selector(const PodSettings& settings, const std::string& run) {
  return "--selector=" + settings.label + "=" + run;
}

// The last line that is not about the exit code of the program in the container.
std::string_view LastOwnLine(std::string_view words) {
  std::string_view last;
  for (std::string_view line : TextLines(words)) {
    line = Trimmed(line);
    if (!line.empty() && line.find(kRemoteEnd) == std::string_view::npos) last = line;
  }
  return last;
}

}  // namespace

std::vector<std::string> ApplyWords(const PodSettings& settings) { return Begin(settings, {"apply", "--filename=-"}); }

std::vector<std::string> WatchWords(const PodSettings& settings, const std::string& run) {
  return Begin(settings, {"get", "pods", Selector(settings, run), "--watch", "--output-watch-events", "--output=json"});
}

std::vector<std::string> AgentWords(const PodSettings& settings, const std::string& pod) {
  std::vector<std::string> argv = Begin(settings, {"exec", "--stdin", "--container=" + settings.container, pod, "--",
                                                   settings.agent, "--stdio", "--held"});
  argv.insert(argv.end(), settings.agent_words.begin(), settings.agent_words.end());
  return argv;
}

std::vector<std::string> DeleteWords(const PodSettings& settings, const std::vector<std::string>& kinds,
                                     const std::string& run) {
  std::string all;
  for (const std::string& kind : kinds) all += (all.empty() ? "" : ",") + kind;
  return Begin(settings, {"delete", all, Selector(settings, run), "--ignore-not-found", "--wait=false"});
}

bool IsKubectlFailure(const EndedProcess& end, std::string_view words) {
  if (end.signalled) return true;
  if (end.code == 0 || words.find(kRemoteEnd) != std::string_view::npos) return false;
  return !LastOwnLine(words).starts_with(kAgentName);
}

CommandFailure KubectlFailure(const EndedProcess& end, std::string_view words) {
  const std::string_view line = LastOwnLine(words);
  CommandFailure failure;
  if (line.starts_with(kAgentName)) {
    failure.phrase = Printable(line.substr(0, kMaxLine));
    return failure;
  }
  failure.phrase = "kubectl " + EndText(end);
  if (!line.empty()) failure.phrase = "kubectl: " + Printable(line.substr(0, kMaxLine));
  for (const Known& known : kKnown) {
    if (words.find(known.words) == std::string_view::npos) continue;
    failure.hint = known.hint;
    break;
  }
  return failure;
}

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxText = 300;
constexpr std::size_t kMaxName = 253;  // of an object of a cluster

// Reasons for which a container waits, and that need somebody: a first ErrImagePull is tried again by the node.
constexpr std::array<std::string_view, 7> kStuck = {
    "ImagePullBackOff",     "InvalidImageName",           "ErrImageNeverPull", "ImageInspectError",
    "CreateContainerError", "CreateContainerConfigError", "RunContainerError"};

const Json& At(const Json& json, const char* name) {
  static const Json kNone;
  if (!json.is_object()) return kNone;
  const auto found = json.find(name);
  return found == json.end() ? kNone : *found;
}

std::string TextAt(const Json& json, const char* name) {
  const Json& text = At(json, name);
  return text.is_string() ? text.get<std::string>() : std::string();
}

// "Evicted: The node was low on resource: memory."
std::string Phrase(const std::string& reason, const std::string& message) {
  std::string phrase = reason;
  if (!message.empty()) phrase += (phrase.empty() ? "" : ": ") + message.substr(0, message.find('\n'));
  phrase = Printable(phrase.substr(0, kMaxText));
  while (phrase.ends_with('.') || phrase.ends_with(' ')) phrase.pop_back();
  return phrase;
}

const Json& ContainerOf(const Json& status, const std::string& container) {
  static const Json kNone;
  const Json& all = At(status, "containerStatuses");
  if (!all.is_array()) return kNone;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Json& one) { return TextAt(one, "name") == container; });
  return found == all.end() ? kNone : *found;
}

// What a condition of the pod says, if it has that status.
std::string ConditionText(const Json& status, std::string_view type, std::string_view wanted) {
  const Json& all = At(status, "conditions");
  if (!all.is_array()) return {};
  for (const Json& one : all) {
    if (TextAt(one, "type") == type && TextAt(one, "status") == wanted) {
      return Phrase(TextAt(one, "reason"), TextAt(one, "message"));
    }
  }
  return {};
}

std::optional<std::uint32_t> IndexOf(const std::string& host_name) {
  const std::size_t dash = host_name.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  return ParseNumber<std::uint32_t>(std::string_view(host_name).substr(dash + 1));
}

// Why a pod is being taken away, or was.
std::string DisruptionText(const Json& status) {
  if (std::string text = ConditionText(status, "DisruptionTarget", "True"); !text.empty()) return text;
  return Phrase(TextAt(status, "reason"), TextAt(status, "message"));
}

void Judge(const Json& pod, bool deleted, const std::string& container, PodStatus& reported) {
  const Json& status = At(pod, "status");
  const std::string phase = TextAt(status, "phase");
  const Json& state = At(ContainerOf(status, container), "state");
  const Json& terminated = At(state, "terminated");
  const std::string disruption = DisruptionText(status);
  if (deleted || phase == "Failed" || phase == "Succeeded" || terminated.is_object()) {
    reported.state = PodState::kEnded;
    std::string reason = TextAt(terminated, "reason");
    if (reason == "Error" || reason == "Completed") reason.clear();  // says nothing
    reported.why = !disruption.empty() ? disruption
                   : !reason.empty()   ? Phrase(reason, TextAt(terminated, "message"))
                   : deleted           ? "it was deleted"
                                       : Phrase("it ended", TextAt(terminated, "message"));
    return;
  }
  if (At(state, "running").is_object()) {
    reported.state = PodState::kRunning;
    reported.why = disruption;
    return;
  }
  const Json& waiting = At(state, "waiting");
  const std::string reason = TextAt(waiting, "reason");
  reported.state =
      std::find(kStuck.begin(), kStuck.end(), reason) == kStuck.end() ? PodState::kWaiting : PodState::kStuck;
  reported.why = Phrase(reason, TextAt(waiting, "message"));
  if (reported.why.empty()) reported.why = ConditionText(status, "PodScheduled", "False");
}

}  // namespace

std::optional<PodStatus> ReadPodEvent(std::string_view json, const std::string& container) {
  const Json event = Json::parse(json, nullptr, false);
  const Json& pod = At(event, "object");
  if (TextAt(pod, "kind") != "Pod") return std::nullopt;
  PodStatus reported;
  reported.name = TextAt(At(pod, "metadata"), "name");
  const auto sound = [](char c) { return (c >= 'a' && c <= 'z') || IsDigit(c) || c == '-' || c == '.'; };
  if (reported.name.empty() || reported.name.size() > kMaxName || reported.name.front() == '-' ||
      !std::all_of(reported.name.begin(), reported.name.end(), sound)) {
    return std::nullopt;
  }
  reported.index = IndexOf(TextAt(At(pod, "spec"), "hostname"));
  Judge(pod, TextAt(event, "type") == "DELETED", container, reported);
  return reported;
}

std::vector<std::string> JsonStream::Feed(std::string_view bytes) {
  std::vector<std::string> objects;
  for (const char c : bytes) {
    if (broken_) break;
    if (depth_ == 0) {
      if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
      if (c != '{') broken_ = true;
    }
    object_ += c;
    if (object_.size() > kMaxBytes) broken_ = true;
    if (in_text_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_text_ = false;
      }
      continue;
    }
    if (c == '"') in_text_ = true;
    if (c == '{') ++depth_;
    if (c == '}' && --depth_ == 0) objects.push_back(std::exchange(object_, {}));
  }
  return objects;
}

// The pods of one run: made by `kubectl apply`, watched by `kubectl get --watch`, and deleted at the end, whatever ends
// this process.
//
// A process of its own waits on a pipe for the end of this one, and then deletes the objects: it is started before they
// exist. If it is killed as well, the pods end by themselves (agent/program/agent_guard.h). Carries the connections to
// the agents through `kubectl exec`.
class PodSet final : public HostCommands, public std::enable_shared_from_this<PodSet> {
 public:
  // How long the deletion may take before this process goes on without it.
  static constexpr std::chrono::seconds kDeletePatience{30};

  // `io` must outlive the object. Pods are made one turn of the loop after the first Enter(), one for each host that
  // has entered by then; hosts that enter later are refused.
  PodSet(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, PodSettings settings);
  ~PodSet() override { End(); }
  PodSet(const PodSet&) = delete;
  PodSet& operator=(const PodSet&) = delete;

  std::string_view name() const override { return "kubectl"; }
  void Enter(const TransportHost& host, Calls calls) override;
  void KnowRun(const std::string& run) override { run_ = run; }
  void Passed(std::uint32_t host) override { static_cast<void>(host); }
  // With the last host the pods are deleted, which waits for kubectl's answer: nothing is left before its last message.
  void Left(std::uint32_t host) override;
  CommandFailure FailureOf(std::uint32_t host, const EndedProcess& end, const std::string& words) override;
  std::optional<std::string> OwnFailure(const EndedProcess& end, const std::string& words) const override;
  bool MayKnowMore(const EndedProcess& end) const override;

 private:
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;

  struct Host {
    Calls calls;
    bool begun = false;
    bool ended = false;
    std::string last;  // what its pod waits for
  };

  void Begin();
  void End();
  std::string StartDeleter(const std::vector<std::string>& kinds);
  void Apply(const std::string& manifest);
  void OnApplied();
  void Watch();
  void AwaitEvents();
  bool ReadEvents();
  void OnWatchEnd();
  void OnPod(const PodStatus& pod);
  void OnLate();
  void Refuse(const CommandFailure& failure);  // every host without an agent
  void RefuseOne(std::uint32_t host, CommandFailure failure);

  boost::asio::io_context& io_;
  const std::shared_ptr<Launcher> launcher_;
  const PodSettings settings_;
  std::string run_;
  std::map<std::uint32_t, Host> hosts_;
  bool begun_ = false;
  std::uint32_t pods_ = 0;  // that were asked for
  UniqueFd life_;           // its end starts the deletion
  std::optional<Spawned> deleter_;
  std::shared_ptr<WatchedCommand> apply_;
  std::shared_ptr<WatchedCommand> watch_;
  WatchedFd events_;
  JsonStream stream_;
  bool answered_ = false;    // the watch has said something, ever
  std::uint32_t quiet_ = 0;  // watches in a row that said nothing
  Timer again_;
  Timer late_;
};

namespace {

constexpr std::size_t kRunBytes = 8;
constexpr std::uint32_t kMaxPause = 32;  // seconds between two watches

// The keyboard's signals are for muster; the deletion is not to be interrupted by them.
constexpr const char* kDeleter = R"(trap "" INT HUP TERM; read -r end
case $end in off) exit 0 ;; quiet) exec "$@" >/dev/null 2>&1 ;; esac
exec "$@" >/dev/null)";
constexpr std::string_view kDeleteNothing = "off\n";
constexpr std::string_view kDeleteQuietly = "quiet\n";  // the reason of a failure has been reported

}  // namespace

PodSet::PodSet(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, PodSettings settings)
    : io_(io),
      launcher_(std::move(launcher)),
      settings_(std::move(settings)),
      events_(io.get_executor()),
      again_(io.get_executor()),
      late_(io.get_executor()) {}

void PodSet::Left(std::uint32_t host) {
  hosts_.erase(host);
  if (begun_ && hosts_.empty()) End();
}

void PodSet::End() {
  again_.cancel();
  late_.cancel();
  boost::system::error_code ignored;
  events_.close(ignored);
  for (const auto& command : {apply_, watch_}) {
    if (!command || command->end()) continue;
    command->Signal(SIGKILL);
    command->Take();
  }
  life_.reset();
  if (!deleter_) return;
  const Spawned deleter = std::move(*std::exchange(deleter_, std::nullopt));
  constexpr auto kTime = std::chrono::nanoseconds(kDeletePatience);
  // It goes on by itself if the cluster does not answer.
  if (EndsBy(deleter.ref(), MonotonicNowNs() + static_cast<std::uint64_t>(kTime.count()))) ReapAtEnd(deleter.ref());
}

void PodSet::Enter(const TransportHost& host, Calls calls) {
  hosts_.insert_or_assign(host.index, Host{.calls = std::move(calls), .last = {}});
  boost::asio::post(io_, [weak = weak_from_this(), index = host.index] {
    const auto self = weak.lock();
    if (!self) return;
    if (!self->begun_) return self->Begin();
    if (index >= self->pods_) self->RefuseOne(index, {"its pod was not asked for", {}, false});
  });
}

void PodSet::Begin() {
  begun_ = true;
  if (hosts_.empty()) return;
  if (run_.empty()) run_ = RandomHex(kRunBytes);
  pods_ = hosts_.rbegin()->first + 1;
  const Result<PodObjects> objects = settings_.objects(run_, pods_);
  if (!objects) return Refuse({objects.error().front().message, objects.error().front().hint, false});
  if (const std::string error = StartDeleter(objects->kinds); !error.empty()) return Refuse({error, {}, false});
  late_.expires_after(std::chrono::seconds(settings_.start_seconds));
  late_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (const auto self = weak.lock(); self && !error) self->OnLate();
  });
  Apply(objects->manifest);
}

// Empty, or an error.
std::string PodSet::StartDeleter(const std::vector<std::string>& kinds) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe for the deletion of pods";
  const UniqueFd read(ends[0]);
  life_.reset(ends[1]);
  SpawnSpec spec;
  spec.argv = {"/bin/sh", "-c", kDeleter, "sh"};
  const std::vector<std::string> words = DeleteWords(settings_, kinds, run_);
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.env = OwnEnvironment();
  spec.stdin_fd = read.get();
  spec.stdout_fd = spec.stderr_fd = STDERR_FILENO;
  spec.grouping = Grouping::kOwnSession;
  auto started = launcher_->Spawn(spec);
  if (!started) return "the process that deletes the pods cannot be started: " + SpawnErrorText(started.error());
  deleter_.emplace(std::move(*started));
  return {};
}

void PodSet::Apply(const std::string& manifest) {
  const UniqueFd text(::memfd_create("manifest", MFD_CLOEXEC));
  if (!text || WriteAll(text.get(), manifest) != 0 || ::lseek(text.get(), 0, SEEK_SET) != 0) {
    return Refuse({"the manifest cannot be passed to kubectl", {}, false});
  }
  SpawnSpec spec;
  spec.argv = ApplyWords(settings_);
  spec.stdin_fd = text.get();
  spec.parent_death_signal = SIGTERM;
  auto command = WatchedCommand::Start(io_, *launcher_, std::move(spec), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnApplied();
  });
  if (!command) {
    WriteAll(life_.get(), kDeleteNothing);
    return Refuse({"kubectl cannot be started: " + command.error(),
                   "install kubectl, or name it: MUSTER_KUBECTL=/path/to/kubectl", false});
  }
  apply_ = std::move(*command);
}

void PodSet::OnApplied() {
  apply_->Take();
  const EndedProcess end = *apply_->end();
  if (end.signalled || end.code != 0) {
    WriteAll(life_.get(), kDeleteQuietly);
    return Refuse(KubectlFailure(end, apply_->Words()));
  }
  Watch();
}

// --- the watch -------------------------------------------------------------------------------------

void PodSet::Watch() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return Refuse({"no pipe for the states of pods", {}, false});
  UniqueFd read(ends[0]);
  const UniqueFd write(ends[1]);
  ::fcntl(read.get(), F_SETFL, O_NONBLOCK);
  SpawnSpec spec;
  spec.argv = WatchWords(settings_, run_);
  spec.stdout_fd = write.get();
  spec.parent_death_signal = SIGTERM;
  auto command = WatchedCommand::Start(io_, *launcher_, std::move(spec), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnWatchEnd();
  });
  if (!command) return Refuse({"kubectl cannot be started: " + command.error(), {}, false});
  watch_ = std::move(*command);
  stream_ = JsonStream();
  ++quiet_;
  boost::system::error_code error;
  events_.close(error);
  events_.assign(read.get(), error);
  if (!error) read.release();
  AwaitEvents();
}

void PodSet::AwaitEvents() {
  if (!events_.is_open()) return;
  events_.async_wait(WatchedFd::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!error && self && self->ReadEvents()) self->AwaitEvents();
  });
}

// False at the end of the stream.
bool PodSet::ReadEvents() {
  char bytes[16'384];
  for (;;) {
    const ssize_t got = events_.is_open() ? ::read(events_.native_handle(), bytes, sizeof bytes) : 0;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got == 0) return false;
    for (const std::string& event : stream_.Feed({bytes, static_cast<std::size_t>(got)})) {
      answered_ = true;
      quiet_ = 0;
      if (const auto pod = ReadPodEvent(event, settings_.container)) OnPod(*pod);
    }
    if (!stream_.broken()) continue;
    watch_->Signal(SIGKILL);
    return false;
  }
}

// A cluster ends watches after some minutes; one that fails is tried again.
void PodSet::OnWatchEnd() {
  ReadEvents();
  watch_->Take();
  const EndedProcess end = *watch_->end();
  if (!answered_ && (end.signalled || end.code != 0)) return Refuse(KubectlFailure(end, watch_->Words()));
  again_.expires_after(std::chrono::seconds(std::min(kMaxPause, 1U << std::min(quiet_, 5U))));
  again_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (const auto self = weak.lock(); self && !error) self->Watch();
  });
}

void PodSet::OnPod(const PodStatus& pod) {
  const auto found = pod.index ? hosts_.find(*pod.index) : hosts_.end();
  if (found == hosts_.end() || found->second.ended) return;
  Host& host = found->second;
  host.last = pod.why;
  const std::string text = "pod " + pod.name + (pod.why.empty() ? "" : ": " + pod.why);
  switch (pod.state) {
    case PodState::kWaiting:
      return;
    case PodState::kStuck:
      if (!host.begun)
        RefuseOne(*pod.index, {"its pod does not start: " + pod.why, "kubectl describe pod " + pod.name, false});
      return;
    case PodState::kRunning:
      if (!std::exchange(host.begun, true)) {
        const auto begin = host.calls.begin;  // it may end the host
        begin(AgentWords(settings_, pod.name));
      }
      return;
    case PodState::kEnded:
      break;
  }
  if (!host.begun) return RefuseOne(*pod.index, {text, {}, false});
  host.ended = true;
  const auto gone = host.calls.gone;
  gone(text);
}

void PodSet::OnLate() {
  std::vector<std::uint32_t> late;
  for (const auto& [index, host] : hosts_) {
    if (!host.begun) late.push_back(index);
  }
  for (const std::uint32_t index : late) {
    const auto host = hosts_.find(index);
    if (host == hosts_.end()) continue;
    const std::string last = host->second.last;
    RefuseOne(index, {fmt::format("its pod did not start within {} s{}", settings_.start_seconds,
                                  last.empty() ? "" : ": " + last),
                      "--kubernetes start_within=30m waits longer", false});
  }
}

// --- ends ------------------------------------------------------------------------------------------

void PodSet::Refuse(const CommandFailure& failure) {
  std::vector<std::uint32_t> waiting;
  for (const auto& [index, host] : hosts_) {
    if (!host.begun) waiting.push_back(index);
  }
  for (const std::uint32_t index : waiting) RefuseOne(index, failure);
}

void PodSet::RefuseOne(std::uint32_t index, CommandFailure failure) {
  const auto found = hosts_.find(index);
  if (found == hosts_.end() || found->second.ended) return;
  found->second.ended = true;
  const auto refuse = found->second.calls.refuse;
  refuse(failure);
}

CommandFailure PodSet::FailureOf(std::uint32_t host, const EndedProcess& end, const std::string& words) {
  static_cast<void>(host);
  return KubectlFailure(end, words);
}

std::optional<std::string> PodSet::OwnFailure(const EndedProcess& end, const std::string& words) const {
  if (!IsKubectlFailure(end, words)) return std::nullopt;
  return KubectlFailure(end, words).phrase;
}

// A program in a container whose pod is taken away is killed.
bool PodSet::MayKnowMore(const EndedProcess& end) const { return !end.signalled && end.code > 128; }

PodTransport::PodTransport(PodSettings settings, std::uint64_t lease_ms, const Without& without)
    : settings_(std::move(settings)),
      lease_ms_(lease_ms),
      launcher_(std::make_shared<Launcher>(MechanismsBut(without))) {}

PodTransport::~PodTransport() = default;

Result<std::unique_ptr<UncheckedChannel>> PodTransport::Open(boost::asio::io_context& io, const TransportHost& host) {
  std::shared_ptr<PodSet> pods = pods_.lock();
  if (!pods) pods_ = pods = std::make_shared<PodSet>(io, launcher_, settings_);
  auto agent = std::make_shared<RemoteAgent>(io, host.index, lease_ms_);
  agent->Begin(std::make_unique<CommandCarrier>(io, *agent, launcher_, std::move(pods), host));
  return std::make_unique<RemoteChannel>(std::move(agent));
}

}  // namespace muster
