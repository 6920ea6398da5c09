#include "agent/devices/device_leases.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <tuple>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/values/quoting.h"

namespace muster {
namespace {

using Devices = std::map<std::string, DeviceHolders>;

bool CanJoin(const DeviceRequest& request, const DeviceHolders& holders) {
  if (holders.owners.empty()) return true;
  return request.shared && holders.shared && (request.per_device == 0 || holders.owners.size() < request.per_device);
}

// Positions of the candidates that it could use, preferred ones first.
std::vector<std::size_t> Usable(const DeviceRequest& request, Devices& devices) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < request.candidates.size(); ++i) {
    if (CanJoin(request, devices[request.candidates[i]])) usable.push_back(i);
  }
  if (request.shared) {
    std::stable_sort(usable.begin(), usable.end(), [&](std::size_t a, std::size_t b) {
      return devices[request.candidates[a]].owners.size() < devices[request.candidates[b]].owners.size();
    });
  }
  if (usable.size() > request.count) usable.resize(request.count);
  std::sort(usable.begin(), usable.end());
  return usable;
}

}  // namespace

std::vector<DeviceGrant> ServeInTurn(const std::vector<WaitingJob>& waiting, Devices devices) {
  std::map<std::string, std::size_t> held;
  for (const auto& [name, holders] : devices) {
    for (const std::string& owner : holders.owners) ++held[owner];
  }
  std::vector<DeviceGrant> turns;
  std::vector<std::size_t> unfit;
  std::vector<std::size_t> left(waiting.size());
  std::iota(left.begin(), left.end(), 0);
  while (!left.empty()) {
    const auto next = std::min_element(left.begin(), left.end(), [&](std::size_t a, std::size_t b) {
      const auto rank = [&](const WaitingJob& job) {
        const bool due = job.overtaken >= kMaxDeviceOvertakes;
        return std::tuple(!due, due ? 0 : held[job.owner], job.arrival);
      };
      return rank(waiting[a]) < rank(waiting[b]);
    });
    const std::size_t job = *next;
    left.erase(next);
    const WaitingJob& one = waiting[job];
    std::vector<std::size_t> usable = Usable(one.request, devices);
    const bool served = usable.size() == one.request.count;
    if (!served) unfit.push_back(job);
    if (!served && one.overtaken < kMaxDeviceOvertakes) continue;
    for (const std::size_t position : usable) {
      DeviceHolders& holders = devices[one.request.candidates[position]];
      holders.shared = served && one.request.shared;  // a reserved device is reserved exclusively
      holders.owners.push_back(one.owner);
    }
    if (!served) continue;
    held[one.owner] += one.request.count;
    std::vector<std::size_t> passes;
    std::copy_if(unfit.begin(), unfit.end(), std::back_inserter(passes), [&](std::size_t other) {
      return std::any_of(usable.begin(), usable.end(), [&](std::size_t position) {
        const std::vector<std::string>& wanted = waiting[other].request.candidates;
        return std::find(wanted.begin(), wanted.end(), one.request.candidates[position]) != wanted.end();
      });
    });
    turns.push_back({job, std::move(usable), std::move(passes)});
  }
  return turns;
}

namespace {

// Files that all muster processes of a host lock, in a folder that all users may write: opened without following links,
// created once, and removed only by their creator.
//
// Handles files and flock(2); independent of devices.

constexpr std::size_t kMaxRead = 64U << 10;
constexpr int kFlags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

UniqueFd OnlyPlain(UniqueFd file) {
  struct stat status = {};
  if (!file) return file;
  if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1) return file;
  errno = EINVAL;
  return UniqueFd();
}

