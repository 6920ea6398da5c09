// See options.h.
#include "ps_digits/options.h"

#include <functional>
#include <map>
#include <string_view>

#include "ps_digits/number.h"

namespace ps_digits {
namespace {

constexpr std::int64_t kMaxEpochs = 1'000'000;
constexpr std::int64_t kMaxBatchSize = 1'000'000;

// Stores the value, or returns what it should have been.
using Setter = std::function<std::string(Options&, const std::string&)>;

std::string SetCount(std::uint32_t& target, const std::string& text, std::int64_t max) {
  const auto value = ParseInteger(text, 1, max);
  if (!value) return "an integer in 1.." + std::to_string(max);
  target = static_cast<std::uint32_t>(*value);
  return {};
}

std::string SetNumber(double& target, const std::string& text, bool (*is_valid)(double), const char* wanted) {
  const auto value = ParseDecimal(text);
  if (!value || !is_valid(*value)) return wanted;
  target = *value;
  return {};
}

const std::map<std::string, Setter, std::less<>>& Setters() {
  static const std::map<std::string, Setter, std::less<>> setters = {
      {"--epochs", [](Options& o, const std::string& text) { return SetCount(o.epochs, text, kMaxEpochs); }},
      {"--batch-size", [](Options& o, const std::string& text) { return SetCount(o.batch_size, text, kMaxBatchSize); }},
      {"--lr",
       [](Options& o, const std::string& text) -> std::string {
         const auto value = ParseDecimal(text);
         if (!value || *value <= 0) return "a number above 0";
         o.learning_rate = *value;
         return {};
       }},
      {"--decay",
       [](Options& o, const std::string& text) {
         return SetNumber(
             o.decay, text, [](double value) { return value > 0 && value <= 1; }, "a number above 0, at most 1");
       }},
      {"--l2",
       [](Options& o, const std::string& text) {
         return SetNumber(
             o.l2, text, [](double value) { return value >= 0; }, "a number from 0 on");
       }},
      {"--smoothing",
       [](Options& o, const std::string& text) {
         return SetNumber(
             o.smoothing, text, [](double value) { return value >= 0 && value < 1; }, "a number from 0 on, below 1");
       }},
      {"--checkpoints",
       [](Options& o, const std::string& text) -> std::string {
         o.checkpoints = text;
         return {};
       }},
      {"--resume",
       [](Options& o, const std::string& text) -> std::string {
         o.resume = text;
         return {};
       }},
      {"--data",
       [](Options& o, const std::string& text) -> std::string {
         if (text.empty()) return "a file name";
         o.data_file = text;
         return {};
       }},
  };
  return setters;
}

}  // namespace

Result<Options> ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      options.help = true;
      continue;
    }
    const std::size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const auto setter = Setters().find(name);
    if (setter == Setters().end()) return Failure{"unknown argument \"" + argument + "\" (see --help)"};
    std::string value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (++i < arguments.size()) {
      value = arguments[i];
    } else {
      return Failure{name + " needs a value (see --help)"};
    }
    const std::string wanted = setter->second(options, value);
    if (!wanted.empty()) return Failure{name + " " + value + ": want " + wanted};
  }
  return options;
}

std::string Usage() {
  return R"(usage: ps_digits [--epochs N] [--lr F] [--decay F] [--l2 F] [--smoothing F]
                 [--batch-size N] [--data FILE] [--checkpoints DIR] [--resume FILE]

Trains softmax regression on handwritten digits through parameter servers. One
program for all roles; each process finds its role and its cluster in MindSpore's
environment variables.

  --epochs N      passes over the training images (default 20)
  --lr F          learning rate (default 0.5)
  --decay F       factor of the learning rate after each pass (default 1)
  --l2 F          weight decay (default 0)
  --smoothing F   share of each target that is spread over all digits (default 0)
  --batch-size N  images per step, over all workers together (default 64)
  --data FILE     the images (default: ../share/muster/examples/digits.csv,
                  seen from the program)
  --checkpoints DIR  worker 0 writes DIR/epoch_N.json after each pass
  --resume FILE   continue from such a checkpoint
  --help          this text

  MS_ROLE          MS_SCHED, MS_PSERVER (or MS_SERVER), MS_WORKER
  MS_WORKER_NUM    number of workers, MS_SERVER_NUM number of servers
  MS_SCHED_HOST    the scheduler's address (an IP literal), MS_SCHED_PORT its port
  MS_NODE_ID       optional: this process's id, unique over all roles
  MS_TOPO_TIMEOUT  seconds for everybody to register (1800; negative: for ever)
  MS_NODE_TIMEOUT  seconds until a silent process counts as lost (30; negative: never)
  MUSTER_METRICS   optional: file to which worker 0 appends a JSON object per epoch

Example: one worker, one server and the scheduler on this machine.

  export MS_WORKER_NUM=1 MS_SERVER_NUM=1 MS_SCHED_HOST=127.0.0.1 MS_SCHED_PORT=20300
  MS_ROLE=MS_SCHED ps_digits & MS_ROLE=MS_PSERVER ps_digits &
  MS_ROLE=MS_WORKER ps_digits --epochs 5
)";
}

}  // namespace ps_digits
