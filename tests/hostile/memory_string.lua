-- expect: limit
-- message: MiB of memory
local s = "x"
while true do s = s .. s end
