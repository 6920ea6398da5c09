#include "reference/attribute_history.h"

#include <algorithm>

namespace muster {
namespace {

// Adds the keys in `records` to the histories of `function`, below `path`.
void AddKeys(std::vector<AttributeHistory>& histories, const AttributeHistory& table) {
  std::vector<AttributeHistory> keys;
  for (const auto& [release, record] : table.records) {
    for (const Attribute& key : record->keys) {
      if (!key.ExistsIn(release)) continue;
      const auto same = std::find_if(keys.begin(), keys.end(), [&](const AttributeHistory& known) {
        return known.latest().name == key.name && known.latest().when == key.when;
      });
      AttributeHistory& history = same == keys.end() ? keys.emplace_back() : *same;
      history.function = table.function;
      history.path = table.path + "." + key.name;
      history.depth = table.depth + 1;
      history.records.emplace_back(release, &key);
    }
  }
  for (const AttributeHistory& key : keys) {
    histories.push_back(key);
    AddKeys(histories, key);
  }
}

std::vector<AttributeHistory> HistoriesOf(const Schema::ByName& known, std::string_view function,
                                          const std::vector<Release>& releases) {
  std::vector<AttributeHistory> histories;
  for (const auto& [name, records] : known) {
    AttributeHistory history;
    history.function = function;
    history.path = name;
    for (const Release& release : releases) {
      const auto record = std::find_if(records.begin(), records.end(),
                                       [&](const Attribute& attribute) { return attribute.ExistsIn(release); });
      if (record != records.end()) history.records.emplace_back(release, &*record);
    }
    if (history.records.empty()) continue;
    histories.push_back(history);
    AddKeys(histories, history);
  }
  return histories;
}

}  // namespace

std::vector<Release> DescribedReleases(const Schema& schema) {
  std::vector<Release> releases;
  for (const ReleaseFacts& facts : schema.releases()) {
    if (facts.described) releases.push_back(facts.release);
  }
  return releases;
}

std::vector<AttributeHistory> Histories(const Schema& schema, std::string_view function,
                                        const std::vector<Release>& releases) {
  return HistoriesOf(schema.attributes(function), function, releases);
}

std::vector<AttributeHistory> FileHistories(const Schema& schema, const std::vector<Release>& releases) {
  return HistoriesOf(schema.files(), {}, releases);
}

std::string SpanText(const std::vector<Release>& all, const Release& first, const Release& last) {
  if (first == last) return ReleaseText(first);
  if (last == all.back() && first != all.front()) return ReleaseText(first) + " and later";
  return ReleaseText(first) + " to " + ReleaseText(last);
}

std::string ReleasesText(const AttributeHistory& history, const std::vector<Release>& all) {
  std::string text;
  std::size_t i = 0;
  while (i < history.records.size()) {
    const Release& first = history.records[i].first;
    auto at = std::find(all.begin(), all.end(), first);
    std::size_t end = i;
    while (end < history.records.size() && at != all.end() && history.records[end].first == *at) ++end, ++at;
    text += (text.empty() ? "" : ", ") + SpanText(all, first, history.records[std::max(end, i + 1) - 1].first);
    i = std::max(end, i + 1);
  }
  return text;
}

}  // namespace muster
