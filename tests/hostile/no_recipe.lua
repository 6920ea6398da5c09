-- expect: no_recipe
-- message: returns no recipe
return 42
