// The content of muster docs: the schema of the context API, contracts, fields, functions, engines, guides.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "muster/mindspore/schema.h"
#include "muster/result.h"
#include "reference/context_topics.h"
#include "reference/page.h"

namespace muster {

// Not movable: the topics refer to the other members.
struct OwnReference {
  Schema schema;
  Outline outline;
  std::optional<Release> release;  // nothing: all of them
  Topics topics;

  // `mindspore`: a release, or empty. Fails as Schema::FindRelease does.
  static Result<std::unique_ptr<OwnReference>> Load(const std::string& mindspore);

  OwnReference() = default;
  OwnReference(const OwnReference&) = delete;
  OwnReference& operator=(const OwnReference&) = delete;
};

// lua/meta/engines.lua: the options of engines as classes for editors.
Result<std::string> EngineDefinitions();

// A group of the documents, or one of their areas.
bool IsGroup(const Topic& topic);

}  // namespace muster
