// Tests manifests: one golden file for each form, validated against the published API, and what is refused.
#include "engine/manifest.h"

#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "engine/own_page.h"
#include "support/command.h"
#include "support/golden.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

using testing::OwnPage;
using Words = std::vector<std::string>;

const ManifestJob kManifestJob = {"GPT 175b", "20261125-101500-3f9a", 3, "/home/ann/my jobs",
                                  "/opt/muster/bin/muster-agent"};

// Everything that a user can set.
const Words kAll = {
    "image=registry.example/train:1.20",
    "namespace=research",
    "context=prod",
    "devices=huawei.com/Ascend910:8",
    "cpu=16",
    "memory=64Gi",
    "shm=16Gi",
    "secrets=hub-token:/run/secrets/hub",
    "secrets=keys:/run/secrets/keys",
    "claims=datasets:/data:ro",
    "claims=results:/results",
    "time=12h",
    "start_within=5m",
    "queue=team-a",
    "priority=high",
    "service_account=trainer",
    "pull_policy=IfNotPresent",
    R"(labels={"team": "vision", "on": "yes"})",
    R"(annotations={"example.com/note": "it's \"quoted\": 1\n2"})",
    R"(pod={"tolerations": [{"key": "npu", "operator": "Exists"}], "nodeSelector": {"zone": "a"}, "hostNetwork": true,)"
    R"( "volumes": [{"name": "scratch", "emptyDir": {}}]})",
    R"(container={"securityContext": {"capabilities": {"add": ["IPC_LOCK"]}}, "env": [{"name": "HCCL_IF", "value": "on"}],)"
    R"( "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]})"};

Result<Manifest> Made(const Words& words, const ManifestJob& job = kManifestJob) {
  const EnginePage page = OwnPage("kubernetes");
  const auto settings = SettingsOfWords(page, words, "--kubernetes");
  if (!settings) return Fail(settings.error());
  return MakeManifest(page, *settings, job);
}

Words With(Words words, const std::string& word) {
  words.push_back(word);
  return words;
}

std::string Text(const Words& words, const ManifestJob& job = kManifestJob) {
  const auto manifest = Made(words, job);
  return manifest ? manifest->text : "refused: " + manifest.error().front().message;
}

TEST(Manifest, IsGoldenForEachForm) {
  for (const char* form : {"job", "jobset", "pods"}) {
    Words words = With(kAll, std::string("as=") + form);
    if (form != std::string("pods")) words.emplace_back(R"(job={"suspend": true})");
    testing::ExpectGolden(Text(words), std::string("tests/engine/golden/kubernetes_") + form + ".yaml");
    testing::ExpectGolden(Text({"image=train", std::string("as=") + form}, {"a", "r", 1, "/", "muster-agent"}),
                          std::string("tests/engine/golden/kubernetes_") + form + "_least.yaml");
  }
}

TEST(Manifest, EveryGoldenIsValidByThePublishedApi) {
  const std::string folder = std::string(MUSTER_SOURCE_DIR) + "/tests/engine/";
  const auto has = testing::RunCommand({.argv = {"/usr/bin/python3", "-c", "import kubernetes, yaml"}});
  if (has.exit_code != 0) GTEST_SKIP() << "/usr/bin/python3 has no kubernetes or yaml (tools/setup --all)";
  std::vector<std::string> argv = {"/usr/bin/python3", "-B", folder + "check_manifest.py"};
  for (const char* form : {"job", "jobset", "pods"}) {
    argv.push_back(folder + "golden/kubernetes_" + form + ".yaml");
    argv.push_back(folder + "golden/kubernetes_" + form + "_least.yaml");
  }
  const auto checked = testing::RunCommand({.argv = argv});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  // A check that finds nothing wrong in anything shows nothing.
  for (const auto& [from, to] : std::map<std::string, std::string>{{"restartPolicy", "restartpolicy"},
                                                                   {"tolerationSeconds: 30", "tolerationSeconds: soon"},
                                                                   {"backoffLimit", "backofLimit"},
                                                                   {"image: train", "image: 3"},
                                                                   {"completionMode: Indexed", "completionMode: 1"}}) {
    std::string text = Text({"image=train"});
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const testing::TempDir place;
    std::ofstream(place / "wrong.yaml") << text;
    const auto wrong =
        testing::RunCommand({.argv = {"/usr/bin/python3", "-B", folder + "check_manifest.py", place / "wrong.yaml"}});
    EXPECT_NE(wrong.exit_code, 0) << from << " -> " << to;
  }
}

