#include "reference/rule_index.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "settings/schema/setting_key.h"

namespace muster {
namespace {

// The longest key that is the path or contains it; empty for facts about the job.
std::string KeyNamed(const std::set<std::string>& keys, std::string path) {
  while (!keys.contains(path)) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return "";
    path.resize(dot);
  }
  return path;
}

}  // namespace

bool IsBelow(std::string_view path, const std::string& key) { return path.starts_with(key + "."); }

std::vector<std::string> PathsOf(const Rule& rule) {
  std::vector<std::string> paths = {rule.about};
  for (const auto* conditions : {&rule.when, &rule.unless}) {
    for (const auto& [path, condition] : *conditions) {
      paths.push_back(path);
      if (!condition.above_value_of.empty()) paths.push_back(condition.above_value_of);
    }
  }
  return paths;
}

std::vector<Release> HeldIn(const Rule& rule, const std::vector<Release>& releases) {
  std::vector<Release> held;
  std::copy_if(releases.begin(), releases.end(), std::back_inserter(held),
               [&](const Release& release) { return rule.HoldsIn(release); });
  return held;
}

RuleIndex::RuleIndex(const Schema& schema, const std::vector<AttributeHistory>& histories,
                     const std::vector<Release>& releases) {
  std::set<std::string> keys;
  for (const std::string& function : schema.Functions()) keys.insert(function);
  for (const AttributeHistory& history : histories) keys.insert(KeyOf(history.function, history.path));
  for (const Rule& rule : schema.rules()) {
    if (HeldIn(rule, releases).empty()) continue;
    all_.push_back(&rule);
    const std::vector<std::string> paths = PathsOf(rule);
    std::set<std::string> named;
    for (const std::string& path : paths) {
      // A rule that reports a table and names its sub-keys belongs to the sub-keys.
      const bool is_closer =
          std::any_of(paths.begin(), paths.end(), [&](const std::string& other) { return IsBelow(other, path); });
      if (!is_closer) named.insert(KeyNamed(keys, path));
    }
    for (const std::string& key : named) by_key_[key].push_back(&rule);
  }
  by_key_.erase("");
}

Rules RuleIndex::Naming(const std::string& key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? Rules() : found->second;
}

std::vector<std::string> RuleIndex::NamedBelow(const std::string& key) const {
  std::vector<std::string> below;
  for (const auto& [other, unused] : by_key_) {
    if (IsBelow(other, key)) below.push_back(other);
  }
  return below;
}

}  // namespace muster
