-- expect: lua
coroutine.wrap(function() error("inside") end)()
