// Tests command lines of other launchers: forms of options, values, and refusals.
#include "launchers/launcher_call.h"

#include <gtest/gtest.h>

#include "base/values/quoting.h"
#include "launchers/read_line.h"

namespace muster::testing {
namespace {

LauncherCall Call(const std::string& launcher, const std::string& line) {
  auto call = ReadLauncherCall(LauncherByName(launcher).value(), *ShellWords(line), ReadTestFile);
  EXPECT_TRUE(call.has_value()) << line << ": " << (call ? "" : call.error().front().message);
  return call ? *std::move(call) : LauncherCall{};
}

std::string Refusal(const std::string& launcher, const std::string& line) {
  const auto call = ReadLauncherCall(LauncherByName(launcher).value(), *ShellWords(line), ReadTestFile);
  return call ? "taken" : call.error().front().message + " / " + call.error().front().hint;
}

std::string CommandText(const LauncherCall& call) {
  std::string text;
  for (const CallWord& word : call.command) text += (text.empty() ? "" : " ") + word.text;
  return text;
}

std::string Variable(const LauncherCall& call, const std::string& name) {
  for (const auto& [variable, value] : call.env) {
    if (variable == name) return value.text;
  }
  return "not set";
}

std::vector<std::string> LeftOut(const LauncherCall& call) {
  std::vector<std::string> options;
  for (const auto& [option, what] : call.left_out) options.push_back(option);
  return options;
}

using Words = std::vector<std::string>;

// Prevents: -bind-to is taken for -b, or for the program.
TEST(LauncherCall, AcceptsLongOptionsOfOpenMpiWithOneDashOrTwo) {
  const LauncherCall one =
      Call("mpirun", "mpirun -np 4 -bind-to none -mca btl self,tcp --oversubscribe -report-bindings ./a");
  EXPECT_EQ(one.total, 4);
  EXPECT_EQ(one.mpi_args,
            (Words{"-bind-to", "none", "-mca", "btl", "self,tcp", "--oversubscribe", "-report-bindings"}));
  EXPECT_EQ(Call("mpirun", "mpirun --np 4 --bind-to none ./a").total, 4);
  EXPECT_EQ(Call("mpirun", "/opt/ompi/bin/mpiexec --n 4 ./a").total, 4);
}

TEST(LauncherCall, CountsProcessesOfNamedHosts) {
  const LauncherCall uneven = Call("mpirun", "mpirun -H a:4,b:2 ./a.out");
  EXPECT_EQ(uneven.hosts, 2);
  EXPECT_EQ(uneven.total, 6);
  EXPECT_EQ(uneven.per_host, std::nullopt);
  const LauncherCall fewer = Call("horovodrun", "horovodrun -np 6 -H a:4,b:4 python t.py");
  EXPECT_EQ(fewer.total, 6);
  EXPECT_EQ(fewer.per_host, std::nullopt);
  const LauncherCall mapped = Call("mpirun", "mpirun -H a,b --map-by ppr:2:node ./a.out");
  EXPECT_EQ(mapped.per_host, 2);
  EXPECT_EQ(mapped.hosts, 2);
  const LauncherCall file = Call("mpirun", "mpirun --hostfile myhostfile ./a.out");
  EXPECT_EQ(file.per_host, 4);
  EXPECT_EQ(file.left_out.front().second, "named the hosts: `muster run … --host 'worker-[1-2]:4'`");
  EXPECT_EQ(Call("mpirun", "mpirun --hostfile nowhere -n 3 ./a").left_out.front().second,
            "named the hosts: `muster run … --hostfile nowhere`");
}

TEST(LauncherCall, AcceptsArgparseFormsOfTorchrun) {
  EXPECT_EQ(Call("torchrun", "torchrun --nproc 8 a.py").per_host, 8);
  EXPECT_EQ(Call("torchrun", "torchrun --nproc_per_node=8 -r3 -t 3 a.py").per_host, 8);
  EXPECT_EQ(CommandText(Call("torchrun", "torchrun --no_python ./solve -m 3")), "./solve -m 3");
  EXPECT_EQ(CommandText(Call("torchrun", "torchrun -m pkg.train --nnodes 3")), "python3 -m pkg.train --nnodes 3");
  EXPECT_EQ(CommandText(Call("torchrun", "torchrun --run-path /a/train.py")), "python3 /a/train.py");
  EXPECT_EQ(Call("torchrun", "torchrun --nproc-per-node auto a.py").per_host, std::nullopt);
  EXPECT_EQ(Call("torchrun", "torchrun --nproc-per-node cpu a.py").per_host, 1);
}

// Prevents: a script that parses --local_rank never gets it, or one that does not parse it fails on it.
TEST(LauncherCall, PassesTheLocalRankOnlyIfTheLauncherDoes) {
  const auto reported = [](const LauncherCall& call) {
    return call.command.size() > 2 && call.command[2].number.has_value();
  };
  const LauncherCall launch = Call("torchrun", "python -m torch.distributed.launch --nproc_per_node 2 a.py --lr 1");
  EXPECT_TRUE(reported(launch));
  EXPECT_EQ(launch.command[2].text, "--local-rank=");
  EXPECT_FALSE(reported(Call("torchrun", "python3 -m torch.distributed.launch --use_env a.py")));
  EXPECT_FALSE(reported(Call("torchrun", "python3 -m torch.distributed.run a.py")));
  EXPECT_EQ(Call("deepspeed", "deepspeed --num_gpus 2 a.py").command[2].text, "--local_rank=");
  EXPECT_FALSE(reported(Call("deepspeed", "deepspeed --num_gpus 2 --no_local_rank a.py --x")));
}

TEST(LauncherCall, KnowsMsrunOfAllReleases) {
  const LauncherCall call = Call("msrun",
                                 "msrun --worker_num=32 --local_worker_num=8 --master_addr=192.0.2.1 --node_rank=0 "
                                 "--worker_log_name={ip} --tail_worker_log=0,1 --join=True train.py");
  EXPECT_EQ(call.hosts, 4);
  EXPECT_EQ(call.per_host, 8);
  EXPECT_EQ(LeftOut(call), (Words{"--master_addr 192.0.2.1", "--worker_log_name '{ip}', --tail_worker_log 0,1",
                                  "--join True", "--node_rank 0"}));
  EXPECT_EQ(Call("msrun", "msrun --worker_num 4 a.py").per_host, 4);
  const LauncherCall dry = Call("msrun", "msrun --worker_num 16 --local_worker_num 4 --sim_level 1 a.py");
  EXPECT_EQ(dry.framework, "none");
  EXPECT_EQ(dry.per_host, 4);
  EXPECT_EQ(dry.hosts, 1);
  EXPECT_EQ(Variable(dry, "RANK_SIZE"), "16");
  const LauncherCall one = Call("msrun", "msrun --worker_num 16 --sim_level 0 --sim_rank_id 5 a.py");
  EXPECT_EQ(one.per_host, 1);
  EXPECT_EQ(Variable(one, "RANK_ID"), "5");
  const LauncherCall third =
      Call("msrun", "msrun --worker_num 1024 --local_worker_num 8 --node_rank 2 --sim_level 1 a.py");
  EXPECT_EQ(Variable(third, "MS_WORKER_NUM"), "1024");
  for (const auto& [name, value] : third.env) {
    if (name == "RANK_ID") {
      EXPECT_EQ(value.added, 16);
    }
  }
  EXPECT_NE(Refusal("msrun", "msrun --sim_level=5 a.py").find("expected 0 to 3"), std::string::npos);
  EXPECT_NE(Refusal("msrun", "msrun --join=true a.py").find("expected True or False"), std::string::npos);
  EXPECT_EQ(Call("msrun", "msrun --sim_level=-1 --worker_num 2 a.py").framework, "mindspore");
}

TEST(LauncherCall, BindsCoresAsMsrunDoes) {
  const std::string msrun = "msrun --worker_num 2 --local_worker_num 2 --bind_core ";
  EXPECT_EQ(Call("msrun", msrun + "True a.py").cores, "auto");
  EXPECT_EQ(Call("msrun", msrun + "False a.py").cores, "");
  EXPECT_EQ(Call("msrun", msrun + "true --bind_core=false a.py").cores, "") << "the last one counts";
  const LauncherCall listed =
      Call("msrun", msrun + R"('{"device0": ["0-3", "8-11"], "device1": ["4-7", "12-15"], "scheduler": ["16"]}' a.py)");
  EXPECT_EQ(listed.cores, "8");
  EXPECT_EQ(LeftOut(listed).size(), 1U) << "the particular cores";
  const LauncherCall uneven = Call("msrun", msrun + R"('{"device0": ["0-3"], "device1": ["4-5"]}' a.py)");
  EXPECT_EQ(uneven.cores, "");
  EXPECT_EQ(LeftOut(uneven), (Words{R"(--bind_core '{"device0": ["0-3"], "device1": ["4-5"]}')"}));
  EXPECT_EQ(LeftOut(Call("msrun", msrun + "'{}' a.py")).size(), 1U);
}

TEST(LauncherCall, RefusesCoreListsThatMsrunRefuses) {
  const std::pair<const char*, const char*> cases[] = {
      {"yes", "expected True, False or a JSON object of core lists"},
      {R"('["0-9"]')", "expected True, False or a JSON object of core lists"},
      {R"('{"device0": ["0-9"]')", "expected True, False or a JSON object of core lists"},
      {R"('{"gpu0": ["0-9"]}')", "\"gpu0\" is no device: expected \"device0\", \"device1\", …"},
      {R"('{"device0": "0-9"}')", "the cores of \"device0\" are no list of \"A-B\""},
      {R"('{"device0": [7]}')", "the cores of \"device0\" are no list of \"A-B\""},
      {R"('{"device0": ["9-0"]}')", "the cores of \"device0\" are no list of \"A-B\""},
      {R"('{"device0": ["0-"]}')", "the cores of \"device0\" are no list of \"A-B\""},
      {R"('{"device0": ["0-99999999999999999999"]}')", "the cores of \"device0\" are no list of \"A-B\""},
  };
  for (const auto& [value, why] : cases) {
    const std::string message = Refusal("msrun", std::string("msrun --bind_core ") + value + " a.py");
    EXPECT_TRUE(message.starts_with("msrun: --bind_core ") && message.ends_with(std::string(why) + " / ")) << message;
  }
}

TEST(LauncherCall, AcceptsPairsOfHydra) {
  const LauncherCall call = Call("mpiexec.hydra", "mpirun -n 4 -ppn 2 -genv A=1 -env B 2 -genvexcl C,D -wdir /w ./a");
  EXPECT_EQ(Variable(call, "A"), "1");
  EXPECT_EQ(Variable(call, "B"), "2");
  EXPECT_EQ(call.unset, (Words{"C", "D"}));
  EXPECT_EQ(call.cwd, "/w");
  EXPECT_EQ(call.hosts, 2) << "2 on each host, until there are 4";
  EXPECT_EQ(call.per_host, 2);
  EXPECT_EQ(call.total, 4);
}

// Prevents: a setting of the file is lost, or overrides the command line.
TEST(LauncherCall, AppliesAcceleratesFileLikeOptions) {
  const LauncherCall call =
      Call("accelerate", "accelerate launch --config_file fsdp.yaml --mixed-precision FP8 --num_processes 4 a.py");
  EXPECT_EQ(call.hosts, 2);
  EXPECT_EQ(call.per_host, 2);
  EXPECT_EQ(Variable(call, "ACCELERATE_USE_FSDP"), "true");
  EXPECT_EQ(Variable(call, "FSDP_TRANSFORMER_CLS_TO_WRAP"), "BertLayer");
  EXPECT_EQ(Variable(call, "FSDP_OFFLOAD_PARAMS"), "false");
  EXPECT_EQ(Variable(call, "ACCELERATE_MIXED_PRECISION"), "fp8");
  EXPECT_EQ(Variable(call, "ACCELERATE_USE_CPU"), "not set");
  const LauncherCall before = Call("accelerate", "accelerate launch --num_processes 6 --config_file fsdp.yaml a.py");
  EXPECT_EQ(before.per_host, 3);
}

TEST(LauncherCall, AcceptsVariablesBeforeTheCommand) {
  const LauncherCall call = Call("deepspeed", "CUDA_VISIBLE_DEVICES=2,3 OMP_NUM_THREADS=4 deepspeed a.py");
  EXPECT_EQ(call.per_host, 2);
  EXPECT_EQ(Variable(call, "OMP_NUM_THREADS"), "4");
  EXPECT_EQ(call.left_out.front().second, "chose the devices: `muster run … --devices 2,3`");
}

TEST(LauncherCall, RefusesUnsupportedOptions) {
  EXPECT_EQ(Refusal("mpirun", "mpirun -n 1 ./a : -n 2 ./b"),
            "mpirun: starts several programs (`:`) whose ranks share one MPI_COMM_WORLD, and a role of framework mpi "
            "starts one / "
            "write a program that chooses by its rank what to do");
  EXPECT_EQ(Refusal("deepspeed", "deepspeed --autotuning tune a.py"),
            "deepspeed: --autotuning runs DeepSpeed's experiments with the script, not the script / ");
  EXPECT_EQ(Refusal("accelerate", "accelerate launch --tpu a.py"),
            "accelerate: --tpu starts workers by the TPU runtime, which has no counterpart / ");
  EXPECT_EQ(Refusal("accelerate", "accelerate launch --config_file nowhere.yaml a.py"),
            "accelerate: the file \"nowhere.yaml\" cannot be read: there is no nowhere.yaml / ");
  EXPECT_EQ(Refusal("torchrun", "torchrun --help"), "torchrun: --help prints information and starts nothing / ");
  EXPECT_EQ(Refusal("torchrun", "torchrun --nodes 2 a.py"),
            "torchrun: unknown option \"--nodes\" / did you mean \"--nnodes\"?");
  EXPECT_EQ(Refusal("torchrun", "torchrun --nnodes 0 a.py"),
            "torchrun: --nnodes \"0\": expected a whole number of at least 1 / ");
  EXPECT_EQ(Refusal("torchrun", "torchrun --standalone=yes a.py"), "torchrun: \"--standalone\" takes no value / ");
  EXPECT_EQ(Refusal("torchrun", "torchrun --nnodes"), "torchrun: \"--nnodes\" needs a value / ");
  // A prefix of two options is ambiguous.
  EXPECT_NE(Refusal("torchrun", "torchrun --rdzv-e=a --m 3 a.py").find("unknown option \"--m\""), std::string::npos);
}

// Prevents: a program in front of the launcher is taken for the program, which then starts the launcher in each
// process.
TEST(LauncherCall, RefusesProgramsInFrontThatItDoesNotKnow) {
  EXPECT_EQ(
      Refusal("torchrun", "xpu_timer_launch torchrun --nproc_per_node 2 a.py"),
      "torchrun: \"xpu_timer_launch\" is in front of torchrun, and muster does not know what it does / omit it here; "
      "what every process needs in front of its command is the role's `wrap`");
  EXPECT_NE(Refusal("torchrun", "singularity exec pt.sif torchrun a.py").find("singularity exec pt.sif"),
            std::string::npos);
  EXPECT_NE(Refusal("torchrun", "sudo -E torchrun a.py").find("as another user"), std::string::npos);
  EXPECT_NE(Refusal("torchrun", "env -i torchrun a.py").find("no counterpart"), std::string::npos);
  EXPECT_NE(Refusal("mpirun", "nohup torchrun a.py").find("a command line of torchrun"), std::string::npos);
  EXPECT_EQ(Call("torchrun", "numactl -N 0 torchrun a.py").wrap, (Words{"numactl", "-N", "0"}));
}

TEST(LauncherCall, TakesVariablesOfTorchrunForOptionsBeforeItsOwn) {
  EXPECT_EQ(Call("torchrun", "PET_NPROC_PER_NODE=4 PET_NNODES=2 torchrun a.py").per_host, 4);
  EXPECT_EQ(Call("torchrun", "PET_NPROC_PER_NODE=4 PET_NNODES=2 torchrun a.py").hosts, 2);
  EXPECT_EQ(Call("torchrun", "PET_NPROC_PER_NODE=4 torchrun --nproc_per_node 8 a.py").per_host, 8);
  EXPECT_EQ(Variable(Call("mpirun", "PET_NNODES=2 mpirun -n 1 ./a"), "PET_NNODES"), "2");
}

// Prevents: the next option becomes a value, and its value the program.
TEST(LauncherCall, TakesNoOptionForAValue) {
  EXPECT_EQ(
      Refusal("accelerate", "accelerate launch --main_process_port --num_machines 1 --num_processes 2 run.py"),
      "accelerate: \"--main_process_port\" needs a value, and \"--num_machines\" is an option / a value that begins "
      "with '-' is written --main_process_port=--num_machines");
}

TEST(LauncherCall, RefusesWhatDeepspeedsFiltersRefuse) {
  const auto refused = [](const std::string& options) {
    return Refusal("deepspeed", "deepspeed --hostfile h3 " + options + " a.py");
  };
  EXPECT_NE(refused("--include node9").find("\"node9\" is not in the host file"), std::string::npos);
  EXPECT_NE(refused("--exclude node1:8").find("has no slot \"8\""), std::string::npos);
  EXPECT_NE(refused("--include node1 --exclude node2").find("exclude each other"), std::string::npos);
  EXPECT_NE(refused("--include node1 --num_gpus 2").find("cannot be combined"), std::string::npos);
  EXPECT_NE(refused("--num_nodes 4").find("the host file has 3"), std::string::npos);
}

TEST(LauncherCall, KnowsThisMachineByItsIpv6Address) {
  for (const char* here : {"localhost:2", "127.0.0.1:2", "[::1]:2"}) {
    const auto call = ReadDocumentedLine(std::string("horovodrun -np 2 -H ") + here + " python a.py");
    ASSERT_TRUE(call) << here << call.error().front().message;
    for (const auto& [option, what] : call->left_out) EXPECT_EQ(what.find("--host"), std::string::npos) << here << what;
  }
}

// Prevents: a recipe that starts mpirun under torchrun, because mpirun was taken for torchrun's program.
TEST(LauncherCall, RefusesTheLineOfAnotherLauncher) {
  EXPECT_EQ(Refusal("torchrun", "A=1 mpirun -np 4 ./a"),
            "torchrun: this is a command line of mpirun / muster init --from mpirun -- …");
  EXPECT_EQ(Refusal("mpirun", "python -m accelerate.commands.launch a.py"),
            "mpirun: this is a command line of accelerate / muster init --from accelerate -- …");
  // After mpirun's own options, another launcher may be the program.
  EXPECT_EQ(Refusal("mpirun", "mpirun -np 2 accelerate launch a.py"), "taken");
}

TEST(LauncherCall, RecognisesTheLauncher) {
  const auto whose = [](const std::string& line) {
    const auto launcher = LauncherOfWords(*ShellWords(line));
    return launcher ? std::string(FactsOf(*launcher).name) : std::string("nobody's");
  };
  EXPECT_EQ(whose("A=1 /usr/bin/torchrun a.py"), "torchrun");
  EXPECT_EQ(whose("python -u -m torch.distributed.launch a.py"), "torch.distributed.launch");
  EXPECT_EQ(whose("accelerate-launch a.py"), "accelerate");
  EXPECT_EQ(whose("python train.py"), "nobody's");
  EXPECT_EQ(whose("python -m"), "nobody's");
}

}  // namespace
}  // namespace muster::testing
