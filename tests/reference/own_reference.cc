#include "reference/own_reference.h"

#include <gtest/gtest.h>

#include "base/values/value_json.h"
#include "lua/state/own_data.h"

namespace muster {

const Schema& OwnSchemaForTests() {
  static const Schema schema = [] {
    auto read = OwnSchema();
    if (!read) ADD_FAILURE() << read.error().front().message;
    return read ? *std::move(read) : Schema();
  }();
  return schema;
}

const Outline& OwnOutlineForTests() {
  static const Outline outline = [] {
    const auto record = OwnData("muster/schema/outline.lua");
    auto read = record ? OutlineFromValue(*record) : Fail(record.error());
    if (!read) ADD_FAILURE() << read.error().front().message;
    return read ? *std::move(read) : Outline();
  }();
  return outline;
}

const Topics& LuaTopicsForTests() {
  static const Topics topics = [] {
    auto read = OwnData("muster/reference/topics.lua");
    if (!read) ADD_FAILURE() << read.error().front().message;
    return read ? TopicsFromValue(*std::move(read)) : Topics();
  }();
  return topics;
}

const Value& DocumentForTests(const std::string& name) {
  static const auto documents = OwnData("muster/reference/documents.lua");
  if (!documents) ADD_FAILURE() << documents.error().front().message;
  return ValueField(*documents, name);
}

Page PageOf(const Topics& topics, const std::string& name) {
  const auto found = TopicsNamed(topics, name);
  if (found.size() == 1) return found.front()->page();
  ADD_FAILURE() << name << " is the name of " << found.size() << " topics";
  return {};
}

}  // namespace muster
