#include "code/tar_archive.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/file_access.h"
#include "base/values/number_text.h"
#include "base/values/quoting.h"
#include "spawn/start/reap.h"

namespace muster {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// The compressor; none for a plain archive. -n keeps gzip from writing a time stamp, which would change the bytes.
std::string CompressorOf(const std::string& out) {
  if (out.ends_with(".tar.gz") || out.ends_with(".tgz")) return "gzip -n";
  return out.ends_with(".tar.zst") ? "zstd -q" : std::string();
}

// "s,^,TOP/," for --transform, for any name.
std::string PutBelow(const std::string& top) {
  std::string name;
  for (const char c : top) {
    if (std::string_view(",\\&").find(c) != std::string_view::npos) name += '\\';
    name += c;
  }
  return fmt::format("s,^,{}/,rSH", name);
}

std::string FirstLine(int fd) {
  const std::string text = BytesAt(fd, 0, 4096);
  return Printable(text.substr(0, text.find('\n')));
}

}  // namespace

bool IsTarName(const std::string& out) { return out.ends_with(".tar") || !CompressorOf(out).empty(); }

std::string PackWithTar(const TarOrder& order, const std::function<void(unsigned seconds)>& waiting) {
  const UniqueFd names(::memfd_create("muster-tar", MFD_CLOEXEC));
  const UniqueFd words(::memfd_create("muster-tar", MFD_CLOEXEC));
  if (!names || !words) return std::strerror(errno);
  // The folder first, with its mode: the unpacked folder is as private as this one.
  std::string list(".");
  list += '\0';
  for (const std::string& path : order.paths) list += path + '\0';
  if (const int error = WriteForReader(names.get(), list); error != 0) return std::strerror(error);

  // Created here with mode 0600 and overwritten by tar, which would make it readable for others.
  const std::string half = order.out + ".part";
  ::unlink(half.c_str());
  if (!UniqueFd(::open(half.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR))) {
    return fmt::format("{}: {}", Quoted(half), std::strerror(errno));
  }
  SpawnSpec spec;
  spec.argv = {"tar", "--create", "--file", half, "--force-local", "--directory", order.folder};
  for (const char* option :
       {"--no-recursion", "--null", "--verbatim-files-from", "--files-from=-", "--owner=0", "--group=0",
        "--numeric-owner", "--format=posix", "--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"}) {
    spec.argv.emplace_back(option);
  }
  spec.argv.push_back("--transform=" + PutBelow(order.top));
  const UniqueFd copied(::memfd_create("muster-tar", MFD_CLOEXEC));
  if (!order.copied.empty()) {
    std::string more;
    for (const std::string& path : order.copied) more += path + '\0';
    if (const int error = WriteForReader(copied.get(), more); error != 0) return std::strerror(error);
    spec.argv.insert(spec.argv.end(), {"--directory", order.copies, "--null", "--verbatim-files-from",
                                       fmt::format("--files-from=/proc/{}/fd/{}", ::getpid(), copied.get())});
  }
  if (const std::string program = CompressorOf(order.out); !program.empty()) {
    spec.argv.push_back("--use-compress-program=" + program);
  }
  std::vector<std::string> environment = {"LC_ALL=C"};
  for (const std::string& variable : order.environment) {
    if (variable.starts_with("PATH=")) environment.push_back(variable);
  }
  spec.env = EnvPointers(environment);
  spec.stdin_fd = names.get();
  spec.stderr_fd = words.get();
  spec.grouping = Grouping::kInherit;  // keyboard signals that end muster end it too
  spec.parent_death_signal = SIGKILL;
  Launcher launcher;
  auto spawned = launcher.Spawn(spec);
  if (!spawned) return "there is no tar that could be started";
  const ChildRef child = spawned->ref();
  const std::uint64_t began = MonotonicNowNs();
  for (unsigned seconds = 1; !EndsBy(child, began + seconds * kSecond); ++seconds) waiting(seconds);
  const EndedProcess end = ReapAtEnd(child);
  std::string why;
  if (end.signalled || end.code != 0) {
    why = FirstLine(words.get());
    if (why.empty()) why = "tar " + EndText(end);
  } else if (::rename(half.c_str(), order.out.c_str()) != 0) {
    why = fmt::format("{}: {}", Quoted(order.out), std::strerror(errno));
  }
  if (!why.empty()) ::unlink(half.c_str());
  return why;
}

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBlock = 512;
constexpr std::size_t kMaxName = 4096;
constexpr std::size_t kMaxHeader = 1U << 20;  // an extended one
constexpr std::size_t kPiece = 256U << 10;

