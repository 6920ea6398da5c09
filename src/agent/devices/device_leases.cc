#include "agent/devices/device_leases.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>
#include <sstream>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/devices/lease_files.h"
#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr std::size_t kMostHolder = 300;       // maximum bytes shown of a holder's description
constexpr std::size_t kMostCandidates = 4096;  // maximum number accepted from a file
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
  if (std::getline(lines, line)) job.whose = Printable(line.substr(0, kMostHolder));
  if (job.whose.empty()) job.whose = "an unknown holder";
  if (!std::getline(lines, line)) return job;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    if (const std::size_t at = word.find('='); at != std::string::npos)
      job.fields[word.substr(0, at)] = word.substr(at + 1);
  }
  if (!std::getline(lines, line)) return job;
  std::istringstream names(line);
  for (std::string name; job.candidates.size() < kMostCandidates && std::getline(names, name, ',');) {
    job.candidates.push_back(name);
  }
  return job;
}

std::string HolderText(const DeviceLeases::Wish& wish) {
  return fmt::format("{}\nparty={} job={}\n", wish.whose.substr(0, kMostHolder), wish.party, wish.job);
}

std::string TicketText(const DeviceLeases::Wish& wish, std::uint64_t arrival) {
  const DeviceRequest& devices = wish.devices;
  return fmt::format("{}\nparty={} job={} arrival={} overtaken=0 count={} shared={} per_device={}\n{}\n",
                     wish.whose.substr(0, kMostHolder), wish.party, wish.job, arrival, devices.count,
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
  job.wish = {text.candidates, static_cast<std::size_t>(text.Number("count")), text.Number("shared") != 0,
              static_cast<std::uint32_t>(text.Number("per_device"))};
  job.party = text.Word("party");
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
        if (share && LockOn(share.get()) != Lock::kFree) holders.parties.push_back(ReadJob(share.get()).Word("party"));
      }
    }
    if (holders.parties.empty()) holders.parties.push_back(text.Word("party"));
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

tl::expected<DeviceLeases::Taken, DeviceLeases::Shortage> DeviceLeases::Take(const Wish& wish,
                                                                             std::uint32_t patience_ms) {
  return Choose(wish, false, patience_ms);
}

tl::expected<DeviceLeases::Taken, DeviceLeases::Shortage> DeviceLeases::TakeInTurn(const Wish& wish,
                                                                                   std::uint32_t patience_ms) {
  return Choose(wish, true, patience_ms);
}

namespace {

// "device 2 is held by A; devices 3,4 are held by B", including jobs for which free devices are reserved.
std::string ShortageText(const DeviceRequest& wish, const std::map<std::string, JobText>& held_by,
                         const std::map<std::string, std::string>& due_to) {
  std::vector<std::pair<std::string, std::string>> groups;  // the reason, and its devices
  for (const std::string& device : wish.candidates) {
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

void DeviceLeases::LeaveTicket(const Wish& wish, std::uint64_t arrival) {
  const int folder = open_folder_.get();
  constexpr int kMostTickets = 1 << 16;
  for (int number = 0; number < kMostTickets; ++number) {
    const std::string name = fmt::format("{}{}", kTickets, number);
    if (IsLocked(folder, name)) continue;
    UniqueFd file = OpenLeaseFile(folder, name);
    if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 || !IsStillThere(folder, name, file.get())) continue;
    WriteLeaseFile(file.get(), TicketText(wish, arrival));
    ticket_ = std::move(file);
    ticket_name_ = name;
    return;
  }
}

// Takes the device's lock, and for a shared device also the file by which the jobs on it are counted.
tl::expected<void, std::string> DeviceLeases::Hold(const Wish& wish, const std::string& device) {
  const int folder = open_folder_.get();
  const auto failed = [&](int error) { return tl::unexpected(Failure("the lease of device " + device, error)); };
  const auto hold = [&](const std::string& name, int operation) {
    UniqueFd file;
    do {
      file = OpenLeaseFile(folder, name);
      if (!file || ::flock(file.get(), operation | LOCK_NB) != 0) return false;
    } while (!IsStillThere(folder, name, file.get()));
    WriteLeaseFile(file.get(), HolderText(wish));
    held_.push_back(std::move(file));
    return true;
  };
  if (!hold(FileOf(device), wish.devices.shared ? LOCK_SH : LOCK_EX)) return failed(errno);
  for (int share = 0; wish.devices.shared; ++share) {
    const std::string name = SharesOf(device) + std::to_string(share);
    if (IsLocked(folder, name)) continue;
    if (!hold(name, LOCK_EX)) return failed(errno);
    break;
  }
  return {};
}

tl::expected<DeviceLeases::Taken, DeviceLeases::Shortage> DeviceLeases::Choose(const Wish& wish, bool waits,
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
  own.wish = wish.devices;
  own.party = wish.party;
  for (const WaitingJob& other : choice.jobs) own.arrival = std::max(own.arrival, other.arrival + 1);
  if (ticket_) {
    const JobText text = ReadJob(ticket_.get());
    own.arrival = text.Number("arrival");
    own.overtaken = static_cast<std::uint32_t>(text.Number("overtaken"));
  }
  std::map<std::string, DeviceHolders> devices;
  std::size_t free = 0;
  for (const WaitingJob& job : jobs) {
    for (const std::string& device : job.wish.candidates) {
      // A single job with enough free devices requires no further information.
      if (jobs.size() == 1 && !wish.devices.shared && free == wish.devices.count) break;
      if (devices.contains(device)) continue;
      auto holders = choice.HoldersOf(device);
      if (!holders && &job == &own) return cannot(std::move(holders.error()));
      if (!holders)
        holders = DeviceHolders{{std::string()}, false};  // a name from another user's file that is not a lease
      if (holders->parties.empty()) ++free;
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
        due_to[jobs[turn.job].wish.candidates[position]] = choice.texts[turn.job].whose;
      }
    }
    Shortage shortage{ShortageText(wish.devices, choice.held_by, due_to), true};
    // A job must not wait for itself, which would last for ever: two of its hosts may be the same machine.
    for (const std::string& device : wish.devices.candidates) {
      const auto held = choice.held_by.find(device);
      if (held != choice.held_by.end() && !wish.job.empty() && held->second.Word("job") == wish.job)
        shortage.passes = false;
    }
    if (waits && shortage.passes && !ticket_) LeaveTicket(wish, own.arrival);
    return tl::unexpected(std::move(shortage));
  }

  const std::size_t before = held_.size();
  for (const std::size_t position : mine->positions) {
    auto holds = Hold(wish, wish.devices.candidates[position]);
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

}  // namespace muster
