-- expect: require
require "../hostile_test"
