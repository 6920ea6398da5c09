// muster init: writes a first recipe, and files for editors and git.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/system/file_access.h"
#include "base/system/own_environment.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/small_file.h"
#include "launchers/launcher_call.h"
#include "launchers/launcher_options.h"
#include "launchers/recipe_of_call.h"
#include "launchers/shell_ranks.h"

namespace muster {

// The text of a first recipe. Pure: text in, text out.

// A recipe that runs unchanged, with comments on what to change. `file`: its name, for the comments.
std::string FirstRecipe(const std::string& file);

namespace {

constexpr std::string_view kFirst =
    R"lua(-- A first recipe: it runs unchanged, and starts two processes that print their ranks.
--
--   muster params {file}            lists its parameters
--   muster check {file}             checks it for problems
--   muster plan {file} workers=4    shows every process that it would start
--   muster run {file} workers=4     starts them
local muster = require "muster"

return muster.recipe {
  name = "first",
  doc  = "Says hello from a number of processes",

  -- The framework whose variables are set: "torch", "mindspore", "mpi" and others (muster docs), or "none".
  framework = "none",

  -- The parameters, with types, limits and documentation: muster.int, float, bool, string, enum, path,
  -- list, map, bytes, duration and secret.
  params = {
    workers = muster.int    { 2, min = 1, doc = "worker processes" },
    name    = muster.string { "world", doc = "the name to greet" },
  },

  -- Describes the processes; called after all parameters are known. Starts nothing.
  plan = function(p, job)
    job:workers {
      count   = p.workers,
      command = { "echo", "hello", p.name },  -- a list, no shell: no quoting needed
      env     = { GREETED = p.name },
      each    = function(process)             -- called for every process, with its rank, local_rank, host, …
        process.command = { "echo", "hello", p.name, "from rank", process.rank, "of", process.world_size }
      end,
    }
  end,
}
)lua";

std::string Replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

std::string FirstRecipe(const std::string& file) { return Replaced(std::string(kFirst), "{file}", ShellQuoted(file)); }

// muster init: writes a first recipe, and files for editors and git.

namespace {

struct InitOptions {
  std::string folder = ".";
  std::string from;
  std::vector<std::string> words;
};

struct NewFile {
  std::string name;
  std::string text;
  bool may_be_there = false;  // an existing file is kept
};

// The folder of definition files for editors: below muster's installation prefix, or in its source tree.
std::optional<std::string> DefinitionsFolder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return std::nullopt;
  const std::filesystem::path bin = program.parent_path();
  for (const std::filesystem::path& folder :
       {bin.parent_path() / "share/muster/meta", bin.parent_path().parent_path().parent_path() / "lua/meta"}) {
    if (std::filesystem::is_regular_file(folder / "muster.lua", error)) return folder.string();
  }
  return std::nullopt;
}

std::string EditorSettings(const std::string& definitions) {
  const nlohmann::ordered_json settings = {
      {"runtime.version", "LuaJIT"}, {"workspace.library", {definitions}}, {"workspace.checkThirdParty", false}};
  return SerializedJson(settings, 2) + "\n";
}

Result<void> WriteNew(const std::string& path, const std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file) return Fail(SystemError("init", Quoted(path) + " cannot be made", errno));
  const int error = WriteAll(file.get(), text);
  if (error != 0) return Fail(SystemError("init", Quoted(path) + " cannot be written", error));
  return {};
}

// Files that launcher command lines name: host files, Accelerate's configuration, scripts.
tl::expected<std::string, std::string> ReadNamedFile(const std::string& path) {
  constexpr std::uintmax_t kMax = 1U << 20;
  return ReadSmallFile(path, kMax);
}

// The words behind the exported variables from which torchrun reads options, PET_NNODES=2 and the like: the recipe
// shows them as a part of the line. Those of the line come later, and so count.
std::vector<std::string> WithVariablesOfTorchrun(KnownLauncher launcher, std::vector<std::string> words) {
  if (launcher != KnownLauncher::kTorchrun && launcher != KnownLauncher::kTorchLaunch) return words;
  std::vector<std::string> exported;
  for (const std::string_view text : OwnEnvironment()) {
    if (text.starts_with("PET_") && text.find('=') != std::string_view::npos) exported.emplace_back(text);
  }
  std::sort(exported.begin(), exported.end());
  words.insert(words.begin(), exported.begin(), exported.end());
  return words;
}

// As a shell takes it: variables in front of the command are not quoted as a whole.
std::string LineText(const std::vector<std::string>& words) {
  const auto command = std::find_if_not(words.begin(), words.end(), IsAssignment);
  std::string text;
  for (auto word = words.begin(); word != command; ++word) {
    const std::size_t value = word->find('=') + 1;
    text += word->substr(0, value) + (value < word->size() ? ShellQuoted(word->substr(value)) : "") + " ";
  }
  return text + ShellQuoted(std::vector<std::string>(command, words.end()));
}

