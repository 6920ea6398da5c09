#include "engine/manifest.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>
#include <variant>

#include "base/values/diagnostics.h"
#include "base/values/overloaded.h"
#include "base/values/quoting.h"
#include "base/values/value_text.h"

namespace muster {
namespace {

// Words of YAML 1.1 that are not texts, in small letters.
constexpr std::array<std::string_view, 9> kWords = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"};

bool IsPlain(std::string_view text) {
  if (text.empty() || (std::isalpha(static_cast<unsigned char>(text.front())) == 0 && text.front() != '/'))
    return false;
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' || c == '-';
  });
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return plain && std::find(kWords.begin(), kWords.end(), small) == kWords.end();
}

// A text of JSON is one of YAML, too.
std::string Scalar(std::string_view text) {
  if (IsPlain(text)) return std::string(text);
  std::string quoted;
  AppendJsonString(text, quoted);
  return quoted;
}

bool IsBlock(const Value& value) {
  return (value.AsMap() != nullptr && !value.AsMap()->empty()) ||
         (value.AsList() != nullptr && !value.AsList()->empty());
}

std::string Flow(const Value& value) {
  return std::visit(Overloaded{
                        [](const Null&) { return std::string("null"); },
                        [](bool one) { return std::string(one ? "true" : "false"); },
                        [](std::int64_t one) { return std::to_string(one); },
                        [](double one) { return NumberText(one); },
                        [](const std::string& one) { return Scalar(one); },
                        [](const Value::List&) { return std::string("[]"); },
                        [](const Value::Map&) { return std::string("{}"); },
                    },
                    value.data());
}

// The lines of a block; the first one continues a line that stands at this depth already.
void Write(const Value& value, std::size_t depth, std::string& out) {
  const std::string indent(depth, ' ');
  bool first = true;
  if (const Value::List* list = value.AsList()) {
    for (const Value& one : *list) {
      if (!std::exchange(first, false)) out += indent;
      out += "- ";
      if (IsBlock(one)) {
        Write(one, depth + 2, out);
      } else {
        out += Flow(one) + "\n";
      }
    }
    return;
  }
  for (const auto& [key, one] : *value.AsMap()) {
    if (!std::exchange(first, false)) out += indent;
    out += Scalar(key) + ":";
    if (!IsBlock(one)) {
      out += " " + Flow(one) + "\n";
      continue;
    }
    const std::size_t inner = one.AsList() != nullptr ? depth : depth + 2;
    out += "\n" + std::string(inner, ' ');
    Write(one, inner, out);
  }
}

}  // namespace

std::string YamlText(const Value& value) {
  if (!IsBlock(value)) return Flow(value) + "\n";
  std::string out;
  Write(value, 0, out);
  return out;
}

namespace {

using Map = Value::Map;
using List = Value::List;

constexpr std::uint32_t kStartSeconds = 600;
// A pod on a node that the cluster has lost is deleted after this, instead of after five minutes.
constexpr int kLostNodeSeconds = 30;

// How long a pod that is deleted may take to end: by default, and besides the stop of its processes.
constexpr const char* kGraceField = "terminationGracePeriodSeconds";
constexpr std::int64_t kGraceSeconds = 30;
constexpr std::int64_t kStopMarginSeconds = 10;
// For objects of Jobs whose head could not delete them.
constexpr int kKeepSeconds = 600;
// The name is part of names of pods, which are host names: NAME-host-0-12345-abcde has 63 characters at most.
constexpr std::size_t kMaxObjectName = 30;
constexpr std::size_t kMaxLabel = 63;
constexpr std::string_view kReplicatedJob = "host";

// Fields that muster sets: with others, agents would not be found, or would be started twice.
const std::set<std::string> kOwnPodFields = {
    "containers", "hostname", "hostPID", "restartPolicy", "setHostnameAsFQDN", "shareProcessNamespace", "subdomain"};
const std::set<std::string> kOwnContainerFields = {"args", "command", "name", "stdin", "tty", "workingDir"};
const std::set<std::string> kOwnJobFields = {"backoffLimit",   "completionMode", "completions", "parallelism",
                                             "replicatedJobs", "selector",       "template"};

bool IsLetterOrDigit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 && static_cast<unsigned char>(c) < 0x80;
}

