#include "cli/lookup/known_recipe.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/command/small_file.h"
#include "cli/lookup/current_site.h"
#include "cli/lookup/run_argument.h"
#include "cli/lookup/run_list.h"
#include "lua/state/own_data.h"
#include "plan/text/plan_json.h"
#include "run/journal/run_summary.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFiles = 2'000;
constexpr std::uintmax_t kMax = 1U << 20;

// Whether the text ends like a recipe, judged without running it: it extends or returns one.
bool LooksLikeRecipe(const std::string& text) {
  return text.find(".recipe") != std::string::npos || text.find(".sweep") != std::string::npos ||
         text.find(":extend") != std::string::npos;
}

// Whether the folder is a run directory, which contains copies of recipes.
bool IsRun(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kJournalEntry.name, ignored);
}

// Files below the folder, relative to it, sorted by path; skips hidden ones and runs.
std::vector<std::string> LuaFilesBelow(const fs::path& folder, bool deep) {
  std::vector<std::string> files;
  std::error_code error;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename();
    std::error_code ignored;
    const bool hidden = name.starts_with('.');
    if (it->is_directory(ignored)) {
      if (!deep || hidden || it->is_symlink(ignored) || IsRun(it->path())) it.disable_recursion_pending();
    } else if (!hidden && it->is_regular_file(ignored) && it->path().extension() == ".lua" && name != kSiteFileName) {
      files.push_back(it->path().lexically_relative(folder));
    }
    if (files.size() >= kMaxFiles) break;
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The command-line name of a library's file.
std::string WrittenName(const std::string& library, const fs::path& file) {
  return "@" + library + "/" + fs::path(file).replace_extension().string();
}

class Lister {
 public:
  explicit Lister(const CurrentSite& site) : site_(site), waiting_("reading recipes") {}
  ~Lister() { waiting_.Clear(); }
  Lister(const Lister&) = delete;
  Lister& operator=(const Lister&) = delete;

  void Own() {
    for (const std::string& name : OwnRecipeNames()) Add("@" + name, "@" + name, "");
  }

  void Below(const fs::path& folder, bool deep, const std::string& shown) {
    for (const std::string& file : LuaFilesBelow(folder, deep)) AddFile(shown + file, shown + file);
  }

  void Library(const std::string& name, const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      ListedRecipe missing;
      missing.recipe = "@" + name;
      missing.file = folder;
      const auto place = site_.facts.places.find("libraries." + name);
      missing.problems.push_back(Error("recipe", place == site_.facts.places.end() ? Place{} : place->second,
                                       "the folder of the library @" + name + " is not there: " + folder.string()));
      recipes_.push_back(std::move(missing));
      return;
    }
    for (const std::string& file : LuaFilesBelow(folder, true)) {
      AddFile(folder / file, WrittenName(name, file));
    }
  }

  std::vector<ListedRecipe> Take() { return std::move(recipes_); }

 private:
  void AddFile(const fs::path& file, const std::string& written) {
    const auto text = ReadSmallFile(file, kMax);
    if (text && !LooksLikeRecipe(*text)) return;
    Add(written, file, file);
  }

  void Add(const std::string& written, const std::string& recipe_file, const std::string& file) {
    ListedRecipe listed;
    listed.recipe = written;
    listed.file = file;
    EvaluationOptions options;
    options.recipe_file = recipe_file;
    options.task = PlanTask{EvaluationDepth::kParameters};
    ApplySite(site_, false, options);
    options.on_wait = [&](unsigned seconds) { waiting_.Show(seconds, written); };
    const auto described = EvaluateRecipe(options);
    if (described) {
      listed.name = described->name;
      listed.doc = described->doc;
      listed.parameters = described->parameters.size();
    } else {
      listed.problems = described.error();
    }
    recipes_.push_back(std::move(listed));
  }

  const CurrentSite& site_;
  WaitLine waiting_;
  std::vector<ListedRecipe> recipes_;
};

// The first line, for a table.
std::string FirstLine(const std::string& text) { return Printable(text.substr(0, text.find('\n'))); }

}  // namespace

Result<std::vector<ListedRecipe>> ListRecipes() {
  const auto site = GetSite();
  if (!site) return Fail(site.error());
  Lister lister(*site);
  lister.Own();
  lister.Below(".", false, "");
  lister.Below("recipes", true, "recipes/");
  for (const auto& [name, folder] : site->facts.libraries) lister.Library(name, folder);
  return lister.Take();
}

