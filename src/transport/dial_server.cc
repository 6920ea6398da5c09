#include "transport/dial_server.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/host_name.h"
#include "base/system/network_addresses.h"
#include "base/system/write_all.h"
#include "base/values/fingerprint.h"
#include "base/values/units.h"
#include "muster/diagnostic.h"
#include "transport/own_environment.h"
#include "transport/watched_command.h"

namespace muster {
namespace {

// An engine whose controller does not answer in this time does not know.
constexpr std::chrono::seconds kPauseAnswerTime{6};

// As much as is kept of one command.
void KeepLatest(std::string& words, std::string_view more) {
  words += more;
  if (words.size() > WatchedCommand::kMostWords) words.erase(0, words.size() - WatchedCommand::kMostWords);
}

std::string_view WithoutDomain(std::string_view name) { return name.substr(0, name.find('.')); }

bool HasDomain(std::string_view name) { return name.find('.') != std::string_view::npos; }

// An existing folder, or a new one with mode 0700, in which nobody else can put files. The error is a phrase.
tl::expected<UniqueFd, std::string> PrivateFolder(const std::string& path) {
  const auto refuse = [](const std::string& why) { return tl::unexpected<std::string>(why); };
  if (path.empty() || path.front() != '/') return refuse("the path is not absolute");
  for (std::size_t end = path.find('/', 1); end != std::string::npos; end = path.find('/', end + 1)) {
    ::mkdir(path.substr(0, end).c_str(), 0700);
  }
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return refuse(std::strerror(errno));
  UniqueFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts = {};
  if (!folder || ::fstat(folder.get(), &facts) != 0) return refuse(std::strerror(errno));
  if (facts.st_uid != ::geteuid()) return refuse("it belongs to another user");
  if ((facts.st_mode & 022U) != 0) return refuse("others can write to it");
  return folder;
}

}  // namespace

struct DialServer::Batch {
  Batch(boost::asio::io_context& io, std::vector<std::string> its_names)
      : names(std::move(its_names)), timer(io.get_executor()) {}

  const std::vector<std::string> names;
  std::shared_ptr<StartCommand> command;  // null if it could not be started
  Timer timer;
  std::vector<std::function<void()>> at_end;  // of the command
};

DialServer::DialServer(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher, DialSettings settings)
    : io_(io), launcher_(std::move(launcher)), settings_(std::move(settings)), pause_time_(io.get_executor()) {}

Result<std::shared_ptr<DialServer>> DialServer::Open(boost::asio::io_context& io, std::shared_ptr<Launcher> launcher,
                                                     DialSettings settings) {
  if (!settings.start) {
    return muster::Fail(MachineError("hosts", "agents that dial back need a command that starts them"));
  }
  std::shared_ptr<DialServer> server(new DialServer(io, std::move(launcher), std::move(settings)));
  DialFile& file = server->file_;
  file.session = RandomHex(kDialIdBytes);
  file.token = RandomHex(kDialIdBytes);
  file.node_variable = server->settings_.node_variable;
  const std::weak_ptr<DialServer> weak = server;
  auto listener = DialListener::Open(io, file.session, file.token,
                                     {.judge =
                                          [weak](const std::string& node) {
                                            const auto self = weak.lock();
                                            return self ? self->Judge(node) : DialVerdict::kUnknownNode;
                                          },
                                      .accepted =
                                          [weak](const std::string& node, UniqueFd connection) {
                                            if (const auto self = weak.lock())
                                              self->OnConnection(node, std::move(connection));
                                          }});
  if (!listener) return muster::Fail(std::move(listener.error()));
  server->listener_ = std::move(*listener);
  std::vector<std::string> addresses = server->settings_.addresses;
  if (addresses.empty()) addresses = OwnAddresses();
  for (const std::string& ip : addresses) {
    if (file.addresses.size() < kMostDialAddresses) file.addresses.push_back({ip, server->listener_->port()});
  }
  // What an agent could not read is an error of the settings, here and not there.
  if (const auto parsed = ParseDialFile(DialFileText(file)); !parsed) {
    return muster::Fail(MachineError("hosts", "the dial file cannot be made: " + parsed.error()));
  }
  server->path_ = server->settings_.folder + "/" + file.session + ".dial";
  return server;
}

DialServer::~DialServer() {
  if (listener_) listener_->Close();
  RemoveFile();
  for (const auto& batch : batches_) {
    batch->timer.cancel();
    if (batch->command) batch->command->EndNow();
  }
}

// --- nodes -----------------------------------------------------------------------------------------

void DialServer::Await(const std::string& name, Node node) {
  nodes_.emplace(name, Known{std::move(node)});
  if (gathered_.empty()) {
    boost::asio::post(io_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->StartGathered();
    });
  }
  gathered_.push_back(name);
}

