-- expect: read_only
rawset(string, "format", function() return "forged" end)
