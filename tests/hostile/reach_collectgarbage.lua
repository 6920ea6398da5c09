-- expect: undefined
-- message: collectgarbage is not available in a recipe
return collectgarbage("stop")
