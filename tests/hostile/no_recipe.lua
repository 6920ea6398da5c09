-- expect: recipe
-- message: returns no recipe
return 42
