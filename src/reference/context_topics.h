// The topics of MindSpore's context API, all from the schema: functions, groups and areas of the documents, releases,
// attributes and sub-keys, rules between them, and the JSON files that they name.
#pragma once

#include <optional>

#include "muster/mindspore/schema.h"
#include "reference/outline.h"
#include "reference/topic.h"

namespace muster {

// For one release, or for all described releases. Schema and outline must outlive the topics.
Topics ContextTopics(const Schema& schema, const Outline& outline, const std::optional<Release>& release);

// Why a name that other releases have is not among the topics of this one: kind "release" and the like, with its
// successor (settings/schema/unknown_key.h). Nothing if no release has it.
std::optional<Diagnostic> NotInRelease(const Schema& schema, const Release& release, const std::string& name);

}  // namespace muster
