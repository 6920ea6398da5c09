-- expect: read_only
table.insert(math, 1)
