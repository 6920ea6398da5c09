-- No framework: any roles, and no variables except muster's own.
return contract {
  name = "none",
  doc = "Any programs: roles of every kind, and no variables except MUSTER_*.",
  ends = "when all processes have exited",
  example = 'framework = "none"',
  roles = { scheduler = { max = 1, doc = "one, on the first host" }, server = {}, worker = { doc = "ranked" } },
  worlds = "many",
  clear = {},
  variables = {},
}