// An end of reading with its reason; for users, without the name of the archive.
struct Refused {
  std::string why;
  std::string hint;
};

[[noreturn]] void Refuse(std::string why, std::string hint = "muster pack RUN makes archives") {
  throw Refused{std::move(why), std::move(hint)};
}

// The bytes of the archive, decompressed.
class Stream {
 public:
  Stream(int fd, std::uint64_t most) : fd_(fd), left_(most) {}

  // False at the end of the stream, if that is before the first byte.
  bool Read(char* to, std::size_t size) {
    for (std::size_t got = 0; got < size;) {
      const ssize_t more = ::read(fd_, to + got, size - got);
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) Refuse(std::strerror(errno));
      if (more == 0 && got == 0) return false;
      if (more == 0) RefuseCut();
      got += static_cast<std::size_t>(more);
      if (static_cast<std::uint64_t>(more) > left_) {
        Refuse("it is more than muster unpacks by itself", "unpack it with tar, and name the folder");
      }
      left_ -= static_cast<std::uint64_t>(more);
    }
    return true;
  }
  [[noreturn]] static void RefuseCut() { Refuse("it ends in the middle of a file", "copy it again: it was cut"); }

 private:
  int fd_;
  std::uint64_t left_;
};

std::string TextIn(const std::array<char, kBlock>& header, std::size_t at, std::size_t size) {
  const std::string_view field(header.data() + at, size);
  return std::string(field.substr(0, field.find('\0')));
}

// A number of a header: octal digits, or the binary form of GNU tar.
std::uint64_t NumberIn(const std::array<char, kBlock>& header, std::size_t at, std::size_t size) {
  constexpr unsigned kBinary = 0x80;
  std::uint64_t number = 0;
  if ((static_cast<unsigned char>(header[at]) & kBinary) != 0) {
    for (std::size_t i = at; i < at + size; ++i) {
      const auto byte = static_cast<unsigned char>(header[i]);
      if ((number >> 55U) != 0) Refuse("it is damaged: the size of a member is no number");
      number = number << 8U | (i == at ? byte & 0x7fU : byte);
    }
    return number;
  }
  for (std::size_t i = at; i < at + size; ++i) {
    const char c = header[i];
    if (c == '\0' || c == ' ') {
      if (number > 0) break;
      continue;
    }
    if (c < '0' || c > '7' || (number >> 60U) != 0) Refuse("it is damaged: the size of a member is no number");
    number = number * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return number;
}

bool HasChecksum(const std::array<char, kBlock>& header) {
  constexpr std::size_t kAt = 148, kSize = 8;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    sum += i >= kAt && i < kAt + kSize ? static_cast<unsigned char>(' ') : static_cast<unsigned char>(header[i]);
  }
  return sum == NumberIn(header, kAt, kSize);
}

// What extended headers say of the next member.
struct Extended {
  std::optional<std::string> name, link;
  std::optional<std::uint64_t> size;
};

// "19 path=a/long/name\n", one after the other.
void TakePax(std::string_view text, Extended& extended) {
  while (!text.empty()) {
    const std::size_t blank = text.find(' ');
    const auto length = ParseNumber<std::size_t>(text.substr(0, blank));
    if (blank == text.npos || !length || *length > text.size() || *length < blank + 3) {
      Refuse("it is damaged: an extended header cannot be read");
    }
    const std::string_view record = text.substr(blank + 1, *length - blank - 2);  // without the newline
    text.remove_prefix(*length);
    const std::size_t equals = record.find('=');
    const std::string_view key = record.substr(0, equals);
    const std::string value(equals == record.npos ? std::string_view() : record.substr(equals + 1));
    if (key == "path") extended.name = value;
    if (key == "linkpath") extended.link = value;
    if (key == "size") {
      extended.size = ParseNumber<std::uint64_t>(value);
      if (!extended.size) Refuse("it is damaged: the size of a member is no number");
    }
  }
}

