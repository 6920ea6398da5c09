-- expect: require
require "lib...etc"
