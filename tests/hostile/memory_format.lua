-- expect: lua|limit
local s = ("%99999999d"):format(1)
