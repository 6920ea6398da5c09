// The site of a call of muster: the site files that are found, or the specified one, evaluated and merged. Read once,
// on first use. The paths in a project's site file are restricted to files and folders below the project, with links
// resolved: the file may come from a foreign repository, and is read by every command that is called there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "plan/environment/site_file.h"
#include "run/supervise/verdict.h"

namespace muster {

// The site of a call of muster: the site files that are found, or the specified one, evaluated and merged. Read once,
// on first use.

inline constexpr char kSiteFileName[] = "muster.site.lua";
inline constexpr char kSiteVariable[] = "MUSTER_SITE";

struct CurrentSite {
  SiteFacts facts;
  std::vector<Input> inputs;                   // the files, kind "site"
  std::map<std::string, std::string> sources;  // path below recipe/ of a run directory -> bytes
  std::vector<std::string> files;              // files that were read, nearest first
};

// Sets the value of --site; an empty text or "none" means no site file. Must be called before GetSite.
void ChooseSite(const std::string& file);

// Kind "site" for a specified file that is missing or that others could have written; else see ReadSiteFacts.
Result<CurrentSite> GetSite();

// The hosts of the site; none if it names none, or says that jobs run on this machine.
Result<std::vector<SiteHost>> HostsOfSite(const SiteFacts& facts);

// The rules of verdicts in the file that the site names, or in that of an option, which replaces it; muster's if there
// is neither. Kind "file" if the file cannot be read, at the line of the site file that names it; "rules" for errors in
// it.
Result<std::vector<VerdictRule>> ReadVerdictRules(const SiteFacts& facts, const std::string& instead = {});

// A copy without facts about machines and plans, for assumed machines.
CurrentSite LibrariesAlone(const CurrentSite& site);

// Copies the site's settings that affect a plan to the evaluation options. Hosts are not copied; `its_hosts` says
// whether the hosts are the site's.
void ApplySite(const CurrentSite& site, bool its_hosts, EvaluationOptions& options);
// Copies the site's rules only, if any: stored recipes are checked by the current rules.
void ApplyRules(const CurrentSite& site, EvaluationOptions& options);

// The absolute file of "@acme/gpt"; other words that are no library recipe are returned unchanged. Kind "recipe".
Result<std::string> RecipeFileOf(const std::string& word, const SiteFacts& facts);

// "@acme", … of the site.
std::vector<std::string> LibraryNames(const SiteFacts& facts);

}  // namespace muster
