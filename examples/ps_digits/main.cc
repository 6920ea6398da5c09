// ps_digits: one process of a parameter-server training. Reads arguments and environment and runs the role in
// MS_ROLE.
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "base/system/own_process.h"
#include "ps_digits/cluster_settings.h"
#include "ps_digits/options.h"
#include "ps_digits/scheduler.h"
#include "ps_digits/server.h"
#include "ps_digits/worker.h"

namespace ps_digits {
namespace {

constexpr int kFailed = 1;
constexpr int kMisused = 2;

int Complain(const Failure& failure, int exit_code) {
  std::fprintf(stderr, "ps_digits: %s\n", failure.message.c_str());
  return exit_code;
}

Environment ReadEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::string DataBesideProgram() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return (program.parent_path().parent_path() / "share/muster/examples/digits.csv").string();
}

Result<void> RunRole(const ClusterSettings& settings, const Options& options) {
  switch (settings.role) {
    case Role::kScheduler:
      return RunScheduler(settings);
    case Role::kServer:
      return RunServer(settings, options);
    case Role::kWorker:
      return RunWorker(settings, options);
  }
  return Failure{"unknown role"};
}

int Main(const std::vector<std::string>& arguments) {
  auto options = ParseOptions(arguments);
  if (!options) return Complain(options.error(), kMisused);
  if (options->help) {
    std::fputs(Usage().c_str(), stdout);
    return 0;
  }
  const auto settings = ReadClusterSettings(ReadEnvironment());
  if (!settings) return Complain(settings.error(), kMisused);
  if (options->data_file.empty()) options->data_file = DataBesideProgram();

  // Line buffering, also into a pipe or a file.
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const auto ran = RunRole(*settings, *options);
  if (!ran) return Complain(ran.error(), kFailed);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return Complain({"cannot write the output"}, kFailed);
  return 0;
}

}  // namespace
}  // namespace ps_digits

int main(int argc, char** argv) {
  if (!muster::FillStandardDescriptors()) return ps_digits::kFailed;
  return ps_digits::Main(std::vector<std::string>(argv + 1, argv + argc));
}
