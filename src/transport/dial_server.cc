#include "transport/dial_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <arpa/inet.h>
#include <boost/asio/post.hpp>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/host_name.h"
#include "base/system/own_environment.h"
#include "base/values/fingerprint.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "muster/diagnostic.h"

namespace muster {
namespace {

enum Rank { kFour, kSix, kLoopback, kUnusable };

Rank RankOf(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return kUnusable;
  const bool loopback = (entry.ifa_flags & IFF_LOOPBACK) != 0;
  if (entry.ifa_addr->sa_family == AF_INET) return loopback ? kLoopback : kFour;
  if (entry.ifa_addr->sa_family != AF_INET6) return kUnusable;
  // A link-local address means nothing without the interface of the other side.
  const auto* six = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr);
  if (IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)) return kUnusable;
  return loopback ? kLoopback : kSix;
}

std::string TextOf(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const void* const bytes = address.sa_family == AF_INET6
                                ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
                                : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  return ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

// The IP literals of all interfaces that are up: IPv4, then IPv6 without link-local ones, then the loopback ones; each
// in the order of the interfaces. Empty if they cannot be listed.
std::vector<std::string> OwnAddresses() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  std::vector<std::string> addresses;
  for (const Rank rank : {kFour, kSix, kLoopback}) {
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (RankOf(*entry) != rank) continue;
      std::string text = TextOf(*entry->ifa_addr);
      if (std::find(addresses.begin(), addresses.end(), text) == addresses.end()) addresses.push_back(std::move(text));
    }
  }
  ::freeifaddrs(list);
  return addresses;
}

constexpr std::size_t kMaxStartLine = 300;

}  // namespace

tl::expected<std::shared_ptr<StartCommand>, std::string> StartCommand::Run(boost::asio::io_context& io,
                                                                           Launcher& launcher, const AgentStart& start,
                                                                           std::function<void()> ended) {
  if (start.argv.empty()) return tl::unexpected<std::string>("the command that starts agents is empty");
  const std::string& program = start.argv.front();
  std::shared_ptr<StartCommand> made(new StartCommand(io, program.substr(program.rfind('/') + 1)));
  const std::vector<std::string> environment = ChangedEnvironment(start.environment);
  SpawnSpec spec;
  spec.argv = start.argv;
  for (const std::string& variable : environment) spec.env.push_back(variable.c_str());
  auto command =
      WatchedCommand::Start(io, launcher, std::move(spec), [weak = std::weak_ptr(made), ended = std::move(ended)] {
        const auto self = weak.lock();
        if (!self) return;
        self->command_->Take();
        self->timer_.cancel();
        ended();
      });
  if (!command) return tl::unexpected<std::string>("`" + made->name_ + "` cannot be started: " + command.error());
  made->command_ = std::move(*command);
  return made;
}

std::string StartCommand::EndPhrase() const {
  std::string phrase = "`" + name_ + "` " + (over() ? EndText(*command_->end()) : "runs");
  if (const std::string words = LastWords(); !words.empty()) phrase += ": " + words;
  return phrase;
}

std::string StartCommand::LastWords() const { return Printable(LastLine(command_->Words()).substr(0, kMaxStartLine)); }

void StartCommand::EndSoon() {
  if (over() || std::exchange(ending_, true)) return;
  SignalAfter(kPartingTime, SIGTERM);
}

void StartCommand::SignalAfter(std::chrono::milliseconds time, int signal) {
  timer_.expires_after(time);
  timer_.async_wait([weak = weak_from_this(), signal](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || self->over()) return;
    self->Signal(signal);
    if (signal != SIGKILL) self->SignalAfter(kTermTime, SIGKILL);
  });
}

void StartCommand::Signal(int signal) {
  if (!heard_) heard_ = command_->Words();
  command_->Signal(signal);
}

void StartCommand::EndNow() {
  if (!command_ || over()) return;
  timer_.cancel();
  if (!command_->EndsWithin(kPartingTime)) Signal(SIGTERM);
  if (!command_->EndsWithin(kTermTime)) Signal(SIGKILL);
  command_->Take();
}

namespace {

constexpr std::chrono::milliseconds kDescriptorPause{100};
// One machine may let so much of the places wait for a place; further connections of it are closed, and its agents try
// again.
constexpr std::size_t kShareOfAMachine = 4;
// Handshakes go on between so many new connections.
constexpr int kMaxAtOnce = 64;

}  // namespace