// Interrupts a blocking system call after a time, during its lifetime: flock(2) has no timeout.
class Patience {
 public:
  explicit Patience(std::uint32_t ms) {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    ::sigaction(SIGALRM, &action, &before_);
    itimerval timer = {};
    timer.it_value = {ms / 1000, static_cast<suseconds_t>(ms % 1000) * 1000};
    timer.it_interval = {0, 50'000};  // repeated in case the first signal comes between two calls
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
  ~Patience() {
    const itimerval none = {};
    ::setitimer(ITIMER_REAL, &none, nullptr);
    ::sigaction(SIGALRM, &before_, nullptr);
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  struct sigaction before_ = {};
};

// Opens the file of that name, created with mode 0666 if missing; for writing if permitted, else for reading. Empty,
// with errno set, if it cannot be opened or is not a regular file with exactly one link (EINVAL).
UniqueFd OpenLeaseFile(int folder, const std::string& name) {
  for (int tries = 0; tries < 16; ++tries) {
    // First without O_CREAT: in a folder with the sticky bit it would be refused for another user's file
    // (fs.protected_regular, proc_sys_fs(5)).
    UniqueFd file(::openat(folder, name.c_str(), O_RDWR | kFlags));
    // Created by a user with a stricter umask: can be locked, but this process cannot write its description.
    if (!file && errno == EACCES) file.reset(::openat(folder, name.c_str(), O_RDONLY | kFlags));
    if (!file && errno == ENOENT) {
      file.reset(::openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | kFlags, 0666));
      if (file) ::fchmod(file.get(), 0666);  // independent of the umask
      if (!file && errno == EEXIST) continue;
    }
    if (!file) return file;
    struct stat status = {};
    // Its owner has removed it in the meantime, so it has no name.
    if (::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0) continue;
    return OnlyPlain(std::move(file));
  }
  return UniqueFd();
}

// The same for reading, without creation: closing it raises no IN_CLOSE_WRITE for processes that watch the folder.
UniqueFd InspectLeaseFile(int folder, const std::string& name) {
  return OnlyPlain(UniqueFd(::openat(folder, name.c_str(), O_RDONLY | kFlags)));
}

// Whether the name still refers to the file: a lock on a removed file has no effect.
bool IsStillThere(int folder, const std::string& name, int file) {
  struct stat by_name = {};
  struct stat by_file = {};
  return ::fstatat(folder, name.c_str(), &by_name, AT_SYMLINK_NOFOLLOW) == 0 && ::fstat(file, &by_file) == 0 &&
         by_name.st_dev == by_file.st_dev && by_name.st_ino == by_file.st_ino;
}

// Waits for the exclusive lock, at most `patience_ms`. False after that time, or on an error.
bool LockWithin(int file, std::uint32_t patience_ms) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
  const Patience patience(patience_ms);
  return ::flock(file, LOCK_EX) == 0;
}

// Up to 64 KiB from the beginning; untrusted.
std::string ReadLeaseFile(int file) { return BytesAt(file, 0, kMaxRead); }

// Replaces the content; best effort, since only the lock matters.
void WriteLeaseFile(int file, const std::string& text) {
  const bool written = ::ftruncate(file, 0) == 0 && ::pwrite(file, text.data(), text.size(), 0) > 0;
  static_cast<void>(written);
}

constexpr std::size_t kMaxHolder = 300;       // maximum bytes shown of a holder's description
constexpr std::size_t kMaxCandidates = 4096;  // maximum number accepted from a file
constexpr std::string_view kTickets = "waiting-";

std::string Failure(const std::string& what, int error) { return fmt::format("{}: {}", what, std::strerror(error)); }

std::string FileOf(const std::string& device) { return "device-" + device; }
// Prefix of the files of the jobs that share a device; a number follows.
std::string SharesOf(const std::string& device) { return "share-" + device + "."; }

// Content of the file of a job that holds or awaits devices. The first line is for users, the second for other muster
// processes; for a waiting job the third lists its candidates. All of it is untrusted.
struct JobText {
  std::string whose;
  std::map<std::string, std::string> fields;
  std::vector<std::string> candidates;

