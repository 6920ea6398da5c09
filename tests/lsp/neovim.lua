-- Run by nvim --headless: opens the recipe in NVIM_RECIPE with `muster lsp`, and prints the code of its first diagnostic,
-- the hover of the field `plan` below it, and one completion.
local function main()
  local client = vim.lsp.start_client {
    cmd = { os.getenv "MUSTER", "lsp" }, root_dir = vim.fn.getcwd(), name = "muster",
  }
  vim.cmd("edit " .. vim.fn.fnameescape(os.getenv "NVIM_RECIPE"))
  local buffer = vim.api.nvim_get_current_buf()
  vim.lsp.buf_attach_client(buffer, client)

  local function await(what, condition)
    if not vim.wait(60000, condition, 20) then error("timeout: " .. what) end
  end

  await("diagnostics", function() return #vim.diagnostic.get(buffer) > 0 end)
  local first = vim.diagnostic.get(buffer)[1]
  print("diagnostic " .. first.user_data.lsp.code .. " at " .. first.lnum .. ":" .. first.col)

  local function ask(method, line, character)
    local answer
    vim.lsp.buf_request(buffer, method, {
      textDocument = vim.lsp.util.make_text_document_params(buffer), position = { line = line, character = character },
    }, function(_, result) answer = { result } end)
    await(method, function() return answer end)
    return answer[1]
  end

  local hover = ask("textDocument/hover", first.lnum + 1, 2)
  print("hover " .. (hover.contents.value:match "Describes the processes of the job" or hover.contents.value))
  local names = {}
  for _, item in ipairs(ask("textDocument/completion", first.lnum, 2).items) do names[item.label] = true end
  print("completion " .. (names.framework and "framework" or "nothing"))
  vim.lsp.stop_client(client)
  await("stop", function() return vim.lsp.get_client_by_id(client) == nil end)
end

local done, problem = pcall(main)
if not done then print(problem) end
vim.cmd(done and "qall!" or "cquit 1")
