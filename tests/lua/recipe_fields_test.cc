// Tests the examples of the recipe reference (lua/muster/recipe_fields.lua), each inserted into a recipe: the engine
// accepts all of them. tests/reference tests the text of the reference.
#include <gtest/gtest.h>

#include "lua/evaluated.h"
#include "lua/state/own_data.h"

namespace muster::testing {
namespace {

// The text around an example. In a Lua table the last field of a name counts, so examples replace fields around them.
struct CallerEnvironment {
  std::string before, after;
};

std::string WithBody(const std::string& body, const std::string& fields) {
  return "local muster = require 'muster' return muster.recipe { name = 't', mindspore = '2.3',"
         " cluster = { hosts = 2, devices_per_host = 8 }, checkpoint = { dir = 'd', latest = '*' },"
         " params = { layers = muster.int { 24 }, lr = muster.float { 0.5 }, tokens = muster.int { 8 }, batch = "
         "muster.int { 2 },"
         " debug = muster.bool { false } }, plan = function(p, job) " +
         body + " end, " + fields + "}";
}

const std::string kRole =
    "job:scheduler { command = { 's' } } job:role 'trainer' { command = { 'x' }, ports = { 'rpc' }, ";

// Returns, by section, the text around a field of a recipe, an option of a role, or a statement of a plan function or
// of `each`.
CallerEnvironment Around(const std::string& section, const std::string& name) {
  const auto split = [](const std::string& text) {
    const std::size_t at = text.find('@');
    return CallerEnvironment{text.substr(0, at), text.substr(at + 1)};
  };
  // Every framework has a worker role, but not always other roles.
  const std::string others = name == "framework" ? "" : kRole + "} ";
  const auto field = [&](const std::string& text) {
    return split(WithBody(others + "job:workers { command = { 'x' } }", text));
  };
  const auto option = [&](const std::string& text) { return split(WithBody(kRole + text + " }", "")); };
  const auto body = [&](const std::string& text) { return split(WithBody(text, "")); };
  if (section == "recipe") return field("@");
  if (section == "checkpoint") return field("checkpoint = { dir = 'd', latest = '*', signal = 'USR1', @ }");
  if (section == "cluster" || section == "limits" || section == "logs" || section == "metrics")
    return field(section + " = { @ }");
  if (section == "job" && name == "address")
    return body("job:servers { ports = 'rpc', command = { 'x' } } @ " + kRole + "}");
  if (section == "job") return body("@ " + std::string(name == "scheduler" ? "" : kRole + "}"));
  if (section == "job:file")
    return body(section + " { " + (name.empty() ? "@, text = 'x'" : "'a', @") + " } " + kRole + "}");
  if (section == "job:port") return body(section + "('a', { @ }) " + kRole + "}");
  if (section == "job:address") return body("local at = " + section + "('trainer', { @ }) " + kRole + "}");
  if (section == "job:activate") return body(section + " { @ } " + kRole + "}");
  if (section == "role") return option("@");
  if (section == "ready")
    return option("ready = { " + std::string(name == "every"     ? "command = { 'x' }, @ }"
                                             : name == "timeout" ? "done = true, @ }"
                                                                 : "@ }"));
  if (section == "notify.on" || (section == "notify" && (name == "on" || name == "env")))
    return field("notify = { command = { 'x' }, @ }");
  if (section == "notify") return field("notify = { @ }");
  if (section == "restart") return option("restart = { max = 1, @ }");
  if (section == "role.limits") return option("limits = { @ }");
  if (section == "container" && name == "image") return option("container = { @ }");
  if (section == "container") return option("container = { image = 'x', @ }");
  if (section == "stop") return option("stop = { @ }");
  if (section == "process")
    return body("job:workers { count = 2, command = { 'x' }, ports = { 'rpc' }, each = function(process) @ end }");
  if (section == "parameters") return field("params = { x = @ }");
  if (name.empty() || name == "default") return field("params = { x = @ }");
  if (name == "one_of") return field("params = { x = muster.enum { 'adam', @ } }");
  return field(std::string("params = { x = muster.float { ") + (name == "below" ? "0.5" : "2") + ", @ } }");
}

std::string TextIn(const Value::Map& record, const char* key) {
  const auto found = record.find(key);
  return found == record.end() || found->second.AsString() == nullptr ? "" : *found->second.AsString();
}

// Turns values such as `process.rank == 0` and `job.cluster.hosts` into statements; `process.env.A = 1` and `job:port
// "a"` are statements already.
std::string AsStatement(const std::string& example) {
  const bool statement = example.starts_with("local ") || example.starts_with("job:") ||
                         example.starts_with("process.env {") ||
                         (example.find(" = ") != std::string::npos && example.find(" and ") == std::string::npos);
  return statement ? example : "local value = " + example;
}

std::vector<std::string> ProblemsOfText(const std::string& text) {
  Request request{text};
  request.outside.variables = {{"TOKEN", "secret"}};
  request.outside.files = {{"set_env.sh", ""}};
  return Evaluate(request).problems();
}

TEST(RecipeFields, HaveValidExamples) {
  const auto sections = OwnData("muster/recipe_fields.lua");
  ASSERT_TRUE(sections) << sections.error().front().message;
  std::size_t tried = 0;
  for (const Value& section : *sections->AsList()) {
    const std::string of = TextIn(*section.AsMap(), "name");
    for (const Value& field : *section.AsMap()->at("fields").AsList()) {
      const std::string name = TextIn(*field.AsMap(), "name");
      std::string example = TextIn(*field.AsMap(), "example");
      const std::string declaration = TextIn(*field.AsMap(), "declaration");
      if (!declaration.empty()) example = "muster." + name + " " + declaration;
      if (const std::size_t at = example.find(") … end"); at != std::string::npos)
        example.replace(at, std::string(") … end").size(), ") end");
      if (of == "recipe" && name == "plan") example = "plan = function(p, job) " + kRole + "} end";
      if (of == "job" || of == "process") example = AsStatement(example);
      const CallerEnvironment around = Around(of, name);
      const std::string text = around.before + example + around.after;
      EXPECT_EQ(ProblemsOfText(text), Lines{}) << of << "." << name << ": " << text;
      ++tried;
    }
  }
  EXPECT_GT(tried, 100U);
}

TEST(RecipeFields, AreUsedInRecipes) {
  const auto sections = OwnData("muster/recipe_fields.lua");
  ASSERT_TRUE(sections) << sections.error().front().message;
  for (const Value& section : *sections->AsList()) {
    const std::string of = TextIn(*section.AsMap(), "name");
    const std::string example = TextIn(*section.AsMap(), "example");
    std::string text = "local muster = require 'muster' " + example;
    if (of == "options") {
      text = WithBody(kRole + "}", "params = { " + example + " }");
    } else if (of == "metrics") {
      text = WithBody(kRole + "}", example);
    } else if (of == "cluster" || of == "limits" || of == "logs" || of == "container" || of == "checkpoint" ||
               of == "parameters") {
      text = WithBody("job:workers { command = { 'x' } }", example);
    } else if (of == "notify") {
      text = WithBody("job:workers { command = { 'x' } }", example);
    } else if (of == "notify.on") {
      text = WithBody("job:workers { command = { 'x' } }", "notify = { command = { 'x' }, " + example + " }");
    } else if (of == "job") {
      text = WithBody("", example);
    } else if (of == "ready" || of == "restart" || of == "role.limits" || of == "stop") {
      text = WithBody(kRole + example + "}", "");
    } else if (of == "process") {
      text = WithBody("job:workers { count = 2, command = { 'x' }, ports = { 'rpc' }, " + example + "}", "");
    } else if (of != "recipe") {
      text = WithBody(example + (of == "role" ? "" : " " + kRole + "}"), "");
    }
    EXPECT_EQ(ProblemsOfText(text), Lines{}) << of << ": " << text;
  }
}

}  // namespace
}  // namespace muster::testing
