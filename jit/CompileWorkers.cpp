#include "jit/CompileWorkers.h"
#include "jit/ArtifactFile.h"
#include "jit/Exhaustion.h"
#include "jit/Patience.h"
#include "jit/WorkerProtocol.h"
#include "jit/WorkerRequest.h"

#include "llvm/ADT/ScopeExit.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace plim::jit {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char *programName = "plimsoll-compile-worker";
/// How long a worker may take to stop before it is left to end with its socket.
constexpr std::chrono::milliseconds stopGrace{100};
/// Of what a worker writes to its standard error.
constexpr size_t tailBytes = 2048;

/// The same file under a number that the worker has no other use for: a host without standard
/// streams gets theirs.
Descriptor movedUp(const Descriptor &descriptor) {
  return Descriptor(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, workerSocket + 1));
}

/// One process, and the host's end of its socket.
class Worker {
public:
  static StatusOr<std::unique_ptr<Worker>> start(const std::string &program, int64_t memoryBytes) {
    auto worker = std::make_unique<Worker>();
    worker->errors = movedUp(Descriptor(::memfd_create("plimsoll-errors", MFD_CLOEXEC)));
    int ends[2] = {-1, -1};
    if (!worker->errors || ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      return failed(program, errno);
    worker->socket = movedUp(Descriptor(ends[0]));
    const Descriptor other = movedUp(Descriptor(ends[1]));
    struct stat status;
    if (!worker->socket || !other || ::fstat(worker->end(), &status) != 0)
      return failed(program, errno);
    worker->inode = status.st_ino;
    if (int error = worker->spawn(program, other.get(), memoryBytes))
      return failed(program, error);
    return worker;
  }

  /// After a fork it stays with the parent.
  bool isOfThisProcess() const { return owner == ::getpid(); }

  /// A host may close descriptors that are not its own, and open others in their place.
  bool isIntact() const {
    struct stat status;
    return ::fstat(socket.get(), &status) == 0 && status.st_ino == inode;
  }

  /// Whatever they are now, they are not ours to close.
  void forgetDescriptors() {
    socket.forget();
    errors.forget();
  }

  int end() const { return socket.get(); }

  /// The end of what it wrote since it was asked last.
  std::string tail() {
    struct stat status;
    if (::fstat(errors.get(), &status) != 0)
      return "";
    auto size = static_cast<uint64_t>(status.st_size);
    uint64_t from = std::max<uint64_t>(seen, size > tailBytes ? size - tailBytes : 0);
    std::string text(size - std::min(from, size), '\0');
    if (!FileSource(errors.get(), size).read(from, text))
      return "";
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
      text.pop_back();
    return text;
  }
  void forgetErrors() {
    struct stat status;
    if (::fstat(errors.get(), &status) == 0)
      seen = static_cast<uint64_t>(status.st_size);
  }

private:
  static Status failed(const std::string &program, int error) {
    StatusCode code = error == ENOMEM || error == EAGAIN || error == EMFILE || error == ENFILE
                          ? StatusCode::ResourceExhausted
                          : StatusCode::Unavailable;
    return Status(code, "the compile worker '" + program +
                            "' cannot be started: " + std::strerror(error));
  }

  /// The process that is started ends at once: the worker is its child, so that the host never has
  /// to wait for it, and its handler of SIGCHLD, or whatever waits for all children, meets no
  /// process that it does not know of.
  int spawn(const std::string &program, int other, int64_t memoryBytes) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (int error = posix_spawn_file_actions_init(&actions))
      return error;
    if (int error = posix_spawnattr_init(&attributes)) {
      posix_spawn_file_actions_destroy(&actions);
      return error;
    }
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int error = 0;
    auto also = [&](int result) { error = error ? error : result; };
    also(posix_spawn_file_actions_adddup2(&actions, errors.get(), STDERR_FILENO));
    also(posix_spawn_file_actions_adddup2(&actions, other, workerSocket));
    also(posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0));
    also(posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0));
    also(posix_spawn_file_actions_addclosefrom_np(&actions, workerSocket + 1));
    also(posix_spawnattr_setsigmask(&attributes, &none));
    also(posix_spawnattr_setsigdefault(&attributes, &all));
    // A session of its own: what the terminal sends to the host's group does not get there.
    also(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                   POSIX_SPAWN_SETSID));
    std::string memory = std::to_string(memoryBytes);
    std::string name = program;
    char *arguments[] = {name.data(), memory.data(), nullptr};
    pid_t process = -1;
    also(error ? error
               : posix_spawn(&process, program.c_str(), &actions, &attributes, arguments, environ));
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    // Somebody else may have waited for it, then there is none.
    while (!error && ::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
    return error;
  }

