// Fuzzes the translation of launch scripts: any text is refused with a message, or becomes a recipe, in bounded time.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "launchers/recipe_of_call.h"
#include "launchers/shell_ranks.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::ScriptWorld world;
  world.folder = "/base";
  world.read = [](const std::string&) -> tl::expected<std::string, std::string> {
    return tl::unexpected(std::string("no file"));
  };
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto call = muster::ReadShellRanks({"bash", "-c", text, "name", "4", "0"}, world, "/base");
  if (call) {
    if (muster::RecipeOfCall(*call, "bash", "x.lua").empty()) std::abort();
  } else if (call.error().empty() || call.error().front().message.empty()) {
    std::abort();
  }
  return 0;
}
