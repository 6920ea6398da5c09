// Tests what is read from kubectl: the states of pods and why, its messages, and its command lines.
#include <gtest/gtest.h>

#include "pods/pod_transport.h"

namespace muster {
namespace {

using Words = std::vector<std::string>;

// The event of a pod with this status.
std::string Event(const std::string& status, const std::string& type = "MODIFIED") {
  return R"({"type": ")" + type +
         R"(", "object": {"kind": "Pod", "metadata": {"name": "gpt-1f-0-x4k2p"},)"
         R"( "spec": {"hostname": "gpt-1f-12"}, "status": )" +
         status + "}}";
}

std::string Container(const std::string& state, const std::string& more = "") {
  return R"({"phase": "Running", "containerStatuses": [{"name": "sidecar", "state": {"running": {}}},)"
         R"( {"name": "agent", "state": )" +
         state + "}]" + more + "}";
}

std::string Reported(const std::string& event) {
  const auto pod = ReadPodEvent(event, "agent");
  if (!pod) return "no pod";
  const char* const states[] = {"waiting", "stuck", "running", "ended"};
  return std::string(states[static_cast<int>(pod->state)]) + (pod->why.empty() ? "" : ": " + pod->why);
}

TEST(PodStatus, HasTheNameAndTheIndexOfThePod) {
  const auto pod = ReadPodEvent(Event("{}"), "agent");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->name, "gpt-1f-0-x4k2p");
  EXPECT_EQ(pod->index, 12U);
}

TEST(PodStatus, WaitsUntilTheContainerRuns) {
  EXPECT_EQ(Reported(Event("{}")), "waiting");
  EXPECT_EQ(
      Reported(Event(R"({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",)"
                     R"( "reason": "Unschedulable", "message": "0/5 nodes are available: 5 Insufficient cpu."}]})")),
      "waiting: Unschedulable: 0/5 nodes are available: 5 Insufficient cpu");
  EXPECT_EQ(Reported(Event(Container(R"({"waiting": {"reason": "ContainerCreating"}})"))),
            "waiting: ContainerCreating");
  EXPECT_EQ(Reported(Event(Container(R"({"waiting": {"reason": "ErrImagePull", "message": "not found"}})"))),
            "waiting: ErrImagePull: not found");
  EXPECT_EQ(Reported(Event(Container(R"({"running": {"startedAt": "2026-01-01T00:00:00Z"}})"))), "running");
}

TEST(PodStatus, IsStuckIfTheContainerCannotStart) {
  EXPECT_EQ(Reported(Event(
                Container(R"({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling x\nmore"}})"))),
            "stuck: ImagePullBackOff: Back-off pulling x");
  EXPECT_EQ(Reported(Event(Container(
                R"({"waiting": {"reason": "CreateContainerConfigError", "message": "secret \"hub\" not found"}})"))),
            "stuck: CreateContainerConfigError: secret \"hub\" not found");
}

TEST(PodStatus, SaysWhyAPodHasEnded) {
  EXPECT_EQ(Reported(Event(Container(R"({"terminated": {"exitCode": 137, "reason": "OOMKilled"}})"))),
            "ended: OOMKilled");
  EXPECT_EQ(Reported(Event(Container(R"({"terminated": {"exitCode": 1, "reason": "Error",)"
                                     R"( "message": "muster-agent: no head of muster has connected within 600 s"}})"))),
            "ended: it ended: muster-agent: no head of muster has connected within 600 s");
  EXPECT_EQ(Reported(Event(
                R"({"phase": "Failed", "reason": "Evicted", "message": "The node was low on resource: memory. "})")),
            "ended: Evicted: The node was low on resource: memory");
  EXPECT_EQ(Reported(Event(R"({"phase": "Running", "reason": "NodeLost"})", "DELETED")), "ended: NodeLost");
  EXPECT_EQ(Reported(Event(Container(R"({"running": {}})",
                                     R"(, "conditions": [{"type": "DisruptionTarget", "status": "True",)"
                                     R"( "reason": "DeletionByTaintManager", "message": "Taint manager: deleting"}])"),
                           "DELETED")),
            "ended: DeletionByTaintManager: Taint manager: deleting");
  EXPECT_EQ(Reported(Event("{}", "DELETED")), "ended: it was deleted");
}

TEST(PodStatus, TakesNothingElseForAPod) {
  EXPECT_EQ(Reported("{"), "no pod");
  EXPECT_EQ(Reported("[1]"), "no pod");
  EXPECT_EQ(Reported(R"({"type": "ERROR", "object": {"kind": "Status", "message": "too old resource version"}})"),
            "no pod");
  EXPECT_EQ(Reported(R"({"object": {"kind": "Pod", "metadata": {"name": "--context=x"}}})"), "no pod");
  EXPECT_EQ(Reported(R"({"object": {"kind": "Pod", "metadata": {"name": 3}, "status": 7}})"), "no pod");
  EXPECT_EQ(Reported(Event("[]")), "waiting");
  EXPECT_EQ(Reported(Event(R"({"containerStatuses": {"a": 1}, "conditions": "x", "phase": ["Failed"]})")), "waiting");
}

