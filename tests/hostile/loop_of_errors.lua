-- expect: limit
while true do pcall(error) end
