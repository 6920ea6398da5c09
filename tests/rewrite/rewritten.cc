#include "rewrite/rewritten.h"

#include <gtest/gtest.h>

#include "lua/state/own_data.h"

namespace muster::testing {
namespace {

constexpr std::string_view kHead =
    "local muster = require \"muster\"\n"
    "local context = require \"muster.context\"\n"
    "return muster.recipe { name = \"t\", mindspore = \"2.7\", plan = function(p, job)\n";
constexpr std::string_view kTail = "\nend }\n";

}  // namespace

RewriteTarget TargetOf27(std::vector<Value::Map> contexts) {
  static const Schema schema = OwnSchema().value();
  RewriteTarget target;
  target.schema = &schema;
  target.release = target.own_release = Release{2, 7, 0, Release::kFinal};
  target.release_text = "2.7";
  target.contexts = std::move(contexts);
  return target;
}

std::string RecipeOf(const std::string& body) { return std::string(kHead) + body + std::string(kTail); }

Rewriting RewrittenBody(const std::string& body, std::vector<Value::Map> contexts) {
  const RewriteTarget target = TargetOf27(std::move(contexts));
  auto rewriting = RewriteRecipe(RecipeOf(body), "recipe.lua", target);
  if (!rewriting) {
    ADD_FAILURE() << rewriting.error().front().message << " in " << body;
    return {};
  }
  const auto again = RewriteRecipe(rewriting->text, "recipe.lua", target);
  EXPECT_TRUE(again.has_value()) << rewriting->text;
  if (again) {
    EXPECT_EQ(again->text, rewriting->text) << "a second time";
    EXPECT_TRUE(again->moved.empty());
  }
  return *std::move(rewriting);
}

std::string BodyOf(const Rewriting& rewriting) {
  const std::string start = "plan = function(p, job)\n";
  const std::size_t begin = rewriting.text.find(start);
  if (begin == std::string::npos) return "no plan function: " + rewriting.text;
  const std::size_t body = begin + start.size();
  return rewriting.text.substr(body, rewriting.text.size() - body - kTail.size());
}

std::string LeftOf(const Rewriting& rewriting) {
  std::string text;
  for (const LeftSetting& left : rewriting.left) {
    text += std::to_string(left.line) + " " + left.what + ": " + left.reason + "\n";
  }
  return text;
}

}  // namespace muster::testing
