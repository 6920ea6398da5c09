#include "cli/lookup/current_site.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <tl/expected.hpp>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "cli/command/small_file.h"
#include "lua/state/own_data.h"
#include "plan/hosts/host_list.h"
#include "run/supervise/verdict_rules.h"

namespace muster {
namespace {

// Restricts the paths in a project's site file to files and folders below the project, with links
// resolved. The file may come from a foreign repository, and is read by every command that is called
// there.

namespace fs = std::filesystem;

// The path with its links resolved, if it is `folder` (absolute) or lies below it, and not in procfs; else the reason
// as a phrase. The path need not exist.
tl::expected<std::string, std::string> ResolvedBelow(const std::string& folder, const std::string& path) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder, error);
  if (error) return tl::unexpected("cannot be resolved: " + error.message());
  const fs::path resolved = fs::weakly_canonical(path, error);
  if (error) return tl::unexpected("cannot be resolved: " + error.message());
  const fs::path below = resolved.lexically_relative(root);
  if (below.empty() || *below.begin() == "..") {
    return tl::unexpected("is " + Quoted(resolved.string()) + ", which is not below " + Quoted(root.string()));
  }
  // The folder may be the root directory, which contains everything.
  const UniqueFd at(::open(resolved.c_str(), O_PATH | O_CLOEXEC));
  if (at && IsInProcfs(at.get())) return tl::unexpected("is in procfs: " + Quoted(resolved.string()));
  return resolved.string();
}

// `facts` are from the project's `file`. Replaces libraries, rules and the host file by resolved paths; kind "site" for
// each that is outside the project. The runs folder is not restricted: nothing there is read.
Result<void> KeepInProject(const SiteFile& file, SiteFacts& facts) {
  Diagnostics problems;
  const auto keep = [&](const std::string& field, std::string& path) {
    if (path.empty()) return;
    auto resolved = ResolvedBelow(file.folder, path);
    if (resolved) {
      path = *std::move(resolved);
      return;
    }
    problems.push_back(Error("site", facts.places.at(field), field + " " + resolved.error(),
                             "a project's site file names what is in the project; yours, the system's and one that "
                             "--site names may name anything"));
  };
  keep("hostfile", facts.hostfile);
  keep("rules", facts.rules);
  keep("verdicts", facts.verdicts);
  for (auto& [name, folder] : facts.libraries) keep("libraries." + name, folder);
  if (problems.empty()) return {};
  return Fail(std::move(problems));
}

namespace fs = std::filesystem;

constexpr char kSystemFile[] = "/etc/muster/site.lua";

