// --site, of every command whose doing depends on site files.
#pragma once

#include <string>

#include <CLI/App.hpp>

namespace muster {

// `site` must live as long as the app.
CLI::Option* AddSiteOption(CLI::App& app, std::string& site);

}  // namespace muster
