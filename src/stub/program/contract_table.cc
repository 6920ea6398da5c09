#include "stub/program/contract_table.h"

#include <algorithm>
#include <array>

namespace muster {
namespace {

using enum Promise;

// By framework.
constexpr PromisedVariable kPromised[] = {
    {"byteps", "DMLC_ROLE", "", kRole},
    {"byteps", "DMLC_NUM_WORKER", "", kWorkerHosts},
    {"byteps", "DMLC_NUM_SERVER", "", kServers},
    {"byteps", "BYTEPS_LOCAL_RANK", "worker", kLocalRank},
    {"byteps", "BYTEPS_LOCAL_SIZE", "worker", kLocalSize},
    {"jax", "JAX_NUM_PROCESSES", "worker", kWorldSize},
    {"jax", "JAX_PROCESS_ID", "worker", kRank},
    {"jax", "JAX_PROCESS_INDEX", "worker", kRank},
    {"jax", "SLURM_NTASKS", "worker", kWorldSize, false},
    {"jax", "SLURM_PROCID", "worker", kRank, false},
    {"jax", "SLURM_LOCALID", "worker", kLocalRank, false},
    {"mindspore", "MS_ROLE", "", kRole},
    {"mindspore", "MS_WORKER_NUM", "", kWorkers},
    {"mindspore", "RANK_SIZE", "", kWorkers},
    {"mindspore", "RANK_ID", "worker", kRank},
    {"mindspore", "MS_NODE_ID", "worker", kRank},
    {"mindspore", "DEVICE_ID", "worker", kDevice},
    {"mindspore", "LOCAL_RANK", "worker", kLocalRank},
    {"mindspore", "LOCAL_RANK_SIZE", "worker", kLocalSize},
    {"mindspore-ps", "MS_ROLE", "", kRole},
    {"mindspore-ps", "MS_WORKER_NUM", "", kWorkers},
    {"mindspore-ps", "MS_SERVER_NUM", "", kServers},
    {"mindspore-ps", "RANK_ID", "worker", kRank, false},
    {"mindspore-ps", "RANK_SIZE", "worker", kWorkers, false},
    {"mindspore-ps", "LOCAL_RANK", "worker", kLocalRank, false},
    {"mindspore-ps", "LOCAL_RANK_SIZE", "worker", kLocalSize, false},
    {"mindspore-ranktable", "RANK_ID", "worker", kRank},
    {"mindspore-ranktable", "RANK_SIZE", "worker", kWorkers},
    {"mindspore-ranktable", "LOCAL_RANK", "worker", kLocalRank},
    {"mindspore-ranktable", "LOCAL_RANK_SIZE", "worker", kLocalSize},
    {"mpi", "OMPI_COMM_WORLD_RANK", "worker", kRank, false},
    {"mpi", "OMPI_COMM_WORLD_SIZE", "worker", kWorldSize, false},
    {"mpi", "OMPI_UNIVERSE_SIZE", "worker", kWorldSize, false},
    {"mpi", "OMPI_COMM_WORLD_LOCAL_RANK", "worker", kLocalRank, false},
    {"mpi", "OMPI_COMM_WORLD_LOCAL_SIZE", "worker", kLocalSize, false},
    {"ps-lite", "DMLC_ROLE", "", kRole},
    {"ps-lite", "DMLC_NUM_WORKER", "", kWorkers},
    {"ps-lite", "DMLC_NUM_SERVER", "", kServers},
    {"torch", "RANK", "worker", kRank},
    {"torch", "WORLD_SIZE", "worker", kWorldSize},
    {"torch", "LOCAL_RANK", "worker", kLocalRank},
    {"torch", "LOCAL_WORLD_SIZE", "worker", kLocalSize},
};

constexpr RendezvousVariables kRendezvous[] = {
    {"byteps", "scheduler", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT"},
    {"jax", "worker", "JAX_COORDINATOR_ADDRESS", ""},
    {"mindspore", "scheduler", "MS_SCHED_HOST", "MS_SCHED_PORT"},
    {"mindspore-ps", "scheduler", "MS_SCHED_HOST", "MS_SCHED_PORT"},
    {"ps-lite", "scheduler", "DMLC_PS_ROOT_URI", "DMLC_PS_ROOT_PORT"},
    {"torch", "worker", "MASTER_ADDR", "MASTER_PORT"},
};

// Other contracts promise nothing, or only files.
constexpr std::string_view kOthers[] = {"none", "tensorflow"};

}  // namespace

std::span<const PromisedVariable> PromisesOf(std::string_view framework) {
  const auto* const first = std::find_if(std::begin(kPromised), std::end(kPromised),
                                         [&](const PromisedVariable& row) { return row.framework == framework; });
  const auto* const last =
      std::find_if(first, std::end(kPromised), [&](const PromisedVariable& row) { return row.framework != framework; });
  return {first, last};
}

const RendezvousVariables* RendezvousOf(std::string_view framework) {
  const auto* const found =
      std::find_if(std::begin(kRendezvous), std::end(kRendezvous),
                   [&](const RendezvousVariables& place) { return place.framework == framework; });
  return found == std::end(kRendezvous) ? nullptr : found;
}

std::string_view RoleWord(std::string_view framework, std::string_view plays) {
  if (framework == "ps-lite" || framework == "byteps") return plays;
  if (framework != "mindspore" && framework != "mindspore-ps") return {};
  if (plays == "scheduler") return "MS_SCHED";
  return plays == "server" ? "MS_PSERVER" : "MS_WORKER";
}

bool IsKnownContract(std::string_view framework) {
  return !PromisesOf(framework).empty() ||
         std::find(std::begin(kOthers), std::end(kOthers), framework) != std::end(kOthers);
}

}  // namespace muster
