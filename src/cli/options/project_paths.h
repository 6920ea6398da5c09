// What a project's site file may name: files and folders below the project, with links resolved. The file comes with
// the project, out of a repository that somebody else may have written, and is read by whatever command is called
// there.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "muster/result.h"
#include "plan/environment/site_file.h"

namespace muster {

// The path with its links resolved, if it is `folder` (absolute) or lies below it, and not in procfs; else a phrase:
// why not. What is not there is where it would be.
tl::expected<std::string, std::string> ResolvedBelow(const std::string& folder, const std::string& path);

// `facts` are what the project's `file` says. Libraries, rules and the file of hosts become the resolved paths; kind
// "site" for each that is not in the project. Where runs are kept is the user's to look at: nothing there is read.
Result<void> KeepInProject(const SiteFile& file, SiteFacts& facts);

}  // namespace muster
