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

std::optional<std::string_view> Prepared(std::span<const EmbeddedFile> files, const std::string& path) {
  if (Overrides().contains(path)) return std::nullopt;
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
  for (const EmbeddedFile& file : EmbeddedLua()) {
    if (file.path == path) return std::string(file.text);
  }
  return std::nullopt;
}

std::optional<std::string_view> EmbeddedBytecode(const std::string& path) {
  return Prepared(EmbeddedLuaBytecode(), path);
}

std::optional<std::string_view> EmbeddedRecordList(const std::string& path) {
  return Prepared(EmbeddedRecordLists(), path);
}

}  // namespace muster
