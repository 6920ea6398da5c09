-- expect: lua
coroutine.yield(1)