public:
  Worker() = default;

private:
  Descriptor socket, errors;
  ino_t inode = 0;
  const pid_t owner = ::getpid();
  uint64_t seen = 0; // of errors
};

/// What the worker is asked with.
StatusOr<Payload> payloadFor(std::string_view source, const WorkerRequest &request) {
  PLIM_ASSIGN_OR_RETURN(Payload payload, Payload::create());
  // First: large constants of bytecode lie where their alignment says.
  PLIM_RETURN_IF_ERROR(payload.append(source));
  PLIM_RETURN_IF_ERROR(payload.append(toJson(request)));
  PLIM_RETURN_IF_ERROR(payload.seal());
  return payload;
}

/// Internal, at the place if there is one.
Status endedAt(std::string_view sourceName, const Diagnostic &error) {
  if (error.line == 0)
    return Status(StatusCode::Internal, std::string(sourceName) + ": " + error.message);
  return Status(StatusCode::Internal, toString(error), {error});
}

std::string crashText(const Message &message) {
  if (auto signal = int(message.numbers[0]); signal != 0) {
    const char *description = sigdescr_np(signal);
    return description
               ? std::string("by signal ") + std::to_string(signal) + " (" + description + ")"
               : "by signal " + std::to_string(signal);
  }
  return "with exit code " + std::to_string(message.numbers[1]);
}

/// One compilation in one worker.
class Conversation {
public:
  Conversation(Worker &worker, std::string_view sourceName, const CompileOptions &options,
               const WorkerOptions &limits, const Patience &patience, CompileTimes &times)
      : worker(worker), sourceName(sourceName), options(options), patience(patience),
        ownPatience({}, limits.deadline), times(times) {}

  /// May the worker be asked again?
  bool isUsable = false;
  /// Of a parser that ended without a word before, how; upstream does not say where.
  std::optional<Diagnostic> endOfParser;

  StatusOr<Artifact> run(const Payload &request, size_t sourceBytes) {
    worker.forgetErrors();
    Message ask{.kind = MessageKind::Compile};
    ask.numbers[0] = sourceBytes;
    PLIM_RETURN_IF_ERROR(sendMessage(worker.end(), ask, &request));
    std::optional<Clock::time_point> stopped;
    while (true) {
      if (!stopped && options.stop.stop_requested()) {
        stopped = Clock::now();
        PLIM_RETURN_IF_ERROR(sendMessage(worker.end(), {.kind = MessageKind::Stop}));
      }
      if (stopped && Clock::now() - *stopped > stopGrace)
        return cancelledError("the compilation was stopped");
      for (const Patience *each : {&patience, &ownPatience})
        if (each->isOver())
          return each->status().withContext(sourceName);
      StatusOr<std::optional<Received>> received = receiveMessage(worker.end(), pause());
      if (!received.ok())
        return received.status();
      if (!*received)
        continue;
      PLIM_ASSIGN_OR_RETURN(std::optional<StatusOr<Artifact>> result, take(**received));
      if (result)
        return std::move(*result);
    }
  }

private:
  /// How long nothing else has to be looked after, milliseconds.
  int pause() const {
    if (options.stop.stop_possible())
      return 10;
    if (!patience.isFinite() && !ownPatience.isFinite())
      return -1;
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(std::min(patience.left(), ownPatience.left()));
    return int(std::clamp<int64_t>(left.count(), 0, 1000));
  }