TEST(Manifest, IsWhatYamlReadersTakeForTheSameValues) {
  EXPECT_EQ(YamlText(Value(Value::Map{{"a", Value::List{1, "1", "yes", "é", Value::Map{{"x", true}}, Value::List{}}},
                                      {"b", Value::Map{}},
                                      {"c: d", "line\nend\t\"\\"}})),
            "a:\n- 1\n- \"1\"\n- \"yes\"\n- \"é\"\n- x: true\n- []\nb: {}\n\"c: d\": \"line\\nend\\t\\\"\\\\\"\n");
  EXPECT_EQ(YamlText(Value(Value::List{"a\xc2\x9b\x7f\xe2\x80\xae"})), "- \"a\\u009b\\u007f\\u202e\"\n")
      << "no byte that a terminal obeys";
}

TEST(Manifest, NamesObjectsAsClustersTakeThem) {
  const auto name = [](const std::string& job, const std::string& run) {
    const std::string text = Text({"image=x", "as=pods"}, {job, run, 1, "/", "muster-agent"});
    const std::size_t at = text.find("  name: ") + 8;
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_EQ(name("GPT 175b/ä", "20261125-101500-3f9a"), "gpt-175b-500-3f9a");
  EXPECT_EQ(name("7b", "R"), "m7b-r");
  EXPECT_EQ(name(std::string(200, 'x'), "--"), std::string(21, 'x') + "-run");
}

TEST(Manifest, WhatIsWrongIsReported) {
  EXPECT_EQ(Text({}), "refused: kubernetes.image is not set: pods need an image with muster-agent in it");
  EXPECT_EQ(Text({"image=x", "as=deployment"}), "refused: kubernetes.as is job, jobset or pods, got \"deployment\"");
  EXPECT_EQ(Text({"image=x", "devices=8"}), "refused: kubernetes.devices is NAME:N, got \"8\"");
  EXPECT_EQ(Text({"image=x", "devices=nvidia.com/gpu:0"}),
            "refused: kubernetes.devices is NAME:N, got \"nvidia.com/gpu:0\"");
  EXPECT_EQ(Text({"image=x", "secrets=token"}), "refused: kubernetes.secrets has texts NAME:/folder, got \"token\"");
  EXPECT_EQ(Text({"image=x", "claims=data:relative"}),
            "refused: kubernetes.claims has texts NAME:/folder, got \"data:relative\"");
  EXPECT_EQ(Text({"image=x", R"(pod={"restartPolicy": "Always"})"}),
            "refused: kubernetes.pod.restartPolicy: muster sets this field itself");
  EXPECT_EQ(Text({"image=x", R"(container={"command": ["sh"]})"}),
            "refused: kubernetes.container.command: muster sets this field itself");
  EXPECT_EQ(Text({"image=x", R"(job={"backoffLimit": 3})"}),
            "refused: kubernetes.job.backoffLimit: muster sets this field itself");
  EXPECT_EQ(Text({"image=x", "pod=[1]"}), "refused: --kubernetes: kubernetes.pod is a table with names, got {1}");
}

TEST(Manifest, PagesOfUsersHaveTheirOwnOptions) {
  Value::Map page = *OwnEngine("kubernetes")->AsMap();
  Value::List options = *page["options"].AsList();
  options.emplace_back(Value::Map{
      {"name", "rdma"}, {"type", "count"}, {"into", Value::List{"container", "resources", "limits", "rdma/hca"}}});
  page["options"] = options;
  const auto read = ReadEnginePage(Value(page), "mine.lua", {});
  ASSERT_TRUE(read) << read.error().front().message;
  const auto settings = SettingsOfWords(*read, Words{"image=x", "rdma=1", "cpu=2"}, "--kubernetes");
  ASSERT_TRUE(settings);
  const auto made = MakeManifest(*read, *settings, kManifestJob);
  ASSERT_TRUE(made);
  EXPECT_NE(made->text.find("limits:\n            cpu: \"2\"\n            rdma/hca: 1\n"), std::string::npos)
      << made->text;

  options.back() = Value(Value::Map{{"name", "rdma"}, {"type", "count"}});
  page["options"] = options;
  const auto nowhere = ReadEnginePage(Value(page), "mine.lua", {});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().front().message, "the option rdma has no into");
}

}  // namespace
}  // namespace muster
