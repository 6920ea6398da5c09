#include "lua/host/host.h"

#include <algorithm>
#include <cstdlib>

#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "wire/archive/archive.h"
#include "wire/archive/value_archive.h"

namespace muster {
namespace {

// A recipe can report any number of errors in a loop; nobody reads more than this.
constexpr std::size_t kMaxDiagnostics = 1000;
constexpr std::size_t kMaxMessage = 2000;

void Shorten(std::string& text) {
  if (text.size() > kMaxMessage) text = std::string(Utf8Prefix(text, kMaxMessage)) + " …";
}

// The name of a chunk in the interpreter's messages (lj_debug_shortname): long paths lose their beginning.
std::string ShortName(const std::string& file) {
  constexpr std::size_t kMax = LUA_IDSIZE - 1;
  return file.size() <= kMax ? file : "..." + file.substr(file.size() - (kMax - 3));
}

// ":12: " at the front: the line, and what follows.
std::optional<std::pair<std::uint32_t, std::string_view>> LineAndText(std::string_view rest) {
  if (!rest.starts_with(':')) return std::nullopt;
  constexpr std::size_t kMaxDigits = 9;
  std::size_t end = 1;
  std::uint32_t line = 0;
  while (end < rest.size() && end <= kMaxDigits && rest[end] >= '0' && rest[end] <= '9') {
    line = line * 10 + static_cast<std::uint32_t>(rest[end++] - '0');
  }
  if (end == 1 || !rest.substr(end).starts_with(": ")) return std::nullopt;
  return std::pair(line, rest.substr(end + 2));
}

char kStopKey;  // its address is the error value of Stop

}  // namespace

Host& Host::Of(lua_State* lua) { return *static_cast<Host*>(lua_touserdata(lua, lua_upvalueindex(1))); }

void Host::KeepWhatWasRead() { when_read = {fallback, diagnostics, reported, shipped_files, shipped_places}; }

void Host::BeginPlan() {
  static_cast<PlanDraft&>(*this) = PlanDraft();
  shipped_files = when_read.shipped_files;
  shipped_places = when_read.shipped_places;
  fallback = when_read.fallback;
  diagnostics = when_read.diagnostics;
  reported = when_read.reported;
}

void SweptReads::Begin(const std::map<std::string, std::size_t, std::less<>>& swept) {
  tracked = true;
  paused = false;
  numbers = &swept;
  order.clear();
  seen.assign(swept.size(), false);
}

void SweptReads::Note(std::string_view name) {
  if (!tracked || paused) return;
  const auto found = numbers->find(name);
  if (found == numbers->end() || seen[found->second]) return;
  seen[found->second] = true;
  order.push_back(found->second);
}

void SweptReads::NoteAll() {
  if (!tracked || paused) return;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]) continue;
    seen[i] = true;
    order.push_back(i);
  }
}

int Host::Here(lua_State* lua) {
  const State::Frame frame = state->Here(lua);
  return frame.file.empty() ? Interned(fallback.file, fallback.line) : Interned(frame.file, frame.line);
}

int Host::Interned(std::string_view file, std::uint32_t line) {
  if (file.empty()) return 0;
  auto of_file = place_numbers.find(file);
  if (of_file == place_numbers.end()) of_file = place_numbers.try_emplace(std::string(file)).first;
  const auto [number, is_new] = of_file->second.try_emplace(line, static_cast<int>(places.size()));
  if (is_new) places.push_back({std::string(file), line});
  return number->second;
}

std::string Host::FileBeside(const std::string& path) const {
  if (path.starts_with('@')) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const auto library = request->libraries.find(path.substr(1, end - 1));
    if (library != request->libraries.end()) return library->second.folder + path.substr(end);
  }
  const std::size_t slash = request->recipe_file.rfind('/');
  return (slash == std::string::npos ? "" : request->recipe_file.substr(0, slash + 1)) + path;
}

std::string Host::PathBeside(const std::string& path) const {
  const std::size_t end = std::min(path.find('/'), path.size());
  const auto library =
      path.starts_with('@') ? request->libraries.find(path.substr(1, end - 1)) : request->libraries.end();
  if (library == request->libraries.end()) return request->recipe_dir + "/" + path;
  const LibraryPlace& place = library->second;
  return (place.beside.empty() ? place.folder : place.beside) + path.substr(end);
}

void Host::Report(Diagnostic diagnostic) {
  if (diagnostics.size() > kMaxDiagnostics) return;
  if (diagnostics.size() == kMaxDiagnostics) {
    diagnostics.push_back(Error(
        "limit", {request->recipe_file, 0},
        "the recipe has more than " + std::to_string(kMaxDiagnostics) + " different problems; the others are omitted"));
    return;
  }
  Shorten(diagnostic.message);
  Shorten(diagnostic.hint);
  for (Note& note : diagnostic.notes) Shorten(note.message);
  if (reported.insert(Archived(diagnostic)).second) diagnostics.push_back(std::move(diagnostic));
}

