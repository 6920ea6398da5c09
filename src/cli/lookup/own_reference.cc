#include "cli/lookup/own_reference.h"

#include <utility>

#include "base/values/value_json.h"
#include "lua/state/own_data.h"
#include "reference/guide_topics.h"
#include "reference/own_topics.h"

namespace muster {

Result<std::unique_ptr<OwnReference>> OwnReference::Load(const std::string& mindspore) {
  auto reference = std::make_unique<OwnReference>();
  auto schema = OwnSchema();
  if (!schema) return Fail(schema.error());
  reference->schema = *std::move(schema);
  const auto record = OwnData("muster/schema/outline.lua");
  if (!record) return Fail(record.error());
  auto outline = OutlineFromValue(*record);
  if (!outline) return Fail(outline.error());
  reference->outline = *std::move(outline);
  if (!mindspore.empty()) {
    const auto found = reference->schema.FindRelease(mindspore, {});
    if (!found) return Fail(found.error());
    reference->release = *found;
  }
  reference->topics = ContextTopics(reference->schema, reference->outline, reference->release);
  auto records = OwnData("muster/reference/topics.lua");
  if (!records) return Fail(records.error());
  for (Topic& topic : TopicsFromValue(*std::move(records))) reference->topics.push_back(std::move(topic));
  for (Topic& topic : OwnTopics()) reference->topics.push_back(std::move(topic));
  for (Topic& topic : GuideTopics()) reference->topics.push_back(std::move(topic));
  return reference;
}

Result<std::string> EngineDefinitions() {
  const auto documents = OwnData("muster/reference/documents.lua");
  if (!documents) return Fail(documents.error());
  return TextField(*documents, "engines");
}

bool IsGroup(const Topic& topic) { return topic.kind == "group" || topic.kind.starts_with("area"); }

}  // namespace muster