// A connection without a proof.
struct DialListener::Visitor {
  Visitor(boost::asio::io_context& io, Clock::time_point now) : socket(io.get_executor()), came_at(now) {}

  std::size_t wanted() const { return (greeting.empty() ? kGreetingBytes : kAgentProofBytes) - got.size(); }

  WatchedFd socket;
  const Clock::time_point came_at;
  ConnectionPlaces::Id place = 0;
  std::string got;       // of the message that is awaited
  std::string greeting;  // its bytes, once they are there
  std::string node;
  std::string answer;  // to the greeting
};

DialListener::DialListener(boost::asio::io_context& io, std::string session, std::string token, Events events,
                           DialLimits limits)
    : io_(io),
      session_(std::move(session)),
      token_(std::move(token)),
      events_(std::move(events)),
      limits_(limits),
      socket_(io.get_executor()),
      oldest_(io.get_executor()),
      pause_(io.get_executor()),
      places_(limits.most, limits.crowded_time) {}

Result<std::shared_ptr<DialListener>> DialListener::Open(boost::asio::io_context& io, std::string session,
                                                         std::string token, Events events, DialLimits limits) {
  std::shared_ptr<DialListener> listener(
      new DialListener(io, std::move(session), std::move(token), std::move(events), limits));
  auto socket = ListenAt(listener->port_, PortUse::kAlone);
  if (!socket) return Fail(SystemError("hosts", "cannot listen for agents that dial back", socket.error()));
  boost::system::error_code error;
  listener->socket_.assign(socket->get(), error);
  if (error) return Fail(SystemError("hosts", "cannot wait for agents that dial back", error.value()));
  socket->release();
  listener->AwaitConnection();
  return listener;
}

void DialListener::Close() {
  boost::system::error_code ignored;
  socket_.close(ignored);
  for (const auto& visitor : visitors_) visitor->socket.close(ignored);  // handlers still hold it
  visitors_.clear();
  oldest_.cancel();
  pause_.cancel();
}

// --- connections -----------------------------------------------------------------------------------

void DialListener::AwaitConnection() {
  if (accepting_ || !socket_.is_open() || visitors_.size() > limits_.most) return;
  accepting_ = true;
  socket_.async_wait(WatchedFd::wait_read, [weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!self) return;
    self->accepting_ = false;
    if (!error && self->socket_.is_open()) self->TakeConnections();
  });
}

void DialListener::TakeConnections() {
  for (int i = 0; i < kMaxAtOnce && visitors_.size() <= limits_.most; ++i) {
    UniqueFd connection(::accept4(socket_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!connection) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN) break;
      pause_.expires_after(kDescriptorPause);
      pause_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
        if (const auto self = weak.lock(); self && !error) self->AwaitConnection();
      });
      return AwaitOldest();
    }
    const int on = 1;
    ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    auto visitor = std::make_shared<Visitor>(io_, Clock::now());
    if (!FindPlace(connection, visitor)) continue;
    boost::system::error_code error;
    visitor->socket.assign(connection.get(), error);
    if (error) {
      places_.Remove(visitor->place);
      continue;
    }
    connection.release();
    visitors_.push_back(visitor);
    AwaitBytes(visitor);
  }
  AwaitOldest();
  AwaitConnection();
}

bool DialListener::FindPlace(const UniqueFd& connection, const std::shared_ptr<Visitor>& visitor) {
  const Peer peer = PeerOf(connection.get());
  const ConnectionPlaces::Admission admission = places_.Admit(peer, visitor->came_at);
  if (admission.closes) {
    const auto closed = std::find_if(visitors_.begin(), visitors_.end(),
                                     [&](const auto& other) { return other->place == *admission.closes; });
    if (closed != visitors_.end()) {
      ++counts_.slow;
      Forget(std::shared_ptr(*closed));
    }
  }
  if (admission.id) {
    visitor->place = *admission.id;
    return true;
  }
  if (peer.kind != Peer::Kind::kOwn && places_.CountOf(peer) > limits_.most / kShareOfAMachine) {
    ++counts_.slow;
    return false;
  }
  visitor->place = places_.Enter(peer, visitor->came_at);
  return true;
}

DialListener::Clock::time_point DialListener::DueAt(const Visitor& visitor) const {
  return visitor.came_at + (visitors_.size() <= limits_.most ? limits_.handshake_time : limits_.crowded_time);
}