  std::uint64_t Number(const std::string& name) const {
    const auto found = fields.find(name);
    std::uint64_t number = 0;
    if (found != fields.end()) std::istringstream(found->second) >> number;
    return number;
  }
  std::string Word(const std::string& name) const {
    const auto found = fields.find(name);
    return found == fields.end() ? std::string() : found->second;
  }
};

JobText ReadJob(int file) {
  JobText job;
  std::istringstream lines(ReadLeaseFile(file));
  std::string line;
  if (std::getline(lines, line)) job.whose = Printable(line.substr(0, kMaxHolder));
  if (job.whose.empty()) job.whose = "an unknown holder";
  if (!std::getline(lines, line)) return job;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (const std::size_t at = word.find('='); at != std::string::npos)
      job.fields[word.substr(0, at)] = word.substr(at + 1);
  }
  if (!std::getline(lines, line)) return job;
  std::istringstream names(line);
  for (std::string name; job.candidates.size() < kMaxCandidates && std::getline(names, name, ',');) {
    job.candidates.push_back(name);
  }
  return job;
}

std::string HolderText(const DeviceLeases::Request& request) {
  return fmt::format("{}\nowner={} job={}\n", request.whose.substr(0, kMaxHolder), request.owner, request.job);
}

std::string TicketText(const DeviceLeases::Request& request, std::uint64_t arrival) {
  const DeviceRequest& devices = request.devices;
  return fmt::format("{}\nowner={} job={} arrival={} overtaken=0 count={} shared={} per_device={}\n{}\n",
                     request.whose.substr(0, kMaxHolder), request.owner, request.job, arrival, devices.count,
                     devices.shared ? 1 : 0, devices.per_device, fmt::join(devices.candidates, ","));
}

// Increments the number of times it was overtaken.
void CountOvertaken(int folder, const std::string& name, std::uint32_t overtaken) {
  const UniqueFd file(::openat(folder, name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file) return;
  std::string text = ReadLeaseFile(file.get());
  const std::string before = fmt::format(" overtaken={} ", overtaken);
  const std::size_t at = text.find(before);
  if (at == std::string::npos) return;
  text.replace(at, before.size(), fmt::format(" overtaken={} ", overtaken + 1));
  WriteLeaseFile(file.get(), text);
}

WaitingJob WaitingJobOf(const JobText& text) {
  WaitingJob job;
  job.request = {text.candidates, static_cast<std::size_t>(text.Number("count")), text.Number("shared") != 0,
                 static_cast<std::uint32_t>(text.Number("per_device"))};
  job.owner = text.Word("owner");
  job.arrival = text.Number("arrival");
  job.overtaken = static_cast<std::uint32_t>(text.Number("overtaken"));
  return job;
}

bool IsLeaseName(const std::string& name) {
  return !name.empty() && name.size() <= 128 && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

enum class Lock : std::uint8_t { kFree, kShared, kAlone };

// Tests the lock of other processes: closing the descriptor also releases the lock of the test.
Lock LockOn(int file) {
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) return Lock::kFree;
  return ::flock(file, LOCK_SH | LOCK_NB) == 0 ? Lock::kShared : Lock::kAlone;
}

bool IsLocked(int folder, const std::string& name) {
  const UniqueFd file = InspectLeaseFile(folder, name);
  return file && LockOn(file.get()) != Lock::kFree;
}

}  // namespace

std::string LeaseFolder(std::string_view given) {
  if (!given.empty()) return std::string(given);
  struct stat status = {};
  constexpr mode_t kForAll = S_ISVTX | S_IWOTH | S_IXOTH;
  const bool lock =
      ::stat("/run/lock", &status) == 0 && S_ISDIR(status.st_mode) && (status.st_mode & kForAll) == kForAll;
  return lock ? "/run/lock/muster-leases" : "/tmp/muster-leases";
}

// The content of the folder while this process holds the lock for choosing.
class DeviceLeases::Choice {
 public:
  Choice(int folder, const std::string& own_ticket) : folder_(folder), own_ticket_(own_ticket) {}

