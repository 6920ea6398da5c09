#include "serve/site/served_site.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/system/own_environment.h"
#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_text.h"
#include "metrics/metrics_watch.h"
#include "page/collect/make_page.h"
#include "page/write/page_data.h"
#include "page/write/page_html.h"
#include "run/control/control_protocol.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_tags.h"
#include "serve/live/event_hub.h"
#include "serve/live/followed_run.h"
#include "serve/live/followed_sweep.h"
#include "serve/site/serve_pages.h"
#include "serve/site/site_path.h"
#include "spawn/start/limited_command.h"

namespace muster {
namespace {

// The answer that refuses a request with a sentence.
HttpAnswer RefusedAnswer(int status, const std::string& why) {
  return JsonAnswer(status, SerializedJson(nlohmann::json{{"ok", false}, {"error", why}}));
}

// A request to the head of a run or a sweep at its control socket, answered through the loop.

// Sends the request to the head that holds the directory, and calls `done` once: with its answer, or kind "control" if
// there is none within ten seconds, or if it refuses. Never blocks.
void CallHead(boost::asio::io_context& io, const std::string& dir, const ControlRequest& request,
              std::function<void(Result<ControlAnswer>)> done);

using ErrorCode = boost::system::error_code;

constexpr std::chrono::seconds kPatience{10};

struct HeadCall : std::enable_shared_from_this<HeadCall> {
  HeadCall(boost::asio::io_context& io, ControlConnection connected, std::function<void(Result<ControlAnswer>)> then)
      : head(std::move(connected)), ready(io), patience(io), done(std::move(then)) {}

  void Begin() {
    ErrorCode error;
    const int copy = ::fcntl(head.fd(), F_DUPFD_CLOEXEC, 0);  // the connection closes its own
    if (copy < 0) return Fails(SystemError("control", "the head cannot be asked", errno));
    ready.assign(copy, error);
    patience.expires_after(kPatience);
    patience.async_wait([self = shared_from_this()](const ErrorCode& stopped) {
      if (!stopped) self->Fails(MachineError("control", "the head does not answer"));
    });
    Await();
  }

  void Await() {
    ready.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](const ErrorCode& error) {
                       if (error || !self->done) return;
                       const bool open = self->head.Receive();
                       if (const auto line = self->head.TakeLine()) return self->Take(*line);
                       if (!open) return self->Fails(MachineError("control", "the head closed the connection"));
                       self->Await();
                     });
  }

  void Take(const std::string& line) {
    auto answer = ParseControlAnswer(line);
    if (!answer) return Fails(MachineError("control", answer.error()));
    if (!answer->error.empty()) return Fails(MachineError("control", answer->error));
    Finish(*std::move(answer));
  }
  void Fails(Diagnostic why) { Finish(Fail(std::move(why))); }
  void Finish(Result<ControlAnswer> result) {
    patience.cancel();
    ErrorCode ignored;
    ready.close(ignored);
    if (const auto then = std::exchange(done, nullptr)) then(std::move(result));
  }

  ControlConnection head;
  boost::asio::posix::stream_descriptor ready;
  boost::asio::steady_timer patience;
  std::function<void(Result<ControlAnswer>)> done;
};

void CallHead(boost::asio::io_context& io, const std::string& dir, const ControlRequest& request,
              std::function<void(Result<ControlAnswer>)> done) {
  auto head = ControlConnection::Open(dir);
  if (head) {
    if (auto sent = head->Send(request); !sent) head = Fail(std::move(sent.error()));
  }
  if (!head) {
    boost::asio::post(io, [done = std::move(done), why = head.error()] { done(Fail(why)); });
    return;
  }
  std::make_shared<HeadCall>(io, *std::move(head), std::move(done))->Begin();
}

// What the copy returns: data, or a sentence.
constexpr char kData = '+';
constexpr char kRefusal = '-';

std::string TextOf(const std::string& dir, bool is_sweep, std::uint64_t version) {
  const auto page = MakePage({{dir, is_sweep}});
  if (!page) return kRefusal + Sentence(page.error());
  const PageData data = PageDataOf(*page);
  return fmt::format(R"({}{{"format": 1, "version": {}, "page": {}, "floats": "{}"}})", kData, version, data.json,
                     data.floats);
}

HttpAnswer AnswerOf(std::optional<std::string> text) {
  if (!text || text->empty()) return RefusedAnswer(503, "the data of the page could not be collected");
  const bool is_data = text->front() == kData;
  text->erase(0, 1);
  return is_data ? JsonAnswer(200, *std::move(text)) : RefusedAnswer(503, *text);
}

