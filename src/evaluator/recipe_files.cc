#include "evaluator/recipe_files.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <functional>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/values/diagnostics.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "lua/state/own_data.h"

namespace muster {
namespace {

constexpr off_t kMaxFile = 16 << 20;
constexpr char kTooMuch[] = "too much was read before it";
constexpr std::uint64_t kEntryBytes = 256;  // memory per file besides its name and content

// `take` is called with the number of bytes before they are read, and returns whether they may be.
tl::expected<std::string, std::string> ReadRegular(int fd, const std::function<bool(std::uint64_t)>& take) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0) return tl::unexpected(std::string(std::strerror(errno)));
  if (S_ISDIR(facts.st_mode)) return tl::unexpected(std::string("it is a directory"));
  if (!S_ISREG(facts.st_mode)) return tl::unexpected(std::string("it is not a regular file"));
  if (IsInProcfs(fd)) return tl::unexpected(std::string("it is a file of procfs, and these are never read"));
  if (facts.st_size > kMaxFile) return tl::unexpected(std::string("it is larger than 16 MiB"));
  if (!take(static_cast<std::uint64_t>(facts.st_size))) return tl::unexpected(std::string(kTooMuch));
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(std::string(std::strerror(errno)));
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > static_cast<std::size_t>(kMaxFile))
      return tl::unexpected(std::string("it is larger than 16 MiB"));
  }
}

// Opens the file that the user named. The owner of a repository controls the last part of the path.
UniqueFd OpenNamed(const std::string& file, RecipeFiles::Link link) {
  constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  if (link == RecipeFiles::Link::kAnywhere) return UniqueFd(open(file.c_str(), kFlags));
  const std::filesystem::path path = file;
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  const UniqueFd at(open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!at || !path.has_filename() || path.filename() == "..")
    return UniqueFd(open(file.c_str(), kFlags));  // sets the errno
  return OpenInside(at.get(), path.filename(), kFlags);
}

std::string OpenError(int error) {
  return error == EXDEV ? "it is not below the recipe's folder" : std::strerror(error);
}

// The recipes and folders that the user may have meant.
Diagnostic NoSuchRecipe(const std::string& recipe_file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path path = recipe_file;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, error)) {
    return Error("recipe", {recipe_file, 0}, "there is no folder " + Quoted(folder.string()),
                 "the current folder is " + fs::current_path(error).string());
  }
  if (fs::is_symlink(path, error)) {
    return Error(
        "recipe", {recipe_file, 0},
        "the recipe is a link to " + Quoted(fs::read_symlink(path, error).string()) + ", which does not exist");
  }
  std::vector<std::string> files;
  constexpr std::size_t kMax = 2'000;
  for (fs::directory_iterator it(folder, error), end; !error && it != end && files.size() < kMax; it.increment(error)) {
    if (it->path().extension() == ".lua") files.push_back((path.parent_path() / it->path().filename()).string());
  }
  std::sort(files.begin(), files.end());
  std::string hint = DidYouMean(recipe_file, files);
  if (!hint.ends_with('?')) hint += (hint.empty() ? "" : "; ") + std::string("muster ls --recipes lists recipes");
  const std::string where = fs::weakly_canonical(folder, error).string();
  return Error("recipe", {recipe_file, 0}, "there is no such file in " + Quoted(where), std::move(hint));
}

Diagnostic NotUtf8(const std::string& recipe_file, const EncodingProblem& problem) {
  if (problem.encoding.empty()) return Error("recipe", {recipe_file, 0}, problem.what + ", not a Lua text");
  return Error("recipe", {recipe_file, static_cast<std::uint32_t>(problem.line)},
               problem.what + "; recipes are UTF-8 texts", EncodingHint(problem, recipe_file));
}

// The message and hint for a file of another language, by its name or its first line.
std::optional<std::pair<std::string, std::string>> OtherLanguage(const std::string& file, std::string_view text) {
  const std::string ending = std::filesystem::path(file).extension();
  const std::string_view first = text.substr(0, text.find('\n'));
  const bool is_script = first.starts_with("#!");
  const auto names = [&](std::string_view program) {
    return is_script && first.find(program) != std::string_view::npos;
  };
  if (ending == ".py" || names("python")) {
    return std::pair("this is a Python program, not a recipe",
                     "muster run @torch -- python3 " + ShellQuoted(file) + "; muster init writes a first recipe");
  }
  if (ending == ".sh" || ending == ".slurm" || ending == ".sbatch" || names("/bash") || names("/sh")) {
    return std::pair("this is a shell script, not a recipe", "muster init --from shell -- bash " + ShellQuoted(file));
  }
  for (const std::string_view data : {".json", ".yaml", ".yml", ".toml", ".ini", ".cfg"}) {
    if (ending != data) continue;
    return std::pair(
        "this is a file of data, not a recipe",
        "recipes read such files by muster.read_json and muster.read_yaml; muster init writes a first recipe");
  }
  return std::nullopt;
}

