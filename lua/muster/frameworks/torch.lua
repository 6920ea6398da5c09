-- PyTorch's env:// rendezvous with all other variables of torchrun: numbered workers that meet at rank 0 of their
-- world, which serves the store itself. TORCHELASTIC_USE_AGENT_STORE is not set: it would make rank 0 a client of an
-- agent's store.
local restarts = part "restarts"

return contract {
  name = "torch",
  doc = "PyTorch: ranked workers, with the rendezvous at the first one.",
  source = 'PyTorch, documentation "torchrun (Elastic Launch)" and "Distributed communication package"; torch/distributed/elastic',
  notes = {
    "A restarted worker cannot rejoin its process group, so all workers must be restarted: `restart = { max = 3, scope = \"role\" }` or `\"job\"`. The report shows exceptions that `torch.distributed.elastic.multiprocessing.errors.record` writes.",
    "Roles in different worlds (`world = \"…\"`) are process groups of their own, each with its own ranks and rendezvous endpoint.",
  },
  example = 'framework = "torch"',
  roles = { worker = { min = 1, doc = "trains" } },
  worlds = "many",
  ends = "when all workers have exited",
  meeting = { role = "worker", port = "master" },
  clear = { "TORCHELASTIC_*", "PET_*", "OMPI_*", "PMIX_*", "PMI_*", "SLURM_*", "RANK", "WORLD_SIZE", "LOCAL_RANK",
            "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK", "ROLE_NAME", "ROLE_WORLD_SIZE",
            "MASTER_ADDR", "MASTER_PORT" },
  variables = {
    { "MASTER_ADDR", "worker", "address of the host of rank 0", is = "address" },
    { "MASTER_PORT", "worker", "port on which rank 0 listens", is = "port" },
    { "RANK", "worker", "rank", is = "rank" },
    { "WORLD_SIZE", "worker", "number of workers", is = "world_size" },
    { "LOCAL_RANK", "worker", "rank on its host", is = "local_rank" },
    { "LOCAL_WORLD_SIZE", "worker", "workers on its host", is = "local_size" },
    { "GROUP_RANK", "worker", "number of its host among the hosts with workers" },
    { "GROUP_WORLD_SIZE", "worker", "number of hosts with workers" },
    { "ROLE_NAME", "worker", "`default` for the role `worker`, else the role's name" },
    { "ROLE_RANK", "worker", "number within the role" },
    { "ROLE_WORLD_SIZE", "worker", "processes of the role" },
    { "TORCHELASTIC_RUN_ID", "worker", "identity of the run" },
    { "TORCHELASTIC_RESTART_COUNT", "worker", "number of restarts of the worker" },
    { "TORCHELASTIC_MAX_RESTARTS", "worker", "`max` of the role's `restart`, or 0" },
    { "TORCHELASTIC_ERROR_FILE", "worker", "where `record` writes an exception; the same as `MUSTER_ERROR_FILE`" },
    { "OMP_NUM_THREADS", "worker", "default 1 if a host has several workers, as with torchrun; an inherited or the recipe's value overrides it" },
    { "TORCH_NCCL_ASYNC_ERROR_HANDLING", "worker", "default 1, as with torchrun; an inherited or the recipe's value overrides it" },
    { "NCCL_ASYNC_ERROR_HANDLING", "worker", "the same for PyTorch before 2.2" },
  },
  check = function(job)
    restarts.at_least("role", job, function(role)
      return role.plays == "worker" and "a process group does not take a single worker back"
    end, restarts.all_workers)
  end,
  defaults = function(role, job)
    return { OMP_NUM_THREADS = job.worlds[role.world].most_local > 1 and 1 or nil,
             TORCH_NCCL_ASYNC_ERROR_HANDLING = 1, NCCL_ASYNC_ERROR_HANDLING = 1 }
  end,
  common = function(role, job)
    local world = job.worlds[role.world]
    return {
      MASTER_ADDR = world.meeting.address, MASTER_PORT = world.meeting.port, WORLD_SIZE = world.size,
      GROUP_WORLD_SIZE = #world.host_order, ROLE_NAME = role.name == "worker" and "default" or role.name,
      ROLE_WORLD_SIZE = #role.placed, TORCHELASTIC_RUN_ID = job.run_id, TORCHELASTIC_RESTART_COUNT = job.attempt,
      TORCHELASTIC_MAX_RESTARTS = role.restart and role.restart.max or 0,
    }
  end,
  env = function(process, job)
    return {
      RANK = process.rank, LOCAL_RANK = process.local_rank, LOCAL_WORLD_SIZE = process.local_size,
      GROUP_RANK = job.worlds[process.world].node[process.host.index], ROLE_RANK = process.index,
      TORCHELASTIC_ERROR_FILE = ("%s/errors/%s.%s.json"):format(job.run_dir, process.name, job.attempt),
    }
  end,
}
