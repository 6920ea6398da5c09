#include "lua/state/embedded_source.h"

#include <fstream>
#include <iterator>
#include <map>

#include "lua/state/embedded.h"

namespace muster {
namespace {

std::map<std::string, std::string>& Overrides() {
  static std::map<std::string, std::string> overrides;
  return overrides;
}

std::optional<std::string_view> In(std::span<const EmbeddedFile> files, std::string_view path) {
  for (const EmbeddedFile& file : files) {
    if (file.path == path) return file.text;
  }
  return std::nullopt;
}

}  // namespace

void OverrideEmbeddedSources(const std::string& folder) {
  for (const EmbeddedFile& file : EmbeddedLua()) {
    std::ifstream stream(folder + "/" + std::string(file.path), std::ios::binary);
    if (!stream) continue;
    Overrides()[std::string(file.path)] = std::string(std::istreambuf_iterator<char>(stream), {});
  }
}

std::optional<std::string> EmbeddedSource(const std::string& path) {
  if (const auto found = Overrides().find(path); found != Overrides().end()) return found->second;
  if (const auto text = In(EmbeddedLua(), path)) return std::string(*text);
  return std::nullopt;
}

std::optional<std::string_view> EmbeddedBytecode(const std::string& path) {
  if (Overrides().contains(path)) return std::nullopt;
  return In(EmbeddedLuaBytecode(), path);
}

std::optional<std::string_view> EmbeddedArchive(const std::string& path) {
  if (!Overrides().empty()) return std::nullopt;  // an archive may be made of several files
  if (const auto schema = In(EmbeddedSchemaArchive(), path)) return schema;
  return In(EmbeddedDataArchives(), path);
}

}  // namespace muster