// The components of a path; nothing if it leads outside, or is empty.
std::optional<std::vector<std::string>> PartsOf(const std::string& path) {
  if (path.empty() || path.size() > kMaxName || path.front() == '/' || path.find('\0') != path.npos) {
    return std::nullopt;
  }
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    std::string part = path.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") return std::nullopt;
    parts.push_back(std::move(part));
  }
  return parts.empty() ? std::nullopt : std::optional(std::move(parts));
}

class Unpacking {
 public:
  Unpacking(Stream stream, std::string into, const UnpackBounds& bounds)
      : stream_(stream), into_(std::move(into)), bounds_(bounds) {}

  // All members; the folder that they are in.
  std::string Run() {
    while (Next()) {
    }
    if (top_.empty()) Refuse("it is empty");
    return top_;
  }

 private:
  bool Next() {
    std::array<char, kBlock> header{};
    if (!stream_.Read(header.data(), kBlock)) {
      if (members_ == 0) Refuse("it is empty");
      Stream::RefuseCut();
    }
    if (std::all_of(header.begin(), header.end(), [](char c) { return c == '\0'; })) {
      while (stream_.Read(header.data(), kBlock)) {
      }
      return false;
    }
    if (TextIn(header, 257, 5) != "ustar" || !HasChecksum(header)) {
      Refuse(members_ == 0 ? "it is no tar archive" : "it is damaged");
    }
    if (++members_ > bounds_.members) {
      Refuse(fmt::format("it has more than {} members", bounds_.members), "unpack it with tar, and name the folder");
    }
    const std::uint64_t size = extended_.size.value_or(NumberIn(header, 124, 12));
    switch (const char kind = header[156]) {
      case 'x':
        TakePax(Content(size), extended_);
        return true;
      case 'g':
        Content(size);
        return true;
      case 'L':
        extended_.name = std::string(Content(size).c_str());
        return true;
      case 'K':
        extended_.link = std::string(Content(size).c_str());
        return true;
      default:
        TakeMember(header, kind, size);
        extended_ = {};
        return true;
    }
  }

  void TakeMember(const std::array<char, kBlock>& header, char kind, std::uint64_t size) {
    const std::string prefix = TextIn(header, 345, 155);
    const std::string name = extended_.name.value_or((prefix.empty() ? "" : prefix + "/") + TextIn(header, 0, 100));
    const auto parts = PartsOf(name);
    if (!parts) Refuse(Quoted(name) + " in it leads outside of its folder", "it was not made by muster pack: leave it");
    if (top_.empty()) top_ = parts->front();
    if (parts->front() != top_) Refuse("it has several folders: " + Quoted(top_) + ", " + Quoted(parts->front()));
    if (kind == '5') {
      MakeFolder(*parts, parts->size());
      Skip(size);
    } else if (kind == '0' || kind == '\0' || kind == '7') {
      TakeFile(*parts, size);
    } else if (kind == '2') {
      CheckLink(*parts, extended_.link.value_or(TextIn(header, 157, 100)));
      Skip(size);
    } else {
      Refuse(Quoted(name) + " in it is neither file nor folder", "it was not made by muster pack: leave it");
    }
  }

  // A link within the folder is left out; the program that reads the files follows none.
  static void CheckLink(const std::vector<std::string>& parts, const std::string& target) {
    std::size_t depth = parts.size() - 1;  // of folders that the link is in
    bool inside = !target.empty() && target.front() != '/';
    for (std::size_t begin = 0; inside && begin <= target.size();) {
      const std::size_t end = std::min(target.find('/', begin), target.size());
      const std::string_view part = std::string_view(target).substr(begin, end - begin);
      begin = end + 1;
      if (part == "..") {
        inside = depth > 1;  // the top folder stays
        --depth;
      } else if (!part.empty() && part != ".") {
        ++depth;
      }
    }
    if (inside) return;
    Refuse(Quoted(parts.back()) + " in it is a link to " + Quoted(target) + ", outside of its folder",
           "it was not made by muster pack: leave it");
  }

