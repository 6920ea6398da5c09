local M = {}

function M.rate(step)
  return 0.1 *
end

return M
