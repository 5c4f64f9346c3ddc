#include "http/transport.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>

namespace mindgate::http {
namespace {

// Both ends of a connection, ours watched by its edges.
struct Pair {
  Pair() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends), 0);
    ours.emplace(FileDescriptor(ends[0]));
    theirs = FileDescriptor(ends[1]);
  }
  void Send(std::string_view bytes) const {
    ASSERT_EQ(::send(theirs.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // What one read for at most `size` bytes brings: the bytes, or in brackets why there are none.
  std::string Read(size_t size) {
    std::array<char, 64> buffer;
    const IoResult read = ours->Receive(buffer.data(), size);
    switch (read.status) {
      case IoStatus::kDone:
        return {buffer.data(), read.bytes};
      case IoStatus::kWait:
        return "[wait]";
      case IoStatus::kClosed:
        return "[closed]";
      case IoStatus::kFailed:
        return "[failed]";
    }
    return "[?]";
  }

  std::optional<EdgeSocket> ours;
  FileDescriptor theirs;
};

TEST(EdgeSocket, AsksAgainOnlyAfterAnEventOnceItIsEmpty) {
  Pair pair;
  EXPECT_EQ(pair.Read(4), "[wait]") << "it may be ready before the first event";
  pair.Send("abcdefg");
  EXPECT_EQ(pair.Read(4), "[wait]") << "nobody has said so";
  pair.ours->OnReady(false);
  EXPECT_EQ(pair.Read(4), "abcd");
  EXPECT_EQ(pair.Read(4), "efg") << "the first read was full: there may be more";
  pair.Send("h");
  EXPECT_EQ(pair.Read(4), "[wait]") << "the second was short";
  pair.ours->OnReady(false);
  EXPECT_EQ(pair.Read(4), "h");
}

TEST(EdgeSocket, ReadsWhatExactlyFitsAndThenAsks) {
  Pair pair;
  pair.Send("abcd");
  EXPECT_EQ(pair.Read(4), "abcd");
  pair.Send("e");
  EXPECT_EQ(pair.Read(4), "e");
}

TEST(EdgeSocket, FindsTheEndBehindTheLastBytes) {
  Pair pair;
  pair.Send("ab");
  pair.theirs.Close();
  pair.ours->OnReady(true);
  EXPECT_EQ(pair.Read(4), "ab");
  EXPECT_EQ(pair.Read(4), "[closed]");
}

TEST(EdgeSocket, FindsTheEndThatIsReportedLater) {
  Pair pair;
  pair.Send("ab");
  EXPECT_EQ(pair.Read(4), "ab");
  pair.theirs.Close();
  EXPECT_EQ(pair.Read(4), "[wait]");
  pair.ours->OnReady(true);
  EXPECT_EQ(pair.Read(4), "[closed]");
}

TEST(EdgeSocket, WritesUntilThePeerMustRead) {
  Pair pair;
  const std::string bytes(64 * 1024, 'x');
  size_t sent = 0;
  IoResult write;
  for (int i = 0; i < 1000 && write.status == IoStatus::kDone; ++i) {
    write = pair.ours->Send(bytes);
    sent += write.bytes;
  }
  EXPECT_EQ(write.status, IoStatus::kWait);
  EXPECT_GT(sent, 0);
  pair.theirs.Close();
  EXPECT_EQ(pair.ours->Send(bytes).status, IoStatus::kFailed) << "and no signal";
}

}  // namespace
}  // namespace mindgate::http
