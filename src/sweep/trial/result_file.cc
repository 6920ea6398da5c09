#include "sweep/trial/result_file.h"

#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/private_files.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "metrics/log_patterns.h"

namespace muster {
namespace {

constexpr std::size_t kMaxResult = 1U << 20;
constexpr std::string_view kRunDirMark = "{run_dir}";

// The folder without placeholders, except that of the run directory, which is filled in.
tl::expected<std::string, std::string> FolderOf(const Text& text, const std::string& run_dir) {
  const auto pieces = Pieces(text);
  if (!pieces) return tl::unexpected(pieces.error());
  std::string folder;
  for (const TextPiece& piece : *pieces) {
    if (piece.hole && piece.hole->kind != Placeholder::Kind::kRunDir) {
      return tl::unexpected("its working folder is known only where it runs: " + Quoted(text.marked));
    }
    folder += piece.hole ? run_dir : piece.literal;
  }
  return folder;
}

}  // namespace

Result<MetricValues> ReadResultFile(const Plan& plan, const MetricsChoice& choice, const std::string& run_dir,
                                    const std::string& cwd) {
  auto process = LoggingProcess(plan, choice, choice.place);
  if (!process) return Fail(std::move(process.error()));
  const auto refuse = [&](const std::string& path, const std::string& why) {
    return Fail(Error("metrics", choice.place, fmt::format("the result file {}: {}", Quoted(path), why)));
  };
  std::string name = choice.result_file;
  for (std::size_t at = name.find(kRunDirMark); at != name.npos; at = name.find(kRunDirMark, at + run_dir.size())) {
    name.replace(at, kRunDirMark.size(), run_dir);
  }
  const auto folder = FolderOf(EffectiveCwd(plan, plan.processes[*process]), run_dir);
  std::filesystem::path path = name;
  if (path.is_relative()) {
    if (!folder) return refuse(name, folder.error());
    path = std::filesystem::path(cwd) / *folder / path;
  }
  const auto bytes = ReadFileAt(AT_FDCWD, path, kMaxResult);
  if (!bytes) return refuse(path, bytes.error().empty() ? "it cannot be read" : bytes.error().front().message);
  auto values = MetricsLine(*bytes);
  if (!values) return refuse(path, "it holds no object of JSON such as {\"loss\": 0.25}");
  return *std::move(values);
}

}  // namespace muster
