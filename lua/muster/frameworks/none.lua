-- No framework: any roles, and no variables except muster's own.
local starts = part "starts"

return contract {
  name = "none",
  doc = "Any programs: roles of every kind, and no variables except MUSTER_*.",
  ends = "when all processes have exited",
  example = 'framework = "none"',
  roles = { scheduler = { max = 1, doc = "one, on the first host" }, server = {}, worker = { doc = "ranked" } },
  worlds = "many",
  clear = {},
  variables = {},
  check = function(job)
    -- A process alone forms no cluster, whatever its mode.
    if starts.workers(job) > 1 then starts.check_mode(job, "none") end
  end,
}
