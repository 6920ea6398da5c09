// muster serve: live pages of runs and sweeps for a browser on this machine.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/signal_set.hpp>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "base/values/quoting.h"
#include "base/values/value_text.h"
#include "cli/command/command.h"
#include "cli/command/command_output.h"
#include "cli/command/printed_schemas.h"
#include "cli/lookup/run_argument.h"
#include "run/directory/runtime_directory.h"
#include "run/journal/run_summary.h"
#include "run/loop/output.h"
#include "serve/http/http_server.h"
#include "serve/site/served_site.h"
#include "sweep/record/sweep_directory.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"
#include "wire/files/run_layout.h"

namespace muster {

// muster serve: live pages of runs and sweeps for a browser on this machine.

namespace {

constexpr std::size_t kTokenBytes = 16;

struct ServeOptions {
  std::vector<std::string> words;
  std::uint16_t port = 0;
  bool json = false;
};

// What the words name; `page`: the path of the only one below the token, empty for several, or for a folder.
struct Served {
  ServedFolders folders;
  std::string page;
};

Result<void> AddFolder(const std::string& folder, ServedFolders& folders) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::canonical(folder, error);
  if (error) return Fail(SystemError("serve", "cannot open " + Quoted(folder), error.value()));
  const std::string whole = path.string();
  const bool has_runs = std::filesystem::is_directory(whole + "/runs", error);
  const bool has_sweeps = std::filesystem::is_directory(whole + "/sweeps", error);
  if (has_runs || has_sweeps) {
    folders.runs.push_back(whole + "/runs");
    folders.sweeps.push_back(whole + "/sweeps");
  } else {
    folders.runs.push_back(whole);
    folders.sweeps.push_back(whole);
  }
  return {};
}

Result<void> AddWord(const std::string& word, Served& served) {
  std::error_code error;
  const bool marked = std::filesystem::is_regular_file(kPlanEntry.In(word), error) ||
                      std::filesystem::is_regular_file(kSweepEntry.In(word), error);
  if (!marked && std::filesystem::is_directory(word, error)) return AddFolder(word, served.folders);
  const auto found = FindRunOrSweep(word, DirectoryUse::kRead, Prefer::kNewest);
  if (!found) return Fail(found.error());
  const std::string path = std::filesystem::canonical(found->folder, error).string();
  if (error) return Fail(SystemError("serve", "cannot open " + Quoted(found->folder), error.value()));
  if (found->is_sweep) {
    const auto file = ReadSweepFile(path);
    if (!file) return Fail(file.error());
    served.folders.sweep_dirs.push_back(path);
    served.page = "sweep/" + file->sweep_id;
  } else {
    const auto run = SummarizeRun(path, false);
    if (!run) return Fail(run.error());
    served.folders.run_dirs.push_back(path);
    served.page = "run/" + run->run;
  }
  return {};
}

Result<Served> ServedBy(const std::vector<std::string>& words) {
  Served served;
  if (words.empty()) {
    auto runs = DefaultRunsFolder();
    if (!runs) return Fail(runs.error());
    auto sweeps = DefaultSweepsFolder();
    if (!sweeps) return Fail(sweeps.error());
    served.folders.runs.push_back(*std::move(runs));
    served.folders.sweeps.push_back(*std::move(sweeps));
  }
  for (const std::string& word : words) {
    if (auto added = AddWord(word, served); !added) return Fail(added.error());
  }
  if (words.size() != 1) served.page.clear();
  return served;
}

// A page that leads to the address. Given to a browser, its path does not show the token in the list of processes, as
// the address would. Removed at the end.
class RedirectFile {
 public:
  static Result<RedirectFile> Write(const std::string& folder, const std::string& name, const std::string& address) {
    if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
      return Fail(SystemError("serve", "cannot create " + Quoted(folder), errno));
    }
    const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    const bool is_private = opened && ::fstat(opened.get(), &status) == 0 && status.st_uid == ::geteuid() &&
                            (status.st_mode & (S_IRWXG | S_IRWXO)) == 0;
    if (!is_private) return Fail(MachineError("serve", Quoted(folder) + " is not a folder of this user alone"));
    auto written = ReplaceFile(opened.get(), name,
                               fmt::format("<!doctype html>\n<meta charset=\"utf-8\">\n"
                                           "<meta name=\"referrer\" content=\"no-referrer\">\n"
                                           "<meta http-equiv=\"refresh\" content=\"0; url={0}\">\n"
                                           "<title>muster serve</title>\n<a href=\"{0}\">muster serve</a>\n",
                                           address));
    if (!written) return Fail(std::move(written.error()));
    RedirectFile file;
    file.path_ = folder + "/" + name;
    return file;
  }
  RedirectFile(RedirectFile&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  RedirectFile& operator=(RedirectFile&&) = delete;
  ~RedirectFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  const std::string& path() const { return path_; }

 private:
  RedirectFile() = default;
  std::string path_;
};

// Stops the loop when the program at the other end of stdin, a pipe or a socket, has closed it.
class StdinEnd {
 public:
  explicit StdinEnd(boost::asio::io_context& io) : io_(io), end_(io) {
    struct stat status {};
    if (::fstat(STDIN_FILENO, &status) != 0 || !(S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode))) return;
    const int copy = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    if (copy < 0) return;
    boost::system::error_code error;
    end_.assign(copy, error);
    if (!error) Await();
  }

