#include "lua/host/thrown.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/values/suggest.h"
#include "lua/host/host.h"
#include "lua/host/lua_mistakes.h"
#include "lua/state/host_function.h"
#include "lua/state/stack.h"

namespace muster {
namespace {

constexpr const char* kNestedTooDeeply =
    "the recipe's calls are nested too deeply, or it failed while it handled an error of its own";

// Adds the callers of the failing line, in the user's functions: one note per call, at most three.
void AddCallers(lua_State* lua, Diagnostic& diagnostic) {
  constexpr std::size_t kMostCallers = 3;
  constexpr int kMostLevels = 200;  // finding a level takes time proportional to it
  lua_Debug frame;
  Place last;  // the reported place, once its frame was found: error(message, 2) skips frames below it
  for (int level = 0;
       diagnostic.notes.size() < kMostCallers && level < kMostLevels && lua_getstack(lua, level, &frame) != 0;
       ++level) {
    lua_getinfo(lua, "Sl", &frame);
    if (frame.source[0] != '@' || frame.currentline < 1) continue;
    const Place place{frame.source + 1, static_cast<std::uint32_t>(frame.currentline)};
    if (last.file.empty() ? place != diagnostic.place : place == last) continue;
    if (!last.file.empty()) diagnostic.notes.push_back({"called here", place});
    last = place;
  }
}

// "attempt to index field 'model' (a nil value)": what the files that were read have instead.
std::string HintOfMissingField(const Host& host, const std::string& message) {
  constexpr std::string_view kBegin = "attempt to index field '";
  const std::size_t end = message.rfind("' (a nil value)");
  if (!message.starts_with(kBegin) || end == std::string::npos || end < kBegin.size()) return {};
  const std::string name = message.substr(kBegin.size(), end - kBegin.size());
  for (const auto& [file, keys] : host.keys_of_files) {
    if (std::find(keys.begin(), keys.end(), name) != keys.end()) return file + " has " + name + " in another block";
    if (const auto nearest = Nearest(name, keys))
      return file + " has no " + name + "; did you mean \"" + *nearest + "\"?";
  }
  std::string files;
  for (const auto& [file, unused] : host.keys_of_files) files += (files.empty() ? "" : ", ") + file;
  return files.empty() ? files : "no file that was read (" + files + ") has a key " + name;
}

}  // namespace

int OnError(lua_State* lua) {
  Host& host = Host::Of(lua);
  if (IsStop(lua, 1)) return 1;
  std::string message;
  if (!ToExactText(lua, 1, message)) {
    message = std::string("the recipe threw a ") + luaL_typename(lua, 1) + " as an error";
    if (luaL_getmetafield(lua, 1, "__tostring") != 0) {
      lua_pushvalue(lua, 1);
      std::string text;  // its message, if it can be converted
      if (lua_pcall(lua, 1, 1, 0) == 0 && ToExactText(lua, -1, text)) message = text;
    }
  }
  // Whether the interpreter can still call this handler when its stack overflows depends on the exact instruction; the
  // message must not.
  lua_Debug deep;
  if (message.ends_with("stack overflow") && lua_getstack(lua, 10'000, &deep) != 0) {
    message.replace(message.size() - std::string_view("stack overflow").size(), std::string::npos, kNestedTooDeeply);
  }
  const bool limit = host.state->out_of_instructions();
  Diagnostic diagnostic = LocatedError(limit ? "limit" : "lua", message, host.PlaceOf(host.Here(lua)), host.files);
  diagnostic.hint = HintOfRuntimeError(diagnostic.message);
  if (diagnostic.hint.empty()) diagnostic.hint = HintOfMissingField(host, diagnostic.message);
  AddCallers(lua, diagnostic);
  if (!host.current_process.empty()) diagnostic.notes.push_back({"in each of " + host.current_process, {}});
  host.Report(std::move(diagnostic));
  return 1;
}

void ReportLimits(Host& host, const StateLimits& limits, const LastPlace* last_place, bool failed) {
  const Place noted = last_place != nullptr ? last_place->Read() : Place{};
  const Place last = noted.line > 0 ? noted : host.fallback;
  const bool limit_reported = std::any_of(host.diagnostics.begin(), host.diagnostics.end(),
                                          [](const Diagnostic& diagnostic) { return diagnostic.kind == "limit"; });
  if (host.state->out_of_memory() && !limit_reported) {
    host.Report(Error("limit", last,
                      "the recipe used more than " + std::to_string(limits.memory_bytes >> 20) + " MiB of memory"));
  } else if (host.state->out_of_instructions() && !limit_reported) {
    host.Report(Error("limit", last, host.state->InstructionsText()));
  } else if (failed && !HasErrors(host.diagnostics)) {
    host.Report(Error("lua", last, kNestedTooDeeply));
  }
}

}  // namespace muster