  // Reads waiting jobs, and jobs that share devices; removes stale tickets that this user owns.
  void Read() {
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(::openat(folder_, ".", O_RDONLY | O_CLOEXEC)),
                                                      ::closedir);
    std::set<std::string> tickets;
    while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
      const std::string name = entry->d_name;
      if (name.starts_with(kTickets) && name != own_ticket_) tickets.insert(name);
      if (name.starts_with("share-")) shares_.insert(name);
    }
    for (const std::string& name : tickets) {
      const UniqueFd file = InspectLeaseFile(folder_, name);
      if (!file) continue;
      if (LockOn(file.get()) == Lock::kFree) {
        ::unlinkat(folder_, name.c_str(), 0);
        continue;
      }
      JobText text = ReadJob(file.get());
      if (!std::all_of(text.candidates.begin(), text.candidates.end(), IsLeaseName)) continue;
      jobs.push_back(WaitingJobOf(text));
      texts.push_back(std::move(text));
      names.push_back(name);
    }
  }

  // The holders of the device; the error is a sentence.
  tl::expected<DeviceHolders, std::string> HoldersOf(const std::string& device) {
    const UniqueFd file = InspectLeaseFile(folder_, FileOf(device));
    if (!file && errno == ENOENT) return DeviceHolders{};
    if (!file) return tl::unexpected(Failure("the lease of device " + device, errno));
    const Lock lock = LockOn(file.get());
    if (lock == Lock::kFree) return DeviceHolders{};
    DeviceHolders holders;
    holders.shared = lock == Lock::kShared;
    const JobText text = ReadJob(file.get());
    held_by[device] = text;
    if (holders.shared) {
      for (auto name = shares_.lower_bound(SharesOf(device));
           name != shares_.end() && name->starts_with(SharesOf(device)); ++name) {
        const UniqueFd share = InspectLeaseFile(folder_, *name);
        if (share && LockOn(share.get()) != Lock::kFree) holders.owners.push_back(ReadJob(share.get()).Word("owner"));
      }
    }
    if (holders.owners.empty()) holders.owners.push_back(text.Word("owner"));
    return holders;
  }

  std::vector<WaitingJob> jobs;            // without the job that chooses
  std::vector<JobText> texts;              // of `jobs`
  std::vector<std::string> names;          // of the files of `jobs`
  std::map<std::string, JobText> held_by;  // the holder of each device in use

 private:
  int folder_;
  std::string own_ticket_;
  std::set<std::string> shares_;
};

tl::expected<void, std::string> DeviceLeases::OpenFolder() {
  if (open_folder_) return {};
  const std::string what = "the folder of device leases " + Quoted(folder_);
  const bool made = ::mkdir(folder_.c_str(), 01777) == 0;
  if (made) ::chmod(folder_.c_str(), 01777);  // independent of the umask
  open_folder_.reset(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!open_folder_) return tl::unexpected(Failure(what, errno));
  // A locked folder is skipped by clean-up programs such as systemd-tmpfiles(8).
  static_cast<void>(::flock(open_folder_.get(), LOCK_SH | LOCK_NB));
  return {};
}

tl::expected<DeviceLeases::Taken, DeviceLeases::Shortage> DeviceLeases::Take(const Request& request,
                                                                             std::uint32_t patience_ms) {
  return Choose(request, false, patience_ms);
}

tl::expected<DeviceLeases::Taken, DeviceLeases::Shortage> DeviceLeases::TakeInTurn(const Request& request,
                                                                                   std::uint32_t patience_ms) {
  return Choose(request, true, patience_ms);
}

namespace {

// "device 2 is held by A; devices 3,4 are held by B", including jobs for which free devices are reserved.
std::string ShortageText(const DeviceRequest& request, const std::map<std::string, JobText>& held_by,
                         const std::map<std::string, std::string>& due_to) {
  std::vector<std::pair<std::string, std::string>> groups;  // the reason, and its devices
  for (const std::string& device : request.candidates) {
    const auto held = held_by.find(device);
    const auto due = due_to.find(device);
    if (held == held_by.end() && due == due_to.end()) continue;
    const std::string said =
        due != due_to.end() ? "kept for " + due->second + ", which waits longer" : "held by " + held->second.whose;
    if (groups.empty() || groups.back().first != said) groups.emplace_back(said, std::string());
    groups.back().second += (groups.back().second.empty() ? "" : ",") + device;
  }
  std::string why;
  for (const auto& [said, devices] : groups) {
    const bool one = devices.find(',') == std::string::npos;
    why += fmt::format("{}{} {} {} {}", why.empty() ? "" : "; ", one ? "device" : "devices", devices,
                       one ? "is" : "are", said);
  }
  return why;
}

}  // namespace