tl::expected<void, std::string> ExistsAt(int folder, const std::string& name) {
  if (!OpenInside(folder, name, O_PATH)) return tl::unexpected(OpenError(errno));
  return {};
}

tl::expected<void, std::string> IsFileName(const std::string& name) {
  if (name.find('\0') != std::string::npos) return tl::unexpected(std::string("the name holds a NUL byte"));
  if (name.size() < PATH_MAX) return {};
  return tl::unexpected("the name is longer than " + std::to_string(PATH_MAX - 1) + " bytes");
}

}  // namespace

Value InputsValue(const std::vector<Input>& inputs) {
  Value::List list;
  for (const Input& input : inputs) {
    Value::Map fields;
    fields["kind"] = Value(input.kind);
    fields["name"] = Value(input.name);
    fields["sha256"] = input.sha256.empty() ? Value() : Value(input.sha256);
    list.emplace_back(std::move(fields));
  }
  return Value(std::move(list));
}

struct RecipeFiles::Shared {
  struct Known {
    tl::expected<std::string, std::string> content;
    std::string sha256;
  };
  std::map<std::string, LibraryPlace> libraries;
  std::shared_ptr<const UnsavedTexts> unsaved;  // may be null
  std::string recipe_text;
  std::string kept_as;  // name of the recipe among the sources
  Input recipe;
  std::string folder;
  UniqueFd folder_fd;
  std::map<std::string, Known> read;  // by stored name, including the recipe
  std::map<std::pair<std::string, std::string>, tl::expected<void, std::string>> exists;  // by folder and name
  std::uint64_t taken = 0;
};

RecipeFiles::RecipeFiles(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)), inputs_({shared_->recipe}), sources_({{shared_->kept_as, shared_->recipe_text}}) {}
RecipeFiles::RecipeFiles(RecipeFiles&&) noexcept = default;
RecipeFiles& RecipeFiles::operator=(RecipeFiles&&) noexcept = default;
RecipeFiles::~RecipeFiles() = default;

RecipeFiles RecipeFiles::Again() const { return RecipeFiles(shared_); }
const std::string& RecipeFiles::recipe_text() const { return shared_->recipe_text; }
const std::string& RecipeFiles::folder() const { return shared_->folder; }

bool RecipeFiles::Take(std::uint64_t bytes, bool anew) {
  const std::uint64_t all = bytes + kEntryBytes;
  const auto has_room = [&](const std::string& who, std::uint64_t taken, std::uint64_t most) {
    if (exceeded_) return false;
    if (taken + all <= most) return true;
    exceeded_ = Error("limit", {}, who + " more than " + std::to_string(most >> 20) + " MiB of files",
                      "recipes read configuration; muster.here names a file that processes read where it lies");
    return false;
  };
  if (!has_room("the recipe reads", taken_, kMaxRecipeBytes)) return false;
  if (anew && !has_room("the plans of the recipe read", shared_->taken, kMaxSharedRecipeBytes)) return false;
  taken_ += all;
  if (anew) shared_->taken += all;
  return true;
}

