-- The types of the recipe API as data, for the language server (src/lsp/api_types.h): classes with their fields, functions,
-- methods and aliases of the definitions for editors (lua/meta). The context API is not among them: the server has it from
-- the schema, by release. Evaluated when muster is built.
local page, text, none = ...

local definitions = page "muster/reference/definitions.lua"(page, text, none, { "job", "engines" })

local function listed(list) return #list > 0 and list or none end

local classes, functions = {}, {}
for i, class in ipairs(definitions.all_classes) do
  classes[i] = { name = class.name, bases = class.bases, fields = listed(class.fields) }
end
for i, f in ipairs(definitions.functions) do
  functions[i] = { name = f.name, doc = f.doc, parameters = listed(f.parameters), returned = f.returned, is_value = f.is_value }
end
for _, method in ipairs(definitions.methods) do method.parameters = listed(method.parameters) end
return { classes = classes, functions = functions, methods = listed(definitions.methods), aliases = listed(definitions.aliases) }
