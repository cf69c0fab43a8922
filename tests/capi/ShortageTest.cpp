// What the system has only so much of runs out: descriptors, mappings, address space, the disk of the cache. With so little
// left, from nothing to enough, an engine is made, loads and calls: all works, or there is a status; and once there is
// enough again, the same works. Each attempt runs in a child, so that one which ends it is counted: a few may, where a thread
// of oneTBB, glibc or LLVM happens to begin or to lock with nothing left (docs/design/isolation.md). Arguments: names of
// shortages, which alone are tried then.
#include "tests/capi/Twice.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
int main() {
  std::puts("skipped: a sanitizer maps memory of its own");
  return 0;
}
#else

namespace {

using twice::ended;
using twice::source;

/// Of all attempts, 248: one is lost in about one of twenty runs.
constexpr int mostLost = 2;

std::string folder, artifactFile, cacheFolder;

plim_engine_options engineOptions() {
  plim_engine_options options{};
  options.struct_size = sizeof options;
  options.threads = 2;
  return options;
}

bool compileToFile() {
  plim_engine *engine = nullptr;
  plim_bytes *bytes = nullptr;
  const plim_engine_options options = engineOptions();
  if (!ended(plim_engine_create(&options, &engine)) ||
      !ended(plim_module_compile(engine, source, std::strlen(source), "in.mlir", nullptr, &bytes)))
    return false;
  return bool(std::ofstream(artifactFile, std::ios::binary)
                  .write(static_cast<const char *>(plim_bytes_data(bytes)),
                         static_cast<std::streamsize>(plim_bytes_size(bytes))));
}

/// An engine, a module of `source` or of the file with its artifact, a call.
bool use(const plim_engine_options &options, bool isCompiled) {
  plim_engine *engine = nullptr;
  plim_module *module = nullptr;
  bool isOk =
      ended(plim_engine_create(&options, &engine)) &&
      ended(isCompiled ? plim_module_load_file(engine, artifactFile.c_str(), nullptr, &module)
                       : plim_module_load(engine, source, std::strlen(source), "in.mlir", nullptr,
                                          &module)) &&
      twice::call(engine, module);
  plim_module_release(module);
  plim_engine_release(engine);
  return isOk;
}

struct Scenario {
  const char *name;
  std::function<bool()> run; // true if all went well
};

const Scenario scenarios[] = {
    {"artifact", [] { return use(engineOptions(), true); }},
    {"text", [] { return use(engineOptions(), false); }},
    {"text in a worker, cached",
     [] {
       plim_engine_options options = engineOptions();
       options.cache_folder = cacheFolder.c_str();
       plim_compile_workers workers{};
       workers.struct_size = sizeof workers;
       options.compile_workers = &workers;
       return use(options, false);
     }},
    {"text, cached",
     [] {
       plim_engine_options options = engineOptions();
       options.cache_folder = cacheFolder.c_str();
       return use(options, false);
     }},
};

void setLimit(int resource, rlim_t value) {
  rlimit limit{};
  getrlimit(resource, &limit);
  limit.rlim_cur = value;
  setrlimit(resource, &limit);
}

/// A shortage begins with begin(left) in the child and is over with end().
struct Shortage {
  const char *name;
  std::vector<long> left;
  std::function<void(long left)> begin;
  std::function<void()> end;
};

rlim_t descriptorsBefore;
Shortage descriptors() {
  std::vector<long> left;
  for (long n = 0; n <= 16; ++n)
    left.push_back(n);
  return {"descriptors", left,
          [](long n) {
            rlimit limit{};
            getrlimit(RLIMIT_NOFILE, &limit);
            descriptorsBefore = limit.rlim_cur;
            const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
            close(next);
            setLimit(RLIMIT_NOFILE, static_cast<rlim_t>(next + n));
          },
          [] { setLimit(RLIMIT_NOFILE, descriptorsBefore); }};
}

long valueIn(const char *file, const char *format) {
  std::ifstream in(file);
  long value = -1;
  for (std::string line; std::getline(in, line);)
    if (std::sscanf(line.c_str(), format, &value) == 1)
      return value;
  return -1;
}

long mappingCount() {
  std::ifstream in("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
}

char *many;
size_t manyBytes;
Shortage mappings() {
  std::vector<long> left;
  for (long n = 0; n <= 100; n += n < 20 ? 2 : 20)
    left.push_back(n);
  return {"mappings", left,
          [](long n) {
            const long most = valueIn("/proc/sys/vm/max_map_count", "%ld");
            const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
            // Every other page is of a kind of its own.
            manyBytes = static_cast<size_t>(most + 2) * page;
            many = static_cast<char *>(mmap(nullptr, manyBytes, PROT_NONE,
                                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
            if (many == MAP_FAILED)
              _exit(77);
            long wanted = most - mappingCount() - n;
            for (size_t at = page; wanted > 1 && at + page < manyBytes; at += 2 * page, wanted -= 2)
              if (mprotect(many + at, page, PROT_READ) != 0)
                break;
          },
          [] { munmap(many, manyBytes); }};
}

rlim_t spaceBefore;
Shortage addressSpace() {
  std::vector<long> left;
  for (long kib = 0; kib <= 4 << 20; kib = kib < 64 ? kib + 32 : kib + kib)
    left.push_back(kib);
  return {"KiB of address space", left,
          [](long kib) {
            rlimit limit{};
            getrlimit(RLIMIT_AS, &limit);
            spaceBefore = limit.rlim_cur;
            setLimit(RLIMIT_AS,
                     static_cast<rlim_t>(valueIn("/proc/self/status", "VmSize: %ld") + kib) * 1024);
          },
          [] { setLimit(RLIMIT_AS, spaceBefore); }};
}

Shortage disk() {
  return {"KiB of disk",
          {4, 8, 12, 16, 20, 24, 28, 32, 48, 64, 1024},
          [](long kib) {
            // Where nobody else sees it.
            if (unshare(CLONE_NEWNS) != 0 ||
                mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
                mount("none", cacheFolder.c_str(), "tmpfs", 0,
                      ("mode=700,size=" + std::to_string(kib) + "k").c_str()) != 0)
              _exit(77);
          },
          [] { mount("none", cacheFolder.c_str(), "tmpfs", MS_REMOUNT, "size=16m"); }};
}

/// Of a child that is waited for; less than 0: minus the signal that ended it.
int exitCode(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// How an attempt ended.
enum class End { Worked, Refused, Lost, NotAfterwards, CannotTell };

End attempt(const Scenario &scenario, const Shortage &shortage, long left) {
  std::filesystem::remove_all(cacheFolder);
  std::filesystem::create_directory(cacheFolder);
  std::filesystem::permissions(cacheFolder, std::filesystem::perms::owner_all);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60); // a lock that nobody lets go of any more
    shortage.begin(left);
    const bool isOk = scenario.run();
    shortage.end();
    const bool isOkAfterwards = scenario.run();
    std::_Exit(!isOkAfterwards ? 2 : isOk ? 0 : 1);
  }
  const int code = exitCode(child);
  if (code < 0 || code > 1)
    std::printf("%s with %ld %s: code %d\n", scenario.name, left, shortage.name, code);
  switch (code) {
  case 0:
    return End::Worked;
  case 1:
    return End::Refused;
  case 2:
    return End::NotAfterwards;
  case 77:
    return End::CannotTell;
  default:
    return End::Lost;
  }
}

} // namespace

int main(int argc, char **argv) {
  folder = std::filesystem::temp_directory_path() / ("plim_shortage_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  artifactFile = folder + "/twice.plimart";
  cacheFolder = folder + "/cache";
  // Elsewhere, so that the first engine of each attempt is the first of its process.
  if (const pid_t child = fork(); child == 0) {
    std::_Exit(compileToFile() ? 0 : 1);
  } else if (exitCode(child) != 0) {
    return 1;
  }

  int lost = 0;
  for (const Shortage &shortage : {descriptors(), mappings(), addressSpace(), disk()}) {
    const bool isWanted = argc < 2 || std::any_of(
                                          argv + 1, argv + argc,
                                          [&](const char *argument) {
                                            return std::strcmp(argument, shortage.name) == 0;
                                          });
    for (const Scenario &scenario : scenarios) {
      int count[5] = {};
      for (long left : isWanted ? shortage.left : std::vector<long>())
        ++count[static_cast<int>(attempt(scenario, shortage, left))];
      if (isWanted)
        std::printf("%s, %s: %d worked, %d refused, %d ended the process, %d did not work "
                    "afterwards, %d could not be tried\n",
                    shortage.name, scenario.name, count[0], count[1], count[2], count[3], count[4]);
      lost += count[2] + count[3];
    }
  }
  std::filesystem::remove_all(folder);
  return lost > mostLost;
}
#endif
