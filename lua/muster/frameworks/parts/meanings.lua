-- The variables of a contract that say what they carry (`is`), as records: { name, roles, is, of, words, optional }. Of the
-- rendezvous endpoint the role is that of `meeting`.
local OF_MEETING = { address = true, port = true, endpoint = true }

return function(contract)
  local records = {}
  for _, variable in ipairs(contract.variables) do
    if variable.is ~= nil then
      local record = {}
      for key, value in pairs(variable) do
        if type(key) == "string" then record[key] = value end
      end
      record.name = variable[1]
      if variable[2] ~= "all" then
        record.roles = {}
        for role in variable[2]:gmatch "[^, ]+" do record.roles[#record.roles + 1] = role end
      end
      if OF_MEETING[variable.is] and contract.meeting then record.of = record.of or contract.meeting.role end
      records[#records + 1] = record
    end
  end
  return records
end
