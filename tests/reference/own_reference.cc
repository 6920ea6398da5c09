#include "reference/own_reference.h"

#include <gtest/gtest.h>

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

Page PageOf(const Topics& topics, const std::string& name) {
  const auto found = TopicsNamed(topics, name);
  if (found.size() == 1) return found.front()->page();
  ADD_FAILURE() << name << " is the name of " << found.size() << " topics";
  return {};
}

}  // namespace muster
