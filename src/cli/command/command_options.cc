#include "cli/command/command_options.h"

namespace muster {

CommandOptions AddCommandOptions(CLI::App& app, const Command& command, const Invocation& invocation) {
  CommandOptions options;
  options.run = command.setup(app, invocation);
  if (!command.at_site) return options;
  options.file = std::make_shared<std::string>();
  options.site =
      app.add_option("--site", *options.file, "site file to use instead of those that are found; none: no site file")
          ->type_name("FILE|none");
  return options;
}

}  // namespace muster
