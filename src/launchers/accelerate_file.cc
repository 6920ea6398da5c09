#include "launchers/accelerate_file.h"

#include <fmt/format.h>

#include "base/values/shell_quote.h"
#include "settings/values/value_yaml.h"

namespace muster {
namespace {

using Words = std::vector<std::pair<std::string, std::string>>;

std::string TextOf(const Value& value) {
  if (const std::string* text = value.AsString()) return *text;
  if (const Value::List* list = value.AsList()) {
    std::string text;
    for (const Value& one : *list) text += (text.empty() ? "" : ",") + TextOf(one);
    return text;
  }
  return ToText(value);
}

// Nested maps ("fsdp_config") hold options of their own; those of fp8 have no prefix.
void AddWords(const Value::Map& map, Words& words) {
  for (const auto& [name, value] : map) {
    if (value.IsNull()) continue;
    if (const Value::Map* inner = value.AsMap()) {
      AddWords(*inner, words);
    } else {
      words.emplace_back("--" + name, TextOf(value));
    }
  }
}

tl::unexpected<Diagnostics> Wrong(const std::string& file, std::uint32_t line, const std::string& what) {
  Place place;
  place.file = file;
  place.line = line;
  return Fail(Error("usage", place, what));
}

}  // namespace

Result<Words> WordsOfAccelerateFile(std::string_view text, const std::string& file) {
  const auto read = ValueFromYamlText(text);
  if (!read) return Wrong(file, read.error().line, read.error().message);
  const Value::Map* map = read->value.AsMap();
  if (map == nullptr) return Wrong(file, 1, "expected a map of Accelerate's settings");
  Value::Map settings = *map;
  Words words;
  const auto taken = [&settings](const char* name) {
    const auto found = settings.find(name);
    if (found == settings.end()) return std::string();
    std::string value = TextOf(found->second);
    settings.erase(found);
    return value;
  };
  const std::string where = taken("compute_environment");
  if (!where.empty() && where != "LOCAL_MACHINE")
    return Wrong(file, 1, fmt::format("compute_environment {} starts no process here", Quoted(where)));
  const std::string kind = taken("distributed_type");
  if (kind == "TPU" || kind == "XLA")
    return Wrong(file, 1,
                 "distributed_type " + Quoted(kind) + " starts workers by the TPU runtime, which has no counterpart");
  if (kind == "DEEPSPEED") words.emplace_back("--use_deepspeed", "true");
  if (kind == "FSDP") words.emplace_back("--use_fsdp", "true");
  if (kind == "MEGATRON_LM") words.emplace_back("--use_megatron_lm", "true");
  if (kind == "MULTI_CPU") words.emplace_back("--cpu", "true");
  // Settings for TPUs, which such a file contains even without TPUs.
  for (const char* name : {"tpu_env", "tpu_use_cluster", "tpu_use_sudo", "downcast_bf16", "tpu_name", "tpu_zone",
                           "commands", "command_file"}) {
    const auto found = settings.find(name);
    if (found == settings.end()) continue;
    const std::string value = TextOf(found->second);
    if (found->second.IsNull() || value.empty() || value == "{}" || value == "false" || value == "no") {
      settings.erase(found);
    }
  }
  // Without distribution Accelerate starts one process, whatever the file says about their number: that comes second.
  if (kind == "NO") words.emplace_back("--num_processes", "1");
  AddWords(settings, words);
  return words;
}

}  // namespace muster
