-- expect: require
-- message: requires itself
return require "recursion_require"