Result<RecipeFiles> RecipeFiles::Of(const std::string& recipe_file, std::string text, std::string folder,
                                    const std::string& kept_as) {
  auto shared = std::make_shared<Shared>();
  shared->folder = std::move(folder);
  if (shared->folder.size() > 1 && shared->folder.ends_with('/')) shared->folder.pop_back();
  shared->folder_fd = UniqueFd(open(shared->folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!shared->folder_fd) {
    return Fail(Error("recipe", {recipe_file, 0}, std::string("its folder cannot be opened: ") + std::strerror(errno)));
  }
  shared->recipe = {"recipe", recipe_file, Sha256Hex(text)};
  shared->kept_as = kept_as;
  shared->recipe_text = std::move(text);
  return RecipeFiles(std::move(shared));
}

Result<RecipeFiles> RecipeFiles::OpenOwn(const std::string& recipe_file) {
  const std::string name = recipe_file.substr(1);
  auto text = OwnRecipe(name);
  if (!text) {
    std::vector<std::string> known = OwnRecipeNames();
    for (std::string& own : known) own.insert(0, 1, '@');
    return Fail(Error("recipe", {recipe_file, 0}, "muster has no recipe " + recipe_file + " of its own",
                      DidYouMean(recipe_file, known)));
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::current_path(error);
  if (error) return Fail(SystemError("cwd", "cannot determine the current folder", error.value()));
  return Of(recipe_file, *std::move(text), folder, recipe_file + ".lua");
}

Result<RecipeFiles> RecipeFiles::Open(const std::string& recipe_file,
                                      const std::map<std::string, LibraryPlace>& libraries, Link link,
                                      std::shared_ptr<const UnsavedTexts> unsaved) {
  auto files = OpenRecipe(recipe_file, link, unsaved.get());
  if (!files) return files;
  files->shared_->libraries = libraries;
  files->shared_->unsaved = std::move(unsaved);
  return files;
}

Result<RecipeFiles> RecipeFiles::OpenRecipe(const std::string& recipe_file, Link link, const UnsavedTexts* unsaved) {
  if (recipe_file.starts_with('@')) return OpenOwn(recipe_file);
  const auto refuse = [&](const std::string& why, std::string hint = {}) {
    return Fail(Error("recipe", {recipe_file, 0}, why, std::move(hint)));
  };
  if (unsaved != nullptr) {
    const std::filesystem::path path = std::filesystem::path(recipe_file).lexically_normal();
    if (const auto text = unsaved->find(path); text != unsaved->end()) {
      if (auto problem = FindEncodingProblem(text->second)) return Fail(NotUtf8(recipe_file, *problem));
      return Of(recipe_file, text->second, path.parent_path(), path.filename());
    }
  }
  const UniqueFd file = OpenNamed(recipe_file, link);
  if (!file && errno == EXDEV) {
    std::error_code unknown;
    return refuse(
        "the recipe is a link that leads out of its folder",
        "name the file itself: " + ShellQuoted(std::filesystem::weakly_canonical(recipe_file, unknown).string()));
  }
  if (!file && errno == ENOENT) return Fail(NoSuchRecipe(recipe_file));
  if (!file) return refuse(std::string("the recipe cannot be opened: ") + std::strerror(errno));
  auto text = ReadRegular(file.get(), [](std::uint64_t) { return true; });
  if (!text) {
    return refuse("the recipe cannot be read: " + text.error(),
                  text.error() == "it is a directory" ? "name a file, such as " + recipe_file + "/recipe.lua" : "");
  }
  if (text->starts_with("\033")) return refuse("the recipe is compiled Lua; recipes are text");
  if (auto problem = FindEncodingProblem(*text)) return Fail(NotUtf8(recipe_file, *problem));
  if (const auto other = OtherLanguage(recipe_file, *text)) return refuse(other->first, other->second);

  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(recipe_file, error);
  return Of(recipe_file, *std::move(text), path.parent_path().lexically_normal(), path.filename());
}

namespace {

// "; the recipes of the library are …" for a name that is similar to none or to one of them.
std::string OthersOf(const std::string& folder, const std::string& rest) {
  std::vector<std::string> known;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".lua") known.push_back(it->path().stem());
  }
  std::sort(known.begin(), known.end());
  return "; " + DidYouMean(rest.substr(0, rest.rfind(".lua")), known);
}

}  // namespace

std::optional<std::pair<std::string, std::string>> RecipeFiles::InLibrary(const std::string& name) const {
  if (!name.starts_with('@')) return std::nullopt;
  const std::size_t end = std::min(name.find('/'), name.size());
  const auto library = shared_->libraries.find(name.substr(1, end - 1));
  if (library == shared_->libraries.end() || end == name.size()) return std::nullopt;
  return std::pair(library->second.folder, name.substr(end + 1));
}

std::string RecipeFiles::ShownPath(const std::string& folder, const std::string& name) const {
  const auto library = InLibrary(name);
  return (std::filesystem::path(library ? library->first : folder) / (library ? library->second : name))
      .lexically_normal();
}

