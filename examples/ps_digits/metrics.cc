// See metrics.h.
#include "ps_digits/metrics.h"

#include <cerrno>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace ps_digits {

std::string MetricsLine(const EpochMetrics& metrics) {
  const nlohmann::ordered_json line = {
      {"epoch", metrics.epoch}, {"loss", metrics.loss}, {"accuracy", metrics.accuracy}};
  return line.dump() + "\n";
}

Result<void> AppendMetrics(const std::string& file, const EpochMetrics& metrics) {
  const int fd = open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (fd < 0) return SystemFailure("cannot open " + file + " (MUSTER_METRICS)", errno);
  const std::string line = MetricsLine(metrics);
  const ssize_t written = write(fd, line.data(), line.size());
  const int error = written < 0 ? errno : ENOSPC;
  close(fd);
  if (written != static_cast<ssize_t>(line.size())) {
    return SystemFailure("cannot write " + file + " (MUSTER_METRICS)", error);
  }
  return {};
}

}  // namespace ps_digits