Result<LauncherCall> CallOfScript(const InitOptions& options) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("init", "the working folder cannot be read", error.value()));
  ScriptWorld world;
  world.read = ReadNamedFile;
  world.folder = folder.string();
  world.real_path = [](const std::string& path) {
    std::error_code none;
    const std::filesystem::path real = std::filesystem::weakly_canonical(path, none);
    std::string text = none ? path : real.string();
    while (text.size() > 1 && text.ends_with('/')) text.pop_back();
    return text;
  };
  world.variable = [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  const std::string recipe_folder = (folder / options.folder).lexically_normal().string();
  return ReadShellRanks(
      options.words, world,
      recipe_folder.ends_with('/') ? recipe_folder.substr(0, recipe_folder.size() - 1) : recipe_folder);
}

Result<NewFile> RecipeOf(const InitOptions& options) {
  constexpr std::string_view kShell = "shell";
  if (options.from.empty()) {
    if (!options.words.empty()) {
      const auto guess = LauncherOfWords(options.words);
      const std::string launcher(guess ? FactsOf(*guess).name : "LAUNCHER");
      return Fail(Error("usage", {}, "`--from LAUNCHER` is required before `--`",
                        "muster init --from " + launcher + " -- " + LineText(options.words)));
    }
    return NewFile{"recipe.lua", FirstRecipe("recipe.lua")};
  }
  const bool shell = options.from == kShell || options.from == "bash" || options.from == "sh";
  const auto launcher = LauncherByName(options.from);
  if (!launcher && !shell)
    return Fail(Error("usage", {}, "--from " + Quoted(options.from) + ": unknown launcher", LauncherNames(kShell)));
  const std::vector<std::string> words = shell ? options.words : WithVariablesOfTorchrun(*launcher, options.words);
  auto call = shell ? CallOfScript(options) : ReadLauncherCall(*launcher, words, ReadNamedFile);
  if (!call) return Fail(call.error());
  const std::string file = NameOfProgram(*call) + ".lua";
  return NewFile{file, RecipeOfCall(*call, LineText(words), file)};
}

Result<void> WriteRecipe(const InitOptions& options) {
  auto recipe = RecipeOf(options);
  if (!recipe) return Fail(recipe.error());
  const std::string recipe_name = recipe->name;
  std::vector<NewFile> files = {*std::move(recipe), {".gitignore", "/runs/\n/sweeps/\n", true}};
  const auto definitions = DefinitionsFolder();
  if (definitions) files.push_back({".luarc.json", EditorSettings(*definitions), true});

  const std::filesystem::path folder = options.folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(SystemError("init", Quoted(options.folder) + " cannot be made", error.value()));
  const auto shown = [&folder](const std::string& name) { return (folder / name).lexically_normal().string(); };
  // Checked before anything is written, so that nothing is left half done.
  if (std::filesystem::exists(std::filesystem::symlink_status(folder / recipe_name, error))) {
    return Fail(Error("init", {}, Quoted(shown(recipe_name)) + " already exists; nothing was written",
                      "name another folder: muster init FOLDER"));
  }
  for (const NewFile& file : files) {
    if (file.may_be_there && std::filesystem::exists(std::filesystem::symlink_status(folder / file.name, error))) {
      std::printf("left as it is  %s\n", Printable(shown(file.name)).c_str());
      continue;
    }
    if (auto written = WriteNew(folder / file.name, file.text); !written) return written;
    std::printf("written        %s\n", Printable(shown(file.name)).c_str());
  }
  if (!definitions) std::printf("no .luarc.json: the definitions for editors are not installed beside this muster\n");
  std::printf("next           muster plan %s\n", Printable(ShellQuoted(shown(recipe_name))).c_str());
  return {};
}

int RunInit(const InitOptions& options) {
  const auto written = WriteRecipe(options);
  if (written) return kExitOk;
  return Refuse(written.error());
}

}  // namespace

std::function<int()> SetupInit(CLI::App& app, const Invocation& invocation) {
  auto options = std::make_shared<InitOptions>();
  options->words = invocation.words_after_dashes;
  app.add_option("FOLDER", options->folder, "target folder, created if missing")->type_name("");
  app.add_option("--from", options->from,
                 "write the recipe of this launcher's command line, after --: " + LauncherNames("shell"))
      ->type_name("LAUNCHER");
  return [options] { return RunInit(*options); };
}

}  // namespace muster
