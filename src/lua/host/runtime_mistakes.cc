// Hints for errors of Lua while a recipe runs: HintOfRuntimeError of lua_mistakes.h.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "lua/host/lua_mistakes.h"

namespace muster {
namespace {

struct RuntimeMistake {
  std::string_view begin;
  std::string_view part;  // somewhere behind it
  std::string_view hint;
};

// The first that fits.
constexpr std::array kRuntimeMistakes = {
    // As in job:role "x" { … }: ports and addresses are texts.
    RuntimeMistake{"attempt to call a string value", "",
                   "options of job:port and job:address are a second argument: job:port(\"NAME\", { … })"},
    RuntimeMistake{
        "attempt to perform arithmetic on ", "a string value",
        "texts are joined with .., and filled by (\"%d of %s\"):format(NUMBER, TEXT); tonumber(TEXT) makes a "
        "number of a text"},
    RuntimeMistake{"attempt to perform arithmetic on ", "a nil value", "nil is the value of what was never set"},
    RuntimeMistake{"attempt to concatenate ", "a nil value",
                   "nil is the value of what was never set; tostring(VALUE) makes a text of any value"},
    RuntimeMistake{"attempt to concatenate ", "a table value", "table.concat(LIST, \" \") joins the words of a list"},
    RuntimeMistake{"attempt to concatenate ", "", "tostring(VALUE) makes a text of any value"},
    RuntimeMistake{
        "attempt to compare ", "string",
        "tonumber(TEXT) makes a number of a text; muster.int and muster.float declare parameters of numbers"},
    RuntimeMistake{"attempt to compare ", "nil", "nil is the value of what was never set"},
    RuntimeMistake{"attempt to call ", "'append' (a nil value)", "table.insert(LIST, VALUE) appends a value"},
    RuntimeMistake{"attempt to call ", "'push' (a nil value)", "table.insert(LIST, VALUE) appends a value"},
    RuntimeMistake{"attempt to call ", "'insert' (a nil value)", "table.insert(LIST, VALUE) appends a value"},
    RuntimeMistake{"attempt to call ", "'length' (a nil value)", "#LIST is the length of a list or a text"},
    RuntimeMistake{"attempt to call ", "'join' (a nil value)", "table.concat(LIST, \" \") joins the words of a list"},
    RuntimeMistake{"attempt to call ", "'split' (a nil value)", "for word in TEXT:gmatch(\"%S+\") do … end"},
    RuntimeMistake{"attempt to call ", "'strip' (a nil value)",
                   "TEXT:match(\"^%s*(.-)%s*$\") is the text without blanks around it"},
    RuntimeMistake{"attempt to call ", "'items' (a nil value)", "for key, value in pairs(TABLE) do … end"},
    RuntimeMistake{"attempt to call ", "'keys' (a nil value)", "for key, value in pairs(TABLE) do … end"},
    RuntimeMistake{"attempt to call method ", "(a table value)",
                   "a table is a value, not a function: write it with a dot and without ()"},
    RuntimeMistake{"attempt to call ", "(a string value)",
                   "a text is a value, not a function: write it with a dot and without ()"},
    RuntimeMistake{"attempt to call a table value", "", "a list is walked by: for _, x in ipairs(LIST) do … end"},
    RuntimeMistake{"attempt to call a number value", "", "a number of turns is written: for i = 1, COUNT do … end"},
};

}  // namespace

std::string HintOfRuntimeError(std::string_view message) {
  const auto* known = std::find_if(kRuntimeMistakes.begin(), kRuntimeMistakes.end(), [&](const RuntimeMistake& each) {
    return message.starts_with(each.begin) && message.find(each.part, each.begin.size()) != std::string_view::npos;
  });
  return known == kRuntimeMistakes.end() ? std::string() : std::string(known->hint);
}

}  // namespace muster
