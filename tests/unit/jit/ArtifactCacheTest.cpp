#include "jit/ArtifactCache.h"

#include "tests/unit/engine/Random.h"
#include "tests/unit/jit/SampleArtifact.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace fs = std::filesystem;

namespace plim::jit {
namespace {

constexpr int64_t roomy = int64_t(1) << 30;

class ArtifactCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "plim.cache.XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override {
    std::error_code error;
    fs::permissions(folder, fs::perms::owner_all, error);
    fs::remove_all(folder, error);
  }

  ArtifactCache openCache(int64_t maxBytes = roomy) {
    StatusOr<ArtifactCache> cache = ArtifactCache::open(folder, maxBytes);
    EXPECT_TRUE(cache.ok()) << cache.status().toString();
    return *cache;
  }
  std::vector<fs::path> files(const std::string &extension) const {
    std::vector<fs::path> found;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder))
      if (entry.path().extension() == extension)
        found.push_back(entry.path());
    return found;
  }
  fs::path onlyEntry() const {
    std::vector<fs::path> entries = files(".plimart");
    EXPECT_EQ(entries.size(), 1u);
    return entries.empty() ? fs::path() : entries[0];
  }

  std::string folder;
};

Artifact named(const std::string &source, size_t bytes = 0) {
  Artifact artifact = sampleArtifact();
  artifact.source = source;
  artifact.objects.push_back(std::string(bytes, 'x'));
  return artifact;
}