bool DeviceLeases::IsLeased(const std::string& device) {
  return OpenFolder() && IsLocked(open_folder_.get(), FileOf(device));
}

void DeviceLeases::LeaveTicket(const Request& request, std::uint64_t arrival) {
  const int folder = open_folder_.get();
  constexpr int kMaxTickets = 1 << 16;
  for (int number = 0; number < kMaxTickets; ++number) {
    const std::string name = fmt::format("{}{}", kTickets, number);
    if (IsLocked(folder, name)) continue;
    UniqueFd file = OpenLeaseFile(folder, name);
    if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 || !IsStillThere(folder, name, file.get())) continue;
    WriteLeaseFile(file.get(), TicketText(request, arrival));
    ticket_ = std::move(file);
    ticket_name_ = name;
    return;
  }
}

// Takes the device's lock, and for a shared device also the file by which the jobs on it are counted.
tl::expected<void, std::string> DeviceLeases::Hold(const Request& request, const std::string& device) {
  const int folder = open_folder_.get();
  const auto failed = [&](int error) { return tl::unexpected(Failure("the lease of device " + device, error)); };
  const auto hold = [&](const std::string& name, int operation) {
    UniqueFd file;
    do {
      file = OpenLeaseFile(folder, name);
      if (!file || ::flock(file.get(), operation | LOCK_NB) != 0) return false;
    } while (!IsStillThere(folder, name, file.get()));
    WriteLeaseFile(file.get(), HolderText(request));
    held_.push_back(std::move(file));
    return true;
  };
  if (!hold(FileOf(device), request.devices.shared ? LOCK_SH : LOCK_EX)) return failed(errno);
  for (int share = 0; request.devices.shared; ++share) {
    const std::string name = SharesOf(device) + std::to_string(share);
    if (IsLocked(folder, name)) continue;
    if (!hold(name, LOCK_EX)) return failed(errno);
    break;
  }
  return {};
}

tl::expected<DeviceLeases::Taken, DeviceLeases::Shortage> DeviceLeases::Choose(const Request& request, bool waits,
                                                                               std::uint32_t patience_ms) {
  const auto cannot = [](std::string why, bool passes = false) {
    return tl::unexpected(Shortage{std::move(why), passes});
  };
  if (auto open = OpenFolder(); !open) return cannot(std::move(open.error()));
  const int folder = open_folder_.get();
  UniqueFd choosing = InspectLeaseFile(folder, "choosing");
  if (!choosing && errno == ENOENT) choosing = OpenLeaseFile(folder, "choosing");
  if (!choosing) return cannot(Failure("the folder of device leases " + Quoted(folder_), errno));
  if (!LockWithin(choosing.get(), patience_ms)) {
    return cannot("timed out waiting for the device lock: " + Quoted(folder_ + "/choosing") + " is locked", true);
  }

  Choice choice(folder, ticket_name_);
  choice.Read();
  std::vector<WaitingJob> jobs = choice.jobs;
  WaitingJob& own = jobs.emplace_back();
  own.request = request.devices;
  own.owner = request.owner;
  for (const WaitingJob& other : choice.jobs) own.arrival = std::max(own.arrival, other.arrival + 1);
  if (ticket_) {
    const JobText text = ReadJob(ticket_.get());
    own.arrival = text.Number("arrival");
    own.overtaken = static_cast<std::uint32_t>(text.Number("overtaken"));
  }
  std::map<std::string, DeviceHolders> devices;
  std::size_t free = 0;
  for (const WaitingJob& job : jobs) {
    for (const std::string& device : job.request.candidates) {
      // A single job with enough free devices requires no further information.
      if (jobs.size() == 1 && !request.devices.shared && free == request.devices.count) break;
      if (devices.contains(device)) continue;
      auto holders = choice.HoldersOf(device);
      if (!holders && &job == &own) return cannot(std::move(holders.error()));
      if (!holders)
        holders = DeviceHolders{{std::string()}, false};  // a name from another user's file that is not a lease
      if (holders->owners.empty()) ++free;
      devices.emplace(device, *std::move(holders));
    }
  }

  const std::vector<DeviceGrant> turns = ServeInTurn(jobs, devices);
  const std::size_t self = jobs.size() - 1;
  const auto mine =
      std::find_if(turns.begin(), turns.end(), [self](const DeviceGrant& turn) { return turn.job == self; });
  if (mine == turns.end()) {
    std::map<std::string, std::string> due_to;
    for (const DeviceGrant& turn : turns) {
      for (const std::size_t position : turn.positions) {
        due_to[jobs[turn.job].request.candidates[position]] = choice.texts[turn.job].whose;
      }
    }
    Shortage shortage{ShortageText(request.devices, choice.held_by, due_to), true};
    // A job must not wait for itself, which would last for ever: two of its hosts may be the same machine.
    for (const std::string& device : request.devices.candidates) {
      const auto held = choice.held_by.find(device);
      if (held != choice.held_by.end() && !request.job.empty() && held->second.Word("job") == request.job)
        shortage.passes = false;
    }
    if (waits && shortage.passes && !ticket_) LeaveTicket(request, own.arrival);
    return tl::unexpected(std::move(shortage));
  }

  const std::size_t before = held_.size();
  for (const std::size_t position : mine->positions) {
    auto holds = Hold(request, request.devices.candidates[position]);
    if (holds) continue;
    held_.resize(before);
    return cannot(std::move(holds.error()));
  }
  for (const std::size_t other : mine->passes) CountOvertaken(folder, choice.names[other], jobs[other].overtaken);
  Withdraw();
  return mine->positions;
}