TEST(PodStatus, IsSafeOnATerminal) {
  const std::string why = Reported(
      Event(R"({"phase": "Failed", "reason": "\u001b[31mX", "message": ")" + std::string(5'000, 'y') + R"("})"));
  EXPECT_EQ(why.find('\x1b'), std::string::npos);
  EXPECT_LT(why.size(), 1'000U);
}

TEST(JsonStream, SplitsObjectsHoweverTheyArrive) {
  const std::string text = "{\n \"a\": {\"b\": \"}{\\\"\"}\n}\n{} \n{\"c\":[{}]}";
  const Words whole = {"{\n \"a\": {\"b\": \"}{\\\"\"}\n}", "{}", "{\"c\":[{}]}"};
  for (const std::size_t step : {1U, 2U, 5U, 100U}) {
    JsonStream stream;
    Words found;
    for (std::size_t at = 0; at < text.size(); at += step) {
      for (std::string& one : stream.Feed(std::string_view(text).substr(at, step))) found.push_back(std::move(one));
    }
    EXPECT_EQ(found, whole) << step;
    EXPECT_FALSE(stream.broken());
  }
}

TEST(JsonStream, GivesUpOnOtherBytesAndOnObjectsWithoutAnEnd) {
  JsonStream noise;
  EXPECT_EQ(noise.Feed("{}NAME READY").size(), 1U);
  EXPECT_TRUE(noise.broken());
  EXPECT_TRUE(noise.Feed("{}").empty());
  JsonStream endless;
  const std::string part(1U << 20, '{');
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(endless.Feed(part).empty());
  EXPECT_TRUE(endless.broken());
}

// --- kubectl ---------------------------------------------------------------------------------------

TEST(Kubectl, IsCalledWithTheUsersOptionsAndNothingSecret) {
  PodSettings settings;
  settings.options = {"--context=prod", "--namespace=research"};
  settings.agent = "/opt/muster-agent";
  settings.agent_words = {"--lease", "5"};
  EXPECT_EQ(ApplyWords(settings),
            (Words{"kubectl", "--context=prod", "--namespace=research", "apply", "--filename=-"}));
  EXPECT_EQ(WatchWords(settings, "r1"),
            (Words{"kubectl", "--context=prod", "--namespace=research", "get", "pods", "--selector=muster.run=r1",
                   "--watch", "--output-watch-events", "--output=json"}));
  EXPECT_EQ(AgentWords(settings, "gpt-0"),
            (Words{"kubectl", "--context=prod", "--namespace=research", "exec", "--stdin", "--container=agent", "gpt-0",
                   "--", "/opt/muster-agent", "--stdio", "--held", "--lease", "5"}));
  EXPECT_EQ(DeleteWords(settings, {"job", "service"}, "r1"),
            (Words{"kubectl", "--context=prod", "--namespace=research", "delete", "job,service",
                   "--selector=muster.run=r1", "--ignore-not-found", "--wait=false"}));
}

TEST(Kubectl, ItsOwnFailureIsDistinguishedFromTheEndOfTheProgram) {
  EXPECT_FALSE(IsKubectlFailure({.code = 0}, ""));
  EXPECT_FALSE(IsKubectlFailure({.code = 3}, "muster-agent: lost the head\ncommand terminated with exit code 3\n"));
  EXPECT_FALSE(IsKubectlFailure({.code = 1}, "muster-agent: the connection: …\n"));
  EXPECT_TRUE(IsKubectlFailure({.code = 1}, "error: unable to upgrade connection: pod does not exist\n"));
  EXPECT_TRUE(IsKubectlFailure({.signalled = true, .code = 9}, ""));
}

TEST(Kubectl, FailuresHaveItsLastMessageAndAHint) {
  const auto reported = [](const std::string& words, int code = 1) {
    const CommandFailure failure = KubectlFailure({.code = code}, words);
    return failure.phrase + (failure.hint.empty() ? "" : " [" + failure.hint + "]");
  };
  EXPECT_EQ(reported("Warning: x\nerror: no matches for kind \"JobSet\" in version \"jobset.x-k8s.io/v1alpha2\"\n"),
            "kubectl: error: no matches for kind \"JobSet\" in version \"jobset.x-k8s.io/v1alpha2\" "
            "[the cluster has no JobSets: --as job, or install JobSet]");
  EXPECT_EQ(
      reported("exec: \"muster-agent\": executable file not found in $PATH: unknown\ncommand terminated with exit "
               "code 127\n",
               127),
      "kubectl: exec: \"muster-agent\": executable file not found in $PATH: unknown "
      "[the image needs muster-agent on its PATH; --agent names another path]");
  EXPECT_EQ(
      reported("muster-agent: process 1 of this container is not `muster-agent --hold`\ncommand terminated with exit "
               "code 1\n"),
      "muster-agent: process 1 of this container is not `muster-agent --hold`");
  EXPECT_EQ(reported(""), "kubectl exited with code 1");
}

}  // namespace
}  // namespace muster