std::string contents(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_F(ArtifactCacheTest, GivesBackWhatWasStored) {
  ArtifactCache cache = openCache();
  EXPECT_FALSE(cache.load("key").has_value());
  ASSERT_TRUE(cache.store("key", named("a")).ok());
  std::optional<Artifact> artifact = cache.load("key");
  ASSERT_TRUE(artifact.has_value());
  EXPECT_EQ(serialize(*artifact), serialize(named("a")));
  EXPECT_FALSE(cache.load("other").has_value());
  EXPECT_TRUE(files(".tmp").empty());
  // Another process would see it as well.
  EXPECT_TRUE(openCache().load("key").has_value());
}

TEST_F(ArtifactCacheTest, TheLastStoreWins) {
  ArtifactCache cache = openCache();
  ASSERT_TRUE(cache.store("key", named("a")).ok());
  ASSERT_TRUE(cache.store("key", named("b")).ok());
  EXPECT_EQ(cache.load("key")->source, "b");
  onlyEntry();
}

TEST_F(ArtifactCacheTest, KeysMayHoldAnyBytes) {
  ArtifactCache cache = openCache();
  std::string key("../\0\n", 5);
  ASSERT_TRUE(cache.store(key, named("a")).ok());
  ASSERT_TRUE(cache.store("", named("b")).ok());
  EXPECT_EQ(cache.load(key)->source, "a");
  EXPECT_EQ(cache.load("")->source, "b");
  EXPECT_EQ(files(".plimart").size(), 2u);
}

TEST_F(ArtifactCacheTest, MakesTheFolderForItsUserOnly) {
  StatusOr<ArtifactCache> cache = ArtifactCache::open(folder + "/a/b", roomy);
  ASSERT_TRUE(cache.ok()) << cache.status().toString();
  EXPECT_TRUE(fs::is_directory(folder + "/a/b"));
  ASSERT_TRUE(cache->store("key", named("a")).ok());
  for (const fs::directory_entry &entry : fs::directory_iterator(folder + "/a/b")) {
    struct stat status;
    ASSERT_EQ(stat(entry.path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
  }
}

TEST_F(ArtifactCacheTest, ACorruptEntryIsIgnoredAndWrittenAnew) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  ArtifactCache cache = openCache();
  ASSERT_TRUE(cache.store("key", named("a")).ok());
  fs::path path = onlyEntry();
  const std::string good = contents(path);
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    size_t bit = random() % (bad.size() * 8);
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    write(path, bad);
    ASSERT_FALSE(cache.load("key").has_value()) << "bit " << bit;
  }
  for (size_t size = 0; size < good.size(); size += 13) {
    write(path, good.substr(0, size));
    ASSERT_FALSE(cache.load("key").has_value()) << size;
  }
  ASSERT_TRUE(cache.store("key", named("b")).ok());
  EXPECT_EQ(cache.load("key")->source, "b");
}

TEST_F(ArtifactCacheTest, AnEntryOfAnotherKeyIsIgnored) {
  ArtifactCache cache = openCache();
  ASSERT_TRUE(cache.store("one", named("a")).ok());
  fs::path one = onlyEntry();
  ASSERT_TRUE(cache.store("two", named("b")).ok());
  for (const fs::path &path : files(".plimart"))
    if (path != one)
      fs::copy_file(one, path, fs::copy_options::overwrite_existing);
  EXPECT_TRUE(cache.load("one").has_value());
  EXPECT_FALSE(cache.load("two").has_value());
}

TEST_F(ArtifactCacheTest, AnEntryThatIsNoRegularFileIsIgnored) {
  ArtifactCache cache = openCache();
  ASSERT_TRUE(cache.store("key", named("a")).ok());
  fs::path path = onlyEntry();
  fs::rename(path, folder + "/elsewhere");
  fs::create_symlink(folder + "/elsewhere", path);
  EXPECT_FALSE(cache.load("key").has_value());
  fs::remove(path);
  fs::create_directory(path);
  EXPECT_FALSE(cache.load("key").has_value());
  EXPECT_FALSE(cache.store("key", named("a")).ok());
  EXPECT_TRUE(files(".tmp").empty());
  fs::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(cache.load("key").has_value());
}

TEST_F(ArtifactCacheTest, AFolderThatOthersMayWriteIsRefused) {
  for (unsigned mode : {0720u, 0702u, 0777u}) {
    ASSERT_EQ(chmod(folder.c_str(), mode), 0);
    StatusOr<ArtifactCache> cache = ArtifactCache::open(folder, roomy);
    ASSERT_FALSE(cache.ok()) << std::oct << mode;
    EXPECT_EQ(cache.status().code(), StatusCode::PermissionDenied);
    EXPECT_NE(cache.status().message().find(folder), std::string_view::npos);
  }
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  EXPECT_TRUE(ArtifactCache::open(folder, roomy).ok());
}

TEST_F(ArtifactCacheTest, AFolderThatOthersMayReplaceIsRefused) {
  const std::string inner = folder + "/a/b/cache";
  ASSERT_TRUE(ArtifactCache::open(inner, roomy).ok());
  for (const char *above : {"/a", "/a/b"}) {
    const std::string parent = folder + above;
    for (unsigned mode : {0702u, 0777u}) {
      ASSERT_EQ(chmod(parent.c_str(), mode), 0);
      StatusOr<ArtifactCache> cache = ArtifactCache::open(inner, roomy);
      ASSERT_FALSE(cache.ok()) << parent << " " << std::oct << mode;
      EXPECT_EQ(cache.status().code(), StatusCode::PermissionDenied);
      EXPECT_NE(cache.status().message().find("'" + parent + "'"), std::string_view::npos);
    }
    // As /tmp is, where what is somebody's stays his.
    ASSERT_EQ(chmod(parent.c_str(), 01777), 0);
    EXPECT_TRUE(ArtifactCache::open(inner, roomy).ok()) << parent;
    // A group of the user alone has his number.
    ASSERT_EQ(chmod(parent.c_str(), 0775), 0);
    EXPECT_EQ(ArtifactCache::open(inner, roomy).ok(), getegid() == geteuid()) << parent;
    ASSERT_EQ(chmod(parent.c_str(), 0755), 0);
  }
  EXPECT_TRUE(ArtifactCache::open(inner, roomy).ok());
}

TEST_F(ArtifactCacheTest, AFolderBelowOneOfAnotherUserIsRefused) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs root to give a folder away";
  const std::string inner = folder + "/a/b/cache";
  ASSERT_TRUE(ArtifactCache::open(inner, roomy).ok());
  for (const char *above : {"/a", "/a/b"}) {
    const std::string parent = folder + above;
    // Its owner may rename in it, whatever bits it has.
    ASSERT_EQ(chown(parent.c_str(), 12345, getegid()), 0);
    for (unsigned mode : {0755u, 01755u, 01777u}) {
      ASSERT_EQ(chmod(parent.c_str(), mode), 0);
      StatusOr<ArtifactCache> cache = ArtifactCache::open(inner, roomy);
      ASSERT_FALSE(cache.ok()) << parent << " " << std::oct << mode;
      EXPECT_EQ(cache.status().code(), StatusCode::PermissionDenied);
      EXPECT_NE(cache.status().message().find("'" + parent + "', since it is another user's"),
                std::string_view::npos);
    }
    // A group that others may be in.
    ASSERT_EQ(chown(parent.c_str(), 0, 12345), 0);
    ASSERT_EQ(chmod(parent.c_str(), 0775), 0);
    EXPECT_FALSE(ArtifactCache::open(inner, roomy).ok()) << parent;
    ASSERT_EQ(chown(parent.c_str(), 0, getegid()), 0);
    ASSERT_EQ(chmod(parent.c_str(), 0755), 0);
  }
  EXPECT_TRUE(ArtifactCache::open(inner, roomy).ok());
}

