// muster docs: the reference, by topic. Each area provides its topics (reference/topic.h); this command looks them up
// and prints them.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <unistd.h>

#include "cli/about/man_page.h"
#include "cli/about/own_reference.h"
#include "cli/about/pager.h"
#include "cli/command/command.h"
#include "cli/command/exit_code.h"
#include "cli/command/output_terminal.h"
#include "cli/command/print_diagnostics.h"
#include "cli/commands.h"
#include "reference/call_stub.h"
#include "reference/context_reference.h"
#include "reference/context_stub.h"
#include "reference/engine_topics.h"

namespace muster {
namespace {

struct DocsOptions {
  std::string topic;
  std::string group;
  std::string mindspore;
  bool json = false;
  bool markdown = false;
  std::string stub;  // a module
  bool man = false;
};

TerminalStyle StyleOfOutput() {
  TerminalStyle style;
  if (isatty(STDOUT_FILENO) != 1) return style;
  style.colour = std::getenv("NO_COLOR") == nullptr;
  constexpr std::size_t kNarrowest = 60;
  constexpr std::size_t kWidest = 140;  // longer lines are hard to read
  style.width = std::clamp(OutputColumns(style.width), kNarrowest, kWidest);
  return style;
}

// A guide is Markdown already.
std::string MarkdownOf(const Page& page) {
  const Value* written = page.data.AsMap() == nullptr              ? nullptr
                         : page.data.AsMap()->contains("markdown") ? &page.data.AsMap()->at("markdown")
                                                                   : nullptr;
  return written != nullptr && written->AsString() != nullptr ? *written->AsString() : PageMarkdown(page, 1);
}

void Print(const std::vector<Page>& pages, const DocsOptions& options) {
  if (options.json) {
    std::fputs(PagesJson(pages).c_str(), stdout);
    return;
  }
  std::string text;
  for (const Page& page : pages) {
    if (&page != &pages.front()) text += "\n";
    text += options.markdown ? MarkdownOf(page) : PageText(page, StyleOfOutput());
  }
  options.markdown ? static_cast<void>(std::fputs(text.c_str(), stdout)) : PrintPaged(text);
}

int RunDocs(const DocsOptions& options) {
  if (options.man) {
    std::fputs(ManPage(Commands()).c_str(), stdout);
    return kExitOk;
  }
  const auto loaded = OwnReference::Load(options.mindspore);
  if (!loaded) return Refuse(loaded.error(), options.json);
  OwnReference& reference = **loaded;
  if (!options.stub.empty()) {
    const std::string stub = options.stub == "mindspore" ? CallStub(reference.schema)
                             : options.stub == "engines" ? EngineStub(reference.engines)
                                                         : ContextStub(reference.schema, reference.outline);
    std::fputs(stub.c_str(), stdout);
    return kExitOk;
  }
  const bool everything = options.topic.empty() && options.group.empty();
  if (options.markdown && everything) {
    std::fputs(ContextReference(reference.schema, reference.outline).c_str(), stdout);
    return kExitOk;
  }
  Topics& topics = reference.topics;
  if (everything) {
    Print({OverviewPage(topics)}, options);
    return kExitOk;
  }
  const bool by_group = !options.group.empty();
  const std::string& name = by_group ? options.group : options.topic;
  if (by_group) std::erase_if(topics, [](const Topic& topic) { return !IsGroup(topic); });
  const auto found = TopicsNamed(topics, name);
  if (found.empty()) {
    const auto elsewhere =
        reference.release && !by_group ? NotInRelease(reference.schema, *reference.release, name) : std::nullopt;
    return Refuse({elsewhere ? *elsewhere : UnknownTopic(topics, name, by_group ? "group" : "topic")}, options.json);
  }
  std::vector<Page> pages;
  for (const Topic* topic : found) pages.push_back(topic->page());
  if (reference.release) {
    const std::string reservation = reference.schema.ReservationAbout(*reference.release);
    if (!reservation.empty()) pages.back().blocks.emplace_back(Paragraph{reservation + "."});
  }
  Print(pages, options);
  return kExitOk;
}

}  // namespace

std::function<int()> SetupDocs(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<DocsOptions>();
  auto* topic = app.add_option("TOPIC", options->topic,
                               "a guide, field, function, attribute, framework or engine; without one: the list");
  auto* group = app.add_option("--group", options->group, "the attributes of a group or area of the documents")
                    ->type_name("GROUP")
                    ->excludes(topic);
  app.add_option("--mindspore", options->mindspore, "only what holds for that release")->type_name("RELEASE");
  auto* json = app.add_flag("--json", options->json, "print JSON for programs");
  auto* markdown = app.add_flag("--markdown", options->markdown, "print Markdown; without a topic all attributes");
  app.add_option("--stub", options->stub, "print the definitions of context, mindspore or engines for editors")
      ->type_name("MODULE")
      ->expected(0, 1)
      ->default_str("context")
      ->check(CLI::IsMember({"context", "engines", "mindspore"}))
      ->excludes(topic)
      ->excludes(group)
      ->excludes(json)
      ->excludes(markdown);
  app.add_flag("--man", options->man, "print the manual page muster(1): man -l <(muster docs --man)")
      ->excludes(topic)
      ->excludes(group)
      ->excludes(json)
      ->excludes(markdown);
  markdown->excludes(json);
  return [options] { return RunDocs(*options); };
}

}  // namespace muster
