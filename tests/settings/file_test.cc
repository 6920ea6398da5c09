// Tests the JSON files that attributes name, key by key: their content is checked if the recipe ships them.
#include <gtest/gtest.h>

#include "muster/mindspore/context.h"
#include "settings/real_schema.h"

namespace muster {
namespace {

const std::string kThere = "${muster:run_dir}/files/conf.json";

struct NamedFile {
  const char* api;
  const char* attribute;
  const char* sub_key;  // null: the attribute itself names the file
};
constexpr NamedFile kSpeedUpFile{"set_context", "ascend_config", "parallel_speed_up_json_path"};
constexpr NamedFile kEnvFile{"set_context", "env_config_path", nullptr};
constexpr NamedFile kPsFile{"set_ps_context", "config_file_path", nullptr};

// The diagnostics for naming a file of this content on line 7.
Diagnostics Naming(const NamedFile& named, const std::string& release, const std::string& content,
                   std::map<std::string, Value>* settled = nullptr) {
  const ShippedFiles files{{kThere, {"recipes/conf.json", content}}};
  Context context(RealSchema(), *ParseRelease(release));
  context.set_files(&files);
  const Value value = named.sub_key == nullptr ? Value(kThere) : Value(Value::Map{{named.sub_key, kThere}});
  Diagnostics said = context.Apply(named.api, {{named.attribute, value}}, At(7));
  if (settled != nullptr) *settled = context.Settled();
  return said;
}

struct FileCase {
  NamedFile named;
  const char* release;
  const char* content;
  const char* kind;  // "": no diagnostic; "warning " as a prefix makes it a warning
  std::uint32_t line;
  const char* message_has;
  const char* hint_has;
};

const FileCase kCases[] = {
    // parallel_speed_up: strict
    {kSpeedUpFile, "2.3.1", "{}", "", 0, "", ""},
    {kSpeedUpFile, "2.3.1", "{\n\"recompute_comm_overlap\": true, \"compute_communicate_fusion_level\": 3}", "", 0, "",
     ""},
    {kSpeedUpFile, "2.3.1", "{\"enable_task_opt\": true,\n \"recompute_com_overlap\": true}", "unknown_subkey", 2,
     "the file has no key \"recompute_com_overlap\" in MindSpore 2.3.1", "\"recompute_comm_overlap\""},
    {kSpeedUpFile, "2.3.1", "{\n\n\"enable_task_opt\": 1}", "type", 3,
     "enable_task_opt must be true or false, not the int 1", "1 is never true"},
    {kSpeedUpFile, "2.3.1", "{\"enable_task_opt\": \"true\"}", "type", 1, "not the string \"true\"", "without quotes"},
    {kSpeedUpFile, "2.3.1", "{\"enable_task_opt\": null}", "type", 1, "can not be null", "leave it out"},
    {kSpeedUpFile, "2.3.1", "{\"compute_communicate_fusion_level\": true}", "type", 1, "a whole number", "never 1"},
    {kSpeedUpFile, "2.3.1", "{\"compute_communicate_fusion_level\": -1}", "range", 1, "at least 0", ""},
    {kSpeedUpFile, "2.3.1", "{\n\"compute_communicate_fusion_level\": 4}", "warning range", 2,
     "more than the documents", ""},
    {kSpeedUpFile, "2.3.1", "{\n\"dataset_broadcast_opt_level\": 1}", "release", 2,
     "dataset_broadcast_opt_level is not in MindSpore 2.3.1: only from 2.4.0 on", ""},
    {kSpeedUpFile, "2.4.0", "{\"dataset_broadcast_opt_level\": 1, \"enable_offloading_packed_experts\": false}", "", 0,
     "", ""},
    {kSpeedUpFile, "2.3.0-rc2", "{\"recompute_allgather_overlap_fagrad\": true}", "release", 1, "only from 2.3.0 on",
     ""},
    {kSpeedUpFile, "2.3.1", "{\n\"recompute_allgather_overlap_fagrad\": true}", "warning undocumented", 2, "2.3.1", ""},
    {kSpeedUpFile, "2.4.0", "{\"recompute_allgather_overlap_fagrad\": true}", "", 0, "", ""},
    {kSpeedUpFile, "2.3.0-rc2", "{\"bias_add_comm_swap\": true}", "warning undocumented", 1, "bias_add_comm_swap", ""},
    {kSpeedUpFile, "2.3.1", "[]", "type", 0, "the file must be an object, not the list", ""},
    {kSpeedUpFile, "2.3.1", "3", "type", 0, "the file must be an object, not the int 3", ""},
    {kSpeedUpFile, "2.3.1", "", "bad_json", 1, "not valid JSON", ""},
    {kSpeedUpFile, "2.3.1", "{\n  \"enable_task_opt\": true,\n}", "bad_json", 3, "not valid JSON at column 1", ""},
    {kSpeedUpFile, "2.3.1", "{\"enable_task_opt\": true,\n\"enable_task_opt\": false}", "bad_json", 2,
     "the key \"enable_task_opt\" appears twice", ""},
    {kSpeedUpFile, "2.3.1", "\xef\xbb\xbf{}", "bad_json", 1, "byte order mark", ""},
    {kSpeedUpFile, "2.3.1", "{} {}", "bad_json", 1, "not valid JSON", ""},
    {kSpeedUpFile, "2.3.1", "{'enable_task_opt': true}", "bad_json", 1, "not valid JSON at column 2", ""},

    // env_config: MindSpore refuses only what is no JSON
    {kEnvFile, "1.6.2",
     "{\"rdr\": {\"enable\": true, \"mode\": 2, \"path\": \"/home/mindspore/rdr\"}, \"sys\": {\"mem_reuse\": true}}",
     "", 0, "", ""},
    {kEnvFile, "2.4.0", "{\"rdr\": {\"mode\": 1.0}}", "", 0, "", ""},
    {kEnvFile, "1.6.2", "{\"sys\": {\n\"mem_Reuse\": true}}", "warning unknown_subkey", 2,
     "MindSpore 1.6.2 ignores the unknown key \"sys.mem_Reuse\"", "\"mem_reuse\""},
    {kEnvFile, "1.6.2", "{\"rdr\": {\"enable\": 1}}", "warning type", 1, "rdr.enable must be true or false",
     "never true"},
    {kEnvFile, "1.6.2", "{\"rdr\": {\n\"enable\": true,\n\"mode\": 3}}", "warning enum", 3,
     "rdr.mode = 3 is not one of 1, 2", ""},
    {kEnvFile, "1.6.2", "{\"rdr\": {\"mode\": \"1\"}}", "warning type", 1, "rdr.mode must be a whole number",
     "without quotes"},
    {kEnvFile, "1.6.2", "{\"rdr\": {\"path\": \"rdr\"}}", "warning format", 1, "must be an absolute path", ""},
    {kEnvFile, "1.6.2", "{\"rdr\": {\"path\": \"/a b\"}}", "warning format", 1, "other characters than", ""},
    {kEnvFile, "1.6.2", "{\"rdr\": []}", "warning type", 1, "rdr must be an object, not the list", ""},
    {kEnvFile, "1.6.2", "{\"rd\": {}}", "warning unknown_subkey", 1, "ignores the unknown key \"rd\"", "\"rdr\""},
    {kEnvFile, "1.6.2", "[1]", "warning type", 0, "must be an object", ""},
    {kEnvFile, "1.6.2", "{\"rdr\": ", "bad_json", 1, "not valid JSON", ""},
    {kEnvFile, "1.6.2", "rdr:\n  enable: true\n", "bad_json", 1, "not valid JSON", ""},
    {kEnvFile, "1.6.2", "{\"rdr\": {},\n\"rdr\": {}}", "bad_json", 2, "appears twice", ""},

    // ps_config
    {kPsFile, "1.6.2", "{}", "", 0, "", ""},
    {kPsFile, "1.6.2", "{\"recovery\": {\"storage_type\": 1, \"storage_file_path\": \"/var/ps.json\"}}", "", 0, "", ""},
    {kPsFile, "2.3.1",
     "{\"server_cert_path\": \"server.p12\", \"crl_path\": \"\", \"cert_expire_warning_time_in_day\": 90, "
     "\"connection_num\": 10000}",
     "", 0, "", ""},
    {kPsFile, "1.6.2", "{\n\"recovery\": {\"storage_type\": 1}}", "missing_subkey", 2,
     "recovery needs the key \"storage_file_path\"", "scheduler_storage_file_path"},
    {kPsFile, "1.6.2", "{\"recovery\": {\"storage_file_path\": \"a\"}}", "missing_subkey", 1, "\"storage_type\"", ""},
    {kPsFile, "1.6.2", "{\"recovery\": {\"storage_type\": 1,\n\"storage_file_path\": \"\"}}", "empty", 2,
     "recovery.storage_file_path must not be empty", ""},
    {kPsFile, "1.6.2", "{\"recovery\": {\n\"storage_type\": \"1\", \"storage_file_path\": \"a\"}}", "warning type", 2,
     "recovery.storage_type must be a whole number", "without quotes"},
    {kPsFile, "1.6.2", "{\"recovery\": {\"storage_type\": 2, \"storage_file_path\": \"a\"}}", "warning enum", 1,
     "it can only be 1", ""},
    {kPsFile, "1.6.2", "{\"cert_expire_warning_time_in_day\": 6}", "range", 1, "7 to 180", ""},
    {kPsFile, "1.6.2", "{\"cert_expire_warning_time_in_day\": 181}", "range", 1, "7 to 180", ""},
    {kPsFile, "1.6.2", "{\"server_cert_path\": 1}", "type", 1, "server_cert_path must be text", ""},
    {kPsFile, "1.6.2", "{\n\"servr_cert_path\": \"a\"}", "warning unknown_subkey", 2,
     "MindSpore 1.6.2 ignores the unknown key \"servr_cert_path\"", "\"server_cert_path\""},
    {kPsFile, "1.6.2", "[]", "type", 0, "the file must be an object", ""},
    {kPsFile, "1.6.2", "", "bad_json", 1, "not valid JSON", ""},
};

TEST(Files, AreCheckedKeyByKeyAtTheirOwnLines) {
  for (const FileCase& each : kCases) {
    std::map<std::string, Value> settled;
    const Diagnostics said = Naming(each.named, each.release, each.content, &settled);
    SCOPED_TRACE(std::string(each.named.attribute) + " of " + each.release + ": " + each.content);
    const std::string key = std::string(each.named.api) + "." + each.named.attribute;
    const std::string kind = each.kind;
    EXPECT_EQ(settled.count(key), kind.empty() || kind.starts_with("warning ") ? 1U : 0U);
    if (kind.empty()) {
      EXPECT_EQ(said, Diagnostics{});
      continue;
    }
    const Diagnostic only = Only(said);
    EXPECT_EQ((only.severity == Severity::kWarning ? "warning " : "") + only.kind, kind) << only.message;
    EXPECT_EQ(only.place, (Place{"recipes/conf.json", each.line})) << only.message;
    EXPECT_NE(only.message.find(each.message_has), std::string::npos) << only.message;
    EXPECT_NE(only.hint.find(each.hint_has), std::string::npos) << only.hint;
    const std::string named = std::string(each.named.attribute) + (each.named.sub_key == nullptr ? "" : ".") +
                              (each.named.sub_key == nullptr ? "" : each.named.sub_key);
    ASSERT_FALSE(only.notes.empty());
    EXPECT_EQ(only.notes.back(), (Note{named + " names this file here", At(7)}));
  }
}

// The diagnostics of a speed-up file, without that of ascend_config, which is deprecated from 2.5 on.
Diagnostics OfSpeedUp(const std::string& release, const std::string& content) {
  Diagnostics said = Naming(kSpeedUpFile, release, content);
  std::erase_if(said, [](const Diagnostic& each) { return each.place == At(7); });
  return said;
}

TEST(Files, OfSpeedUpHaveNewNamesForEightKeysFrom26On) {
  const std::pair<const char*, const char*> renamed[] = {
      {"recompute_comm_overlap", "recomputation_communication_overlap"},
      {"matmul_grad_comm_overlap", "grad_matmul_communication_overlap"},
      {"recompute_allgather_overlap_fagrad", "grad_fa_allgather_overlap"},
      {"enable_task_opt", "enable_communication_fusion"},
      {"enable_grad_comm_opt", "grad_computation_allreduce_overlap"},
      {"enable_opt_shard_comm_opt", "computation_allgather_overlap"},
      {"compute_communicate_fusion_level", "computation_communication_fusion_level"},
      {"bias_add_comm_swap", "allreduce_and_biasadd_swap"}};
  for (const auto& [before, after] : renamed) {
    const bool is_level = std::string(before) == "compute_communicate_fusion_level";
    const auto file = [&](const char* key) { return std::string("{\"") + key + (is_level ? "\": 2}" : "\": true}"); };
    for (const char* release : {"2.6.0", "2.7.0"}) {
      EXPECT_EQ(OfSpeedUp(release, file(after)), Diagnostics{}) << release << " " << after;
      const Diagnostic old_name = Only(OfSpeedUp(release, file(before)));
      EXPECT_EQ(old_name.kind, "deprecated") << release << " " << before;
      EXPECT_EQ(old_name.severity, Severity::kWarning);
      EXPECT_NE(old_name.hint.find(after), std::string::npos) << old_name.hint;
    }
    EXPECT_EQ(OfSpeedUp("2.5.0", file(before)), Diagnostics{}) << before;
    EXPECT_EQ(Only(OfSpeedUp("2.5.0", file(after))).message,
              std::string(after) + " is not in MindSpore 2.5.0: only from 2.6.0 on");
  }
  EXPECT_EQ(OfSpeedUp("2.5.0", "{\"enable_interleave_parallel_branch\": true}"), Diagnostics{});
  EXPECT_EQ(Only(OfSpeedUp("2.4.0", "{\"enable_interleave_parallel_branch\": true}")).kind, "release");
}

TEST(Files, OfSpeedUpNameTheCommunicationThatIsOverlapped) {
  struct OneWord {
    const char* release;
    const char* content;
    const char* kind;  // "": taken
  };
  const OneWord words[] = {{"2.5.0", "{\"pp_1f1b_overlap\": \"AlltoAll\"}", "release"},
                           {"2.6.0", "{\"pp_1f1b_overlap\": \"AlltoAll,MorphAllGather,ReduceScatter\"}", ""},
                           {"2.6.0", "{\"pp_1f1b_overlap\": \"AllReduce\"}", "enum"},
                           {"2.6.0", "{\"pp_1f1b_overlap\": \"\"}", "enum"},
                           {"2.6.0", "{\"pp_1f1b_overlap\": \"AlltoAll, AllGather\"}", "enum"},
                           {"2.6.0", "{\"pp_1f1b_overlap\": true}", "type"},
                           {"2.7.0", "{\"pp_1f1b_overlap\": \"AllReduce,AlltoAllV\"}", ""},
                           {"2.7.0", "{\"pp_1f1b_overlap\": \"\"}", ""},
                           {"2.7.0", "{\"pp_1f1b_overlap\": \"alltoall\"}", "enum"},
                           {"2.6.0", "{\"recomputation_communication_overlap\": \"AllGather\"}", "type"},
                           {"2.7.0", "{\"recomputation_communication_overlap\": \"AllGather,AllReduce\"}", ""},
                           {"2.7.0", "{\"recomputation_communication_overlap\": true}", ""},
                           {"2.7.0", "{\"recomputation_communication_overlap\": \"Gather\"}", "enum"},
                           {"2.7.0", "{\"recomputation_communication_overlap\": 1}", "type"}};
  for (const OneWord& each : words) {
    const Diagnostics said = OfSpeedUp(each.release, each.content);
    if (*each.kind == '\0') {
      EXPECT_EQ(said, Diagnostics{}) << each.release << " " << each.content;
    } else {
      EXPECT_EQ(Only(said).kind, each.kind) << each.release << " " << each.content;
    }
  }
}

TEST(Files, HaveAllTheirMistakesReported) {
  EXPECT_EQ(
      Naming(kSpeedUpFile, "2.3.1", "{\"a\": 1,\n\"enable_task_opt\": 2,\n\"compute_communicate_fusion_level\": -3}")
          .size(),
      3U);
}

TEST(Files, LimitTheNamesOfThePathToTheRecorder) {
  const std::string long_name(256, 'a');
  const Diagnostic name = Only(Naming(kEnvFile, "1.6.2", "{\"rdr\": {\"path\": \"/x/" + long_name + "\"}}"));
  EXPECT_EQ(name.kind, "range");
  EXPECT_EQ(name.severity, Severity::kWarning);
  std::string path;
  for (int i = 0; i < 9; ++i) path += "/" + std::string(120, 'b');
  EXPECT_NE(Only(Naming(kEnvFile, "1.6.2", "{\"rdr\": {\"path\": \"" + path + "\"}}")).message.find("1089 bytes"),
            std::string::npos);
  EXPECT_TRUE(Naming(kEnvFile, "1.6.2", "{\"rdr\": {\"path\": \"/x/" + std::string(255, 'a') + "\"}}").empty());
}

// A misspelt name in a record would only mean that nothing is checked.
TEST(Files, AndSwitchesThatRecordsNameAreThereInEveryRelease) {
  std::size_t files = 0;
  for (const ReleaseFacts& facts : RealSchema().releases()) {
    for (const std::string& api : RealSchema().Functions()) {
      for (const std::string& name : RealSchema().Names(api, facts.release)) {
        const Attribute& attribute = *RealSchema().Find(api, name, facts.release);
        std::vector<Attribute> records = attribute.keys;
        records.push_back(attribute);
        for (const Attribute& record : records) {
          if (record.file.empty() || !record.ExistsIn(facts.release)) continue;
          ++files;
          EXPECT_NE(RealSchema().FindFile(record.file, facts.release), nullptr) << record.name;
        }
        if (attribute.written_if.empty()) continue;
        EXPECT_NE(RealSchema().Find(api, attribute.written_if, facts.release), nullptr) << name;
      }
    }
  }
  EXPECT_EQ(files, 22U) << "two in five releases, three in those that have ascend_config";
}

TEST(Files, OnTheHostAreLeftAlone) {
  const ShippedFiles files{{kThere, {"recipes/conf.json", "no JSON"}}};
  Context context(RealSchema(), Release16());
  context.set_files(&files);
  EXPECT_TRUE(context.Apply("set_context", {{"env_config_path", "/etc/conf.json"}}, At(1)).empty());
  EXPECT_TRUE(context.Apply("set_context", {{"env_config_path", kThere + ".bak"}}, At(1)).empty());
  EXPECT_TRUE(context.Apply("set_context", {{"save_graphs_path", kThere}}, At(1)).empty())
      << "no such file is read there";
  Context overlay = context.Overlay();
  EXPECT_EQ(Only(overlay.Apply("set_context", {{"env_config_path", kThere}}, At(1))).kind, "bad_json");
}

TEST(Files, OfASkippedAttributeAreNotLookedAt) {
  const ShippedFiles files{{kThere, {"recipes/conf.json", "no JSON"}}};
  Context context(RealSchema(), *ParseRelease("2.3.1"));
  context.set_files(&files);
  const Diagnostics said = context.Apply(
      "set_context", {{"device_target", "CPU"}, {"ascend_config", Value::Map{{"parallel_speed_up_json_path", kThere}}}},
      At(1));
  EXPECT_EQ(Only(said).kind, "wrong_device");
}

TEST(ManagePort, MayBeChosenByMuster) {
  for (const char* release : {"1.6.2", "1.9.0", "2.3.1", "2.4.0", "2.5.0", "2.6.0", "2.7.0"}) {
    Context context(RealSchema(), *ParseRelease(release));
    EXPECT_TRUE(context.Apply("set_ps_context", {{"scheduler_manage_port", "auto"}}, At(1)).empty());
    EXPECT_EQ(context.Settled().at("set_ps_context.scheduler_manage_port"), Value("${muster:port:scheduler_manage}"));
    EXPECT_TRUE(context.Apply("set_ps_context", {{"scheduler_manage_port", "${muster:port:mine}"}}, At(1)).empty());
    EXPECT_EQ(context.Settled().at("set_ps_context.scheduler_manage_port"), Value("${muster:port:mine}"));
  }
  Context context(RealSchema(), Release16());
  for (const char* wrong : {"Auto", "11202", "${muster:port:mine}1", "${muster:run_dir}"}) {
    const Diagnostic only = Only(context.Apply("set_ps_context", {{"scheduler_manage_port", wrong}}, At(1)));
    EXPECT_EQ(only.kind, "type") << wrong;
    EXPECT_EQ(only.hint, "write a number, or \"auto\"");
  }
  EXPECT_EQ(Only(context.Apply("set_ps_context", {{"scheduler_port", "auto"}}, At(1))).kind, "type");
}

}  // namespace
}  // namespace muster