void DialListener::AwaitOldest() {
  if (visitors_.empty()) {
    oldest_.cancel();
    return;
  }
  oldest_.expires_at(DueAt(*visitors_.front()));
  oldest_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (!self || error || self->visitors_.empty()) return;
    const std::shared_ptr<Visitor> oldest = self->visitors_.front();
    if (Clock::now() < self->DueAt(*oldest)) return self->AwaitOldest();
    self->Drop(oldest, self->counts_.slow);
  });
}

void DialListener::Drop(const std::shared_ptr<Visitor>& visitor, std::uint32_t& count) {
  ++count;
  Forget(visitor);
  AwaitOldest();
  AwaitConnection();
}

void DialListener::Forget(const std::shared_ptr<Visitor>& visitor) {
  boost::system::error_code ignored;
  visitor->socket.close(ignored);
  places_.Remove(visitor->place);
  visitors_.remove(visitor);
}

// --- the handshake ---------------------------------------------------------------------------------

void DialListener::AwaitBytes(const std::shared_ptr<Visitor>& visitor) {
  visitor->socket.async_wait(WatchedFd::wait_read,
                             [weak = weak_from_this(), visitor](const boost::system::error_code& error) {
                               const auto self = weak.lock();
                               if (!error && self && visitor->socket.is_open()) self->Read(visitor);
                             });
}

// No more than the message: what follows is the agent protocol's.
void DialListener::Read(const std::shared_ptr<Visitor>& visitor) {
  std::array<char, std::max(kGreetingBytes, kAgentProofBytes)> bytes = {};
  const ssize_t got = ::recv(visitor->socket.native_handle(), bytes.data(), visitor->wanted(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return AwaitBytes(visitor);
  if (got <= 0) return Drop(visitor, counts_.left);
  visitor->got.append(bytes.data(), static_cast<std::size_t>(got));
  // What cannot become a greeting is not waited for.
  const std::size_t compared = std::min(visitor->got.size(), kDialMagic.size());
  if (visitor->greeting.empty() && visitor->got.compare(0, compared, kDialMagic, 0, compared) != 0) {
    return Drop(visitor, counts_.unproven);
  }
  if (visitor->wanted() > 0) return AwaitBytes(visitor);
  OnMessage(visitor);
}

void DialListener::OnMessage(const std::shared_ptr<Visitor>& visitor) {
  if (!visitor->greeting.empty()) return Judge(visitor);
  const std::optional<DialGreeting> greeting = ParseGreeting(visitor->got);
  if (!greeting || greeting->session != session_) return Drop(visitor, counts_.unproven);
  visitor->node = greeting->node;
  visitor->greeting = std::exchange(visitor->got, {});
  visitor->answer = HeadProof(token_, visitor->greeting, MakeNonce());
  if (!Write(*visitor, visitor->answer)) return Drop(visitor, counts_.left);
  AwaitBytes(visitor);
}

void DialListener::Judge(const std::shared_ptr<Visitor>& visitor) {
  if (!ProvesAgent(token_, visitor->greeting, visitor->answer, visitor->got)) {
    return Drop(visitor, counts_.unproven);
  }
  const DialVerdict verdict = events_.judge(visitor->node);
  const char byte = static_cast<char>(verdict);
  const bool written = Write(*visitor, {&byte, 1});
  if (verdict != DialVerdict::kAccepted) {
    return Drop(visitor, verdict == DialVerdict::kConnected ? counts_.twice : counts_.unknown);
  }
  if (!written) return Drop(visitor, counts_.left);
  ++counts_.accepted;
  UniqueFd connection(visitor->socket.release());
  Forget(visitor);
  AwaitOldest();
  AwaitConnection();
  const auto accepted = events_.accepted;  // it may close this object
  accepted(visitor->node, std::move(connection));
}

// The messages fit into the buffer of a new connection.
bool DialListener::Write(Visitor& visitor, std::string_view bytes) {
  return ::send(visitor.socket.native_handle(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
         static_cast<ssize_t>(bytes.size());
}

namespace {

// An engine whose controller does not answer in this time does not know.
constexpr std::chrono::seconds kPauseAnswerTime{6};

// As much as is kept of one command.
void KeepLatest(std::string& words, std::string_view more) {
  words += more;
  if (words.size() > WatchedCommand::kMaxWords) words.erase(0, words.size() - WatchedCommand::kMaxWords);
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
    if (file.addresses.size() < kMaxDialAddresses) file.addresses.push_back({ip, server->listener_->port()});
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