// A command that waits longer for devices is ended, and its sweep with it: it has not begun.
constexpr std::chrono::hours kMaxWait{24};
constexpr std::chrono::seconds kBrowserPatience{10};

using Reply = std::function<void(HttpAnswer)>;
using Subject = SitePath::Subject;

constexpr std::array<std::string_view, 2> kLiveScripts = {"serve.js", "live.js"};
constexpr std::size_t kMaxFollowed = 256;  // runs, and sweeps, at a time

HttpAnswer Missing() { return TextAnswer(404, "there is no such page"); }

HttpAnswer PageAnswer(ServedPage page) {
  return {.type = "text/html",
          .body = std::make_shared<const std::string>(std::move(page.html)),
          .policy = std::move(page.policy)};
}

// The version that a page has seen: of its last event, or that of the page itself.
std::uint64_t VersionSeen(const HttpRequest& request) {
  const std::string text = request.last_event.empty() ? QueryOf(request, "from") : request.last_event;
  return ParseNumber<std::uint64_t>(text).value_or(0);
}

}  // namespace

// Collects the data of pages in copies of this process: one at a time for each directory, and a few altogether. The
// loop is free meanwhile.

class ForkedFunction;

class CollectedPages {
 public:
  static constexpr std::size_t kMaxAtOnce = 2;

  using Reply = std::function<void(HttpAnswer)>;

  explicit CollectedPages(boost::asio::io_context& io);
  ~CollectedPages();
  CollectedPages(const CollectedPages&) = delete;
  CollectedPages& operator=(const CollectedPages&) = delete;

  // Replies once, from the loop, with the data of the page of a run or sweep. `version` is that of the directory's last
  // patch; the page applies later patches to this data. A request that arrives while the data is being collected gets
  // the same answer, with the version of the first request.
  void Collect(const std::string& dir, bool is_sweep, std::uint64_t version, Reply reply);

 private:
  struct Collection {
    bool is_sweep = false;
    std::uint64_t version = 0;
    std::vector<Reply> replies;
    std::unique_ptr<ForkedFunction> copy;  // null: it waits for its turn
  };

  void Begin(const std::string& dir);
  void End(const std::string& dir, const HttpAnswer& answer);

  boost::asio::io_context& io_;
  std::map<std::string, Collection> collections_;  // by directory
  std::deque<std::string> waiting_;
  std::size_t running_ = 0;
};

CollectedPages::CollectedPages(boost::asio::io_context& io) : io_(io) {}

CollectedPages::~CollectedPages() = default;

void CollectedPages::Collect(const std::string& dir, bool is_sweep, std::uint64_t version, Reply reply) {
  const auto [at, is_new] = collections_.try_emplace(dir);
  at->second.replies.push_back(std::move(reply));
  if (!is_new) return;
  at->second.is_sweep = is_sweep;
  at->second.version = version;
  if (running_ < kMaxAtOnce) return Begin(dir);
  waiting_.push_back(dir);
}

void CollectedPages::Begin(const std::string& dir) {
  ++running_;
  Collection& collection = collections_.at(dir);
  auto copy = ForkedFunction::Start(
      io_,
      [&dir, is_sweep = collection.is_sweep, version = collection.version] { return TextOf(dir, is_sweep, version); },
      [this, dir](std::optional<std::string> text) { End(dir, AnswerOf(std::move(text))); });
  if (copy) {
    collection.copy = *std::move(copy);
    return;
  }
  boost::asio::post(io_, [this, dir] { End(dir, RefusedAnswer(503, "this machine has no room for another process")); });
}

void CollectedPages::End(const std::string& dir, const HttpAnswer& answer) {
  --running_;
  const auto ended = collections_.extract(dir);
  if (!waiting_.empty()) {
    const std::string next = std::move(waiting_.front());
    waiting_.pop_front();
    Begin(next);
  }
  for (const Reply& reply : ended.mapped().replies) reply(answer);
}

struct ResumeCalls::Call {
  using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                  boost::asio::wait_traits<std::chrono::steady_clock>, LoopExecutor>;
  explicit Call(boost::asio::io_context& io) : patience(io.get_executor()) {}

  void Answer(HttpAnswer answer) {
    if (const Reply then = std::exchange(reply, nullptr)) then(std::move(answer));
  }

  std::shared_ptr<LimitedCommand> command;
  Timer patience;
  Reply reply;
};