std::vector<std::string> LibraryRecipes() {
  std::vector<std::string> recipes;
  const auto site = GetSite();
  if (!site) return recipes;
  for (const auto& [name, folder] : site->facts.libraries) {
    for (const std::string& file : LuaFilesBelow(folder, true)) {
      const auto text = ReadSmallFile(fs::path(folder) / file, kMax);
      if (text && LooksLikeRecipe(*text)) recipes.push_back(WrittenName(name, file));
    }
  }
  return recipes;
}

void PrintRecipes(const std::vector<ListedRecipe>& recipes) {
  std::vector<std::vector<std::string>> rows = {{"RECIPE", "NAME", "PARAMETERS", "WHAT IT IS"}};
  for (const ListedRecipe& each : recipes) {
    if (each.problems.empty()) {
      rows.push_back(
          {Printable(each.recipe), Printable(each.name), std::to_string(each.parameters), FirstLine(each.doc)});
    } else {
      const Diagnostic& problem = each.problems.front();
      std::string where = problem.place.file;
      if (problem.place.line > 0) where += ":" + std::to_string(problem.place.line);
      rows.push_back({Printable(each.recipe), "", "",
                      "broken: " + Printable(where.empty() ? "" : where + ": ") + FirstLine(problem.message)});
    }
  }
  // A narrow terminal has no room for names: descriptions say more.
  constexpr std::size_t kWide = 110;
  if (OutputColumns(kWide) < kWide) {
    for (std::vector<std::string>& row : rows) row.erase(row.begin() + 1);
  }
  PrintTable(rows);
}

struct PrintedRecipe {
  const ListedRecipe& recipe;
};
template <class V>
void Parts(V& v, const PrintedRecipe& printed) {
  const ListedRecipe& recipe = printed.recipe;
  const bool well = recipe.problems.empty();
  v("recipe", recipe.recipe), v("file", As<NullIfNone>(recipe.file)), v("ok", well);
  v("name", well ? std::optional(recipe.name) : std::nullopt);
  v("doc", well ? std::optional(recipe.doc) : std::nullopt);
  v("parameters", well ? std::optional(recipe.parameters) : std::nullopt), v("diagnostics", recipe.problems);
}
struct PrintedRecipes {
  std::vector<PrintedRecipe> recipes;
};
template <class V>
void Parts(V& v, const PrintedRecipes& printed) {
  v("format", 1), v("recipes", printed.recipes);
}

void PrintRecipesJson(const std::vector<ListedRecipe>& recipes) {
  PrintedRecipes printed;
  for (const ListedRecipe& each : recipes) printed.recipes.push_back({each});
  std::printf("%s\n", JsonOf<PartForms>(printed, 2).c_str());
}

std::string RecipesSchema() {
  const ListedRecipe recipe;
  return SchemaOf<PartForms>(PrintedRecipes{{{recipe}}});
}

int ShowRecipes(bool json) {
  const auto recipes = ListRecipes();
  if (!recipes) return Refuse(recipes.error(), json);
  (json ? PrintRecipesJson : PrintRecipes)(*recipes);
  return kExitOk;
}

namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 4> kOverrideKinds = {"text", "value", "file", "unset"};