/// Whether a process opens the cache whose primary group is not its user's alone.
bool opensAsMemberOfAGroup(const std::string &folder) {
  return setgid(12345) == 0 && setuid(54321) == 0 && ArtifactCache::open(folder, roomy).ok();
}

TEST_F(ArtifactCacheTest, APrimaryGroupThatOthersMayBeInIsNotTheUsers) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs root to give a folder away";
  const std::string parent = folder + "/a", inner = parent + "/cache";
  fs::create_directories(inner);
  ASSERT_EQ(chmod(folder.c_str(), 0755), 0);
  for (const std::string &each : {parent, inner})
    ASSERT_EQ(chown(each.c_str(), 54321, 12345), 0);
  for (unsigned mode : {0755u, 0775u}) {
    ASSERT_EQ(chmod(parent.c_str(), mode), 0);
    const pid_t child = fork();
    if (child == 0)
      _exit(opensAsMemberOfAGroup(inner) ? 7 : 8);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WEXITSTATUS(status), mode == 0755 ? 7 : 8) << std::oct << mode;
  }
}

TEST_F(ArtifactCacheTest, MakesFoldersAboveForItsUserOnly) {
  const mode_t before = umask(0);
  for (const char *end : {"/a/b/cache", "/c/d/cache/", "/e//"}) {
    StatusOr<ArtifactCache> cache = ArtifactCache::open(folder + end, roomy);
    EXPECT_TRUE(cache.ok()) << cache.status().toString();
  }
  umask(before);
  size_t count = 0;
  for (const fs::directory_entry &entry : fs::recursive_directory_iterator(folder)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms::owner_all) << entry.path();
    ++count;
  }
  EXPECT_EQ(count, 7u);
}

TEST_F(ArtifactCacheTest, StaysWhereItWasOpened) {
  // A link above the folder that becomes another one, and a path that begins where the process is.
  fs::create_directories(folder + "/real");
  fs::create_directories(folder + "/other/cache");
  fs::create_directory_symlink(folder + "/real", folder + "/link");
  const fs::path was = fs::current_path();
  fs::current_path(folder);
  StatusOr<ArtifactCache> linked = ArtifactCache::open(folder + "/link/cache", roomy);
  StatusOr<ArtifactCache> relative = ArtifactCache::open("near", roomy);
  fs::current_path(was);
  ASSERT_TRUE(linked.ok()) << linked.status().toString();
  ASSERT_TRUE(relative.ok()) << relative.status().toString();
  EXPECT_EQ(linked->folder(), fs::canonical(folder) / "real/cache");
  EXPECT_EQ(relative->folder(), fs::canonical(folder) / "near");
  fs::remove(folder + "/link");
  fs::create_directory_symlink(folder + "/other", folder + "/link");
  for (const StatusOr<ArtifactCache> *cache : {&linked, &relative}) {
    ASSERT_TRUE((*cache)->store("key", named("a")).ok());
    EXPECT_TRUE((*cache)->load("key").has_value());
  }
  EXPECT_TRUE(fs::is_empty(folder + "/other/cache"));
  EXPECT_FALSE(fs::is_empty(folder + "/real/cache"));
}