void Host::Report(const Diagnostics& more) {
  for (const Diagnostic& diagnostic : more) Report(diagnostic);
}

Place Host::PlaceOf(int id) const {
  if (id < 0 || static_cast<std::size_t>(id) >= places.size()) return {};
  return places[static_cast<std::size_t>(id)];
}

bool NeedsCheck(std::string_view text) {
  return !IsUtf8(text) || text.find('\0') != std::string::npos || text.find(kPlaceholderOpen) != std::string::npos;
}

void CheckPlanText(Host& host, const std::string& text, const std::string& what, const Place& place,
                   bool secret_allowed) {
  if (!IsUtf8(text) || text.find('\0') != std::string::npos) {
    host.Report(Error("text", place, what + " is not valid UTF-8 without NUL: " + Quoted(text)));
    return;
  }
  if (text.find(kPlaceholderOpen) == std::string::npos) return;
  const auto pieces = Pieces(Text(text));
  if (!pieces) {
    host.Report(Error("hole", place, what + ": " + pieces.error(),
                      "values that are known only at start can be joined and formatted, not cut"));
    return;
  }
  for (const TextPiece& piece : *pieces) {
    if (piece.hole &&
        (piece.hole->kind == Placeholder::Kind::kInheritedPath || piece.hole->kind == Placeholder::Kind::kInherited)) {
      host.Report(Error("hole", place, what + " appends an inherited value, which only muster's own variables do"));
    }
    if (!piece.hole || piece.hole->kind != Placeholder::Kind::kSecret) continue;
    if (!secret_allowed) {
      host.Report(Error("secret", place, what + " holds the secret " + piece.hole->name,
                        "secrets may be the whole value of a variable or the whole of a file, nothing else"));
    } else if (pieces->size() != 1) {
      host.Report(Error("secret", place, what + " joins the secret " + piece.hole->name + " with other text",
                        "a secret can only be passed on whole"));
    }
  }
}

void Stop(lua_State* lua) {
  lua_pushlightuserdata(lua, &kStopKey);
  lua_error(lua);
  std::abort();  // lua_error does not return
}

Place PlaceOfReturn(std::string_view text, const std::string& file) {
  std::uint32_t indented = 0;
  for (std::uint32_t line = 1; !text.empty(); ++line) {
    const std::string_view words = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(words.size() + 1, text.size()));
    if (words.starts_with("return") && (words.size() == 6 || words[6] == ' ' || words[6] == '\t' || words[6] == '(')) {
      return {file, line};
    }
    if (indented == 0 && words.find("return muster.recipe") != std::string_view::npos) indented = line;
  }
  return {file, indented};
}

Place PlaceOfFunction(lua_State* lua, int index) {
  lua_Debug function;
  if (!lua_isfunction(lua, index)) return {};
  lua_pushvalue(lua, index);
  lua_getinfo(lua, ">S", &function);
  if (function.source[0] != '@' || function.linedefined < 1) return {};
  return {function.source + 1, static_cast<std::uint32_t>(function.linedefined)};
}

bool IsStop(lua_State* lua, int index) {
  return lua_islightuserdata(lua, index) && lua_touserdata(lua, index) == &kStopKey;
}

Diagnostic LocatedError(std::string kind, const std::string& message, const Place& fallback,
                        const std::vector<std::string>& files) {
  std::string_view text = message;
  Place place;
  // Repeated: an error that passes through coroutines gets a place from each of them.
  for (bool again = true; again;) {
    again = false;
    for (const std::string& file : files) {
      const std::string shown = ShortName(file);
      if (!text.starts_with(shown)) continue;
      const auto located = LineAndText(text.substr(shown.size()));
      if (!located) continue;
      place = {file, located->first};
      text = located->second;
      again = true;
    }
  }
  if (place.line > 0) return Error(std::move(kind), std::move(place), std::string(text));
  // Places in muster's own Lua files are not shown to users.
  if (text.starts_with("muster/")) {
    const std::size_t colon = text.find(':');
    const auto located = colon == std::string_view::npos ? std::nullopt : LineAndText(text.substr(colon));
    if (located) return Error(std::move(kind), fallback, std::string(located->second));
  }
  return Error(std::move(kind), fallback, message);
}

void AddFunctions(lua_State* lua, Host& host, const HostFunction* functions, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    lua_pushlightuserdata(lua, &host);
    lua_pushcclosure(lua, functions[i].function, 1);
    lua_setfield(lua, -2, functions[i].name);
  }
}

}  // namespace muster
