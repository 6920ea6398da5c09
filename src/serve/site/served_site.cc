#include "serve/site/served_site.h"

#include <array>
#include <map>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/value_text.h"
#include "page/write/page_html.h"
#include "run/directory/run_directory.h"
#include "run/directory/run_tags.h"
#include "serve/http/http_request.h"
#include "serve/http/request_guard.h"
#include "serve/live/followed_run.h"
#include "serve/live/followed_sweep.h"
#include "serve/live/path_watch.h"
#include "serve/site/collected_pages.h"
#include "serve/site/head_call.h"
#include "serve/site/refusal.h"
#include "serve/site/resume_calls.h"
#include "serve/site/serve_pages.h"
#include "serve/site/site_path.h"
#include "sweep/trial/metrics_watch.h"

namespace muster {
namespace {

using Reply = std::function<void(HttpAnswer)>;
using Subject = SitePath::Subject;

constexpr std::array<std::string_view, 2> kLiveScripts = {"serve.js", "live.js"};
constexpr std::size_t kMostFollowed = 256;  // runs, and sweeps, at a time

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
  if (sweeps.size() >= kMostFollowed) {
    std::erase_if(sweeps, [](const auto& one) { return !one.second->watched(); });
  }
  if (sweeps.size() >= kMostFollowed) return nullptr;
  auto sweep = std::make_unique<FollowedSweep>(io, dir, paths, metrics);
  if (!sweep->Start()) return nullptr;
  return sweeps.emplace(dir, std::move(sweep)).first->second.get();
}

FollowedRun* ServedSite::Impl::RunAt(const std::string& dir) {
  const auto known = runs.find(dir);
  if (known != runs.end()) return known->second.get();
  if (runs.size() >= kMostFollowed) {
    std::erase_if(runs, [](const auto& one) { return !one.second->watched(); });
  }
  if (runs.size() >= kMostFollowed) return nullptr;
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
