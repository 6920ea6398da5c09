-- No framework: any roles, no variables but muster's own. Scripts under PyTorch's @record (torch.distributed.elastic)
-- are the exception: the file to which they write what they die of is the one that muster reads.
return contract {
  name = "none",
  doc = "Any programs: roles of every kind, nothing in the environment but the MUSTER_* variables and "
    .. "TORCHELASTIC_ERROR_FILE.",
  roles = { scheduler = { max = 1 }, server = {}, worker = {} },
  clear = { "TORCHELASTIC_ERROR_FILE" },
  env = function(process)
    local name = ("%s.%d.%s"):format(process.role, process.index, host.hole "attempt")
    return { TORCHELASTIC_ERROR_FILE = host.hole "run_dir" .. "/errors/" .. name .. ".json" }
  end,
}
