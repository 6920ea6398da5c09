// Restricts the paths in a project's site file to files and folders below the project, with links
// resolved. The file may come from a foreign repository, and is read by every command that is called
// there.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "muster/result.h"
#include "plan/environment/site_file.h"

namespace muster {

// The path with its links resolved, if it is `folder` (absolute) or lies below it, and not in procfs; else the reason
// as a phrase. The path need not exist.
tl::expected<std::string, std::string> ResolvedBelow(const std::string& folder, const std::string& path);

// `facts` are from the project's `file`. Replaces libraries, rules and the host file by resolved paths; kind "site" for
// each that is outside the project. The runs folder is not restricted: nothing there is read.
Result<void> KeepInProject(const SiteFile& file, SiteFacts& facts);

}  // namespace muster
