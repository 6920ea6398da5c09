// The curves of running trials: the objective as their processes report it, read as the files grow. Keeps a bounded
// number of points for each trial.
//
// The files are written by programs and not trusted (run/directory/metric_history.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

struct TrialCurve {
  static constexpr std::size_t kMostPoints = 512;

  std::optional<double> step;   // newest value of the metric that counts progress
  std::optional<double> value;  // newest value of the objective; NaN: it is not finite
  // The objective in the order of the reports. With many reports a point is the mean of neighbours, of finite ones.
  std::vector<double> points;
};

class TrialCurves {
 public:
  // The metrics: the objective, and the one that counts progress if it is known.
  TrialCurves(std::string objective, std::string resource);

  // Reads what the run of a trial has reported since the last call for it. Of the roles that report the objective the
  // first one counts, and of a role its first process, with all its attempts.
  const TrialCurve& Read(const std::string& run_dir);

  // Drops the curves of all other runs.
  void Keep(const std::vector<std::string>& run_dirs);

 private:
  // What was read of the files of one process.
  struct Process {
    std::map<std::uint32_t, std::uint64_t> offsets;  // by attempt
    TrialCurve curve;
    std::size_t stride = 1;  // values of a point
    std::size_t values = 0;  // of the last point, while it is not complete
    std::size_t finite = 0;
    double sum = 0;

    void Take(std::string_view text, const std::string& objective, const std::string& resource);
    void Add(double value);
  };

  std::string objective_;
  std::string resource_;
  std::map<std::string, std::map<std::string, Process>> runs_;  // by run directory and role
};

}  // namespace muster
