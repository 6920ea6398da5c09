#include "spawn/start/account_names.h"

#include <chrono>
#include <cstddef>

#include <fcntl.h>

#include "base/system/file_access.h"
#include "base/system/own_environment.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"
#include "spawn/start/launcher.h"
#include "spawn/start/limited_command.h"

namespace muster {
namespace {

constexpr std::size_t kMaxAccounts = 1U << 20;          // bytes of a file, or of an answer
constexpr std::chrono::milliseconds kLookupTime{2000};  // a directory service may not answer

// `database` is both a file of /etc and a word of getent(1).
std::string NameOf(const std::string& database, const std::string& noun, unsigned long id) {
  const std::string number = std::to_string(id);
  const UniqueFd file(::open(("/etc/" + database).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string name = file ? AccountNameIn(BytesAt(file.get(), 0, kMaxAccounts), number) : std::string();
  if (name.empty()) {
    Launcher launcher(MechanismsBut(WithoutByEnvironment()));
    SpawnSpec spec;
    spec.argv = {"getent", database, number};
    spec.env = OwnEnvironment();
    name =
        AccountNameIn(CapturedCommand(launcher, std::move(spec)).Take(kLookupTime).out.substr(0, kMaxAccounts), number);
  }
  return name.empty() ? noun + " " + number : Printable(name);
}

}  // namespace

std::string AccountNameIn(std::string_view file, std::string_view number) {
  for (const std::string_view line : TextLines(file)) {
    const std::size_t name = line.find(':');
    if (name == std::string_view::npos) continue;
    const std::size_t password = line.find(':', name + 1);
    if (password == std::string_view::npos) continue;
    const std::string_view rest = line.substr(password + 1);
    if (rest.substr(0, rest.find(':')) == number) return std::string(line.substr(0, name));
  }
  return {};
}

std::string UserName(uid_t user) { return NameOf("passwd", "uid", user); }

std::string GroupName(gid_t group) { return NameOf("group", "gid", group); }

}  // namespace muster
