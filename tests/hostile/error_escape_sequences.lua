-- expect: lua
error("\27[2J\27]0;owned\7\r\nmuster: ok")