ResumeCalls::ResumeCalls(boost::asio::io_context& io) : io_(io) {}

ResumeCalls::~ResumeCalls() = default;

void ResumeCalls::Begin(const std::string& dir, Reply reply) {
  if (calls_.contains(dir)) return reply(RefusedAnswer(409, "the sweep is being resumed"));
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return reply(RefusedAnswer(500, "the program muster is not found"));
  SpawnSpec spec;
  spec.argv = {program, "resume", dir, "--detach"};
  spec.env = OwnEnvironment();
  auto call = std::make_unique<Call>(io_);
  call->reply = std::move(reply);
  auto command =
      LimitedCommand::Start(io_, launcher_, std::move(spec), {}, kMaxWait, [this, dir](const LimitedCommand::End& end) {
        const auto ended = calls_.extract(dir);
        if (ended.empty()) return;
        const bool well = !end.process.signalled && end.process.code == 0;
        ended.mapped()->Answer(well ? JsonAnswer(200, R"({"ok": true})") : RefusedAnswer(409, ErrorIn(end.words)));
      });
  if (!command) return call->Answer(RefusedAnswer(500, "muster resume cannot be called: " + command.error()));
  call->command = *std::move(command);
  call->patience.expires_after(kBrowserPatience);
  call->patience.async_wait([one = call.get()](const boost::system::error_code& stopped) {
    if (!stopped) one->Answer(JsonAnswer(200, R"({"ok": true, "waits": true})"));
  });
  calls_.emplace(dir, std::move(call));
}

std::string ErrorIn(const std::string& words) {
  constexpr std::string_view kError = "error: ";
  constexpr std::string_view kHint = "hint: ";
  std::string error;
  std::string hint;
  std::string last;
  std::string_view rest = words;
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    while (line.starts_with(' ')) line.remove_prefix(1);
    if (line.empty()) continue;
    last = line;
    const std::size_t at = line.find(kError);
    if (error.empty() && at != std::string_view::npos) error = line.substr(at + kError.size());
    if (hint.empty() && line.starts_with(kHint)) hint = line.substr(kHint.size());
  }
  if (error.empty()) return last.empty() ? "muster resume failed" : Printable(last);
  return Printable(hint.empty() ? error : error + " (" + hint + ")");
}

struct ServedSite::Impl {
  Impl(boost::asio::io_context& loop, ServedFolders folders)
      : io(loop), paths(loop), metrics(loop), index(loop, paths, std::move(folders)), collected(loop), resumes(loop) {}

  HttpAnswer IndexAnswer(const HttpRequest& request, const std::string& what);
  void AnswerSweep(const HttpRequest& request, const std::string& what, const FolderIndex::Entry& entry,
                   const Reply& reply);
  void AnswerRun(const HttpRequest& request, const std::string& what, const std::string& dir, const std::string& title,
                 const Reply& reply);
  void Change(const SitePath& site, const FolderIndex::Entry& entry, const PageRequest& request, const Reply& reply);
  void AskHead(const std::string& dir, const ControlRequest& request, const Reply& reply);
  FollowedSweep* SweepAt(const std::string& dir);
  FollowedRun* RunAt(const std::string& dir);

  boost::asio::io_context& io;
  PathWatch paths;
  MetricsWatch metrics;
  FolderIndex index;
  std::map<std::string, std::unique_ptr<FollowedSweep>> sweeps;  // by directory
  std::map<std::string, std::unique_ptr<FollowedRun>> runs;
  CollectedPages collected;
  ResumeCalls resumes;
};

FollowedSweep* ServedSite::Impl::SweepAt(const std::string& dir) {
  const auto known = sweeps.find(dir);
  if (known != sweeps.end()) return known->second.get();
  if (sweeps.size() >= kMaxFollowed) {
    std::erase_if(sweeps, [](const auto& one) { return !one.second->watched(); });
  }
  if (sweeps.size() >= kMaxFollowed) return nullptr;
  auto sweep = std::make_unique<FollowedSweep>(io, dir, paths, metrics);
  if (!sweep->Start()) return nullptr;
  return sweeps.emplace(dir, std::move(sweep)).first->second.get();
}

FollowedRun* ServedSite::Impl::RunAt(const std::string& dir) {
  const auto known = runs.find(dir);
  if (known != runs.end()) return known->second.get();
  if (runs.size() >= kMaxFollowed) {
    std::erase_if(runs, [](const auto& one) { return !one.second->watched(); });
  }
  if (runs.size() >= kMaxFollowed) return nullptr;
  auto run = std::make_unique<FollowedRun>(io, dir, paths, metrics);
  run->Start();
  return runs.emplace(dir, std::move(run)).first->second.get();
}