  /// The end, if it is one.
  StatusOr<std::optional<StatusOr<Artifact>>> take(const Received &received) {
    const Message &message = received.message;
    switch (message.kind) {
    case MessageKind::Progress:
      if (options.progress)
        options.progress(
            {size_t(message.numbers[0]), size_t(message.numbers[1]), message.seconds[0]});
      return std::optional<StatusOr<Artifact>>();
    case MessageKind::Device:
      PLIM_RETURN_IF_ERROR(compileForDevice(received));
      return std::optional<StatusOr<Artifact>>();
    case MessageKind::Assembly: {
      PLIM_ASSIGN_OR_RETURN(std::string text, received.text());
      if (options.assembly)
        *options.assembly = std::move(text);
      return std::optional<StatusOr<Artifact>>();
    }
    case MessageKind::Ir: {
      PLIM_ASSIGN_OR_RETURN(std::string text, received.text());
      const size_t end = text.find('\0');
      if (options.takeIr && end != std::string::npos)
        options.takeIr(std::string_view(text).substr(0, end),
                       std::string_view(text).substr(end + 1));
      return std::optional<StatusOr<Artifact>>();
    }
    case MessageKind::Artifact: {
      PLIM_RETURN_IF_ERROR(received.check());
      times = {.objects = int64_t(message.numbers[0]),
               .cachedObjects = int64_t(message.numbers[1]),
               .parse = message.seconds[0],
               .lower = message.seconds[1],
               .optimise = message.seconds[2],
               .codegen = message.seconds[3]};
      StatusOr<Artifact> artifact =
          deserialize(FileSource(received.payload.get(), message.payloadBytes));
      isUsable = artifact.ok();
      return std::optional(std::move(artifact));
    }
    case MessageKind::Failed: {
      PLIM_ASSIGN_OR_RETURN(std::string text, received.text());
      isUsable = message.code != StatusCode::ResourceExhausted; // memory that LLVM lost is gone
      return std::optional<StatusOr<Artifact>>(failureFromJson(
          message.code == StatusCode::Ok ? StatusCode::Internal : message.code, text));
    }
    case MessageKind::Crashed: {
      isUsable = true; // the next one stands there already
      return std::optional<StatusOr<Artifact>>(crash(received));
    }
    default:
      return dataLossError("what the compile worker says is no message");
    }
  }

  /// If the compiler had said an error before it ended, that is what is wrong with the text.
  /// Otherwise the status names what the compiler was doing.
  Status crash(const Received &received) {
    const StatusOr<std::string> words = received.text();
    const Status last = words.ok() ? failureFromJson(StatusCode::Internal, *words) : okStatus();
    const Diagnostic *said = nullptr, *doing = nullptr;
    for (const Diagnostic &diagnostic : last.diagnostics())
      (diagnostic.severity == Diagnostic::Severity::Error ? said : doing) = &diagnostic;
    std::string ended = "the compiler ended " + crashText(received.message);
    if (said)
      return Status(StatusCode::InvalidArgument, toString(*said) + " (" + ended + ")", {*said});
    if (doing)
      ended += " " + doing->message;
    if (const std::string tail = worker.tail(); !tail.empty())
      ended += "; it wrote: " + tail;
    Diagnostic error = doing ? *doing : Diagnostic();
    error.severity = Diagnostic::Severity::Error;
    error.message = ended;
    // Who kills it means the process, not the text: the kernel, for memory.
    if (doing && doing->message == whileParsing && received.message.numbers[0] != SIGKILL)
      endOfParser = error;
    return endedAt(sourceName, error);
  }