std::optional<std::string>& Chosen() {
  static std::optional<std::string> chosen;
  return chosen;
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A file that is found by walking up may be written by others, while its settings affect processes of this user. Nor
// may it be a link to another file of this user: error messages would print its content.
Result<void> CheckProjectFile(const fs::path& folder, const std::string& file) {
  if (const auto resolved = ResolvedBelow(folder, folder / kSiteFileName); !resolved) {
    return Fail(Error("site", {file, 0}, "the site file " + resolved.error(), "--site FILE takes it on purpose"));
  }
  struct stat facts {};
  if (::stat(file.c_str(), &facts) != 0) return Fail(SystemError("site", "the site file " + Quoted(file), errno));
  const bool trusted = facts.st_uid == ::geteuid() || facts.st_uid == 0;
  if (trusted && (facts.st_mode & S_IWOTH) == 0) return {};
  return Fail(Error("site", {file, 0}, trusted ? "the site file is world-writable" : "the site file is another user's",
                    trusted ? "chmod o-w " + ShellQuoted(file)
                            : "--site " + ShellQuoted(file) + " takes it on purpose, --site none does without"));
}

// Nearest first.
Result<std::vector<SiteFile>> Find() {
  std::error_code error;
  const fs::path cwd = fs::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  const std::string home = Variable("HOME");
  const auto file_at = [&](const fs::path& path, const std::string& shown, SiteLevel level) {
    return SiteFile{shown, fs::absolute(path).parent_path().lexically_normal(), home, level};
  };
  const char* variable = std::getenv(kSiteVariable);
  if (Chosen() || variable != nullptr) {
    const std::string given = Chosen() ? *Chosen() : std::string(variable);
    if (given.empty() || given == "none") return std::vector<SiteFile>();
    if (!fs::is_regular_file(given, error)) {
      return Fail(Error(
          "site", {}, std::string(Chosen() ? "--site " : "MUSTER_SITE = ") + Quoted(given) + ": there is no such file",
          "none does without site files"));
    }
    return std::vector<SiteFile>{file_at(given, given, SiteLevel::kGiven)};
  }
  std::vector<SiteFile> found;
  std::string up;
  for (fs::path folder = cwd;; folder = folder.parent_path()) {
    const std::string shown = up + kSiteFileName;
    if (fs::exists(folder / kSiteFileName, error)) {
      if (auto owned = CheckProjectFile(folder, shown); !owned) return Fail(owned.error());
      found.push_back(file_at(folder / kSiteFileName, shown, SiteLevel::kProject));
      break;
    }
    if (folder == folder.root_path()) break;
    up += "../";
  }
  const std::string config = Variable("XDG_CONFIG_HOME");
  const std::string base = !config.empty() ? config : home.empty() ? "" : home + "/.config";
  if (!base.empty() && fs::exists(base + "/muster/site.lua", error)) {
    found.push_back(file_at(base + "/muster/site.lua", base + "/muster/site.lua", SiteLevel::kUser));
  }
  if (fs::exists(kSystemFile, error)) found.push_back(file_at(kSystemFile, kSystemFile, SiteLevel::kSystem));
  return found;
}

constexpr const char* FolderOf(SiteLevel level) {
  switch (level) {
    case SiteLevel::kProject:
      return "@site/project/";
    case SiteLevel::kUser:
      return "@site/user/";
    case SiteLevel::kSystem:
      return "@site/system/";
    case SiteLevel::kGiven:
      break;
  }
  return "@site/given/";
}

Result<SiteFacts> ReadOne(const SiteFile& file, CurrentSite& site) {
  if (auto text = ReadSmallFile(file.shown); !text) return Fail(Error("site", {}, "the site file: " + text.error()));
  EvaluationOptions options;
  options.recipe_file = file.shown;
  options.task = TableTask();
  options.on_print = [](const std::string& line) { std::fprintf(stderr, "%s\n", Printable(line).c_str()); };
  auto evaluated = EvaluateRecipe(options);
  if (!evaluated) return Fail(evaluated.error());
  if (!evaluated->site_file)
    return Fail(Error("site", {file.shown, 0}, "the evaluator returned no result for the site file"));
  for (Input& input : evaluated->inputs) {
    if (input.kind == "recipe") input.kind = "site";
    site.inputs.push_back(std::move(input));
  }
  for (auto& [name, bytes] : evaluated->sources) site.sources.emplace(FolderOf(file.level) + name, std::move(bytes));
  auto facts = ReadSiteFacts(file, evaluated->site_file->table, evaluated->site_file->lines);
  if (!facts || file.level != SiteLevel::kProject) return facts;
  if (auto kept = KeepInProject(file, *facts); !kept) return Fail(std::move(kept.error()));
  return facts;
}

Result<CurrentSite> Read() {
  const auto files = Find();
  if (!files) return Fail(files.error());
  CurrentSite site;
  std::vector<SiteFacts> all;
  Diagnostics problems;
  for (const SiteFile& file : *files) {
    site.files.push_back(file.shown);
    auto facts = ReadOne(file, site);
    if (facts) {
      all.push_back(*std::move(facts));
    } else {
      problems.insert(problems.end(), facts.error().begin(), facts.error().end());
    }
  }
  if (!problems.empty()) return Fail(std::move(problems));
  site.facts = MergedSiteFacts(all);
  return site;
}

}  // namespace

void ChooseSite(const std::string& file) { Chosen() = file; }

Result<CurrentSite> GetSite() {
  static const Result<CurrentSite> kSite = Read();
  return kSite;
}

Result<std::vector<SiteHost>> HostsOfSite(const SiteFacts& facts) {
  if (facts.transport == SiteTransport::kLocal) return std::vector<SiteHost>();
  if (facts.hostfile.empty()) return facts.hosts;
  const auto text = ReadSmallFile(facts.hostfile);
  if (text) return ParseHostFile(*text, facts.hostfile);
  return Fail(Error("hosts", facts.places.at("hostfile"), "hostfile: " + text.error()));
}

namespace {

void RecordSource(const SiteFacts& facts, const std::string& field, const std::string& as, Site& known) {
  if (const auto place = facts.places.find(field); place != facts.places.end()) known.places[as] = place->second;
  if (const auto source = facts.sources.find(field); source != facts.sources.end()) known.sources[as] = source->second;
}

}  // namespace

void ApplyRules(const CurrentSite& site, EvaluationOptions& options) {
  if (site.facts.rules.empty()) return;
  const fs::path path = site.facts.rules;
  options.libraries[kRulesLibrary] = {path.parent_path()};
  options.rules = path.filename();
  RecordSource(site.facts, "rules", "rules", options.site);
}

