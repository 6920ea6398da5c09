-- No framework: any roles, no variables but muster's own.
return contract {
  name = "none",
  doc = "Any programs: roles of every kind, nothing in the environment but the MUSTER_* variables.",
  roles = { scheduler = { max = 1 }, server = {}, worker = {} },
  clear = {},
}