void DialServer::Leave(const std::string& name, std::function<void()> then) {
  const auto found = nodes_.find(name);
  if (found == nodes_.end()) return;
  const auto keep = shared_from_this();
  const Batch* const batch = found->second.batch;
  nodes_.erase(found);
  std::erase(gathered_, name);
  if (std::none_of(nodes_.begin(), nodes_.end(), [](const auto& known) { return !known.second.connected; })) {
    RemoveFile();
  }
  const std::shared_ptr<Batch> left = Find(batch);
  if (EndIfUnneeded(batch)) {
    if (then) left->at_end.push_back(std::move(then));
  } else if (then) {
    then();
  }
}

// The node whose agent calls itself so: engines, host lists and machines name a node with or without its domain.
std::string DialServer::Meant(const std::string& name) const {
  if (nodes_.contains(name) || IsAddress(name)) return name;
  std::string meant;
  for (const auto& [other, known] : nodes_) {
    if (IsAddress(other) || WithoutDomain(other) != WithoutDomain(name) || (HasDomain(other) && HasDomain(name))) {
      continue;
    }
    if (!meant.empty()) return {};  // it could be both
    meant = other;
  }
  return meant;
}

DialVerdict DialServer::Judge(const std::string& name) const {
  const auto found = nodes_.find(Meant(name));
  if (found == nodes_.end()) return DialVerdict::kUnknownNode;
  return found->second.connected ? DialVerdict::kConnected : DialVerdict::kAccepted;
}

void DialServer::OnConnection(const std::string& name, UniqueFd connection) {
  const auto found = nodes_.find(Meant(name));
  if (found == nodes_.end()) return;
  found->second.connected = true;
  if (std::all_of(nodes_.begin(), nodes_.end(), [](const auto& known) { return known.second.connected; })) {
    RemoveFile();  // nobody is to read it any more
  }
  const auto connected = found->second.node.connected;
  connected(std::move(connection));
}

// --- start commands --------------------------------------------------------------------------------

void DialServer::StartGathered() {
  const std::vector<std::string> names = std::exchange(gathered_, {});
  if (names.empty()) return;
  const auto batch = std::make_shared<Batch>(io_, names);
  batches_.push_back(batch);
  for (const std::string& name : names) nodes_.find(name)->second.batch = batch.get();
  if (const std::string error = WriteFile(); !error.empty()) return FailLater(batch, error);
  auto command = StartCommand::Run(io_, *launcher_, settings_.start({settings_.agent, path_, names}),
                                   [weak = weak_from_this(), of = std::weak_ptr(batch)] {
                                     const auto self = weak.lock();
                                     const auto its = of.lock();
                                     if (self && its) self->OnEnd(its);
                                   });
  if (!command) return FailLater(batch, std::move(command.error()));
  batch->command = std::move(*command);
  // From the loop, since the caller may do other work first, in which no connection is accepted.
  boost::asio::post(io_, [weak = weak_from_this(), of = std::weak_ptr(batch)] {
    const auto self = weak.lock();
    const auto its = of.lock();
    if (self && its) self->AwaitTime(its, self->settings_.connect_time);
  });
}

void DialServer::FailLater(const std::shared_ptr<Batch>& batch, std::string why) {
  boost::asio::post(io_, [weak = weak_from_this(), of = std::weak_ptr(batch), why = std::move(why)] {
    const auto self = weak.lock();
    const auto its = of.lock();
    if (self && its) self->Fail(its.get(), why, {});
  });
}

void DialServer::AwaitTime(const std::shared_ptr<Batch>& batch, std::chrono::milliseconds time) {
  batch->timer.expires_after(time);
  batch->timer.async_wait([weak = weak_from_this(), of = std::weak_ptr(batch)](const boost::system::error_code& error) {
    const auto self = weak.lock();
    const auto its = of.lock();
    if (!error && self && its) self->OnTime(its);
  });
}

void DialServer::OnEnd(const std::shared_ptr<Batch>& batch) {
  // Its agents may be on their way.
  if (Awaits(batch.get())) AwaitTime(batch, std::min(settings_.exit_time, settings_.connect_time));
  const auto keep = shared_from_this();
  EndIfUnneeded(batch.get());
  for (const auto& then : std::exchange(batch->at_end, {})) then();
}

void DialServer::OnTime(const std::shared_ptr<Batch>& batch) {
  const auto keep = shared_from_this();
  const StartCommand& command = *batch->command;
  std::string hint;
  // An agent has said so.
  if (command.Words().find(path_ + ": No such file or directory") != std::string::npos) {
    hint = "is " + settings_.folder + " on a disk that the node sees? XDG_STATE_HOME=/shared/folder moves it";
  }
  if (command.over()) return Fail(batch.get(), command.EndPhrase(), hint);
  std::string addresses;
  for (const DialAddress& address : file_.addresses) {
    addresses += (addresses.empty() ? "" : ", ") + DialAddressText(address);
  }
  if (!command.LastWords().empty()) {
    hint += (hint.empty() ? "" : "; ") + command.EndPhrase();
  } else if (hint.empty()) {
    hint = "can the node reach this machine at one of " + addresses + "?";
  }
  const DialCounts& counts = listener_->counts();
  if (const std::uint32_t refused = counts.unproven + counts.slow + counts.unknown + counts.twice; refused > 0) {
    hint += "; " + std::to_string(refused) + " connections were refused";
  }
  const std::string time = DurationText(std::chrono::duration<double>(settings_.connect_time).count());
  Fail(batch.get(), "its agent has not connected within " + time, hint);
}

