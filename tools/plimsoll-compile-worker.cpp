// plimsoll-compile-worker: compiles for a host that wants to survive what it compiles
// (jit/CompileWorkers.h).
//
// Three processes in a row. The first one ends at once, so that the host has no child to wait for.
// The second one keeps the libraries loaded and does nothing but wait for the third, which
// compiles: when that dies it says so, and makes another one. The third ends when the host closes
// the socket or ends itself.
//
// plimsoll-compile-worker MEMORY: bytes of address space, 0 for no limit. The socket is descriptor
// 3.

#include "jit/Compiler.h"
#include "jit/WorkerProtocol.h"
#include "jit/WorkerRequest.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <pthread.h>
#include <stop_token>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

using namespace plim;
using namespace plim::jit;

namespace {

/// Of each thread; jit::ParallelFor asks for half of it.
constexpr size_t jobStackBytes = size_t(8) << 20;

/// A diagnostic in memory of a fixed size, written by one thread at a time; what is longer is cut.
class Note {
public:
  void clear() { isThere = false; }
  void write(const Diagnostic &diagnostic) {
    isThere = false;
    numbers[0] = diagnostic.line;
    numbers[1] = diagnostic.column;
    numbers[2] = diagnostic.endLine;
    numbers[3] = diagnostic.endColumn;
    copy(diagnostic.file, file);
    copy(diagnostic.message, message);
    isThere = true;
  }
  /// After the end of who wrote it, wherever that was.
  std::optional<Diagnostic> read(Diagnostic::Severity severity) const {
    if (!isThere)
      return std::nullopt;
    return Diagnostic{severity, file, numbers[0], numbers[1], numbers[2], numbers[3], message};
  }

private:
  template <size_t size> static void copy(std::string_view text, char (&to)[size]) {
    to[text.copy(to, size - 1)] = '\0';
  }

  std::atomic<bool> isThere = false;
  uint32_t numbers[4] = {};
  char file[512] = {}, message[1024] = {};
};

/// The last words of the process that compiles, in memory that it shares with the process that
/// waits for it.
struct LastWords {
  std::atomic<bool> isBusy = false; // is it at work?
  std::mutex mutex;                 // of who writes
  Note error, doing;                // the first error that it said, and what it was about

  void begin() {
    error.clear();
    doing.clear();
    isBusy = true;
  }
  void write(const Diagnostic &diagnostic) {
    std::lock_guard lock(mutex);
    (diagnostic.severity == Diagnostic::Severity::Error ? error : doing).write(diagnostic);
  }
  Status read() const {
    std::vector<Diagnostic> diagnostics;
    if (auto said = error.read(Diagnostic::Severity::Error))
      diagnostics.push_back(std::move(*said));
    if (auto was = doing.read(Diagnostic::Severity::Note))
      diagnostics.push_back(std::move(*was));
    return Status(StatusCode::Internal, "", std::move(diagnostics));
  }
};
LastWords *lastWords = nullptr;

/// Nobody wants what comes: the host is gone.
[[noreturn]] void leave() { ::_exit(0); }

void send(const Message &message, const Payload *payload = nullptr) {
  if (!sendMessage(workerSocket, message, payload).ok())
    leave();
}

void runJobs(unsigned threads, size_t count, const std::function<void(size_t)> &job) {
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      job(i);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < std::min<size_t>(threads, count); ++i) {
    try {
      others.emplace_back(work);
    } catch (const std::system_error &) {
      break; // those that there are do it all
    }
  }
  work();
  for (std::thread &other : others)
    other.join();
}

/// The compilation that runs. The thread of the socket starts it, stops it, and brings answers of
/// devices.
class Job {
public:
  Job(SharedBytes payload, size_t sourceBytes)
      : payload(std::move(payload)), sourceBytes(sourceBytes) {
    thread = std::thread([this] { run(); });
  }
  ~Job() { thread.join(); }

  void stop() {
    source.request_stop();
    answer(Status(StatusCode::Cancelled, "the compilation was stopped"));
  }

