-- expect: lua
-- message: threw a nil
error(nil)
