---@meta muster.mindspore
-- "muster.mindspore" is another name of "muster.context" (context.lua).
return require "muster.context"
