// The program's own schema, outline, topics and documents, read once.
#pragma once

#include "muster/mindspore/schema.h"
#include "reference/context_topics.h"
#include "reference/page.h"

namespace muster {

const Schema& OwnSchemaForTests();
const Outline& OwnOutlineForTests();

// Of lua/muster/reference.
const Topics& LuaTopicsForTests();
const Value& DocumentForTests(const std::string& name);

// The page of the only topic of that name; an empty page, and a test failure, if there is none.
Page PageOf(const Topics& topics, const std::string& name);

}  // namespace muster
