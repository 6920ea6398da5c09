// muster docs: the reference, by topic, page by page on a terminal, and the manual page muster(1). Each area provides
// its topics (reference/page.h).
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/system/own_environment.h"
#include "base/system/terminal_size.h"
#include "base/system/unique_fd.h"
#include "base/values/diagnostics.h"
#include "base/values/quoting.h"
#include "base/values/utf8_text.h"
#include "cli/command/command.h"
#include "cli/command/command_line.h"
#include "cli/command/command_output.h"
#include "cli/lookup/own_reference.h"
#include "cli/schemas.h"
#include "reference/context_stub.h"
#include "reference/context_topics.h"
#include "spawn/start/launcher.h"
#include "spawn/start/spawn_spec.h"

namespace muster {
namespace {

// The manual page muster(1): generated descriptions of the commands, between general sections.

// The text before and after the commands. Written by hand, in the macros of man(7); command texts are generated.
constexpr std::string_view kBefore = R"(.SH NAME
muster \- launch training jobs from Lua recipes
.SH SYNOPSIS
.B muster
.I COMMAND
.RI [ argument " ...]"
.br
.B muster
.I COMMAND
.B \-\-help
.br
.B muster \-\-version
.SH DESCRIPTION
A recipe is a Lua file that declares the parameters of a job and describes its processes.
.B muster plan
shows these processes, with hosts, ranks, devices, commands and environment, and starts nothing.
.B muster run
starts them, on this machine or through ssh on others, supervises them, reports which one failed first and why, and
cleans up all of them.
.PP
Parameters are set as
.IR name = text
(split at the first =),
.IR name :=\c
.I json
or
.IR name @=\c
.IR file .
Words after
.B \-\-
are passed to the recipe.
Instead of a recipe, a run can be given, for the recipe that it stored, and
.BR @torch ,
.BR @mindspore ,
.B @ps\-lite
and
.B @mpi
are built-in recipes.
.PP
A RUN is named by its folder, the beginning of its id, or the name of its recipe; a name with ~1 is the run before the
newest of that name. The default is the newest run.
.SH COMMANDS
)";

constexpr std::string_view kAfter = R"(.SH EXIT STATUS
.TP
.B 0
success: every process that had to succeed did
.TP
.B 1
a process failed; of
.BR "muster diff" :
the plans differ; of
.BR "muster test" :
a plan differs from its golden file
.TP
.B 2
the recipe or the command line is wrong, and nothing was started
.TP
.B 3
the machine: a process could not be started, an agent or a host was lost
.TP
.B 4
a sweep ended, and some of its trials had failed
.TP
.B 75
the run directory is in use by another run
.TP
.RI 128+ n
muster was ended by signal
.I n
.SH ENVIRONMENT
.TP
.B MUSTER_HOME
the folder below which
.IR runs/ " and " sweeps/
are, instead of the current one
.TP
.B MUSTER_SITE
the site file, like
.B \-\-site
of the commands; empty for none
.TP
.B MUSTER_SET
overrides of parameters, one per line, overridden by those of the command line
.TP
.B MUSTER_HOST_DEVICES
the assumed number of devices of this host
.TP
.B MUSTER_LEASES
the folder in which muster processes of this host record the devices that they hold
.TP
.B MUSTER_USAGE_SECONDS
the first interval of samples of resource usage in seconds, 0 for none
.TP
.BR MUSTER_SSH ", " MUSTER_SSH_CONFIG
the ssh program and its configuration, for runs on other hosts
.TP
.B MUSTER_WITHOUT
kernel mechanisms to disable, like
.B \-\-without
of muster run
.TP
.B MUSTER_LUA_PATH
a folder to use instead of muster's own Lua files, for development of muster
.TP
.B NO_COLOR
disables colours if it is set
.PP
The environment of launched processes is shown by
.BI "muster plan " RECIPE " \-\-env " ROLE
and
.BI "muster docs " FRAMEWORK\fR.
.SH FILES
.TP
.IR runs/NAME/TIME\-ID/
a run: the plan, the journal of everything that happened, the logs, and a report.
.I latest
is a link to the newest
.TP
.IR sweeps/NAME/TIME\-ID/
a sweep: its journal, an index of it, and below
.I t/
the runs of its trials
.TP
.IR muster.site.lua ", " $XDG_CONFIG_HOME/muster/site.lua ", " /etc/muster/site.lua
settings of this site for every run: hosts, environment, runs folder, rules. The first is the project's, in the
current folder or the nearest one above it; the second is the user's, in
.I ~/.config
without the variable; the nearest file wins, field by field
.TP
.I golden/
in a folder of recipes: the plans that
.B muster test
compares with
.SH EXAMPLES
.TP
The plan of a recipe, and what another value would change:
.EX
muster plan recipes/pipeline.lua
muster diff recipes/pipeline.lua layers=64
muster explain recipes/pipeline.lua FIRST_LAYER \-\-rank 5
.EE
.TP
A run with eight workers, and its outcome:
.EX
muster run recipes/parameter_server.lua workers=8
muster report
muster logs \-\-rank 2
.EE
.TP
On four hosts with eight devices each:
.EX
muster doctor \-\-host n[01\-04]:8 recipes/data_parallel.lua
muster run recipes/data_parallel.lua \-\-host n[01\-04]:8
.EE
.TP
Many runs of one recipe, the best of them, and that one again with another value:
.EX
muster sweep recipes/parameter_server.lua \-\-grid lr=0.1,0.3 workers=1,2 \-\-minimize loss
muster best
muster run parameter\-server:best epochs=40
.EE
.TP
A script without a recipe:
.EX
muster run @torch workers=8 \-\- python3 train.py \-\-lr 0.1
.EE
.SH SEE ALSO
.BR ssh (1)
.PP
Guides and reference:
.B muster docs
lists them; start with
.BR "muster docs recipe\-guide" .
)";

// Escapes a paragraph: nothing in it is a request or an escape sequence, and everything is ASCII.
std::string Escaped(std::string_view text) {
  std::string out;
  if (text.starts_with('.') || text.starts_with('\'')) out += "\\&";
  while (!text.empty()) {
    const char first = text.front();
    if (const std::size_t length = Utf8Length(text); length > 1) {
      std::uint32_t code = static_cast<unsigned char>(first) & (0x7FU >> length);
      for (const char byte : text.substr(1, length - 1)) code = code << 6 | (static_cast<unsigned char>(byte) & 0x3FU);
      out += fmt::format("\\[u{:04X}]", code);
      text.remove_prefix(length);
      continue;
    }
    text.remove_prefix(1);
    switch (first) {
      case '\\':
        out += "\\e";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '"':
        out += "\\(dq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '\n':
        out += ' ';
        break;
      default:
        out += first;
    }
  }
  return out;
}

bool IsHidden(const CLI::Option& option) { return option.get_group().empty(); }

bool IsPositional(const CLI::Option& option) { return option.get_lnames().empty() && option.get_snames().empty(); }

// "RECIPE", "[name=value ...]"
std::string PositionalText(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  std::string text = type.empty() || type == "TEXT" ? option.get_name() : type;
  const bool many = option.get_expected_max() > 1 && text.find("…") == std::string::npos;
  if (many) text += " ...";
  return option.get_required() ? text : "[" + text + "]";
}

std::string OptionHead(const CLI::Option& option) {
  std::string head;
  for (const std::string& name : option.get_snames()) head += (head.empty() ? "\\-" : ", \\-") + Escaped(name);
  for (const std::string& name : option.get_lnames()) head += (head.empty() ? "\\-\\-" : ", \\-\\-") + Escaped(name);
  head = "\\fB" + head + "\\fR";
  const bool takes = option.get_expected_max() > 0 && option.get_type_size_max() > 0;
  const std::string type = option.get_type_name();
  if (takes && !type.empty()) head += " \\fI" + Escaped(type) + "\\fR";
  return head;
}

void AppendEntry(std::string& out, const std::string& head, const std::string& about) {
  out += ".TP\n" + head + "\n" + Escaped(about) + "\n";
}

void AppendCommand(std::string& out, const Command& command) {
  CLI::App app;
  const Invocation invocation;
  const CommandOptions options = AddCommandOptions(app, command, invocation);
  std::string call = std::string("muster ") + command.name;
  for (const CLI::Option* option : app.get_options()) {
    if (!IsHidden(*option) && IsPositional(*option)) call += " " + PositionalText(*option);
  }
  out += ".SS " + Escaped(call) + "\n" + Escaped(command.summary) + "\n";
  for (const CLI::Option* option : app.get_options()) {
    if (IsHidden(*option) || option->get_description().empty() || option->check_name("--help")) continue;
    AppendEntry(out, IsPositional(*option) ? "\\fI" + Escaped(option->get_name()) + "\\fR" : OptionHead(*option),
                option->get_description());
  }
  out += ".PP\nExample:\n\\fB" + Escaped(command.example) + "\\fR\n";
}

// In the macros of man(7), ASCII only.
std::string ManPage(std::span<const Command> commands) {
  std::string out = ".\\\" made by muster docs --man from what the commands say of themselves\n";
  out += ".TH MUSTER 1 \"\" \"muster " MUSTER_VERSION "\" \"User Commands\"\n.nh\n.ad l\n";
  out += ".fchar \\[u2026] ...\n.fchar \\[u00B7] -\n";  // for terminals of ASCII
  out += kBefore;
  for (const Command& command : commands) AppendCommand(out, command);
  out += kAfter;
  return out;
}

// Shows a long text on a terminal page by page, with the user's pager.

// The lines of the terminal behind standard output; 0: there is none.
std::size_t OutputRows() { return SizeOfTerminal(STDOUT_FILENO).rows; }

std::string PagerCommand() {
  for (const char* name : {"MUSTER_PAGER", "PAGER"}) {
    if (const char* value = std::getenv(name)) return std::string_view(value) == "cat" ? "" : value;
  }
  return "less";
}

bool Paged(const std::string& command, const std::string& text) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  std::vector<std::string> environment = OwnVariables();
  // As git does: quit at the end of a short text, keep colours, leave the text on the screen.
  if (std::getenv("LESS") == nullptr) environment.emplace_back("LESS=FRX");
  SpawnSpec spec;
  spec.argv = {"/bin/sh", "-c", command};
  spec.env = EnvPointers(environment);
  spec.stdin_fd = reading.get();
  spec.stdout_fd = STDOUT_FILENO;
  spec.stderr_fd = STDERR_FILENO;
  Launcher launcher;
  const auto pager = launcher.Spawn(spec);
  if (!pager) return false;
  reading.reset();
  // Ctrl-C belongs to the pager while it runs; one that ends early takes no more text.
  const auto interrupt = std::signal(SIGINT, SIG_IGN);
  const auto broken = std::signal(SIGPIPE, SIG_IGN);
  static_cast<void>(WriteAll(writing.get(), text));
  writing.reset();
  const EndedProcess ended = ReapAtEnd(pager->ref());
  std::signal(SIGINT, interrupt);
  std::signal(SIGPIPE, broken);
  constexpr int kNotFound = 127;  // of sh
  return ended.signalled || (ended.code != kNotFound && ended.code != kNotFound - 1);
}

