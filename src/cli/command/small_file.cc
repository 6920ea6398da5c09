#include "cli/command/small_file.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"

namespace muster {

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  return path.empty() ? path : std::filesystem::absolute(path, error).lexically_normal().string();
}

tl::expected<std::string, std::string> ReadSmallFile(const std::string& name, std::uintmax_t most) {
  // Checked first: opening a FIFO would wait for a writer, and a device has no end.
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(name, error);
  if (!std::filesystem::exists(status)) return tl::unexpected("there is no file " + Quoted(name));
  if (!std::filesystem::is_regular_file(status)) {
    return tl::unexpected(Quoted(name) +
                          (std::filesystem::is_directory(status) ? " is a folder, no file" : " is no regular file"));
  }
  if (std::filesystem::file_size(name, error) > most) {
    return tl::unexpected("the file " + Quoted(name) + " is larger than " + std::to_string(most >> 20) + " MiB");
  }
  std::ifstream file(name, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  if (!file) return tl::unexpected("the file " + Quoted(name) + " cannot be read");
  return content.str();
}

bool LeadsOutOfHere(const std::string& name) { return !OpenInside(AT_FDCWD, name, O_PATH) && errno == EXDEV; }

tl::expected<std::string, std::string> ReadSmallFileHere(const std::string& name, std::uintmax_t most) {
  if (!LeadsOutOfHere(name)) return ReadSmallFile(name, most);
  return tl::unexpected("the file " + Quoted(name) + " is a link that leads out of the folder");
}

namespace {

bool Holds(const std::string& path, std::string_view text) {
  const auto content = ReadSmallFile(path);
  return content && *content == text;
}

Diagnostic Changed(const std::string& path) {
  return Error("file", {}, Quoted(path) + " has been changed while it was rewritten; it is left as it is",
               "run the command again");
}

// The new text in a file of its own, as the other one is: 0, or the error number.
int WriteDraft(const std::string& draft, const struct stat& like, std::string_view text) {
  const UniqueFd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return errno;
  if (const int error = WriteAll(file.get(), text)) return error;
  struct stat own {};
  if (::fstat(file.get(), &own) != 0) return errno;
  const bool other_owner = own.st_uid != like.st_uid || own.st_gid != like.st_gid;
  if (other_owner && ::fchown(file.get(), like.st_uid, like.st_gid) != 0) return errno;
  constexpr mode_t kMode = 07777;
  if (::fchmod(file.get(), like.st_mode & kMode) != 0) return errno;
  return ::fsync(file.get()) == 0 ? 0 : errno;
}

// Puts the draft in the file's place. Both are exchanged, so a text that somebody saved at the last moment is seen and
// put back; not every file system can do that.
Result<void> PutInPlace(const std::string& draft, const std::string& place, std::string_view before,
                        std::string_view after) {
  const auto exchange = [&] {
    return ::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) == 0;
  };
  if (exchange()) {
    if (Holds(draft, before)) return {};
    if (!exchange() || !Holds(draft, after)) {
      return Fail(Error("file", {}, Quoted(place) + " has been changed while it was rewritten",
                        "one of the two texts is in " + Quoted(draft)));
    }
    return Fail(Changed(place));
  }
  if (errno != EINVAL && errno != ENOSYS)
    return Fail(SystemError("file", Quoted(place) + " cannot be replaced", errno));
  if (!Holds(place, before)) return Fail(Changed(place));
  if (::rename(draft.c_str(), place.c_str()) == 0) return {};
  return Fail(SystemError("file", Quoted(place) + " cannot be replaced", errno));
}

}  // namespace

Result<void> ReplaceRecipe(const std::string& path, std::string_view before, std::string_view after) {
  std::error_code error;
  const std::string place = std::filesystem::canonical(path, error).string();
  struct stat status {};
  if (error || ::stat(place.c_str(), &status) != 0 || ::faccessat(AT_FDCWD, place.c_str(), W_OK, AT_EACCESS) != 0) {
    return Fail(SystemError("file", Quoted(path) + " cannot be written", error ? error.value() : errno));
  }
  if (!Holds(place, before)) return Fail(Changed(path));
  const std::string draft = place + ".new-" + std::to_string(::getpid());
  if (const int number = WriteDraft(draft, status, after)) {
    if (number != EEXIST) ::unlink(draft.c_str());
    return Fail(SystemError("file", Quoted(draft) + " cannot be written", number));
  }
  Result<void> put = PutInPlace(draft, place, before, after);
  // Of two writers at once, the text of the other one may be here.
  if (Holds(draft, after) || Holds(draft, before)) ::unlink(draft.c_str());
  return put;
}

}  // namespace muster