TEST_F(ArtifactCacheTest, AFolderOfAnotherUserIsRefused) {
  if (geteuid() != 0)
    GTEST_SKIP() << "needs root to give a folder away";
  ASSERT_EQ(chown(folder.c_str(), 12345, 12345), 0);
  StatusOr<ArtifactCache> cache = ArtifactCache::open(folder, roomy);
  ASSERT_FALSE(cache.ok());
  EXPECT_EQ(cache.status().code(), StatusCode::PermissionDenied);
}

TEST_F(ArtifactCacheTest, ASymbolicLinkIsRefused) {
  fs::create_directory(folder + "/real");
  fs::create_directory_symlink(folder + "/real", folder + "/link");
  StatusOr<ArtifactCache> cache = ArtifactCache::open(folder + "/link", roomy);
  EXPECT_FALSE(cache.ok());
  EXPECT_FALSE(ArtifactCache::open(folder + "/link/", roomy).ok());
  fs::create_symlink(folder + "/nowhere", folder + "/dangling");
  EXPECT_FALSE(ArtifactCache::open(folder + "/dangling", roomy).ok());
}

TEST_F(ArtifactCacheTest, AFileInPlaceOfTheFolderIsUnavailable) {
  write(folder + "/file", "");
  for (const char *name : {"/file", "/file/below"}) {
    StatusOr<ArtifactCache> cache = ArtifactCache::open(folder + name, roomy);
    ASSERT_FALSE(cache.ok());
    EXPECT_EQ(cache.status().code(), StatusCode::Unavailable);
  }
}

TEST_F(ArtifactCacheTest, AStoreThatFailsSaysWhyAndLeavesNothing) {
  ArtifactCache cache = openCache();
  ASSERT_TRUE(cache.store("key", named("a")).ok());
  // Root may write anywhere: a folder that is gone fails for everyone.
  if (geteuid() != 0) {
    ASSERT_EQ(chmod(folder.c_str(), 0500), 0);
    Status status = cache.store("other", named("b"));
    EXPECT_EQ(status.code(), StatusCode::Unavailable);
    EXPECT_TRUE(cache.load("key").has_value());
    ASSERT_EQ(chmod(folder.c_str(), 0700), 0);
    EXPECT_TRUE(files(".tmp").empty());
  }
  fs::remove_all(folder);
  Status status = cache.store("other", named("b"));
  EXPECT_EQ(status.code(), StatusCode::Unavailable);
  EXPECT_NE(status.message().find("No such file"), std::string_view::npos) << status.toString();
  EXPECT_FALSE(cache.load("key").has_value());
}