HttpAnswer ServedSite::Impl::IndexAnswer(const HttpRequest& request, const std::string& what) {
  if (what.empty()) {
    const std::string data = fmt::format(R"({{"version": {}, "entries": {}}})", index.version(), index.Json());
    constexpr std::array<std::string_view, 2> kScripts = {"serve.js", "index.js"};
    return PageAnswer(MakeServedPage("muster", kScripts, data));
  }
  if (what == "data") {
    return JsonAnswer(200,
                      fmt::format(R"({{"format": 1, "version": {}, "entries": {}}})", index.version(), index.Json()));
  }
  if (what != "events") return Missing();
  return {.stream = [this, seen = VersionSeen(request)](const std::shared_ptr<EventStream>& stream) {
    index.AddStream(stream, seen);
  }};
}

// The page without its data, which its script fetches.
HttpAnswer LivePage(const std::string& title) {
  PageShell shell = EmptyPage(title, ServeScripts(kLiveScripts));
  return PageAnswer({std::move(shell.html), shell.policy + "; frame-ancestors 'none'"});
}

void ServedSite::Impl::AnswerSweep(const HttpRequest& request, const std::string& what, const FolderIndex::Entry& entry,
                                   const Reply& reply) {
  const FollowedSweep* const sweep = SweepAt(entry.path);
  if (sweep == nullptr) return reply(RefusedAnswer(503, "the sweep cannot be followed"));
  if (what.empty()) return reply(LivePage(Readable(entry.name)));
  if (what == "data") return collected.Collect(entry.path, true, sweep->version(), reply);
  if (what != "events") return reply(Missing());
  reply({.stream = [this, dir = entry.path, seen = VersionSeen(request)](const std::shared_ptr<EventStream>& stream) {
    if (FollowedSweep* const one = SweepAt(dir)) one->AddStream(stream, seen);
  }});
}

void ServedSite::Impl::AnswerRun(const HttpRequest& request, const std::string& what, const std::string& dir,
                                 const std::string& title, const Reply& reply) {
  const FollowedRun* const run = RunAt(dir);
  if (run == nullptr) return reply(RefusedAnswer(503, "the run cannot be followed"));
  if (what.empty()) return reply(LivePage(title));
  if (what == "data") return collected.Collect(dir, false, run->version(), reply);
  if (what == "state") {
    const nlohmann::json state = {{"live", IsRunLive(dir)}, {"note", Readable(NoteOfRun(dir))}};
    return reply(JsonAnswer(200, SerializedJson(state)));
  }
  if (what != "events") return reply(Missing());
  reply({.stream = [this, dir, seen = VersionSeen(request)](const std::shared_ptr<EventStream>& stream) {
    if (FollowedRun* const one = RunAt(dir)) one->AddStream(stream, seen);
  }});
}

void ServedSite::Impl::AskHead(const std::string& dir, const ControlRequest& request, const Reply& reply) {
  CallHead(io, dir, request, [reply](const Result<ControlAnswer>& answer) {
    if (!answer) return reply(RefusedAnswer(409, Sentence(answer.error())));
    nlohmann::json json = {{"ok", true}, {"phase", answer->status.phase}, {"already", answer->already}};
    if (answer->dump != 0) json["dump"] = answer->dump;
    if (answer->limits) {
      json["trials"] = answer->limits->trials;
      json["slots"] = answer->limits->slots ? nlohmann::json(*answer->limits->slots) : nlohmann::json();
    }
    reply(JsonAnswer(200, SerializedJson(json)));
  });
}

