-- Words for devices that several runtimes share. Containers get all devices of the host, so that a device has the same
-- number inside and outside; the variable for visible devices selects among them, as without a container.
local ASCEND = "/dev/davinci[0-9]* /dev/davinci_manager /dev/devmm_svm /dev/hisi_hdc"
local ASCEND_DRIVER = "/usr/local/Ascend/driver /usr/local/dcmi /usr/local/bin/npu-smi /etc/ascend_install.info"

-- A loop of the shell that puts a word for each of these paths that exists before the others.
local function for_each(paths, word)
  return ('for path in %s; do if [ -e "$path" ]; then set -- "%s" "$@"; fi; done; '):format(paths, (word:gsub("%%s", "$path")))
end

return {
  hip = { "--device=/dev/kfd", "--device=/dev/dri" },
  ascend = function(word) return for_each(ASCEND, word) end,
  ascend_driver = function(word) return for_each(ASCEND_DRIVER, word) end,
}
