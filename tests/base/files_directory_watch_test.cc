#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <condition_variable>
#include <mutex>

#include "base/files.h"
#include "support/fake_clock.h"
#include "support/temp_folder.h"

namespace mindgate {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::FakeClock;
using testing::MountedSecret;
using testing::TempFolder;

// A watch whose time stands still until it is moved.
class Watched {
 public:
  explicit Watched(std::vector<std::string> folders, int others = -1)
      : watch_({.folders = std::move(folders), .others = others}, clock_, [this] { ++calls_; }) {}

  // How often it called back since the last question, `later` from then.
  int Calls(std::chrono::milliseconds later = 0ms) {
    clock_.Advance(later);
    calls_ = 0;
    wait_ = watch_.Step();
    return calls_;
  }
  std::chrono::milliseconds wait() const { return wait_; }

 private:
  FakeClock clock_;
  int calls_ = 0;
  DirectoryWatch watch_;
  std::chrono::milliseconds wait_{0};
};

TEST(DirectoryWatch, IsSilentWhileNothingHappens) {
  const TempFolder folder;
  Watched watched({folder.path()});
  EXPECT_EQ(watched.Calls(), 0);
  EXPECT_EQ(watched.wait(), 10s);
  EXPECT_EQ(watched.Calls(9999ms), 0);
  EXPECT_EQ(watched.wait(), 1ms);
}

TEST(DirectoryWatch, CallsBackEveryTenSecondsWithoutAnyReport) {
  const TempFolder folder;
  Watched watched({folder.path()});
  EXPECT_EQ(watched.Calls(10s), 1);
  EXPECT_EQ(watched.wait(), 10s);
  EXPECT_EQ(watched.Calls(9s), 0);
  EXPECT_EQ(watched.Calls(1s), 1);
}

TEST(DirectoryWatch, TakesAReportOfOthersForAChange) {
  const TempFolder folder;
  const FileDescriptor others(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
  Watched watched({folder.path()}, others.get());
  EXPECT_EQ(watched.Calls(), 0);
  EXPECT_EQ(watched.wait(), 10s);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(::eventfd_write(others.get(), 1), 0);
  EXPECT_EQ(watched.Calls(), 0);
  EXPECT_EQ(watched.wait(), 100ms);
  EXPECT_EQ(watched.Calls(100ms), 1) << "both together";
  EXPECT_EQ(watched.Calls(100ms), 0);
}

TEST(DirectoryWatch, ReportsAChangeOnceItIsQuiet) {
  const TempFolder folder;
  Watched watched({folder.path()});
  folder.Write("a", "1");
  EXPECT_EQ(watched.Calls(), 0);
  EXPECT_EQ(watched.wait(), 100ms);
  EXPECT_EQ(watched.Calls(99ms), 0);
  EXPECT_EQ(watched.wait(), 1ms);
  EXPECT_EQ(watched.Calls(1ms), 1);
  EXPECT_EQ(watched.Calls(), 0);
}

TEST(DirectoryWatch, APairWrittenOneAfterTheOtherIsOneChange) {
  const TempFolder folder;
  Watched watched({folder.path()});
  folder.Write("tls.crt", "1");
  EXPECT_EQ(watched.Calls(), 0);
  EXPECT_EQ(watched.Calls(80ms), 0);
  folder.Write("tls.key", "1");
  EXPECT_EQ(watched.Calls(), 0);
  EXPECT_EQ(watched.Calls(80ms), 0) << "the second write begins the quiet time anew";
  EXPECT_EQ(watched.Calls(20ms), 1);
}

TEST(DirectoryWatch, AWriterThatNeverRestsDelaysByOneSecondAtMost) {
  const TempFolder folder;
  Watched watched({folder.path()});
  int calls = 0;
  for (int i = 0; i < 20; ++i) {
    folder.Write("a", std::to_string(i));
    calls += watched.Calls(50ms);
  }
  EXPECT_EQ(calls, 0);
  folder.Write("a", "once more");
  EXPECT_EQ(watched.Calls(50ms), 1);
}

struct Change {
  const char* name;
  void (*make)(const TempFolder&);
};

TEST(DirectoryWatch, SeesEveryKindOfChange) {
  const Change changes[] = {
      {"a file is written", [](const TempFolder& f) { f.Write("a", "2"); }},
      {"a file appears", [](const TempFolder& f) { f.Write("b", "2"); }},
      {"a file is replaced by renaming",
       [](const TempFolder& f) { ASSERT_TRUE(WriteFiles(f.path(), {{"a", "2"}})); }},
      {"a file is removed", [](const TempFolder& f) { fs::remove(f / "a"); }},
      {"a file becomes readable",
       [](const TempFolder& f) { fs::permissions(f / "a", fs::perms::owner_read); }},
      {"a link is replaced",
       [](const TempFolder& f) {
         fs::create_symlink("elsewhere", f / "..data_tmp");
         fs::rename(f / "..data_tmp", f / "..data");
       }},
  };
  for (const Change& change : changes) {
    SCOPED_TRACE(change.name);
    const TempFolder folder;
    folder.Write("a", "1");
    Watched watched({folder.path()});
    change.make(folder);
    watched.Calls();
    EXPECT_EQ(watched.Calls(100ms), 1);
  }
}

// A watch on the mounted file itself reports the first update and never another.
TEST(DirectoryWatch, SeesEveryUpdateOfAMountedSecret) {
  MountedSecret secret;
  secret.Update({{"tls.crt", "0"}});
  Watched watched({secret.path()});
  for (int i = 1; i <= 5; ++i) {
    secret.Update({{"tls.crt", std::to_string(i)}});
    EXPECT_EQ(watched.Calls(), 0);
    EXPECT_EQ(watched.Calls(100ms), 1) << "update " << i;
    EXPECT_EQ(watched.Calls(100ms), 0);
  }
}

TEST(DirectoryWatch, FollowsAFolderThatIsRemovedAndRecreated) {
  const TempFolder parent;
  fs::create_directory(parent / "certs");
  Watched watched({parent / "certs"});
  fs::remove_all(parent / "certs");
  watched.Calls();
  EXPECT_EQ(watched.Calls(100ms), 1) << "its end is a change";
  fs::create_directory(parent / "certs");
  EXPECT_EQ(watched.Calls(10s), 1) << "found at the next poll";
  watched.Calls(100ms);  // the new watch counts as a change too
  parent.Write("certs/a", "1");
  watched.Calls();
  EXPECT_EQ(watched.Calls(100ms), 1) << "and watched again";
}

TEST(DirectoryWatch, FollowsAFolderWhosePlaceIsTakenByAnother) {
  const TempFolder parent;
  fs::create_directory(parent / "certs");
  fs::create_directory(parent / "next");
  Watched watched({parent / "certs"});
  fs::rename(parent / "certs", parent / "old");
  fs::rename(parent / "next", parent / "certs");
  watched.Calls();
  EXPECT_EQ(watched.Calls(100ms), 1);
  watched.Calls(100ms);
  parent.Write("certs/a", "1");
  watched.Calls();
  EXPECT_EQ(watched.Calls(100ms), 1);
  parent.Write("old/a", "1");
  watched.Calls();
  EXPECT_EQ(watched.Calls(100ms), 0) << "the old folder is no longer ours";
}

// Nothing in the watched folder itself changes, and the kernel reports nothing.
TEST(DirectoryWatch, FollowsALinkToAnotherFolderAtThePoll) {
  const TempFolder parent;
  fs::create_directory(parent / "one");
  fs::create_directory(parent / "two");
  fs::create_symlink("one", parent / "certs");
  Watched watched({parent / "certs"});
  fs::create_symlink("two", parent / "next");
  fs::rename(parent / "next", parent / "certs");
  EXPECT_EQ(watched.Calls(100ms), 0);
  EXPECT_EQ(watched.Calls(10s), 1);
  watched.Calls(100ms);
  parent.Write("two/a", "1");
  watched.Calls();
  EXPECT_EQ(watched.Calls(100ms), 1);
}

TEST(DirectoryWatch, WatchesSeveralFoldersAndOneTwice) {
  const TempFolder one;
  const TempFolder two;
  Watched watched({one.path(), two.path(), one.path(), "/no/such/folder"});
  one.Write("a", "1");
  two.Write("a", "1");
  watched.Calls();
  EXPECT_EQ(watched.Calls(100ms), 1);
  two.Write("a", "2");
  watched.Calls();
  EXPECT_EQ(watched.Calls(100ms), 1);
}

TEST(DirectoryWatch, PollsAFolderThatIsNotThere) {
  const TempFolder parent;
  Watched watched({parent / "later"});
  EXPECT_EQ(watched.Calls(10s), 1);
}

TEST(DirectoryWatchThread, CallsBackFromItsThreadAndStops) {
  MountedSecret secret;
  secret.Update({{"a", "1"}});
  const SystemClock clock;
  std::mutex mutex;
  std::condition_variable called;
  int calls = 0;
  const DirectoryWatchThread thread({.folders = {secret.path()}, .poll_every = 1h, .quiet = 0ms},
                                    clock, [&] {
                                      const std::lock_guard lock(mutex);
                                      ++calls;
                                      called.notify_all();
                                    });
  secret.Update({{"a", "2"}});
  std::unique_lock lock(mutex);
  EXPECT_TRUE(called.wait_for(lock, 60s, [&] { return calls > 0; }));
}

}  // namespace
}  // namespace mindgate
