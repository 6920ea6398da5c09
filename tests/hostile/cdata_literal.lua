-- expect: lua|syntax|recipe
return 1LL + 1ULL + 2i