void DeviceLeases::Withdraw() {
  if (!ticket_) return;
  ::unlinkat(open_folder_.get(), ticket_name_.c_str(), 0);
  ticket_name_.clear();
  ticket_.reset();
}

void DeviceLeases::GiveUp() {
  Withdraw();
  // inotify reports the close to waiting jobs, so release the lock first.
  for (const UniqueFd& file : held_) ::flock(file.get(), LOCK_UN);
  held_.clear();
  open_folder_.reset();
}

LeaseWatch::LeaseWatch(boost::asio::io_context& io) : changes_(io.get_executor()), pause_(io.get_executor()) {}

void LeaseWatch::Start(const std::string& folder, std::function<void()> look) {
  Stop();
  look_ = std::move(look);
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  // Only for files that were open for writing, so InspectLeaseFile raises no event.
  if (inotify && ::inotify_add_watch(inotify.get(), folder.c_str(), IN_CLOSE_WRITE | IN_ONLYDIR) >= 0) {
    boost::system::error_code error;
    changes_.assign(inotify.get(), error);
    if (!error) {
      inotify.release();
      AwaitChanges();
    }
  }
  next_pause_ = std::chrono::milliseconds(0);
  Arm();
}

void LeaseWatch::Stop() {
  look_ = nullptr;
  pause_.cancel();
  boost::system::error_code ignored;
  changes_.close(ignored);
}

void LeaseWatch::AwaitChanges() {
  changes_.async_wait(WatchedFd::wait_read, [this](const boost::system::error_code& error) {
    if (error || !look_) return;
    ReadFileChanges(changes_.native_handle(), [](const FileChange&) {});
    next_pause_ = std::chrono::milliseconds(0);
    Arm();
    AwaitChanges();
  });
}

void LeaseWatch::Arm() {
  pause_.expires_after(next_pause_);
  const auto longer = changes_.is_open() ? std::clamp(next_pause_ * 2, kFirstPause, kMaxPause) : kPauseUntold;
  next_pause_ = longer;
  pause_.async_wait([this](const boost::system::error_code& error) {
    if (error || !look_) return;
    Arm();
    const std::function<void()> look = look_;  // a copy, since it may call Stop()
    look();
  });
}

}  // namespace muster
