-- expect: no_recipe
return setmetatable({ name = "forged", plan = function() end }, { __metatable = "a recipe" })
