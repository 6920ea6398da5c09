-- The topics of `muster docs` that are made of Lua tables and definitions: frameworks, fields of recipes, functions and files,
-- engines. Evaluated when muster is built; src/reference/page.h reads and prints them.
--
-- A topic has name, kind, summary (one line), other_names, listed (in the overview) and page: title, data (the same for
-- programs) and blocks. A block is a paragraph (a text) or a table with
--   heading            a text
--   example, language  lines to be copied
--   facts              each { label, line, … }
--   columns, rows      of texts
-- Texts have names and values in `backticks`, and no other markup.
--
-- page(path, environment) loads one of muster's own files as a function, text(path) is its text, none is the empty list.
local page, text, none = ...

local topics = {}
for _, file in ipairs { "frameworks", "recipes", "definitions", "engines" } do
  for _, topic in ipairs(page("muster/reference/" .. file .. ".lua")(page, text, none).topics) do topics[#topics + 1] = topic end
end
return topics
