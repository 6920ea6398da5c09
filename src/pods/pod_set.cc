#include "pods/pod_set.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/write_all.h"
#include "base/values/fingerprint.h"
#include "muster/diagnostic.h"
#include "pods/kubectl.h"
#include "transport/own_environment.h"

namespace muster {
namespace {

constexpr std::size_t kRunBytes = 8;
constexpr std::uint32_t kMostPause = 32;  // seconds between two watches

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
  again_.expires_after(std::chrono::seconds(std::min(kMostPause, 1U << std::min(quiet_, 5U))));
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

}  // namespace muster
