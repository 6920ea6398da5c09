-- A process on one simulated device, which records when it has the device.
local muster = require "muster"

return muster.recipe {
  name    = "device",
  params  = { x = muster.int { 0 }, records = muster.string { "/dev/null" }, seconds = muster.float { 0.02, min = 0 } },
  cluster = { device_kind = "cuda" },
  plan = function(p, job)
    job:workers {
      count = 1, devices = 1,
      command = muster.shell(('echo "began $MUSTER_DEVICES $(date +%%s%%N)" >> %s; sleep %s; echo "ended $MUSTER_DEVICES $(date +%%s%%N)" >> %s')
                             :format(p.records, p.seconds, p.records)),
    }
  end,
}
