// Words and signs of other languages, and what Lua has instead.
#pragma once

#include <array>
#include <string_view>

namespace muster {

// A word of another language, and what Lua has instead.
struct OtherWord {
  std::string_view word;
  std::string_view hint;
};

// At the beginning of a statement.
inline constexpr std::array kOtherStatements = {
    OtherWord{"import", "modules are values: local NAME = require \"NAME\""},
    OtherWord{"from", "modules are values: local NAME = require \"NAME\""},
    OtherWord{"def", "functions are written: local function NAME(…) … end"},
    OtherWord{"fn", "functions are written: local function NAME(…) … end"},
    OtherWord{"func", "functions are written: local function NAME(…) … end"},
    OtherWord{"elif", "Lua writes elseif CONDITION then"},
    OtherWord{"elsif", "Lua writes elseif CONDITION then"},
    OtherWord{"continue", "Lua has no continue: put the rest of the loop into if not CONDITION then … end"},
    OtherWord{"pass", "leave it out: an empty block is allowed"},
    OtherWord{"var", "Lua declares names with local"},
    OtherWord{"let", "Lua declares names with local"},
    OtherWord{"const", "Lua declares names with local"},
    OtherWord{"try", "errors are caught by pcall(FUNCTION)"},
    OtherWord{"with", "Lua has no with: files beside the recipe are read by muster.read_json and muster.read_yaml"},
    OtherWord{"class", "Lua has no classes: a table holds values and functions"},
    OtherWord{"switch", "Lua has no switch: if … then … elseif … then … end"},
    OtherWord{"case", "Lua has no switch: if … then … elseif … then … end"},
    OtherWord{"int", "Lua declares names with local, without types"},
    OtherWord{"float", "Lua declares names with local, without types"},
    OtherWord{"double", "Lua declares names with local, without types"},
    OtherWord{"bool", "Lua declares names with local, without types"},
    OtherWord{"auto", "Lua declares names with local, without types"},
};

// Ends of blocks in other languages.
inline constexpr std::array<std::string_view, 7> kOtherEnds = {"endif", "endfor", "endwhile", "endfunction",
                                                               "done",  "fi",     "esac"};

struct OtherSymbols {
  std::string_view symbols;  // side by side
  std::string_view hint;
};

// Where the parser stops, anywhere in the line. The longest first.
inline constexpr std::array kOtherSymbols = {
    OtherSymbols{"!==", "\"not equal\" is written ~="},
    OtherSymbols{"!=", "\"not equal\" is written ~="},
    OtherSymbols{"===", "\"equal\" is written =="},
    OtherSymbols{"!", "a condition is negated by the word not"},
    OtherSymbols{"&&", "conditions are joined by the word and"},
    OtherSymbols{"||", "conditions are joined by the word or"},
    OtherSymbols{"?", "a choice of two values is written CONDITION and A or B"},
    OtherSymbols{"**", "powers are written a ^ b"},
    OtherSymbols{"/*", "comments begin with --, and long ones are written --[[ … ]]"},
    OtherSymbols{"=>", "functions are written: function(x) return … end"},
    OtherSymbols{"->", "functions are written: function(x) return … end; fields and methods: x.field, x:method()"},
    OtherSymbols{"<>", "\"not equal\" is written ~="},
    OtherSymbols{":=", "values are assigned with =, and new names declared with local"},
    OtherSymbols{"`", "texts stand between quotes: \"…\", and texts of several lines between [[ and ]]"},
    OtherSymbols{"，", "type the sign of the keyboard: ,"},
    OtherSymbols{"；", "type the sign of the keyboard: ;"},
    OtherSymbols{"：", "type the sign of the keyboard: :"},
    OtherSymbols{"（", "type the sign of the keyboard: ("},
    OtherSymbols{"）", "type the sign of the keyboard: )"},
    OtherSymbols{"＝", "type the sign of the keyboard: ="},
};

inline constexpr std::string_view kHowBlocksEnd = "each function, if, for, while and do has its own end";

inline constexpr std::array<std::string_view, 6> kOtherAssignments = {"+=", "-=", "*=", "/=", "%=", "..="};

}  // namespace muster
