#include "cli/site_option.h"

namespace muster {

CLI::Option* AddSiteOption(CLI::App& app, std::string& site) {
  return app.add_option("--site", site, "the site file, instead of those that are found; none for none")
      ->type_name("FILE|none");
}

}  // namespace muster
