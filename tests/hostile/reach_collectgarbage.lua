-- expect: undefined
-- message: collectgarbage is not defined
return collectgarbage("stop")
