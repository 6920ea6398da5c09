-- expect: lua
getmetatable("").__index = nil