tl::expected<std::string, std::string> RecipeFiles::Read(const std::string& name) {
  if (auto is = IsFileName(name); !is) return tl::unexpected(std::move(is.error()));
  const auto library = InLibrary(name);
  const std::string rest = std::filesystem::path(library ? library->second : name).lexically_normal();
  // Names below '@' belong to the site's libraries, however a recipe spells the name of its own file.
  if (library && (rest.starts_with('/') || rest == ".." || rest.starts_with("../"))) {
    return tl::unexpected(std::string("it is not below the library's folder"));
  }
  if (!name.starts_with('@') && rest.starts_with('@')) {
    return tl::unexpected(
        std::string("names that begin with '@' are those of libraries: rename the file beside the "
                    "recipe"));
  }
  // Of an unknown library only the name is recorded.
  const std::string normal = library ? name.substr(0, name.find('/') + 1) + rest : name.starts_with('@') ? name : rest;
  if (const auto known = sources_.find(normal); known != sources_.end()) return known->second;
  auto known = shared_->read.find(normal);
  if (known != shared_->read.end()) {
    const auto& content = known->second.content;
    if (!Take(normal.size() + (content ? content->size() : 0), false)) return tl::unexpected(std::string(kTooMuch));
  } else {
    // Read by the name under which it is stored and shown: behind a symbolic link the original name may lead elsewhere.
    auto content = ReadNew(normal);
    if (exceeded_) return content;
    std::string sha256 = content ? Sha256Hex(*content) : std::string();
    known = shared_->read.emplace(normal, Shared::Known{std::move(content), std::move(sha256)}).first;
  }
  const auto& [content, sha256] = known->second;
  if (!content) return content;
  sources_.emplace(normal, *content);
  inputs_.push_back({"file", normal, sha256});
  return content;
}

tl::expected<std::string, std::string> RecipeFiles::ReadNew(const std::string& name) {
  if (!Take(name.size(), true)) return tl::unexpected(std::string(kTooMuch));
  const auto library = InLibrary(name);
  if (!library && name.starts_with('@')) {
    std::vector<std::string> known;
    for (const auto& [each, unused] : shared_->libraries) {
      if (each != kRulesLibrary) known.push_back("@" + each);
    }
    const std::string wanted = name.substr(0, name.find('/'));
    return tl::unexpected("there is no library " + wanted + "; " +
                          (known.empty()
                               ? "the site file names none: libraries = { " + wanted.substr(1) + " = \"FOLDER\" }"
                               : DidYouMean(wanted, known)));
  }
  if (shared_->unsaved) {
    const std::filesystem::path base = library ? library->first : shared_->folder;
    const auto path = (base / (library ? library->second : name)).lexically_normal();
    const auto below = path.lexically_relative(base.lexically_normal());
    const auto text = shared_->unsaved->find(path);
    if (text != shared_->unsaved->end() && !below.empty() && *below.begin() != "..") {
      if (!Take(text->second.size(), true)) return tl::unexpected(std::string(kTooMuch));
      return text->second;
    }
  }
  UniqueFd folder;
  if (library) {
    folder = UniqueFd(open(library->first.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder.get() < 0) {
      return tl::unexpected("the folder of the library, " + library->first +
                            ", cannot be opened: " + std::strerror(errno));
    }
  }
  const UniqueFd file = library ? OpenInside(folder.get(), library->second, O_RDONLY)
                                : OpenInside(shared_->folder_fd.get(), name, O_RDONLY);
  if (file.get() < 0 && library && errno == ENOENT) {
    return tl::unexpected("it is not in " + library->first + OthersOf(library->first, library->second));
  }
  if (file.get() < 0) {
    return tl::unexpected(library && errno == EXDEV ? "it is not below the library's folder" : OpenError(errno));
  }
  return ReadRegular(file.get(), [this](std::uint64_t bytes) { return Take(bytes, true); });
}

tl::expected<void, std::string> RecipeFiles::Exists(const std::string& name) {
  if (const auto library = InLibrary(name)) {
    const LibraryPlace& place = shared_->libraries.at(name.substr(1, name.find('/') - 1));
    return ExistsBelow(place.beside.empty() ? place.folder : place.beside, library->second);
  }
  return ExistsBelow({}, name);
}

tl::expected<void, std::string> RecipeFiles::ExistsBelow(const std::string& other, const std::string& name) {
  if (auto is = IsFileName(name); !is) return is;
  const std::pair<std::string, std::string> key(other, name);
  if (const auto known = shared_->exists.find(key); known != shared_->exists.end()) return known->second;
  if (!Take(other.size() + name.size(), true)) return tl::unexpected(std::string(kTooMuch));
  auto exists = other.empty() ? ExistsAt(shared_->folder_fd.get(), name) : muster::ExistsBelow(other, name);
  return shared_->exists.emplace(key, std::move(exists)).first->second;
}

tl::expected<void, std::string> ExistsBelow(const std::string& folder, const std::string& name) {
  const UniqueFd at(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) return tl::unexpected(folder + ": " + std::strerror(errno));
  return ExistsAt(at.get(), name);
}

void RecipeFiles::RecordVariable(const std::string& name, const char* value) {
  Input input{"variable", name, value == nullptr ? "" : Sha256Hex(value)};
  if (std::find(inputs_.begin(), inputs_.end(), input) != inputs_.end()) return;
  if (Take(name.size(), false)) inputs_.push_back(std::move(input));
}

}  // namespace muster
