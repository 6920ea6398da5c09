-- expect: require
local ffi = require "ffi"
ffi.C.system("id")