Value::List Texts(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

Value OverrideRecord(const Override& override) {
  Value::Map record{{"kind", kOverrideKinds.at(static_cast<std::size_t>(override.kind))}, {"name", override.name}};
  if (override.kind == Override::Kind::kFile) {
    record["file"] = override.file;
  } else if (override.kind != Override::Kind::kUnset) {
    record["value"] = override.value;
  }
  return Value(std::move(record));
}

// Nothing if the record has another format.
std::optional<Override> OverrideFrom(const Value& record) {
  const std::string kind = TextField(record, "kind");
  const auto known = std::find(kOverrideKinds.begin(), kOverrideKinds.end(), kind);
  if (known == kOverrideKinds.end()) return std::nullopt;
  Override override;
  override.kind = static_cast<Override::Kind>(known - kOverrideKinds.begin());
  override.name = TextField(record, "name");
  override.file = TextField(record, "file");
  if (const Value* value = FieldOf(record, "value")) override.value = *value;
  if (override.kind == Override::Kind::kText && override.value.AsString() == nullptr) return std::nullopt;
  return override;
}

std::map<std::string, std::string> TextMap(const Value& record, const std::string& name) {
  std::map<std::string, std::string> texts;
  const Value* field = FieldOf(record, name);
  if (field == nullptr || field->AsMap() == nullptr) return texts;
  for (const auto& [key, text] : *field->AsMap()) {
    if (text.AsString() != nullptr) texts.emplace(key, *text.AsString());
  }
  return texts;
}

// Restores the site's facts, with the stored libraries and rules. Older runs have none of these.
void TakeStoredSite(const std::string& run_dir, const Value& record, EvaluationOptions& options) {
  for (const auto& [name, folder] : TextMap(record, "libraries")) {
    options.libraries[name] = {run_dir + "/recipe/@" + name, folder};
  }
  const Value* site = FieldOf(record, "site");
  if (site == nullptr) return;
  options.site.sources = TextMap(*site, "sources");
  options.rules = TextField(*site, "rules");
  options.site.environment = {TextMap(*site, "set"), TextsField(*site, "unset"), TextsField(*site, "pass")};
  if (FieldOf(*site, "devices_per_host") != nullptr) {
    options.site.devices_per_host = static_cast<std::uint32_t>(NumberField(*site, "devices_per_host"));
  }
}

Result<EvaluationOptions> Unusable(const std::string& run_dir, const std::string& why) {
  return Fail(Error("run", {}, fmt::format("the run {} cannot be used as a recipe: {}", Quoted(run_dir), why),
                    "muster replay starts its plan again as it is"));
}

std::string RecipeName(const EvaluationOptions& options) {
  if (options.recipe_file.starts_with('@')) return options.recipe_file + ".lua";
  return fs::path(options.recipe_file).filename();
}

}  // namespace

Value EvaluationRecord(const EvaluationOptions& options) {
  const auto records = [](const std::vector<Override>& overrides) {
    Value::List list;
    for (const Override& override : overrides) list.push_back(OverrideRecord(override));
    return list;
  };
  Value::List hosts;
  for (const SiteHost& host : options.site.hosts) {
    Value::Map record{{"name", host.name}, {"address", host.address}};
    if (host.devices) record["devices"] = Value(std::int64_t{*host.devices});
    if (host.slots) record["slots"] = Value(std::int64_t{*host.slots});
    if (host.room) record["room"] = Value(std::int64_t{*host.room});
    hosts.emplace_back(std::move(record));
  }
  Value::List given;
  for (const std::uint32_t device : options.devices.given) given.emplace_back(std::int64_t{device});
  std::error_code error;
  const fs::path folder = options.recipe_file.starts_with('@')
                              ? fs::current_path(error)
                              : fs::absolute(options.recipe_file, error).parent_path().lexically_normal();
  const std::string beside = options.beside.empty() ? folder.string() : options.beside;
  Value::Map libraries;
  for (const auto& [name, library] : options.libraries) {
    libraries[name] = Value(library.beside.empty() ? library.folder : library.beside);
  }
  const SiteEnvironment& environment = options.site.environment;
  Value::Map site{{"sources", Value::Map(options.site.sources.begin(), options.site.sources.end())},
                  {"rules", options.rules},
                  {"set", Value::Map(environment.set.begin(), environment.set.end())},
                  {"unset", Texts(environment.unset)},
                  {"pass", Texts(environment.pass)}};
  if (options.site.devices_per_host) site["devices_per_host"] = Value(std::int64_t{*options.site.devices_per_host});
  return Value(Value::Map{
      {"libraries", std::move(libraries)},
      {"site", std::move(site)},
      {"recipe", RecipeName(options)},
      {"folder", beside},
      {"overrides", records(options.overrides)},
      {"profiles", Texts(options.profiles)},
      {"pins", records(options.pins)},
      {"args", Texts(options.args)},
      {"resumed", options.resumed},
      {"env", Value::Map(options.env.begin(), options.env.end())},
      {"metrics", Value::Map{{"patterns", Value::Map(options.metrics.patterns.begin(), options.metrics.patterns.end())},
                             {"role", options.metrics.role}}},
      {"hosts", std::move(hosts)},
      {"host_memory_bytes", static_cast<std::int64_t>(options.site.host_memory_bytes)},
      {"host_devices", std::int64_t{options.site.host_devices}},
      {"device_kind", options.site.device_kind},
      {"devices", Value::Map{{"any", options.devices.any}, {"given", given}, {"shared", options.devices.shared}}},
  });
}