TEST_F(ArtifactCacheTest, AFileThatMayNotGrowIsAnErrorNotASignal) {
  ArtifactCache cache = openCache();
  pid_t child = fork();
  if (child == 0) {
    rlimit size{1000, RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &size);
    if (cache.store("key", named("a", 1 << 16)).code() != StatusCode::Unavailable)
      _exit(10);
    size.rlim_cur = RLIM_INFINITY;
    ::setrlimit(RLIMIT_FSIZE, &size);
    _exit(cache.store("key", named("a", 1 << 16)).ok() ? 7 : 11);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
  EXPECT_TRUE(files(".tmp").empty());
  EXPECT_TRUE(cache.load("key").has_value());
}

TEST_F(ArtifactCacheTest, AReadOnlyFolderIsAnErrorForAPlainUser) {
  if (geteuid() != 0)
    GTEST_SKIP() << "the test above did that";
  ASSERT_TRUE(openCache().store("key", named("a")).ok());
  ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
  ASSERT_EQ(chown(onlyEntry().c_str(), 65534, 65534), 0);
  ASSERT_EQ(chmod(folder.c_str(), 0500), 0);
  pid_t child = fork();
  if (child == 0) {
    if (setuid(65534) != 0)
      _exit(10);
    StatusOr<ArtifactCache> cache = ArtifactCache::open(folder, roomy);
    if (!cache.ok())
      _exit(11);
    if (cache->store("other", named("b")).code() != StatusCode::Unavailable)
      _exit(12);
    if (!cache->load("key").has_value())
      _exit(13);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(files(".plimart").size(), 1u);
  EXPECT_TRUE(files(".tmp").empty());
}

TEST_F(ArtifactCacheTest, TheLongestUnusedEntriesGoFirst) {
  constexpr size_t entryBytes = 100000;
  ArtifactCache cache = openCache(3 * entryBytes + 80000);
  auto age = [&](const std::string &source, int minutes) {
    for (const fs::path &path : files(".plimart"))
      if (contents(path).find(source) != std::string::npos)
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(minutes));
  };
  ASSERT_TRUE(cache.store("one", named("source-1", entryBytes)).ok());
  ASSERT_TRUE(cache.store("two", named("source-2", entryBytes)).ok());
  ASSERT_TRUE(cache.store("three", named("source-3", entryBytes)).ok());
  EXPECT_EQ(files(".plimart").size(), 3u);
  age("source-1", 30);
  age("source-2", 20);
  age("source-3", 10);
  ASSERT_TRUE(cache.load("one").has_value()); // used now
  ASSERT_TRUE(cache.store("four", named("source-4", entryBytes)).ok());
  EXPECT_TRUE(cache.load("one").has_value());
  EXPECT_FALSE(cache.load("two").has_value());
  EXPECT_TRUE(cache.load("three").has_value());
  EXPECT_TRUE(cache.load("four").has_value());
}

TEST_F(ArtifactCacheTest, CodeIsKeptBesideArtifactsWithinTheirBound) {
  constexpr size_t codeBytes = 50000;
  ArtifactCache cache = openCache(2 * codeBytes);
  const Digest one = hashBytes("one"), two = hashBytes("two");
  EXPECT_FALSE(cache.loadCode(one).has_value());
  ASSERT_TRUE(cache.storeCode(one, std::string(codeBytes, '1')).ok());
  ASSERT_TRUE(cache.storeCode(two, "").ok());
  EXPECT_EQ(cache.loadCode(one), std::string(codeBytes, '1'));
  EXPECT_EQ(cache.loadCode(two), "");
  for (const fs::path &path : files(".plimobj"))
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::minutes(5));
  ASSERT_TRUE(cache.loadCode(two).has_value()); // used now
  ASSERT_TRUE(cache.store("key", named("source", codeBytes)).ok());
  EXPECT_FALSE(cache.loadCode(one).has_value());
  EXPECT_TRUE(cache.loadCode(two).has_value());
  EXPECT_TRUE(cache.load("key").has_value());
}

