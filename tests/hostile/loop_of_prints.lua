-- expect: limit
-- message: files, variables and printed lines
while true do print("again") end