void DialServer::Fail(const Batch* batch, const std::string& why, const std::string& hint) {
  const auto keep = shared_from_this();
  const std::vector<std::string> names = batch->names;
  for (const std::string& name : names) {
    const auto found = nodes_.find(name);
    if (found == nodes_.end() || found->second.connected || found->second.batch != batch) continue;
    const auto failed = found->second.node.failed;
    failed(why, hint);
  }
}

bool DialServer::Awaits(const Batch* batch) const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [batch](const auto& known) { return known.second.batch == batch && !known.second.connected; });
}

std::shared_ptr<DialServer::Batch> DialServer::Find(const Batch* batch) const {
  const auto found =
      std::find_if(batches_.begin(), batches_.end(), [batch](const auto& one) { return one.get() == batch; });
  return found == batches_.end() ? nullptr : *found;
}

bool DialServer::EndIfUnneeded(const Batch* batch) {
  const bool needed =
      std::any_of(nodes_.begin(), nodes_.end(), [batch](const auto& known) { return known.second.batch == batch; });
  const std::shared_ptr<Batch> found = Find(batch);
  if (needed || !found) return false;
  found->timer.cancel();
  if (found->command && !found->command->over()) {
    found->command->EndSoon();
    return true;
  }
  if (found->command) KeepLatest(ended_words_, found->command->Words());
  batches_.remove(found);
  return false;
}

std::string DialServer::StartWords(std::chrono::milliseconds within) const {
  const auto deadline = std::chrono::steady_clock::now() + within;
  std::string words = ended_words_;
  for (const auto& batch : batches_) {
    if (!batch->command) continue;
    batch->command->AwaitEnd(deadline - std::chrono::steady_clock::now());
    KeepLatest(words, batch->command->Words());
  }
  return words;
}

// --- pauses ----------------------------------------------------------------------------------------

void DialServer::AskWhetherPaused(std::function<void(const std::string& phrase)> answer) {
  if (!settings_.paused) return answer({});
  pause_answers_.push_back(std::move(answer));
  if (pause_command_) return;
  const std::vector<std::string> environment = ChangedEnvironment(settings_.paused->command.environment);
  SpawnSpec spec;
  spec.argv = settings_.paused->command.argv;
  for (const std::string& variable : environment) spec.env.push_back(variable.c_str());
  pause_command_ = std::make_unique<CapturedCommand>(*launcher_, std::move(spec));
  const int watched = pause_command_->going() && pause_command_->ref().pidfd >= 0
                          ? ::fcntl(pause_command_->ref().pidfd, F_DUPFD_CLOEXEC, 0)
                          : -1;
  if (watched < 0) return AnswerPause(false);
  pause_ended_ = std::make_unique<WatchedFd>(io_.get_executor(), watched);
  pause_ended_->async_wait(WatchedFd::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    if (const auto self = weak.lock(); self && !error) self->AnswerPause(true);
  });
  pause_time_.expires_after(kPauseAnswerTime);
  pause_time_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    if (const auto self = weak.lock(); self && !error) self->AnswerPause(false);
  });
}

void DialServer::AnswerPause(bool ended) {
  if (!pause_command_) return;
  const auto keep = shared_from_this();
  std::string phrase;
  if (ended) phrase = settings_.paused->phrase(pause_command_->Take(std::chrono::milliseconds(0)));
  pause_command_.reset();  // kills a command that runs
  pause_ended_.reset();
  pause_time_.cancel();
  for (const auto& answer : std::exchange(pause_answers_, {})) answer(phrase);
}

// --- the dial file ---------------------------------------------------------------------------------

std::string DialServer::WriteFile() {
  if (written_) return {};
  const std::string what = "the dial file " + path_ + " cannot be written: ";
  const auto folder = PrivateFolder(settings_.folder);
  if (!folder) return what + folder.error();
  const std::string name = path_.substr(path_.rfind('/') + 1);
  const UniqueFd file(
      ::openat(folder->get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return what + std::strerror(errno);
  written_ = true;
  if (::fchmod(file.get(), 0600) != 0) return what + std::strerror(errno);
  const int error = WriteAll(file.get(), DialFileText(file_));
  return error == 0 ? std::string() : what + std::strerror(error);
}

void DialServer::RemoveFile() {
  if (std::exchange(written_, false)) ::unlink(path_.c_str());
}

}  // namespace muster
