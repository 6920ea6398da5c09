-- TensorFlow's TF_CONFIG: one JSON text per process with the addresses of all processes and its own task. Every process
-- listens on a port of its own, so there is no rendezvous endpoint.
local TASKS = { "chief", "worker", "ps", "evaluator" }  -- TensorFlow's names of tasks: ps is muster's server
local TASK_OF = { chief = "chief", worker = "worker", server = "ps", evaluator = "evaluator" }

return contract {
  name = "tensorflow",
  doc = "TensorFlow: chief, workers, parameter servers and evaluator, whose addresses are in TF_CONFIG.",
  source = 'TensorFlow, guides "Distributed training" and "Parameter server training"; tensorflow/python/distribute/cluster_resolver',
  notes = {
    "Servers play `ps`; a chief and an evaluator are roles of those names: `job:role \"chief\" { as = \"chief\", … }`. Without a chief worker 0 acts as one. Parameter servers and evaluators never exit by themselves, nor do workers of ParameterServerStrategy: muster stops them. The evaluator is not part of the cluster unless it is `listed`, which some strategies require.",
    "Every task listens on a free port, or on consecutive ports from `port` on, counted on each host in the order chief, workers, servers.",
  },
  example = 'framework = "tensorflow"\nframework = { "tensorflow", ends = "workers", evaluator = "listed", port = 2222 }',
  roles = {
    chief = { max = 1, ports = { "grpc" }, doc = "task 0 of `chief`" },
    worker = { ports = { "grpc" }, doc = "a worker" },
    server = { ports = { "grpc" }, done = "never", linger = "5s", doc = "a parameter server, `ps`" },
    evaluator = { max = 1, done = "never", linger = "5s", doc = "reads checkpoints; not part of the cluster" },
  },
  ends = "when chief and workers have exited (`workers`), or when the chief has (`coordinator`); parameter servers and evaluator are then stopped",
  options = {
    ends = { "auto", "workers", "coordinator", doc = "which processes end the job when they exit; auto: the chief if there are a chief and servers, as ParameterServerStrategy requires, else chief and workers" },
    evaluator = { "apart", "listed", doc = "whether the evaluator is in the cluster" },
    port = { kind = "count", least = 1, most = 65535, doc = "the first port on each host; chosen by muster unless given" },
  },
  clear = { "TF_CONFIG" },
  variables = { { "TF_CONFIG", "all", "JSON with `cluster`, the addresses of each task, and `task`, its own type and number", is = "tasks" } },
  arrange = function(job)
    local has = {}
    for _, role in ipairs(job.roles) do has[role.plays] = true end
    local coordinator = job.option.ends == "coordinator" or (job.option.ends == "auto" and has.chief and has.server)
    for _, role in ipairs(job.roles) do
      if role.plays == "worker" and coordinator and has.chief then
        role.done, role.linger_ms = role.done or "never", 5000
      elseif role.plays == "evaluator" and job.option.evaluator == "listed" then
        role.ports[#role.ports + 1] = "grpc"
      end
    end
  end,
  check = function(job)
    local has = {}
    for _, role in ipairs(job.roles) do has[role.plays] = true end
    if not has.chief and not has.worker then
      host.report("error", "roles", job.place, "framework tensorflow needs a chief or workers, and the recipe describes none",
                  'job:workers { count = …, command = … }, or job:role "chief" { as = "chief", command = … }')
    elseif job.option.ends == "coordinator" and not has.chief then
      host.report("error", "roles", job.place, 'framework tensorflow: ends = "coordinator" waits for a chief, and the recipe describes none')
    end
  end,
  -- The cluster as JSON, the same for all processes; written here because placeholders are filled in without quoting.
  prepare = function(job)
    local lists, used = {}, {}
    for _, task in ipairs(TASKS) do lists[task] = {} end
    for _, task in ipairs(TASKS) do
      for _, role in ipairs(job.roles) do
        if TASK_OF[role.plays] == task and (task ~= "evaluator" or job.option.evaluator == "listed") then
          for index, placed in ipairs(role.placed) do
            local port = ("%s.%d.grpc"):format(role.name, index - 1)
            local offset = used[placed.host] or 0
            used[placed.host] = offset + 1
            if job.option.port then job.numbers[port] = job.option.port + offset end
            lists[task][#lists[task] + 1] = ('"%s:%s"'):format(host.hole("host_address", placed.host), host.hole("port", port))
          end
        end
      end
    end
    if job.option.port then
      for _, count in pairs(used) do
        if job.option.port + count - 1 > 65535 then
          host.report("error", "range", job.place, ("framework tensorflow: port = %d leaves no number for %d tasks on a host"):format(job.option.port, count))
        end
      end
    end
    local parts = {}
    for _, task in ipairs(TASKS) do
      if #lists[task] > 0 then parts[#parts + 1] = ('"%s":[%s]'):format(task, table.concat(lists[task], ",")) end
    end
    return '{"cluster":{' .. table.concat(parts, ",") .. '},"task":{"type":"%s","index":%d}}'
  end,
  env = function(process, job)
    return { TF_CONFIG = job.prepared:format(TASK_OF[process.role], process.number) }
  end,
}
