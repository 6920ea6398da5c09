// The site that a call of muster is made at: the site files that are found, or the one that is named, evaluated and
// made one. Read when something is first asked of it, and once.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evaluator/evaluator.h"
#include "muster/result.h"
#include "plan/environment/site_file.h"

namespace muster {

inline constexpr char kSiteFileName[] = "muster.site.lua";
inline constexpr char kSiteVariable[] = "MUSTER_SITE";

struct SiteOfCall {
  SiteFacts facts;
  std::vector<Input> inputs;                   // the files, kind "site"
  std::map<std::string, std::string> sources;  // below recipe/ of a run directory -> bytes
  std::vector<std::string> files;              // that were read, nearest first
};

// What --site says; an empty text or "none" is no site file at all. To be called before GetSite, if at all.
void ChooseSite(const std::string& file);

// Kind "site" for a file that is named and not there, or that somebody else could have written; else see ReadSiteFacts.
Result<SiteOfCall> GetSite();

// The hosts that the site names; none if it names none, or says that jobs run on this machine.
Result<std::vector<SiteHost>> HostsOfSite(const SiteFacts& facts);

// Without what it says of machines and plans: what a machine that is made believe has of it.
SiteOfCall LibrariesAlone(const SiteOfCall& site);

// What of the site decides about a plan put into what the evaluator is asked, but for the hosts: of those only, if they
// are the site's, that they are.
void ApplySite(const SiteOfCall& site, bool its_hosts, EvaluationOptions& options);
// The site's rules alone, if it has any: what is started today is judged by the rules of today.
void ApplyRules(const SiteOfCall& site, EvaluationOptions& options);

// The file of "@acme/gpt", absolute, and of whatever else is no recipe of a library the word itself. Kind "recipe".
Result<std::string> RecipeFileOf(const std::string& word, const SiteFacts& facts);

// "@acme", … that the site names.
std::vector<std::string> LibraryNames(const SiteFacts& facts);

}  // namespace muster