TEST_F(ArtifactCacheTest, AbandonedTemporariesAndOnlyTheyAreRemoved) {
  ArtifactCache cache = openCache();
  write(folder + "/dead.plimart.1.0.tmp", "half");
  write(folder + "/live.plimart.2.0.tmp", "half");
  write(folder + "/unrelated", "mine");
  fs::last_write_time(folder + "/dead.plimart.1.0.tmp",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  ASSERT_TRUE(cache.store("key", named("a")).ok());
  EXPECT_FALSE(fs::exists(folder + "/dead.plimart.1.0.tmp"));
  EXPECT_TRUE(fs::exists(folder + "/live.plimart.2.0.tmp"));
  EXPECT_TRUE(fs::exists(folder + "/unrelated"));
}

TEST_F(ArtifactCacheTest, ManyThreadsStoreTheSameKey) {
  ArtifactCache cache = openCache();
  std::atomic<int> bad{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        if (!cache.store("key", named(std::to_string(t), 20000)).ok())
          ++bad;
        if (!cache.load("key").has_value())
          ++bad;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(bad.load(), 0);
  onlyEntry();
  EXPECT_TRUE(files(".tmp").empty());
}

TEST_F(ArtifactCacheTest, ManyProcessesStoreTheSameKey) {
  std::vector<pid_t> children;
  for (int p = 0; p < 8; ++p) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      StatusOr<ArtifactCache> cache = ArtifactCache::open(folder, roomy);
      bool good = cache.ok();
      for (int i = 0; good && i < 10; ++i)
        good = cache->store("key", named(std::to_string(p), 20000)).ok() &&
               cache->load("key").has_value();
      _exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  onlyEntry();
  EXPECT_TRUE(files(".tmp").empty());
}

TEST_F(ArtifactCacheTest, WhatAPowerCutLeavesIsAMiss) {
  // Of a file that was renamed but not yet written back any page may be missing, or zero.
  ArtifactCache cache = openCache();
  ASSERT_TRUE(cache.store("key", named("whole", 1 << 16)).ok());
  const std::string path = onlyEntry();
  std::ifstream in(path, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  ASSERT_GT(whole.size(), size_t(1) << 16);
  auto isHit = [&](const std::string &bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    return cache.load("key").has_value();
  };
  constexpr size_t page = 4096;
  size_t tried = 0;
  for (size_t begin = 0; begin < whole.size(); begin += page, tried += 2) {
    std::string torn = whole;
    std::fill(torn.begin() + long(begin), torn.begin() + long(std::min(begin + page, torn.size())),
              '\0');
    EXPECT_EQ(isHit(torn), torn == whole) << "page at " << begin;
    EXPECT_FALSE(isHit(whole.substr(0, begin))) << "cut at " << begin;
  }
  EXPECT_TRUE(isHit(whole));
  EXPECT_FALSE(isHit(""));
  ASSERT_TRUE(cache.store("key", named("whole", 1 << 16)).ok());
  EXPECT_TRUE(cache.load("key").has_value());
}

TEST_F(ArtifactCacheTest, AKilledWriterLeavesNoBadEntry) {
  PLIM_TRACE_SEED();
  std::mt19937_64 random(testing::testSeed());
  ArtifactCache cache = openCache();
  for (int round = 0; round < 50 * testing::testScale(); ++round) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0;; ++i)
        (void)cache.store("key", named(std::to_string(i), 1 << 20));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 60));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    // Whatever is there under the name of an entry is whole.
    if (!files(".plimart").empty())
      EXPECT_TRUE(cache.load("key").has_value()) << "round " << round;
  }
  ASSERT_TRUE(cache.store("key", named("after")).ok());
  EXPECT_EQ(cache.load("key")->source, "after");
}

TEST(ArtifactCache, TheDefaultFolderFollowsTheEnvironment) {
  auto restore = [](const char *name, const std::optional<std::string> &value) {
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
  };
  auto keep = [](const char *name) -> std::optional<std::string> {
    const char *value = std::getenv(name);
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
  std::optional<std::string> xdg = keep("XDG_CACHE_HOME"), home = keep("HOME");
  setenv("XDG_CACHE_HOME", "/x", 1);
  setenv("HOME", "/h", 1);
  EXPECT_EQ(ArtifactCache::defaultFolder(), "/x/plimsoll");
  for (const char *ignored : {"", "x", "./x"}) {
    setenv("XDG_CACHE_HOME", ignored, 1);
    EXPECT_EQ(ArtifactCache::defaultFolder(), "/h/.cache/plimsoll");
  }
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(ArtifactCache::defaultFolder(), "/h/.cache/plimsoll");
  unsetenv("HOME");
  EXPECT_EQ(ArtifactCache::defaultFolder(), "");
  restore("XDG_CACHE_HOME", xdg);
  restore("HOME", home);
}

} // namespace
} // namespace plim::jit