void ServedSite::Impl::Change(const SitePath& site, const FolderIndex::Entry& entry, const PageRequest& request,
                              const Reply& reply) {
  using What = PageRequest::What;
  std::string dir = entry.path;
  if (site.subject == Subject::kTrial) {
    FollowedSweep* const sweep = SweepAt(entry.path);
    const auto run_dir = sweep == nullptr ? std::nullopt : sweep->RunDirOf(site.trial);
    if (!run_dir) return reply(Missing());
    dir = *run_dir;
  }
  const bool of_sweep = site.subject == Subject::kSweep;
  const std::string_view noun = of_sweep ? "sweep" : "run";
  const auto owner = OwnerOf(dir);
  const bool resumes_it = request.what == What::kResume;
  if (resumes_it && !of_sweep) return reply(RefusedAnswer(400, "only a sweep can be resumed"));
  const bool files = request.what == What::kTag || request.what == What::kNote || resumes_it;
  if (!owner) return reply(Missing());
  if (auto allowed = CheckUse(dir, *owner, files ? DirectoryUse::kWrite : DirectoryUse::kControl, noun); !allowed) {
    return reply(RefusedAnswer(403, Sentence(allowed.error())));
  }
  if (resumes_it) {
    if (IsRunLive(dir)) return reply(RefusedAnswer(409, "the sweep is running"));
    return resumes.Begin(dir, reply);
  }
  if (files) {
    const UniqueFd folder(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    Result<void> written;
    if (request.what == What::kNote) {
      written = WriteNote(folder.get(), *request.note);
    } else {
      auto tags = ChangedTags(ReadTags(folder.get()), {*request.tag});
      written = tags ? WriteTags(folder.get(), *tags) : Fail(std::move(tags.error()));
    }
    if (!written) return reply(RefusedAnswer(400, Sentence(written.error())));
    index.Refresh(site.subject != Subject::kRun, entry.id);
    return reply(JsonAnswer(200, R"({"ok": true})"));
  }
  if (!IsRunLive(entry.path)) {
    return reply(RefusedAnswer(409, site.subject == Subject::kRun
                                        ? "the run has ended"
                                        : "the sweep is not running: muster resume continues it"));
  }
  ControlRequest control;
  if (request.what == What::kSteer) {
    if (!of_sweep) return reply(RefusedAnswer(400, "only a sweep has slots and trials"));
    control.ask = ControlRequest::Ask::kSteer;
    control.slots = request.slots;
    control.add_trials = request.add_trials;
    return AskHead(dir, control, reply);
  }
  if (of_sweep && (request.what == What::kDump || request.dump)) {
    return reply(RefusedAnswer(400, "a sweep has no processes of its own: choose a trial"));
  }
  control.ask = request.what == What::kDump ? ControlRequest::Ask::kDump : ControlRequest::Ask::kStop;
  control.now = request.now;
  control.dump = request.dump;
  if (site.subject != Subject::kTrial) return AskHead(dir, control, reply);
  // The socket of a trial exists once its head was asked for it.
  CallHead(io, entry.path, {.ask = ControlRequest::Ask::kOpen, .trial = site.trial},
           [this, dir, control, reply](const Result<ControlAnswer>& opened) {
             if (!opened) return reply(RefusedAnswer(409, Sentence(opened.error())));
             AskHead(dir, control, reply);
           });
}

ServedSite::ServedSite(boost::asio::io_context& io, ServedFolders folders)
    : impl_(std::make_unique<Impl>(io, std::move(folders))) {}

ServedSite::~ServedSite() = default;

const FolderIndex& ServedSite::index() const { return impl_->index; }

Result<void> ServedSite::Start() {
  if (auto started = impl_->paths.Start(); !started) return started;
  impl_->index.Start();
  return {};
}

void ServedSite::Handle(const HttpRequest& request, const std::string& path, Reply reply) {
  const auto site = ParseSitePath(path);
  if (!site) return reply(Missing());
  const bool reads = request.method == "GET";
  if (site->subject == Subject::kIndex) {
    return reply(reads ? impl_->IndexAnswer(request, site->what) : TextAnswer(405, "this page takes no requests"));
  }
  const FolderIndex::Entry* entry = impl_->index.Find(site->subject != Subject::kRun, site->id);
  if (entry == nullptr) return reply(Missing());
  if (!reads) {
    std::string problem;
    const auto change = ParsePageRequest(site->what, request.body, problem);
    if (!change) return reply(problem.empty() ? Missing() : RefusedAnswer(400, problem));
    return impl_->Change(*site, *entry, *change, reply);
  }
  if (site->subject == Subject::kSweep) return impl_->AnswerSweep(request, site->what, *entry, reply);
  if (site->subject == Subject::kRun) {
    return impl_->AnswerRun(request, site->what, entry->path, Readable(entry->name), reply);
  }
  const FollowedSweep* const sweep = impl_->SweepAt(entry->path);
  const auto run_dir = sweep == nullptr ? std::nullopt : sweep->RunDirOf(site->trial);
  if (!run_dir) return reply(Missing());
  impl_->AnswerRun(request, site->what, *run_dir, fmt::format("{}:{}", Readable(entry->name), site->trial), reply);
}

}  // namespace muster
