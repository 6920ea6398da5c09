-- The documents that are generated from the same records as the topics (topics.lua): pages of docs/ as lists of pages, and
-- lua/meta/engines.lua as text.
local page, text, none = ...

local function document(file) return page("muster/reference/" .. file .. ".lua")(page, text, none).document end
return { ["recipe-reference"] = document "recipes", frameworks = document "frameworks", engines = document "engines" }