  void answer(StatusOr<std::string> code) {
    std::lock_guard lock(mutex);
    deviceCode = std::move(code);
    changed.notify_all();
  }

private:
  void run() {
    StatusOr<Artifact> artifact = compileIt();
    Message message;
    message.code = artifact.ok() ? StatusCode::Ok : artifact.status().code();
    StatusOr<Payload> payload =
        artifact.ok() ? pack(*artifact) : payloadOf(toJson(artifact.status()));
    if (artifact.ok() && !payload.ok()) {
      message.code = payload.status().code();
      payload = payloadOf(toJson(payload.status()));
    }
    if (!payload.ok())
      ::_exit(1);
    message.kind = message.code == StatusCode::Ok ? MessageKind::Artifact : MessageKind::Failed;
    const double seconds[] = {times.parse, times.lower, times.optimise, times.codegen};
    std::copy(std::begin(seconds), std::end(seconds), message.seconds);
    message.numbers[0] = uint64_t(times.objects);
    message.numbers[1] = uint64_t(times.cachedObjects);
    lastWords->isBusy = false;
    send(message, &*payload);
  }

  StatusOr<Artifact> compileIt() {
    const std::string_view text = payload.bytes;
    PLIM_ASSIGN_OR_RETURN(WorkerRequest request, requestFromJson(text.substr(sourceBytes)));
    CompileOptions &options = request.options;
    options.sourceOwner = payload.owner;
    options.stop = source.get_token();
    unsigned threads = request.threads;
    if (threads > 1)
      options.parallelFor = [threads](size_t count, const std::function<void(size_t)> &job) {
        runJobs(threads, count, job);
      };
    if (request.wantsProgress)
      options.progress = [](const CompileProgress &progress) {
        Message message{.kind = MessageKind::Progress};
        message.numbers[0] = progress.done;
        message.numbers[1] = progress.total;
        message.seconds[0] = progress.fraction;
        send(message);
      };
    options.witness = [](const Diagnostic &diagnostic) { lastWords->write(diagnostic); };
    std::optional<ArtifactCache> cache; // the host keeps to its bound
    if (!request.cacheFolder.empty())
      if (StatusOr<ArtifactCache> opened =
              ArtifactCache::open(request.cacheFolder, std::numeric_limits<int64_t>::max());
          opened.ok())
        options.cache = &cache.emplace(std::move(*opened));
    for (const std::string &device : request.devices)
      options.devices.push_back(
          {device, [this, device](std::string_view name, std::string_view text) {
             return askDevice(device, name, text);
           }});
    options.takeIr = [](std::string_view stage, std::string_view text) {
      const std::string both = std::string(stage) + '\0' + std::string(text);
      if (StatusOr<Payload> ir = payloadOf(both); ir.ok())
        send({.kind = MessageKind::Ir}, &*ir);
    };
    std::string assembly;
    if (request.wantsAssembly)
      options.assembly = &assembly;
    PLIM_ASSIGN_OR_RETURN(Artifact artifact,
                          jit::compile(text.substr(0, sourceBytes), request.sourceName,
                                       request.target, options, &times));
    if (request.wantsAssembly) {
      PLIM_ASSIGN_OR_RETURN(Payload payload, payloadOf(assembly));
      send({.kind = MessageKind::Assembly}, &payload);
    }
    return artifact;
  }

  static StatusOr<Payload> pack(const Artifact &artifact) {
    PLIM_ASSIGN_OR_RETURN(Payload payload, Payload::create());
    Status status;
    serialize(artifact, [&](std::string_view piece) {
      status = payload.append(piece);
      return status.ok();
    });
    PLIM_RETURN_IF_ERROR(status);
    PLIM_RETURN_IF_ERROR(payload.seal());
    return payload;
  }

  StatusOr<std::string> askDevice(const std::string &device, std::string_view name,
                                  std::string_view text) {
    PLIM_ASSIGN_OR_RETURN(Payload payload, payloadOf(toJson(DeviceRequest{device, std::string(name),
                                                                          std::string(text)})));
    std::unique_lock lock(mutex);
    deviceCode.reset();
    send({.kind = MessageKind::Device}, &payload);
    changed.wait(lock, [&] { return deviceCode || source.stop_requested(); });
    return deviceCode ? std::move(*deviceCode) : Status(StatusCode::Cancelled, "stopped");
  }

