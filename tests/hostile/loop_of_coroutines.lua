-- expect: limit
while true do coroutine.wrap(function() coroutine.yield() end)() end
