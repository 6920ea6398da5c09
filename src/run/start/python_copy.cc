#include "run/start/python_copy.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "plan/environment/inherited_environment.h"

namespace muster {
namespace {

constexpr std::size_t kNameDigits = 16;

const std::string& CopyName() {
  static const std::string kName = [] {
    Sha256 hash;
    for (const EmbeddedFile& file : EmbeddedPython()) {
      hash.Add(fmt::format("{} {}\n", file.path, file.text.size()));
      hash.Add(file.text);
    }
    return hash.Hex().substr(0, kNameDigits);
  }();
  return kName;
}

// A power failure can leave files empty that had their names.
bool IsWhole(int folder) {
  return std::ranges::all_of(EmbeddedPython(), [&](const EmbeddedFile& file) {
    const auto text = ReadFileAt(folder, fmt::format("{}/{}", CopyName(), file.path), file.text.size(), O_NOFOLLOW);
    return text && *text == file.text;
  });
}

}  // namespace

Result<std::string> SharedPython(const std::string& folder) {
  const std::string copy = folder + "/" + CopyName();
  const std::filesystem::path path(folder);
  const UniqueFd above(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!above) return Fail(SystemError("file", folder, errno));
  const auto in = MakeFolder(above.get(), path.filename().string());
  if (!in) return Fail(in.error());
  static std::string seen;  // the copy that this process has read or written
  if (EntryExists(in->get(), CopyName()) && (seen == copy || IsWhole(in->get()))) {
    seen = copy;
    return copy;
  }
  // Nobody else writes to the folder of a sweep: what is left there is of a head that was killed.
  const std::string unfinished = CopyName() + ".new";
  std::error_code ignored;
  for (const std::string& left : {CopyName(), unfinished}) std::filesystem::remove_all(folder + "/" + left, ignored);
  for (const EmbeddedFile& file : EmbeddedPython()) {
    auto written = WriteNewFile(in->get(), fmt::format("{}/{}", unfinished, file.path), file.text);
    if (!written) return Fail(std::move(written.error()));
  }
  if (::renameat(in->get(), unfinished.c_str(), in->get(), CopyName().c_str()) != 0) {
    return Fail(SystemError("file", copy, errno));
  }
  seen = copy;
  return copy;
}

bool LinkPython(int run_folder, const std::string& run_dir, const std::string& copy) {
  const std::filesystem::path target = std::filesystem::path(copy).lexically_relative(run_dir);
  return !target.empty() && ::symlinkat(target.c_str(), run_folder, std::string(kPythonFolder).c_str()) == 0;
}

}  // namespace muster
