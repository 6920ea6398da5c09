-- expect: syntax
require "bytecode"
