-- expect: require
-- message: not below the recipe
-- The test puts a link beside this file that leads out of its folder.
require "link_out"
