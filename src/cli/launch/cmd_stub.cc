// muster stub: runs the stub program of rehearsals (src/stub/) by hand.
#include <memory>
#include <string>
#include <vector>

#include "cli/command/command.h"
#include "cli/launch/launch_commands.h"
#include "stub/program/stub.h"

namespace muster {

std::function<int()> SetupStub(CLI::App& app, const Invocation& invocation) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one line of JSON, as stubs write it into their logs");
  return [json, command = invocation.words_after_dashes] {
    std::vector<std::string> words;
    if (*json) words.emplace_back("--json");
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return StubMain(pointers);
  };
}

}  // namespace muster
