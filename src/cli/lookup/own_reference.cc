#include "cli/lookup/own_reference.h"

#include "lua/state/own_data.h"
#include "reference/definition_topics.h"
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
  auto frameworks = OwnFrameworks();
  if (!frameworks) return Fail(frameworks.error());
  reference->frameworks = *std::move(frameworks);
  for (Topic& topic : FrameworkTopics(reference->frameworks)) reference->topics.push_back(std::move(topic));
  auto fields = OwnRecipeFields();
  if (!fields) return Fail(fields.error());
  for (Topic& topic : RecipeTopics(*fields)) reference->topics.push_back(std::move(topic));
  for (Topic& topic : DefinitionTopics(ReadDefinitions(EmbeddedDefinitions())))
    reference->topics.push_back(std::move(topic));
  for (const std::string& name : OwnEngineNames()) {
    auto engine = OwnEngine(name);
    if (!engine) return Fail(engine.error());
    reference->engines.push_back(*std::move(engine));
  }
  for (Topic& topic : EngineTopics(reference->engines)) reference->topics.push_back(std::move(topic));
  for (Topic& topic : OwnTopics()) reference->topics.push_back(std::move(topic));
  for (Topic& topic : GuideTopics()) reference->topics.push_back(std::move(topic));
  return reference;
}

bool IsGroup(const Topic& topic) { return topic.kind == "group" || topic.kind.starts_with("area"); }

}  // namespace muster
