local muster = require "muster"
return muster.recipe {
  name = "train",
  doc = "a small run whose directory is kept for later versions",
  
  framework = "torch",
  params = { lr = muster.float { 0.1, above = 0, doc = "learning rate" }, fail = muster.bool { false } },
  limits = { time = "10m" },
  plan = function(p, job)
    job:file { "settings.json", json = { lr = p.lr, warm = 2.0 } }
    job:workers { count = 2, devices = 0, restart = { max = 1, scope = "role" },
      command = { "sh", "-c", [[
        echo "rank $RANK of $WORLD_SIZE"
        for step in 1 2 3; do echo "{\"step\":$step,\"loss\":$(echo "$1 $step" | awk '{ print $1 / $2 }')}" >> $MUSTER_METRICS; done
        test "$2$RANK$MUSTER_ATTEMPT" != true10 || { echo "{\"message\":\"out of luck\"}" > $MUSTER_ERROR_FILE; exit 7; }
        sleep 0.3]], "sh", p.lr, tostring(p.fail) } }
  end,
}