  Status compileForDevice(const Received &received) {
    PLIM_ASSIGN_OR_RETURN(std::string json, received.text());
    PLIM_ASSIGN_OR_RETURN(DeviceRequest request, deviceRequestFromJson(json));
    StatusOr<std::string> code = unimplementedError("there is no such device");
    for (const DeviceCompiler &device : options.devices)
      if (device.device == request.device)
        code = device.compile(request.name, request.text);
    PLIM_ASSIGN_OR_RETURN(Payload payload,
                          payloadOf(code.ok() ? std::string_view(*code) : code.status().message()));
    return sendMessage(worker.end(),
                       {.kind = MessageKind::DeviceCode,
                        .code = code.ok() ? StatusCode::Ok : code.status().code()},
                       &payload);
  }

  Worker &worker;
  std::string_view sourceName;
  const CompileOptions &options;
  const Patience &patience;   // of the load, which may have waited before; a stop is told to it
  const Patience ownPatience; // of this compilation
  CompileTimes &times;
};

std::string_view firstLines(std::string_view text, size_t count) {
  size_t end = 0;
  for (; count > 0 && end < text.size(); --count)
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end);
}

/// The last line of the shortest beginning of a text that ends the parser as all of it does, as a
/// place; of line 0 if that is not found within `most`. A beginning is an ordinary error unless it
/// has what ends the parser, so that halving what it may be leads there. `isUsable` as in
/// Conversation.
Diagnostic whereParserEnds(Worker &worker, std::string_view source, std::string_view sourceName,
                           const targets::TargetDescription &target, const CompileOptions &options,
                           const WorkerOptions &limits, std::chrono::nanoseconds most,
                           bool &isUsable) {
  if (most.count() <= 0)
    return {};
  const Patience patience({}, most);
  CompileOptions asked;
  asked.engineLimits = options.engineLimits;
  asked.loadLimits = options.loadLimits;
  asked.loadLimits.push_back("max_operations=0"); // what can be parsed goes no further
  asked.stop = options.stop;
  const WorkerRequest request = requestFor(sourceName, target, asked);
  CompileTimes unused;
  size_t lives = 0;
  size_t ends = size_t(std::count(source.begin(), source.end(), '\n')) + !source.ends_with('\n');
  while (ends - lives > 1) {
    const size_t middle = lives + (ends - lives) / 2;
    const std::string_view beginning = firstLines(source, middle);
    const StatusOr<Payload> payload = payloadFor(beginning, request);
    if (!payload.ok())
      return {};
    Conversation conversation(worker, sourceName, asked, limits, patience, unused);
    (void)conversation.run(*payload, beginning.size());
    isUsable = conversation.isUsable;
    if (!isUsable)
      return {};
    (conversation.endOfParser ? ends : lives) = middle;
  }
  std::string_view line = firstLines(source, ends).substr(firstLines(source, lives).size());
  line = line.substr(0, line.find_last_not_of(" \t\r\n") + 1);
  Diagnostic place;
  place.file = sourceName;
  place.line = uint32_t(ends);
  place.column = uint32_t(std::min(line.find_first_not_of(" \t"), line.size()) + 1);
  place.endLine = place.line;
  place.endColumn = uint32_t(line.size() + 1);
  return place;
}

} // namespace

StatusOr<std::string> workerPath() {
  if (const char *given = std::getenv("PLIMSOLL_COMPILE_WORKER"); given && *given)
    return std::string(given);
  std::string tried;
  Dl_info self;
  std::error_code error;
  for (const char *origin :
       {dladdr(reinterpret_cast<const void *>(&workerPath), &self) ? self.dli_fname : "",
        "/proc/self/exe"}) {
    fs::path folder = fs::canonical(origin, error).parent_path();
    if (error)
      continue;
    for (const char *relative :
         {".", "plimsoll", "../" PLIM_LIBRARY_FOLDER "/plimsoll", "../bin"}) {
      fs::path path = (folder / relative / programName).lexically_normal();
      if (::access(path.c_str(), X_OK) == 0)
        return path.string();
      tried += (tried.empty() ? "" : ", ") + path.string();
    }
  }
  return Status(StatusCode::NotFound, std::string("there is no compile worker, which isolation "
                                                  "from the compiler needs: tried ") +
                                          tried);
}

