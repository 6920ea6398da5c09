-- expect: lua
-- message: threw a table
error({})
