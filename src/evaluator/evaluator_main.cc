// muster-evaluator: the program of evaluators and of their fork server. It links nothing else of muster, because it is
// forked for every trial of a sweep and each additional page would be copied.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "base/system/own_process.h"
#include "evaluator/child.h"

namespace muster {
namespace {

constexpr const char* kHelp =
    R"(usage: muster-evaluator --evaluator VERSION | --fork-server VERSION [schema] [foreground] | --help | --version

Makes plans of recipes, locked down, for a muster of that version that holds the other end of descriptor 3. muster starts
it itself, from its own folder; there is no need to run it by hand.

example: muster plan recipes/hello.lua
)";

int Main(int argc, char** argv) {
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (first == "--help") return std::fputs(kHelp, stdout) < 0 ? 1 : 0;
  if (first == "--version") return std::puts("muster-evaluator " MUSTER_VERSION) < 0 ? 1 : 0;
  const bool fork_server = first == kForkServerArgument;
  if (argc < 3 || (!fork_server && first != kEvaluatorArgument)) {
    std::fputs("muster-evaluator: started by muster; see muster-evaluator --help\n", stderr);
    return 2;
  }
  if (std::string_view(argv[2]) != MUSTER_VERSION) return kOfAnotherVersion;
  if (fork_server) {
    const auto has = [&](std::string_view word) { return std::find(argv + 3, argv + argc, word) != argv + argc; };
    ForkServerMain(has(kWithSchema), has(kInForeground));
  }
  EvaluatorMain();
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::FillStandardDescriptors() ? muster::Main(argc, argv) : 1; }