namespace {

/// Processes that wait for work. Any thread.
class IdleWorkers {
public:
  /// Those of everybody with such a program in this process; a child of fork() begins with none.
  static std::shared_ptr<IdleWorkers> sharedOf(const std::string &program, int64_t memoryBytes) {
    struct Registry {
      const pid_t process = ::getpid();
      std::mutex mutex;
      std::map<std::pair<std::string, int64_t>, std::weak_ptr<IdleWorkers>> all;
    };
    // One of the parent's may be locked for ever, and is left alone.
    static std::atomic<Registry *> current{nullptr};
    Registry *registry = current.load();
    while (!registry || registry->process != ::getpid()) {
      auto made = std::make_unique<Registry>();
      if (current.compare_exchange_strong(registry, made.get()))
        registry = made.release();
    }
    std::lock_guard lock(registry->mutex);
    std::erase_if(registry->all, [](const auto &each) { return each.second.expired(); });
    std::weak_ptr<IdleWorkers> &entry = registry->all[{program, memoryBytes}];
    std::shared_ptr<IdleWorkers> idle = entry.lock();
    if (!idle)
      entry = idle = std::make_shared<IdleWorkers>();
    return idle;
  }

  /// So many may wait, or as many as others have room for. leaveRoom() follows.
  void makeRoom(size_t count) {
    std::lock_guard lock(mutex);
    idle.reserve(std::max(count, room())); // to give one back takes no memory
    rooms.insert(count);
  }
  void leaveRoom(size_t count) {
    std::lock_guard lock(mutex);
    rooms.erase(rooms.find(count));
    while (idle.size() > room())
      idle.pop_back();
  }

  /// Null if there is none that can be used.
  std::unique_ptr<Worker> take() {
    std::lock_guard lock(mutex);
    while (!idle.empty()) {
      std::unique_ptr<Worker> worker = std::move(idle.back());
      idle.pop_back();
      if (!worker->isIntact())
        worker->forgetDescriptors();
      else if (worker->isOfThisProcess())
        return worker;
    }
    return nullptr;
  }

  void give(std::unique_ptr<Worker> worker) {
    std::lock_guard lock(mutex);
    if (idle.size() < room())
      idle.push_back(std::move(worker));
  }

private:
  size_t room() const { return rooms.empty() ? 0 : *rooms.rbegin(); }

  std::mutex mutex;
  std::vector<std::unique_ptr<Worker>> idle; // at most room()
  std::multiset<size_t> rooms;               // of each who may give some
};

/// Where the program is from now on, whatever becomes of the environment and the working directory.
StatusOr<std::string> resolvedProgram(const std::string &given) {
  std::string path = given;
  if (given.empty()) {
    PLIM_ASSIGN_OR_RETURN(path, workerPath());
  }
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  return error ? path : absolute.string();
}

} // namespace

/// How many compile at once, and in what.
class CompileWorkers::Pool {
public:
  explicit Pool(WorkerOptions given)
      : options(std::move(given)), program(resolvedProgram(options.program)),
        processes(std::max(options.processes, 1u)),
        idle(options.areShared && program.ok()
                 ? IdleWorkers::sharedOf(*program, options.memoryBytes)
                 : std::make_shared<IdleWorkers>()) {
    idle->makeRoom(processes);
  }
  ~Pool() { idle->leaveRoom(processes); }
  Pool(const Pool &) = delete;
  Pool &operator=(const Pool &) = delete;

  /// Waits until fewer compile than there may be processes. leave() follows.
  Status enter(const std::stop_token &stop, const Patience &patience) {
    std::unique_lock lock(mutex);
    auto isFree = [&] { return compiling < processes; };
    // The longest that any clock can wait from now on.
    const auto most = std::min<std::chrono::nanoseconds>(patience.left(), std::chrono::years(1));
    if (!changed.wait_for(lock, stop, most, isFree))
      return stop.stop_requested() || !patience.isOver()
                 ? cancelledError("the compilation was stopped")
                 : patience.status();
    ++compiling;
    return okStatus();
  }

