-- expect: read_only
rawset(_G, "pairs", nil)