Result<std::vector<VerdictRule>> ReadVerdictRules(const SiteFacts& facts, const std::string& instead) {
  const std::string& file = instead.empty() ? facts.verdicts : instead;
  if (file.empty()) return DefaultVerdictRules();
  const auto text = ReadSmallFile(file, kMaxVerdictRulesFile);
  if (text) return VerdictRulesFromJson(*text, file);
  if (!instead.empty()) return Fail(Error("file", {file, 0}, text.error()));
  return Fail(Error("file", facts.places.at("verdicts"), "verdicts: " + text.error()));
}

CurrentSite LibrariesAlone(const CurrentSite& site) {
  CurrentSite alone;
  alone.facts.libraries = site.facts.libraries;
  return alone;
}

void ApplySite(const CurrentSite& site, bool its_hosts, EvaluationOptions& options) {
  const SiteFacts& facts = site.facts;
  Site& known = options.site;
  if (its_hosts && !known.hosts.empty())
    RecordSource(facts, facts.hostfile.empty() ? "hosts" : "hostfile", "hosts", known);
  if (facts.devices) {
    known.devices_per_host = facts.devices;
    RecordSource(facts, "devices", "devices", known);
  }
  if (facts.memory) {
    known.host_memory_bytes = *facts.memory;
    RecordSource(facts, "memory", "memory", known);
  }
  known.environment = facts.environment;
  for (const auto& [field, unused] : facts.sources) {
    if (field.starts_with("environment.")) RecordSource(facts, field, field, known);
  }
  for (const auto& [name, folder] : facts.libraries) options.libraries[name] = {folder};
  ApplyRules(site, options);
  options.site_inputs = site.inputs;
  options.site_sources = site.sources;
}

std::vector<std::string> LibraryNames(const SiteFacts& facts) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : facts.libraries) names.push_back("@" + name);
  return names;
}

Result<std::string> RecipeFileOf(const std::string& word, const SiteFacts& facts) {
  const std::size_t slash = word.find('/');
  if (!word.starts_with('@')) return word;
  std::vector<std::string> known;
  if (slash == std::string::npos) {
    const std::vector<std::string> own = OwnRecipeNames();
    if (std::find(own.begin(), own.end(), word.substr(1)) != own.end()) return word;
    for (const std::string& name : own) known.push_back("@" + name);
    std::string hint = DidYouMean(word, known);
    if (facts.libraries.contains(word.substr(1))) {
      return Fail(Error("recipe", {}, word + " is a library, not a recipe",
                        "muster ls --recipes lists its recipes: " + word + "/NAME"));
    }
    if (!facts.libraries.empty()) {
      hint += "; libraries:";
      for (const std::string& name : LibraryNames(facts)) hint += " " + name;
    }
    return Fail(Error("recipe", {word, 0}, "muster has no recipe " + word + " of its own", std::move(hint)));
  }
  const auto library = facts.libraries.find(word.substr(1, slash - 1));
  if (library == facts.libraries.end()) {
    const std::string wanted = word.substr(0, slash);
    return Fail(Error("recipe", {}, "there is no library " + wanted,
                      facts.libraries.empty()
                          ? "a site file names libraries: libraries = { " + wanted.substr(1) + " = \"FOLDER\" }"
                          : DidYouMean(wanted, LibraryNames(facts))));
  }
  fs::path rest = word.substr(slash + 1);
  if (rest.is_absolute() || std::find(rest.begin(), rest.end(), "..") != rest.end()) {
    return Fail(Error("recipe", {}, word + " leads out of the library " + word.substr(0, slash)));
  }
  if (rest.extension() != ".lua") rest += ".lua";
  const fs::path file = fs::path(library->second) / rest;
  std::error_code error;
  if (const auto inside = ResolvedBelow(library->second, file.parent_path()); !inside) {
    return Fail(Error("recipe", {}, word + " leads out of the library " + word.substr(0, slash)));
  }
  if (fs::is_regular_file(file, error)) return file.lexically_normal();
  std::vector<std::string> names;
  const fs::path folder = file.parent_path();
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".lua") continue;
    const fs::path inside = it->path().lexically_relative(library->second).replace_extension();
    names.push_back(word.substr(0, slash + 1) + inside.string());
  }
  std::sort(names.begin(), names.end());
  Diagnostic missing =
      Error("recipe", {}, "there is no recipe " + word,
            fs::is_directory(library->second, error) ? DidYouMean(word, names)
                                                     : "the folder of the library is not there: " + library->second);
  if (const auto place = facts.places.find("libraries." + library->first); place != facts.places.end()) {
    missing.notes.push_back({"the library is named here", place->second});
  }
  return Fail(std::move(missing));
}

}  // namespace muster