  void MakeFolder(const std::vector<std::string>& parts, std::size_t count) {
    std::string path = into_;
    for (std::size_t i = 0; i < count; ++i) {
      path += "/" + parts[i];
      if (::mkdir(path.c_str(), S_IRWXU) == 0) continue;
      const int error = errno;
      struct stat facts {};
      if (error != EEXIST || ::lstat(path.c_str(), &facts) != 0) RefuseAsSystem(error);
      if (!S_ISDIR(facts.st_mode)) Refuse("it has " + Quoted(parts[i]) + " as a file and as a folder");
    }
  }

  void TakeFile(const std::vector<std::string>& parts, std::uint64_t size) {
    if (parts.size() < 2) Refuse("it has no folder, only files");
    MakeFolder(parts, parts.size() - 1);
    bytes_ += size;
    if (size > bounds_.bytes || bytes_ > bounds_.bytes) {
      Refuse(fmt::format("its files are larger than {} MiB together", bounds_.bytes >> 20U),
             "unpack it with tar, and name the folder");
    }
    std::string path = into_;
    for (const std::string& part : parts) path += "/" + part;
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file && errno == EEXIST) Refuse("it has " + Quoted(parts.back()) + " twice");
    if (!file) RefuseAsSystem(errno);
    std::string piece;
    for (std::uint64_t left = size; left > 0; left -= piece.size()) {
      piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece)));
      if (!stream_.Read(piece.data(), piece.size())) Stream::RefuseCut();
      if (const int error = WriteAll(file.get(), piece); error != 0) RefuseAsSystem(error);
    }
    SkipPadding(size);
  }

  [[noreturn]] static void RefuseAsSystem(int error) {
    Refuse(std::string("it cannot be unpacked: ") + std::strerror(error),
           "it is unpacked below $TMPDIR, or /tmp; another folder may have room");
  }

  // The content of an extended header.
  std::string Content(std::uint64_t size) {
    if (size > kMaxHeader) Refuse("it is damaged: an extended header is too long");
    std::string content(static_cast<std::size_t>(size), '\0');
    if (size > 0 && !stream_.Read(content.data(), content.size())) Stream::RefuseCut();
    SkipPadding(size);
    return content;
  }
  void Skip(std::uint64_t size) {
    std::string piece;
    for (std::uint64_t left = size; left > 0; left -= piece.size()) {
      piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece)));
      if (!stream_.Read(piece.data(), piece.size())) Stream::RefuseCut();
    }
    SkipPadding(size);
  }
  void SkipPadding(std::uint64_t size) {
    std::array<char, kBlock> padding{};
    const std::size_t rest = (kBlock - size % kBlock) % kBlock;
    if (rest > 0 && !stream_.Read(padding.data(), rest)) Stream::RefuseCut();
  }

  Stream stream_;
  std::string into_;
  UnpackBounds bounds_;
  std::string top_;
  std::uint64_t members_ = 0;
  std::uint64_t bytes_ = 0;
  Extended extended_;
};

// What decompresses an archive with this beginning; none if it is not compressed.
std::vector<std::string> DecompressorFor(int archive) {
  std::array<unsigned char, 4> begin{};
  const ssize_t got = ::pread(archive, begin.data(), begin.size(), 0);
  if (got >= 2 && begin[0] == 0x1f && begin[1] == 0x8b) return {"gzip", "-dc"};
  if (got == 4 && begin[0] == 0x28 && begin[1] == 0xb5 && begin[2] == 0x2f && begin[3] == 0xfd) return {"zstd", "-dcq"};
  return {};
}

std::vector<std::string> PathIn(const std::vector<std::string>& environment) {
  std::vector<std::string> path = {"LC_ALL=C"};
  for (const std::string& variable : environment) {
    if (variable.starts_with("PATH=")) path.push_back(variable);
  }
  return path;
}