 private:
  void Await() {
    end_.async_read_some(boost::asio::buffer(ignored_), [this](const boost::system::error_code& error, std::size_t) {
      if (error == boost::asio::error::operation_aborted) return;
      if (error) return io_.stop();
      Await();
    });
  }

  boost::asio::io_context& io_;
  boost::asio::posix::stream_descriptor end_;
  std::array<char, 512> ignored_{};
};

// Members are in the order of their names.
struct PrintedAddress {
  const std::string& address;
  std::uint16_t port;
  const std::string& redirect;
};
template <class V>
void Parts(V& v, const PrintedAddress& printed) {
  v("address", printed.address), v("format", 1), v("pid", ::getpid()), v("port", printed.port);
  v("redirect", printed.redirect);
}

void PrintAddress(const std::string& address, std::uint16_t port, const std::string& redirect, bool json) {
  if (json) {
    std::printf("%s\n", JsonOf<PartForms>(PrintedAddress{address, port, redirect}).c_str());
  } else {
    std::printf("%s\nor open %s; Ctrl-C ends the server\n", address.c_str(), Printable(redirect).c_str());
  }
  std::fflush(stdout);
}

int RunServe(const ServeOptions& options) {
  auto served = ServedBy(options.words);
  if (!served) return Refuse(served.error(), options.json);
  boost::asio::io_context io{1};
  const PipeSignalIgnored no_pipe_signal;
  ServedSite site(io, std::move(served->folders));
  if (auto started = site.Start(); !started) return Refuse(started.error(), options.json);
  const std::string token = RandomHex(kTokenBytes);
  const auto server = HttpServer::Listen(
      io, options.port, token, [&site](const HttpRequest& request, const std::string& path, HttpServer::Reply reply) {
        site.Handle(request, path, std::move(reply));
      });
  if (!server) return Refuse(server.error(), options.json);
  const std::string address = fmt::format("http://127.0.0.1:{}/{}/{}", (*server)->port(), token, served->page);
  const auto redirect = RedirectFile::Write(OwnLiveHeadsFolder(), fmt::format("serve-{}.html", ::getpid()), address);
  if (!redirect) return Refuse(redirect.error(), options.json);
  PrintAddress(address, (*server)->port(), redirect->path(), options.json);
  boost::asio::signal_set signals(io);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU}) {
    boost::system::error_code ignored;
    if (!IsIgnored(signal)) signals.add(signal, ignored);
  }
  signals.async_wait([&io](const boost::system::error_code& error, int) {
    if (!error) io.stop();
  });
  const StdinEnd stdin_end(io);
  io.run();
  return kExitOk;
}

}  // namespace

std::string ServerSchema() {
  const std::string text;
  return SchemaOf<PartForms>(PrintedAddress{text, 0, text});
}

std::function<int()> SetupServe(CLI::App& app, const Invocation&) {
  auto options = std::make_shared<ServeOptions>();
  app.add_option("RUN", options->words,
                 "runs, sweeps, or folders with runs and sweeps; default: those below $MUSTER_HOME or here");
  app.add_option("--port", options->port, "port of 127.0.0.1 to listen on, up to 65535; default: any free one")
      ->type_name("PORT");
  app.add_flag("--json", options->json, "print address, port and pid as one line of JSON for programs");
  return [options] { return RunServe(*options); };
}

}  // namespace muster
