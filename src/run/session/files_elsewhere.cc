#include "run/session/files_elsewhere.h"

#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "base/values/diagnostics.h"
#include "run/directory/private_files.h"
#include "run/session/agent_links.h"
#include "run/session/live_run.h"
#include "run/start/host_files.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr std::size_t kPart = 1U << 20;

}  // namespace

Result<void> FilesElsewhere::WriteProbe() {
  if (!run_.elsewhere) return {};
  return WriteNewFile(run_.directory->folder(), kProbeEntry.name, run_.binding.run_id);
}

void FilesElsewhere::RemoveProbe() {
  if (run_.elsewhere) ::unlinkat(run_.directory->folder(), kProbeEntry.name, 0);
}

void FilesElsewhere::Send(const std::map<std::string, std::string>& files) {
  for (const auto& [host, state] : hosts_) {
    for (const auto& [path, bytes] : files) {
      std::size_t at = 0;
      do {
        links_.Send(host, PlaceFile{path, at, bytes.substr(at, kPart)});
        at += kPart;
      } while (at < bytes.size());
    }
  }
}

void FilesElsewhere::Keep(std::uint32_t host, const FileBytes& bytes) {
  Host& from = hosts_.at(host);
  const Result<void> written = KeepFileBytes(run_.directory->folder(), bytes);
  if (written || std::exchange(from.incomplete, true)) return;
  run_.console.Warn(
      fmt::format("cannot write a file of {}, its files stay there: {}", from.name, Sentence(written.error())));
}

void FilesElsewhere::Finish(std::uint32_t host) {
  if (const auto from = hosts_.find(host); from != hosts_.end())
    links_.Send(host, FilesStored{!from->second.incomplete});
}

}  // namespace muster