std::string Unpack(int archive, const std::string& into, const std::vector<std::string>& environment,
                   const UnpackBounds& bounds) {
  const std::vector<std::string> decompressor = DecompressorFor(archive);
  if (decompressor.empty()) return Unpacking(Stream(archive, bounds.stream), into, bounds).Run();
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) Refuse(std::strerror(errno));
  UniqueFd from(ends[0]);
  UniqueFd to(ends[1]);
  const std::vector<std::string> path = PathIn(environment);
  SpawnSpec spec;
  spec.argv = decompressor;
  spec.env = EnvPointers(path);
  spec.stdin_fd = archive;
  spec.stdout_fd = to.get();
  spec.parent_death_signal = SIGKILL;
  Launcher launcher;
  auto spawned = launcher.Spawn(spec);
  if (!spawned) {
    Refuse(fmt::format("there is no {} on PATH that could decompress it", decompressor.front()),
           "install it, or name a plain archive or the unpacked folder");
  }
  to.reset();
  // However the reading ends, the decompressor ends with the pipe and is waited for.
  std::string top;
  std::optional<Refused> refused;
  try {
    top = Unpacking(Stream(from.get(), bounds.stream), into, bounds).Run();
  } catch (Refused& why) {
    refused = std::move(why);
  }
  from.reset();
  if (refused) KillChild(spawned->ref());
  const EndedProcess end = ReapAtEnd(spawned->ref());
  if (refused) throw *std::move(refused);
  if (end.signalled || end.code != 0) {
    Refuse(fmt::format("{} {}", decompressor.front(), EndText(end)), "copy it again: it is damaged");
  }
  return top;
}

}  // namespace

Result<std::string> UnpackTar(const std::string& archive, const std::string& into,
                              const std::vector<std::string>& environment, const UnpackBounds& bounds) {
  const UniqueFd file(::open(archive.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return Fail(SystemError("archive", archive, errno));
  try {
    return Unpack(file.get(), into, environment, bounds);
  } catch (Refused& refused) {
    return Fail(Error("archive", {}, fmt::format("the archive {} cannot be read: {}", Quoted(archive), refused.why),
                      std::move(refused.hint)));
  }
}

UnpackedArchive::UnpackedArchive(std::string temporary, UniqueFd alive, Spawned remover)
    : temporary_(std::move(temporary)), alive_(std::move(alive)), remover_(std::move(remover)) {}

UnpackedArchive::~UnpackedArchive() {
  if (!alive_) return;
  alive_.reset();
  ReapAtEnd(remover_.ref());
}

Result<UnpackedArchive> UnpackedArchive::Of(const std::string& archive, const std::vector<std::string>& environment,
                                            const UnpackBounds& bounds) {
  std::error_code error;
  std::string temporary = fs::temp_directory_path(error) / "muster-archive-XXXXXX";
  if (error || ::mkdtemp(temporary.data()) == nullptr) {
    return Fail(SystemError("archive", temporary, error ? error.value() : errno));
  }
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    const int why = errno;
    ::rmdir(temporary.c_str());
    return Fail(SystemError("archive", temporary, why));
  }
  const UniqueFd waits(ends[0]);
  UniqueFd alive(ends[1]);
  const std::vector<std::string> path = PathIn(environment);
  SpawnSpec spec;
  spec.argv = {"/bin/sh", "-c", "read -r end; exec rm -rf -- \"$1\"", "sh", temporary};
  spec.env = EnvPointers(path);
  spec.stdin_fd = waits.get();
  spec.grouping = Grouping::kOwnSession;  // keyboard signals end this process, and not the remover
  Launcher launcher;
  auto remover = launcher.Spawn(spec);
  if (!remover) {
    ::rmdir(temporary.c_str());
    return Fail(Error("archive", {}, "cannot start /bin/sh: " + SpawnErrorText(remover.error())));
  }
  UnpackedArchive unpacked(std::move(temporary), std::move(alive), *std::move(remover));
  auto top = UnpackTar(archive, unpacked.temporary_, environment, bounds);
  if (!top) return Fail(std::move(top.error()));
  unpacked.top_ = *std::move(top);
  return unpacked;
}

}  // namespace muster