namespace {

// The first file of the recipe whose present content differs from the stored one; empty if there is none. A file that
// is gone is no other recipe.
std::string ChangedSource(const std::string& run_dir, const std::string& word) {
  const auto text = ReadSmallFile(kInputsEntry.In(run_dir), kInputsEntry.most);
  const auto inputs = text ? ValueFromJsonText(*text) : tl::unexpected(std::string());
  const Value* record = inputs ? FieldOf(*inputs, "evaluation") : nullptr;
  const auto sources = record == nullptr ? Result<std::map<std::string, std::string>>() : SourcesOfRun(run_dir);
  if (record == nullptr || !sources) return {};
  const std::string recipe = TextField(*record, "recipe");
  const auto differs = [](const std::string& path, const std::string& stored) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) return false;
    const auto now = ReadSmallFile(path);
    return now && *now != stored;
  };
  if (const auto stored = sources->find(recipe); stored != sources->end() && word.find('/') == std::string::npos) {
    if (const std::string here = word + ".lua"; differs(here, stored->second)) return here;
  }
  const std::string folder = TextField(*record, "folder");
  for (const auto& [name, stored] : *sources) {
    if (name.starts_with('@')) continue;
    if (const std::string path = folder + "/" + name; differs(path, stored)) return name == recipe ? recipe : path;
  }
  return {};
}

// Once for each run: several parts of a command resolve the same word.
void NoteChangedSource(const std::string& run_dir, const std::string& word) {
  static std::set<std::string> noted;
  if (!noted.insert(run_dir).second) return;
  const std::string changed = ChangedSource(run_dir, word);
  if (changed.empty()) return;
  const auto id = IdOfRun(run_dir);
  std::fprintf(stderr, "muster: %s is from the stored recipe of run %s; %s beside it differs\n",
               Printable(word).c_str(), Printable(id ? *id : run_dir).c_str(), Printable(changed).c_str());
}

}  // namespace

std::optional<std::string> RunMeant(const std::string& word, DirectoryUse use) {
  if (word.empty() || word.starts_with('@')) return std::nullopt;
  std::error_code error;
  const fs::file_status status = fs::status(word, error);
  if (fs::exists(status) && !fs::is_directory(status)) return std::nullopt;
  auto found = FindRun(word, use);
  if (!found) return std::nullopt;
  NoteChangedSource(*found, word);
  return *std::move(found);
}

std::optional<Diagnostics> ForeignRunMeant(const std::string& word) {
  if (!RunMeant(word, DirectoryUse::kRead)) return std::nullopt;
  auto found = FindRun(word, DirectoryUse::kExecute);
  return found ? std::nullopt : std::optional(std::move(found.error()));
}

std::optional<Diagnostics> TrialMissed(const std::string& word) {
  std::error_code error;
  if (word.find(':') == std::string::npos || word.ends_with(".lua") || fs::exists(word, error)) return std::nullopt;
  auto found = FindRun(word, DirectoryUse::kExecute);
  return found ? std::nullopt : std::optional(std::move(found.error()));
}