// Prints the text on standard output. If that is a terminal and the text is longer than the screen, through the program
// in MUSTER_PAGER or PAGER, as sh runs it; through less if neither is set. An empty value, "cat", or a pager that
// cannot be started: without one.
void PrintPaged(const std::string& text) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const std::size_t rows = OutputRows();
  const std::string command = rows == 0 || lines < rows ? std::string() : PagerCommand();
  std::fflush(stdout);
  if (command.empty() || !Paged(command, text)) std::fputs(text.c_str(), stdout);
}

}  // namespace

// muster docs: the reference, by topic. Each area provides its topics (reference/page.h); this command looks them up
// and prints them.

namespace {

struct DocsOptions {
  std::string topic;
  std::string group;
  std::string mindspore;
  bool json = false;
  bool markdown = false;
  std::string stub;  // a module
  bool schemas = false;
  std::string schema;  // a name; empty: the list
  bool man = false;
};

TerminalStyle StyleOfOutput() {
  TerminalStyle style;
  if (isatty(STDOUT_FILENO) != 1) return style;
  style.colour = std::getenv("NO_COLOR") == nullptr;
  constexpr std::size_t kNarrowest = 60;
  constexpr std::size_t kMaxWidth = 140;  // longer lines are hard to read
  style.width = std::clamp(OutputColumns(style.width), kNarrowest, kMaxWidth);
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

int RunSchemas(const DocsOptions& options) {
  const std::span<const PublishedSchema> schemas = PublishedSchemas();
  if (options.schema.empty()) {
    std::fputs((options.json ? SchemaListJson() : SchemaTable()).c_str(), stdout);
    return kExitOk;
  }
  const auto found = std::find_if(schemas.begin(), schemas.end(),
                                  [&](const PublishedSchema& each) { return each.name == options.schema; });
  if (found == schemas.end()) {
    std::vector<std::string> names;
    for (const PublishedSchema& each : schemas) names.emplace_back(each.name);
    const auto nearest = Nearest(options.schema, names);
    return Refuse({Error("schema", {}, "there is no schema " + Quoted(options.schema),
                         nearest ? "did you mean " + *nearest + "?" : "all of them: muster docs --schema")},
                  options.json);
  }
  std::fputs(SchemaText(*found).c_str(), stdout);
  return kExitOk;
}

int RunDocs(const DocsOptions& options) {
  if (options.schemas) return RunSchemas(options);
  if (options.man) {
    std::fputs(ManPage(Commands()).c_str(), stdout);
    return kExitOk;
  }
  if (options.stub == "engines") {
    const auto definitions = EngineDefinitions();
    if (!definitions) return Refuse(definitions.error(), options.json);
    std::fputs(definitions->c_str(), stdout);
    return kExitOk;
  }
  const auto loaded = OwnReference::Load(options.mindspore);
  if (!loaded) return Refuse(loaded.error(), options.json);
  OwnReference& reference = **loaded;
  if (!options.stub.empty()) {
    const std::string stub =
        options.stub == "mindspore" ? CallStub(reference.schema) : ContextStub(reference.schema, reference.outline);
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
  auto* schema = app.add_option("--schema", options->schema, "print the JSON Schema NAME; without a name: the list")
                     ->type_name("NAME")
                     ->expected(0, 1)
                     ->excludes(topic)
                     ->excludes(group)
                     ->excludes(markdown);
  app.add_flag("--man", options->man, "print the manual page muster(1): man -l <(muster docs --man)")
      ->excludes(topic)
      ->excludes(group)
      ->excludes(json)
      ->excludes(markdown);
  markdown->excludes(json);
  return [options, schema] {
    options->schemas = schema->count() > 0;
    return RunDocs(*options);
  };
}

}  // namespace muster