  const SharedBytes payload;
  const size_t sourceBytes;
  CompileTimes times;
  std::stop_source source;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<StatusOr<std::string>> deviceCode;
  std::thread thread; // last: it uses the rest
};

/// Stacks do not depend on what the host's are limited to, and a file that is too large is an
/// error.
void leaveLimitsOfTheHost() {
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) == 0) {
    if (::pthread_attr_setstacksize(&attributes, jobStackBytes) == 0)
      ::pthread_setattr_default_np(&attributes);
    ::pthread_attr_destroy(&attributes);
  }
  ::signal(SIGXFSZ, SIG_IGN);
}

[[noreturn]] void serve(int64_t memoryBytes) {
  leaveLimitsOfTheHost();
#ifndef PLIM_ANY_ADDRESS_SPACE
  if (memoryBytes > 0) {
    const rlimit limit{rlim_t(memoryBytes), rlim_t(memoryBytes)};
    ::setrlimit(RLIMIT_AS, &limit);
  }
#else
  (void)memoryBytes;
#endif
  std::unique_ptr<Job> job;
  while (true) {
    StatusOr<std::optional<Received>> received = receiveMessage(workerSocket, -1);
    if (!received.ok())
      leave();
    if (!*received)
      continue;
    const Message &message = (*received)->message;
    if (message.kind == MessageKind::Stop) {
      if (job)
        job->stop();
      continue;
    }
    StatusOr<SharedBytes> payload = (*received)->bytes();
    if (!payload.ok())
      leave();
    if (message.kind == MessageKind::DeviceCode) {
      std::string text(payload->bytes);
      if (job)
        job->answer(message.code == StatusCode::Ok ? StatusOr<std::string>(std::move(text))
                                                   : Status(message.code, std::move(text)));
    } else if (message.kind == MessageKind::Compile &&
               message.numbers[0] <= payload->bytes.size()) {
      job.reset(); // it has answered
      lastWords->begin();
      job = std::make_unique<Job>(std::move(*payload), message.numbers[0]);
    } else {
      leave();
    }
  }
}

} // namespace

int main(int argc, char **argv) {
  int64_t memoryBytes = 0;
  if (argc != 2 ||
      std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), memoryBytes).ec != std::errc()) {
    static constexpr char text[] =
        "plimsoll-compile-worker: is started by libplimsoll, not by hand\n";
    (void)!::write(STDERR_FILENO, text, sizeof text - 1);
    return 2;
  }
  if (pid_t child = ::fork(); child != 0)
    return child > 0 ? 0 : 1;
  ::prctl(PR_SET_NAME, "plimsoll-worker");
  const rlimit noCore{0, 0};
  ::setrlimit(RLIMIT_CORE, &noCore);
  void *page =
      ::mmap(nullptr, sizeof(LastWords), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return 1;
  while (true) {
    lastWords = new (page) LastWords(); // its predecessor may have had the lock
    const pid_t worker = ::fork();
    if (worker < 0)
      return 1;
    if (worker == 0)
      serve(memoryBytes);
    int status = 0;
    while (::waitpid(worker, &status, 0) < 0 && errno == EINTR) {
    }
    // Without work it was asked to end, or cannot even begin: then another one could not either.
    if (!lastWords->isBusy)
      return 0;
    Message message{.kind = MessageKind::Crashed};
    message.numbers[0] = WIFSIGNALED(status) ? uint64_t(WTERMSIG(status)) : 0;
    message.numbers[1] = WIFEXITED(status) ? uint64_t(WEXITSTATUS(status)) : 0;
    const StatusOr<Payload> words = payloadOf(toJson(lastWords->read()));
    if (!sendMessage(workerSocket, message, words.ok() ? &*words : nullptr).ok())
      return 0;
  }
}