Result<EvaluationOptions> EvaluationOfRun(const std::string& run_dir) {
  const auto text = ReadSmallFile(kInputsEntry.In(run_dir), kInputsEntry.most);
  if (!text) return Unusable(run_dir, text.error());
  const auto inputs = ValueFromJsonText(*text);
  if (!inputs) return Unusable(run_dir, "inputs.json: " + inputs.error());
  const Value* record = FieldOf(*inputs, "evaluation");
  const std::string recipe = record == nullptr ? "" : TextField(*record, "recipe");
  if (recipe.empty()) return Unusable(run_dir, "it keeps no sources: it was started from a plan");
  const std::string file = run_dir + "/recipe/" + recipe;
  std::error_code error;
  if (recipe.find('/') != std::string::npos || !fs::is_regular_file(file, error)) {
    return Unusable(run_dir, "there is no " + Quoted(file));
  }
  EvaluationOptions options;
  options.recipe_file = file;
  options.beside = TextField(*record, "folder");
  for (const Value& one : ListField(*record, "overrides")) {
    auto override = OverrideFrom(one);
    if (!override) return Unusable(run_dir, "inputs.json has an override that cannot be read");
    if (override->kind == Override::Kind::kFile) {
      auto content = ReadSmallFile(override->file);
      if (!content) return Unusable(run_dir, override->name + " was given as a file: " + content.error());
      override->value = Value(*std::move(content));
    }
    options.overrides.push_back(*std::move(override));
  }
  for (const Value& one : ListField(*record, "pins")) {
    auto pin = OverrideFrom(one);
    if (!pin) return Unusable(run_dir, "inputs.json has a pin that cannot be read");
    options.pins.push_back(*std::move(pin));
  }
  for (const Value& name : ListField(*record, "profiles")) {
    if (name.AsString() != nullptr) options.profiles.push_back(*name.AsString());
  }
  options.resumed = TextField(*record, "resumed");
  options.env = TextMap(*record, "env");
  if (const Value* metrics = FieldOf(*record, "metrics")) {
    options.metrics = {TextMap(*metrics, "patterns"), TextField(*metrics, "role")};
  }
  for (const Value& word : ListField(*record, "args")) {
    if (word.AsString() != nullptr) options.args.push_back(*word.AsString());
  }
  for (const Value& one : ListField(*record, "hosts")) {
    SiteHost host;
    host.name = TextField(one, "name");
    host.address = TextField(one, "address");
    const auto number = [&one](const char* field) -> std::optional<std::uint32_t> {
      if (FieldOf(one, field) == nullptr) return std::nullopt;
      return static_cast<std::uint32_t>(NumberField(one, field));
    };
    host.devices = number("devices");
    host.slots = number("slots");
    host.room = number("room");
    options.site.hosts.push_back(std::move(host));
  }
  options.site.host_memory_bytes = static_cast<std::uint64_t>(NumberField(*record, "host_memory_bytes"));
  options.site.host_devices = static_cast<std::uint32_t>(NumberField(*record, "host_devices"));
  options.site.device_kind = TextField(*record, "device_kind");
  TakeStoredSite(run_dir, *record, options);
  if (const Value* devices = FieldOf(*record, "devices")) {
    options.devices.any = TruthField(*devices, "any");
    options.devices.shared = TruthField(*devices, "shared");
    for (const Value& device : ListField(*devices, "given")) {
      if (device.AsInt() != nullptr) options.devices.given.push_back(static_cast<std::uint32_t>(*device.AsInt()));
    }
  }
  return options;
}

Result<std::string> IdOfRun(const std::string& run_dir) {
  const auto summary = SummarizeRun(run_dir, false);
  if (!summary) return Fail(summary.error());
  return summary->run;
}

Result<StoredPlan> PlanOfRun(const std::string& run_dir) {
  auto text = ReadSmallFile(kPlanEntry.In(run_dir), kPlanEntry.most);
  if (!text) return Fail(Error("run", {}, std::move(text.error()), "a run directory holds plan.json"));
  auto plan = PlanFromJson(*text);
  if (!plan) return Fail(plan.error());
  StoredPlan stored;
  stored.plan = *std::move(plan);
  auto sources = SourcesOfRun(run_dir);
  if (!sources) return Fail(sources.error());
  stored.sources = *std::move(sources);
  // Losing these only costs the new run its record of origin.
  const auto inputs_text = ReadSmallFile(kInputsEntry.In(run_dir), kInputsEntry.most);
  const auto inputs = inputs_text ? ValueFromJsonText(*inputs_text) : tl::unexpected(std::string());
  if (!inputs) return stored;
  if (const Value* list = FieldOf(*inputs, "inputs"); list != nullptr && list->AsList() != nullptr)
    stored.inputs = *list;
  if (const Value* evaluation = FieldOf(*inputs, "evaluation")) stored.evaluation = *evaluation;
  return stored;
}

Result<std::map<std::string, std::string>> SourcesOfRun(const std::string& run_dir) {
  std::map<std::string, std::string> sources;
  const fs::path folder = fs::path(run_dir) / kRecipeEntry.name;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->is_symlink(ignored) || !it->is_regular_file(ignored)) continue;
    auto content = ReadSmallFile(it->path());
    if (!content) return Fail(Error("run", {}, content.error()));
    sources.emplace(it->path().lexically_relative(folder), *std::move(content));
  }
  return sources;
}

}  // namespace muster
