-- The site's rules: a file that returns a function, which is called with every finished plan. Its findings are reported
-- with its messages, at its lines.
local host, prelude = ...

-- Called by the engine. `plan` is the output of `muster plan --json` as plain tables.
local function judge(path, plan)
  local text, file = host.read_beside(path)
  local name = path:match("[^/]*$")
  if not text then
    host.stop("policy", host.here(), ("the rules of the site, %s, cannot be read: %s"):format(name, file))
  end
  local rules = prelude.run(text, file, path:match("^@[^/]*/"))
  if type(rules) ~= "function" then
    host.stop("policy", host.here(), "the rules of the site must be a function, got " .. host.show(rules),
              "end the file with: return function(plan, check, warn) … end")
  end
  -- Records a finding and continues, so that one run shows all of them.
  local function judging(severity, word)
    return function(condition, message, ...)
      if condition then return end
      local place = host.here()
      if type(message) ~= "string" then
        host.stop("policy", place, word .. " expects a condition and a message", word .. '(#plan.hosts <= 8, "at most 8 hosts, got %d", #plan.hosts)')
      end
      local formatted, words = pcall(string.format, message, host.exact_arguments(...))
      host.report(severity, "policy", place, formatted and words or message, nil,
                  not formatted and { { "the message is not formatted: " .. host.tostring(words) .. " (a percent sign is written %%)", 0 } } or nil)
    end
  end
  rules(plan, judging("error", "check"), judging("warning", "warn"))
end

return { judge = judge }