  /// One that has worked before, and may have ended since; null if there is none.
  std::unique_ptr<Worker> rested() { return idle->take(); }

  StatusOr<std::unique_ptr<Worker>> start() const {
    PLIM_RETURN_IF_ERROR(program.status());
    return Worker::start(*program, options.memoryBytes);
  }

  /// With a process that can be used once more, or null.
  void leave(std::unique_ptr<Worker> usable) {
    if (usable)
      idle->give(std::move(usable));
    std::lock_guard lock(mutex);
    --compiling;
    changed.notify_one();
  }

  const WorkerOptions options;
  const StatusOr<std::string> program;

private:
  const size_t processes;
  const std::shared_ptr<IdleWorkers> idle;
  std::mutex mutex;
  std::condition_variable_any changed;
  size_t compiling = 0;
};

CompileWorkers::CompileWorkers(WorkerOptions options)
    : pool(std::make_unique<Pool>(std::move(options))) {}

CompileWorkers::~CompileWorkers() = default;

const StatusOr<std::string> &CompileWorkers::program() const { return pool->program; }

StatusOr<Artifact> CompileWorkers::compile(std::string_view source, std::string_view sourceName,
                                           const targets::TargetDescription &target,
                                           const CompileOptions &options, CompileTimes *times) {
  std::optional<StatusOr<Artifact>> artifact;
  // LLVM writes and reads the JSON.
  const std::string what = "compiling " + std::string(sourceName);
  PLIM_RETURN_IF_ERROR(catchExhaustion(outOfMemory(what), [&] {
    artifact = compileThere(source, sourceName, target, options, times);
    return okStatus();
  }));
  return std::move(*artifact);
}

StatusOr<Artifact> CompileWorkers::compileThere(std::string_view source,
                                                std::string_view sourceName,
                                                const targets::TargetDescription &target,
                                                const CompileOptions &options,
                                                CompileTimes *times) {
  const Patience patience({}, options.timeout, options.begin);
  ProfilerSpan span(options.profiler, Profiler::Kind::Compile, "compile worker");
  WorkerRequest request = requestFor(sourceName, target, options);
  request.threads = options.parallelFor ? pool->options.threads : 1;
  PLIM_ASSIGN_OR_RETURN(Payload payload, payloadFor(source, request));

  CompileTimes unused;
  // One that has ended since it was used last is found out by asking it: all that rest may have,
  // and the first that is started, when somebody ends them.
  for (int started = 0;;) {
    PLIM_RETURN_IF_ERROR(pool->enter(options.stop, patience));
    std::unique_ptr<Worker> usable;
    auto leave = llvm::scope_exit([&] { pool->leave(std::move(usable)); });
    std::unique_ptr<Worker> worker = pool->rested();
    if (!worker) {
      PLIM_ASSIGN_OR_RETURN(worker, pool->start());
      ++started;
    }
    const bool isLast = started == 2;
    const Patience own({}, pool->options.deadline);
    Conversation conversation(*worker, sourceName, options, pool->options, patience,
                              times ? *times : unused);
    StatusOr<Artifact> artifact = conversation.run(payload, source.size());
    if (std::optional<Diagnostic> &end = conversation.endOfParser; end && !isBytecode(source)) {
      const auto most =
          std::min<std::chrono::nanoseconds>({patience.left(), own.left(), pool->options.search});
      Diagnostic place = whereParserEnds(*worker, source, sourceName, target, options,
                                         pool->options, most, conversation.isUsable);
      place.message = std::move(end->message);
      artifact = endedAt(sourceName, place);
    }
    const bool isGone = !conversation.isUsable && !artifact.ok() &&
                        artifact.status().code() == StatusCode::Unavailable;
    if (isGone && isLast) {
      std::string tail = worker->tail();
      if (!tail.empty())
        artifact = artifact.status().withContext(tail);
    }
    if (conversation.isUsable)
      usable = std::move(worker);
    if (!isGone || isLast)
      return artifact;
  }
}

} // namespace plim::jit
