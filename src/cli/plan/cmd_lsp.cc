// muster lsp: the language server for recipes at standard input and output, with the recipes' requests as muster check
// makes them, and the reference of muster docs.
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <unistd.h>

#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/lookup/own_reference.h"
#include "cli/options/recipe_options.h"
#include "cli/plan/machine_problems.h"
#include "lsp/language_server.h"
#include "lua/state/own_data.h"
#include "run/loop/output.h"

namespace muster {
namespace {

// The reference for releases that a recipe names, each loaded once.
class References {
 public:
  // `release`: as it is typed; one that is not known has all releases.
  ReferenceView For(const std::string& release) {
    OwnReference* const all = Loaded("");
    if (all == nullptr) return {};
    const bool known = !release.empty() && all->schema.FindRelease(release, {});
    OwnReference* const found = known ? Loaded(release) : all;
    if (found == nullptr) return {};
    return {&found->schema, &found->topics, found->release};
  }

 private:
  OwnReference* Loaded(const std::string& release) {
    const auto known = loaded_.find(release);
    if (known != loaded_.end()) return known->second.get();
    auto reference = OwnReference::Load(release);
    return (loaded_[release] = reference ? *std::move(reference) : nullptr).get();
  }

  std::map<std::string, std::unique_ptr<OwnReference>> loaded_;
};

int RunLsp() {
  const auto types = OwnData("muster/reference/types.lua");
  if (!types) return Refuse(types.error());
  const auto references = std::make_shared<References>();
  LanguageHost host;
  host.types = ApiTypes::From(*types);
  host.reference = [references](const std::string& release) { return references->For(release); };
  host.prepare = [](const std::string& file) {
    RecipeOptions options;
    options.recipe = file;
    return PrepareEvaluation(options);
  };
  host.machine_problems = [](const Plan& plan, const std::string& file) { return MissingPrograms(plan, file); };
  // A folder that is gone leaves the one that the client was started in.
  host.enter = [](const std::string& folder) { static_cast<void>(chdir(folder.c_str()) == 0); };
  const PipeSignalIgnored no_pipe_signal;
  LanguageServer server(std::move(host));
  return ServeLanguageClient(server, STDIN_FILENO, STDOUT_FILENO);
}

}  // namespace

std::function<int()> SetupLsp(CLI::App&, const Invocation&) { return RunLsp; }

}  // namespace muster