// As names of objects are: small letters, digits and '-', beginning with a letter and ending without '-'.
std::string ObjectWord(std::string_view text, std::size_t longest) {
  std::string word;
  for (const char c : text) {
    word += IsLetterOrDigit(c) ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  if (word.empty() || std::isalpha(static_cast<unsigned char>(word.front())) == 0) word.insert(0, "m");
  word.resize(std::min(word.size(), longest));
  while (word.ends_with('-')) word.pop_back();
  return word;
}

// As values of labels are.
std::string LabelValue(std::string_view text) {
  std::string value;
  for (const char c : text.substr(0, kMaxLabel)) value += IsLetterOrDigit(c) || c == '.' || c == '-' ? c : '_';
  while (!value.empty() && !IsLetterOrDigit(value.back())) value.pop_back();
  while (!value.empty() && !IsLetterOrDigit(value.front())) value.erase(0, 1);
  return value;
}

// NAME-TAIL: the tail of the run's id tells two runs of one job apart.
std::string ObjectName(const ManifestJob& job) {
  constexpr std::size_t kTail = 8;
  std::string tail = job.run.substr(job.run.size() - std::min(job.run.size(), kTail));
  while (!tail.empty() && !IsLetterOrDigit(tail.front())) tail.erase(0, 1);
  const std::string sound = tail.empty() ? "run" : ObjectWord("x" + tail, kTail + 1).substr(1);
  return ObjectWord(job.name, kMaxObjectName - kTail - 1) + "-" + sound;
}

// Puts `more` into `into`: tables field by field, lists at the end, other values in their place.
void Merge(Value& into, const Value& more) {
  auto* map = std::get_if<Map>(&into.data());
  auto* list = std::get_if<List>(&into.data());
  if (map != nullptr && more.AsMap() != nullptr) {
    for (const auto& [name, value] : *more.AsMap()) {
      const auto [found, added] = map->emplace(name, value);
      if (!added) Merge(found->second, value);
    }
  } else if (list != nullptr && more.AsList() != nullptr) {
    list->insert(list->end(), more.AsList()->begin(), more.AsList()->end());
  } else {
    into = more;
  }
}

struct Mounted {
  std::string name;
  std::string folder;
  bool read_only = false;
};

// One manifest on its way from settings to objects.
class ManifestWriting {
 public:
  ManifestWriting(const EnginePage& page, const EngineSettings& settings, const ManifestJob& job)
      : page_(page), settings_(settings), job_(job), name_(ObjectName(job)) {}

  Result<Manifest> Write() {
    const std::string as = TextOf(settings_, "as").empty() ? "job" : TextOf(settings_, "as");
    const std::vector<std::string> forms = {"job", "jobset", "pods"};
    if (std::find(forms.begin(), forms.end(), as) == forms.end()) {
      Wrong("enum", "as", "as is job, jobset or pods, got " + Quoted(as), DidYouMean(as, forms));
    }
    if (TextOf(settings_, "image").empty()) {
      problems_.push_back(Error("missing", {},
                                page_.name + ".image is not set: pods need an image with muster-agent in it",
                                "--" + page_.name + " image=registry.example/train:1, or in the recipe: " + page_.name +
                                    " = { image = \"registry.example/train:1\" }"));
    }
    ReadPaths();
    RefuseOwn("pod", kOwnPodFields);
    RefuseOwn("container", kOwnContainerFields);
    RefuseOwn("job", kOwnJobFields);
    const Value spec = PodSpec(as);
    if (!problems_.empty()) return Fail(std::move(problems_));
    Manifest manifest;
    std::vector<Value> objects;
    if (as == "pods") {
      objects = Pods(spec);
      manifest.kinds = {"pod", "service"};
    } else if (as == "job") {
      objects = {Object("batch/v1", "Job", name_, JobSpec(spec, true))};
      manifest.kinds = {"job", "service"};
    } else {
      objects = {JobSet(spec)};
      manifest.kinds = {"jobset"};  // the controller of JobSets makes the Service
    }
    if (as != "jobset") objects.insert(objects.begin(), Service());
    for (const Value& object : objects) manifest.text += (manifest.text.empty() ? "" : "---\n") + YamlText(object);
    return manifest;
  }

 private:
  void Wrong(const char* kind, const std::string& name, const std::string& message, std::string hint = {}) {
    const auto setting = settings_.find(name);
    problems_.push_back(Error(kind, setting == settings_.end() ? Place{} : setting->second.place,
                              page_.name + "." + message, std::move(hint)));
  }

  const Map& TableOf(const std::string& name) const {
    static const Map kNone;
    const auto setting = settings_.find(name);
    return setting == settings_.end() ? kNone : *setting->second.value.AsMap();
  }

  void RefuseOwn(const std::string& name, const std::set<std::string>& own) {
    for (const auto& [field, value] : TableOf(name)) {
      if (own.contains(field)) Wrong("conflict", name, name + "." + field + ": muster sets this field itself");
    }
  }

  // Options with a path: {"pod", "priorityClassName"}.
  void ReadPaths() {
    for (const EngineOption& option : page_.options) {
      const auto setting = settings_.find(option.name);
      if (option.path.empty() || setting == settings_.end()) continue;
      Value placed = setting->second.value;
      for (std::size_t i = option.path.size(); i-- > 0;) placed = Value(Map{{option.path[i], std::move(placed)}});
      Merge(placed_, placed);
    }
  }

  Value Placed(const std::string& where) const {
    const auto found = placed_.AsMap()->find(where);
    return found == placed_.AsMap()->end() ? Value(Map()) : found->second;
  }

  // "NAME:/folder", with ":ro" if that may be said.
  std::vector<Mounted> MountsOf(const std::string& name, bool read_only) {
    std::vector<Mounted> mounts;
    const auto setting = settings_.find(name);
    if (setting == settings_.end()) return mounts;
    for (const Value& each : *setting->second.value.AsList()) {
      const std::string& text = *each.AsString();
      Mounted mount{text.substr(0, text.find(':')), {}, read_only};
      if (text.find(':') != std::string::npos) mount.folder = text.substr(text.find(':') + 1);
      if (!read_only && mount.folder.ends_with(":ro")) {
        mount.folder.resize(mount.folder.size() - 3);
        mount.read_only = true;
      }
      if (mount.name.empty() || !mount.folder.starts_with('/') || mount.folder.find(':') != std::string::npos) {
        Wrong("format", name, name + " has texts NAME:/folder, got " + Quoted(text),
              read_only ? "hub-token:/run/secrets/hub" : "datasets:/data:ro");
        continue;
      }
      mounts.push_back(std::move(mount));
    }
    return mounts;
  }

  Value Labels() const {
    Value labels(Map{{"app.kubernetes.io/managed-by", "muster"},
                     {"app.kubernetes.io/name", LabelValue(job_.name)},
                     {kRunLabel, LabelValue(job_.run)}});
    Merge(labels, Placed("labels"));
    Merge(labels, Value(TableOf("labels")));
    return labels;
  }

  Value Metadata(const std::string& name) const {
    Map metadata = {{"labels", Labels()}};
    if (!name.empty()) metadata["name"] = name;
    if (!TableOf("annotations").empty()) metadata["annotations"] = Value(TableOf("annotations"));
    if (const std::string space = TextOf(settings_, "namespace"); !name.empty() && !space.empty()) {
      metadata["namespace"] = space;
    }
    return Value(std::move(metadata));
  }

  Value Object(const char* api, const char* kind, const std::string& name, Value spec) const {
    return Value(Map{{"apiVersion", api}, {"kind", kind}, {"metadata", Metadata(name)}, {"spec", std::move(spec)}});
  }

  // What the pods request, and are limited to.
  Value Resources() {
    Map amounts;
    for (const char* name : {"cpu", "memory"}) {
      if (const std::string amount = TextOf(settings_, name); !amount.empty()) amounts[name] = amount;
    }
    if (const std::string devices = TextOf(settings_, "devices"); !devices.empty()) {
      const std::size_t colon = devices.rfind(':');
      std::uint32_t count = 0;
      const char* const end = devices.data() + devices.size();
      const bool named = colon != std::string::npos && colon > 0;
      const auto [rest, error] = std::from_chars(named ? devices.data() + colon + 1 : end, end, count);
      if (error != std::errc() || rest != end || count == 0) {
        Wrong("format", "devices", "devices is NAME:N, got " + Quoted(devices),
              "nvidia.com/gpu:8, amd.com/gpu:4 or huawei.com/Ascend910:8");
      } else {
        amounts[devices.substr(0, colon)] = std::to_string(count);
      }
    }
    if (amounts.empty()) return Value(Map());
    return Value(Map{{"limits", Value(amounts)}, {"requests", Value(amounts)}});
  }

  Value PodSpec(const std::string& as) {
    List volumes;
    List mounts;
    Map shm = {{"medium", "Memory"}};
    if (const std::string most = TextOf(settings_, "shm"); !most.empty()) shm["sizeLimit"] = most;
    volumes.emplace_back(Map{{"name", "shm"}, {"emptyDir", Value(std::move(shm))}});
    mounts.emplace_back(Map{{"name", "shm"}, {"mountPath", "/dev/shm"}});
    const auto mount = [&](const std::string& volume, const Mounted& mounted) {
      Map one = {{"name", volume}, {"mountPath", mounted.folder}};
      if (mounted.read_only) one["readOnly"] = true;
      mounts.emplace_back(std::move(one));
    };
    int number = 0;
    for (const Mounted& secret : MountsOf("secrets", true)) {
      const std::string volume = "secret-" + std::to_string(number++);
      volumes.emplace_back(
          Map{{"name", volume}, {"secret", Value(Map{{"secretName", secret.name}, {"defaultMode", 0400}})}});
      mount(volume, secret);
    }
    number = 0;
    for (const Mounted& claim : MountsOf("claims", false)) {
      const std::string volume = "claim-" + std::to_string(number++);
      Map source = {{"claimName", claim.name}};
      if (claim.read_only) source["readOnly"] = true;
      volumes.emplace_back(Map{{"name", volume}, {"persistentVolumeClaim", Value(std::move(source))}});
      mount(volume, claim);
    }

    Value container(Map{
        {"name", kAgentContainer},
        {"image", TextOf(settings_, "image")},
        {"command", Value(List{job_.agent, "--hold", std::to_string(StartSecondsOf(settings_))})},
        {"workingDir", job_.folder},
        {"terminationMessagePolicy", "FallbackToLogsOnError"},
        {"env", Value(List{Map{{"name", "MUSTER_ADDRESS"},
                               {"valueFrom", Value(Map{{"fieldRef", Value(Map{{"fieldPath", "status.podIP"}})}})}}})},
        {"volumeMounts", Value(std::move(mounts))}});
    if (Value resources = Resources(); !resources.AsMap()->empty()) {
      Merge(container, Value(Map{{"resources", std::move(resources)}}));
    }
    Merge(container, Placed("container"));
    Merge(container, Value(TableOf("container")));

    List tolerations;
    for (const char* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
      tolerations.emplace_back(Map{
          {"key", taint}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", kLostNodeSeconds}});
    }
    Value spec(Map{{"containers", Value(List{std::move(container)})},
                   {"enableServiceLinks", false},
                   {"restartPolicy", "Never"},
                   {"tolerations", Value(std::move(tolerations))},
                   {"volumes", Value(std::move(volumes))}});
    if (as != "jobset") Merge(spec, Value(Map{{"subdomain", name_}}));
    if (as == "pods") Merge(spec, Deadline());
    const std::int64_t grace = std::int64_t{job_.stop_seconds} + kStopMarginSeconds;
    if (grace > kGraceSeconds && !TableOf("pod").contains(kGraceField)) {
      Merge(spec, Value(Map{{kGraceField, Value(grace)}}));
    }
    Merge(spec, Placed("pod"));
    Merge(spec, Value(TableOf("pod")));
    return spec;
  }

  Value Deadline() const {
    const std::string time = TextOf(settings_, "time");
    std::int64_t seconds = 0;
    std::from_chars(time.data(), time.data() + time.size(), seconds);
    return seconds == 0 ? Value(Map()) : Value(Map{{"activeDeadlineSeconds", seconds}});
  }

  // `outermost`: there is no JobSet around it.
  Value JobSpec(const Value& pod, bool outermost) const {
    const std::int64_t pods = job_.pods;
    Value spec(Map{{"backoffLimit", 0},
                   {"completionMode", "Indexed"},
                   {"completions", pods},
                   {"parallelism", pods},
                   {"template", Value(Map{{"metadata", Metadata({})}, {"spec", pod}})}});
    Merge(spec, Deadline());
    if (!outermost) return spec;
    Merge(spec, Value(Map{{"ttlSecondsAfterFinished", kKeepSeconds}}));
    Merge(spec, Value(TableOf("job")));
    return spec;
  }

  Value JobSet(const Value& pod) const {
    Value spec(Map{
        {"failurePolicy", Value(Map{{"maxRestarts", 0}})},
        {"network", Value(Map{{"enableDNSHostnames", true}, {"publishNotReadyAddresses", true}, {"subdomain", name_}})},
        {"replicatedJobs",
         Value(List{Map{{"name", std::string(kReplicatedJob)},
                        {"replicas", 1},
                        {"template", Value(Map{{"metadata", Metadata({})}, {"spec", JobSpec(pod, false)}})}}})},
        {"ttlSecondsAfterFinished", kKeepSeconds}});
    Merge(spec, Value(TableOf("job")));
    return Object("jobset.x-k8s.io/v1alpha2", "JobSet", name_, std::move(spec));
  }

  std::vector<Value> Pods(const Value& spec) const {
    std::vector<Value> pods;
    for (std::uint32_t i = 0; i < job_.pods; ++i) {
      const std::string name = name_ + "-" + std::to_string(i);
      Value own = spec;
      Merge(own, Value(Map{{"hostname", name}}));
      pods.push_back(Object("v1", "Pod", name, std::move(own)));
    }
    return pods;
  }

  // Gives the pods names in the cluster's DNS: NAME-0.NAME.
  Value Service() const {
    return Object("v1", "Service", name_,
                  Value(Map{{"clusterIP", "None"},
                            {"publishNotReadyAddresses", true},
                            {"selector", Value(Map{{kRunLabel, LabelValue(job_.run)}})}}));
  }

  const EnginePage& page_;
  const EngineSettings& settings_;
  const ManifestJob& job_;
  const std::string name_;
  Value placed_ = Value(Map());
  Diagnostics problems_;
};

}  // namespace

const std::vector<std::string>& ManifestOptions() {
  static const std::vector<std::string> kOptions = {
      "as",      "nodes",  "namespace", "context",      "image",  "devices",     "cpu", "memory",    "shm",
      "secrets", "claims", "time",      "start_within", "labels", "annotations", "pod", "container", "job"};
  return kOptions;
}

Result<Manifest> MakeManifest(const EnginePage& page, const EngineSettings& settings, const ManifestJob& job) {
  return ManifestWriting(page, settings, job).Write();
}

std::string TextOf(const EngineSettings& settings, const std::string& name) {
  const auto setting = settings.find(name);
  const std::string* text = setting == settings.end() ? nullptr : setting->second.value.AsString();
  return text == nullptr ? std::string() : *text;
}

std::uint32_t StartSecondsOf(const EngineSettings& settings) {
  const std::string time = TextOf(settings, "start_within");
  std::uint32_t seconds = kStartSeconds;
  std::from_chars(time.data(), time.data() + time.size(), seconds);
  return seconds;
}

}  // namespace muster
