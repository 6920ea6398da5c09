#include "agent/dump/dump_taker.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <tuple>
#include <utility>

#include <boost/asio/post.hpp>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/processes/log_files.h"
#include "base/system/clock.h"
#include "base/system/write_all.h"
#include "base/values/units.h"
#include "wire/files/log_bytes.h"

namespace muster {
namespace {

std::string LateText(std::size_t left, std::chrono::milliseconds within) {
  return fmt::format("{} of the system processes within {}", left,
                     DurationText(static_cast<double>(within.count()) / 1000));
}

// Creates the file with this content; returns an errno value, 0 on success.
int WriteDumpFile(const FileBelow& file, const std::string& text) {
  const auto created = CreateLogFile(file);
  return created ? WriteAll(created->get(), text) : created.error().error;
}

}  // namespace

DumpTaker::DumpTaker(boost::asio::io_context& io, Launcher& launcher, Observer observer)
    : io_(io),
      observer_(std::move(observer)),
      window_(io.get_executor()),
      deadline_(io.get_executor()),
      processes_(io, launcher, notes_,
                 {.exited =
                      [this](const ToolProcesses::Exit& exit) {
                        if (!finder_.Exited(exit)) stacks_.Exited(exit);
                      },
                  .idle = [this] { observer_.idle(); }}),
      finder_(processes_),
      stacks_(processes_, finder_, notes_, subjects_, [this](std::size_t subject) { Report(subject); }) {}

void DumpTaker::Take(std::uint32_t dump, std::chrono::milliseconds within, std::vector<Target> targets) {
  Clear();
  dump_ = dump;
  within_ = within;
  subjects_.resize(targets.size());
  for (std::size_t i = 0; i < targets.size(); ++i) subjects_[i].target = std::move(targets[i]);
  untold_ = subjects_.size();
  deadline_.expires_after(within);
  deadline_.async_wait([this, round = round_](const boost::system::error_code& error) {
    if (!error && round == round_) OnDeadline();
  });
  ForEachSubject(&DumpTaker::LookFirst, &DumpTaker::AwaitWindow);
}

void DumpTaker::Clear() {
  ++round_;
  late_ = false;
  window_.cancel();
  deadline_.cancel();
  processes_.KillAll();
  finder_.Clear();
  stacks_.Clear();
  subjects_.clear();
  to_report_.clear();
  notes_.Take();
  untold_ = 0;
}

void DumpTaker::Abandon() {
  Clear();
  processes_.Abandon();
}

void DumpTaker::LetGo(const Key& key) {
  for (DumpSubject& subject : subjects_) subject.let_go = subject.let_go || subject.target.key == key;
  stacks_.LetGo(key);
}

void DumpTaker::ForEachSubject(void (DumpTaker::*step)(DumpSubject&), void (DumpTaker::*after)(), std::size_t next) {
  boost::asio::post(io_, [this, step, after, next, round = round_] {
    if (round != round_) return;
    if (next == subjects_.size()) return (this->*after)();
    (this->*step)(subjects_[next]);
    ForEachSubject(step, after, next + 1);
  });
}

void DumpTaker::LookFirst(DumpSubject& subject) {
  for (KernelProcess& process : ProcessTree(subject.target.pid)) {
    subject.found.emplace_back();
    subject.found.back().kernel = std::move(process);
  }
  subject.first_look = MonotonicNowNs();
}

void DumpTaker::AwaitWindow() {
  window_.expires_after(kWindow);
  window_.async_wait([this, round = round_](const boost::system::error_code& error) {
    if (!error && round == round_) ForEachSubject(&DumpTaker::LookAgain, &DumpTaker::FindTools);
  });
}

void DumpTaker::LookAgain(DumpSubject& subject) {
  ProcessDumped& reported = subject.reported;
  reported.dump = dump_;
  std::tie(reported.process, reported.attempt) = subject.target.key;
  reported.window_ns = MonotonicNowNs() - subject.first_look;
  for (FoundProcess& process : subject.found) {
    const std::uint64_t before = process.kernel.cpu_ns;
    ReadThreadStates(process.kernel);
    process.cpu_ns = process.kernel.cpu_ns - std::min(before, process.kernel.cpu_ns);
  }
  struct stat log {};
  const FileBelow& file = subject.target.log;
  if (::fstatat(file.directory, file.path.c_str(), &log, AT_SYMLINK_NOFOLLOW) == 0) {
    reported.log_bytes = LogEnd(file.directory, file.path).value_or(0);
    const auto written = static_cast<std::uint64_t>(log.st_mtim.tv_sec) * 1'000'000'000 +
                         static_cast<std::uint64_t>(log.st_mtim.tv_nsec);
    const std::uint64_t now = WallNowNs();
    reported.silent_ms = now > written ? (now - written) / 1'000'000 : 0;
  }
}

void DumpTaker::FindTools() {
  if (late_) return InspectStacks();
  std::vector<std::string> search_paths;
  for (const DumpSubject& subject : subjects_) search_paths.push_back(subject.target.search_path);
  finder_.Find(search_paths, [this] { InspectStacks(); });
}

void DumpTaker::InspectStacks() {
  if (!late_) {
    stacks_.Choose();
  } else {
    // If there was no time to look for tools, they are not reported as missing.
    std::size_t left = 0;
    for (const DumpSubject& subject : subjects_) left += std::min(subject.found.size(), StackTools::kMostProcesses);
    if (left > 0) notes_.Add("late", LateText(left, within_));
  }
  for (std::size_t s = 0; s < subjects_.size(); ++s) {
    if (subjects_[s].tools_left == 0) Report(s);
  }
  if (subjects_.empty()) ReportNext();
  stacks_.Start();
}

void DumpTaker::OnDeadline() {
  late_ = true;
  if (const std::size_t left = stacks_.left(); left > 0) notes_.Add("late", LateText(left, within_));
  if (finder_.searching()) {
    finder_.Cancel();
    return InspectStacks();
  }
  stacks_.Stop();
}

void DumpTaker::Report(std::size_t subject) {
  to_report_.push_back(subject);
  if (to_report_.size() == 1) ReportNext();
}

// One per turn of the loop, because each writes a file.
void DumpTaker::ReportNext() {
  boost::asio::post(io_, [this, round = round_] {
    if (round != round_) return;
    if (!to_report_.empty()) {
      DumpSubject& subject = subjects_[to_report_.front()];
      subject.reported.states = Summarize(subject.found);
      subject.reported.at = MonotonicNowNs();
      const std::string text = DumpFileText(subject.target.title, subject.reported, subject.found);
      if (const int error = WriteDumpFile(subject.target.file, text); error != 0) {
        notes_.Add("file", fmt::format("{}: {}", subject.target.file.path, std::strerror(error)));
      }
      observer_.reported(subject.reported);
      stacks_.Written(subject);
      subject.found.clear();
      to_report_.pop_front();
      --untold_;
    }
    if (!to_report_.empty()) return ReportNext();
    if (untold_ > 0) return;
    HostDumped done;
    done.dump = dump_;
    done.notes = notes_.Take();
    deadline_.cancel();
    observer_.done(done);
  });
}

}  // namespace muster
