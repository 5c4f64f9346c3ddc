#include "http/connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "http/answers.h"
#include "http/raw_requests.h"
#include "support/fake_clock.h"

namespace mindgate::http {
namespace {

using namespace std::chrono_literals;
using Next = Connection::Next;
using testing::Head;
using testing::Post;
using testing::RawRequest;
using testing::RawRequests;
using testing::RefusalAnswer;

// What a test and the transport of its connection share: each piece is what one read gives. Once
// there was none, there is none before the next OnReady.
struct Wire {
  std::deque<std::string> in;
  std::string out;
  size_t out_room = SIZE_MAX;
  IoStatus handshake = IoStatus::kDone;
  bool heard = false;
  IoStatus at_end = IoStatus::kWait;
  bool ended = false;
  bool empty = false;
  int writes = 0;
};

class FakeTransport final : public Transport {
 public:
  explicit FakeTransport(Wire& wire) : wire_(wire) {}

  void OnReady(bool) override { wire_.empty = false; }
  IoStatus Handshake() override { return wire_.handshake; }
  bool heard() const override { return wire_.heard; }
  IoResult Read(char* buffer, size_t size) override {
    if (wire_.empty) return {IoStatus::kWait, 0};
    if (wire_.in.empty()) {
      wire_.empty = wire_.at_end == IoStatus::kWait;
      return {wire_.at_end, 0};
    }
    std::string& piece = wire_.in.front();
    const size_t count = std::min(size, piece.size());
    std::copy_n(piece.begin(), count, buffer);
    piece.erase(0, count);
    if (piece.empty()) wire_.in.pop_front();
    return {IoStatus::kDone, count};
  }
  IoResult Write(std::string_view bytes) override {
    const size_t count = std::min(bytes.size(), wire_.out_room);
    if (count == 0) return {IoStatus::kWait, 0};
    ++wire_.writes;
    wire_.out_room -= count;
    wire_.out += bytes.substr(0, count);
    return {IoStatus::kDone, count};
  }
  void EndWriting() override { wire_.ended = true; }
  IoResult Discard(char* buffer, size_t size) override { return Read(buffer, size); }

 private:
  Wire& wire_;
};

// What a connection charges that holds nothing: the room inside of its strings.
constexpr size_t kBare = 4 * 15;

struct Fixture {
  explicit Fixture(Port port = Port::kPosts, size_t bytes = 64 * 1024 * 1024) : budget(bytes) {
    settings.port = port;
    connection = std::make_unique<Connection>(std::make_unique<FakeTransport>(wire), settings,
                                              budget, stats, clock.Now());
  }

  // Drives until nothing is left to do, answering each request with "METHOD target|body" and the
  // given close.
  Next Settle(bool close = false) {
    connection->OnReady(false);
    Next next = connection->Drive(clock.Now());
    while (next == Next::kAgain || next == Next::kDispatch) {
      if (next == Next::kAgain) {
        next = connection->Drive(clock.Now());
        continue;
      }
      Response response = PlainText(200, testing::Described(connection->TakeRequest().request));
      response.close = close;
      next = connection->OnAnswer(connection->sequence(), std::move(response), clock.Now());
    }
    return next;
  }

  mindgate::testing::FakeClock clock;
  Wire wire;
  ConnectionSettings settings;
  ByteBudget budget;
  LayerStats stats;
  std::unique_ptr<Connection> connection;
};

// The bytes of the answer to "METHOD target|body".
std::string Answered(const std::string& word, bool close = false) {
  Response response = PlainText(200, word);
  response.close = close;
  return testing::Formatted(response, /*head_only=*/word.starts_with("HEAD "));
}

// The bytes on the wire for RawRequest::want.
std::string WantedBytes(std::string want) {
  std::string bytes;
  while (!want.empty()) {
    const size_t end = want.find(", ");
    const std::string word = want.substr(0, end);
    want = end == std::string::npos ? "" : want.substr(end + 2);
    if (word == "...") continue;
    if (word.front() != '!') {
      bytes += Answered(word);
      continue;
    }
    for (size_t i = 0; i < kRefusalCount; ++i) {
      const auto refusal = static_cast<Refusal>(i);
      if (InfoOf(refusal).name == word.substr(1)) bytes += RefusalAnswer(refusal, true);
    }
  }
  return bytes;
}

std::string WithoutContinue(std::string bytes) {
  const std::string line = "HTTP/1.1 100 Continue\r\n\r\n";
  const size_t at = bytes.find(line);
  return at == std::string::npos ? bytes : bytes.erase(at, line.size());
}

TEST(Connection, RawRequestsInOneReadAndCutAtEveryByte) {
  for (const RawRequest& raw : RawRequests()) {
    const size_t step = raw.bytes.size() > 4096 ? 1001 : 1;
    for (size_t cut = 0; cut < std::max<size_t>(raw.bytes.size(), 1); cut += step) {
      Fixture fixture(raw.port);
      if (cut > 0) fixture.wire.in.push_back(raw.bytes.substr(0, cut));
      if (cut < raw.bytes.size()) fixture.wire.in.push_back(raw.bytes.substr(cut));
      EXPECT_EQ(fixture.Settle(), Next::kWait);
      ASSERT_EQ(WithoutContinue(fixture.wire.out), WantedBytes(raw.want))
          << raw.name << ", cut at " << cut;
      const bool refused = raw.want.find('!') != std::string::npos;
      ASSERT_EQ(fixture.wire.ended, refused) << raw.name;
      fixture.connection.reset();
      ASSERT_EQ(fixture.budget.used(), 0) << raw.name;
      ASSERT_EQ(fixture.stats.Open(), 0) << raw.name;
    }
  }
}

TEST(Connection, RawRequestsByteByByte) {
  for (const RawRequest& raw : RawRequests()) {
    Fixture fixture(raw.port);
    for (const char c : raw.bytes) fixture.wire.in.emplace_back(1, c);
    EXPECT_EQ(fixture.Settle(), Next::kWait);
    ASSERT_EQ(WithoutContinue(fixture.wire.out), WantedBytes(raw.want)) << raw.name;
  }
}

TEST(Connection, ContinueIsSentOnceAndOnlyWhenTheBodyIsAwaited) {
  const std::string head =
      Head({"POST /mutate HTTP/1.1", "Host: a", "Content-Type: application/json",
            "Content-Length: 2", "Expect: 100-continue"});
  Fixture waits;
  waits.wire.in = {head};
  waits.Settle();
  EXPECT_EQ(waits.wire.out, "HTTP/1.1 100 Continue\r\n\r\n");
  waits.wire.in = {"{", "}"};
  waits.Settle();
  EXPECT_EQ(waits.wire.out, "HTTP/1.1 100 Continue\r\n\r\n" + Answered("POST /mutate|{}"));

  Fixture impatient;
  impatient.wire.in = {head + "{}"};
  impatient.Settle();
  EXPECT_EQ(impatient.wire.out, Answered("POST /mutate|{}"));
}

TEST(Connection, SlowBytesMeetOneDeadlineForTheWholeRequest) {
  Fixture fixture;
  fixture.Settle();
  const std::string bytes = Post("{}");
  // A byte a second, each of which would put off a timeout per read.
  for (size_t i = 0; i < 10; ++i) {
    fixture.wire.in = {bytes.substr(i, 1)};
    EXPECT_EQ(fixture.Settle(), Next::kWait);
    if (i < 9) fixture.clock.Advance(1s);
    EXPECT_GT(fixture.connection->deadline(), fixture.clock.Now());
  }
  fixture.clock.Advance(1s);
  ASSERT_LE(fixture.connection->deadline(), fixture.clock.Now());
  EXPECT_EQ(fixture.connection->OnDeadline(fixture.clock.Now()), Next::kWait);
  EXPECT_EQ(fixture.wire.out, RefusalAnswer(Refusal::kTimeout, true));
  EXPECT_EQ(fixture.connection->phase(), Phase::kLingering);
  // It does not even take its answer: the end comes all the same.
  fixture.clock.Advance(2s);
  ASSERT_LE(fixture.connection->deadline(), fixture.clock.Now());
  EXPECT_EQ(fixture.connection->OnDeadline(fixture.clock.Now()), Next::kClose);
}

TEST(Connection, IdleConnectionOutlivesTheClientsNinetySeconds) {
  Fixture fixture;
  fixture.wire.in = {Post("{}")};
  EXPECT_EQ(fixture.Settle(), Next::kWait);
  EXPECT_EQ(fixture.connection->phase(), Phase::kIdle);
  fixture.clock.Advance(119s);
  EXPECT_GT(fixture.connection->deadline(), fixture.clock.Now());
  fixture.clock.Advance(1s);
  EXPECT_EQ(fixture.connection->OnDeadline(fixture.clock.Now()), Next::kWait);
  EXPECT_TRUE(fixture.wire.ended);
  EXPECT_EQ(fixture.stats.Count(Drop::kIdleTimeout), 1);
}

TEST(Connection, RequestThatArrivesWithTheIdleTimeoutIsServed) {
  Fixture fixture;
  fixture.Settle();
  fixture.clock.Advance(120s);
  fixture.wire.in = {Post("{}")};
  ASSERT_EQ(fixture.connection->OnDeadline(fixture.clock.Now()), Next::kDispatch);
  fixture.connection->TakeRequest();
  EXPECT_EQ(fixture.connection->OnAnswer(1, PlainText(200, "ok"), fixture.clock.Now()),
            Next::kWait);
  EXPECT_EQ(fixture.wire.out, Answered("ok"));
  EXPECT_EQ(fixture.stats.Count(Drop::kIdleTimeout), 0);
}

TEST(Connection, SilentClientAndHalfHandshakeAreCutAtTheHandshakeDeadline) {
  Fixture fixture;
  fixture.wire.handshake = IoStatus::kWait;
  EXPECT_EQ(fixture.Settle(), Next::kWait);
  fixture.clock.Advance(10s);
  ASSERT_LE(fixture.connection->deadline(), fixture.clock.Now());
  EXPECT_EQ(fixture.connection->OnDeadline(fixture.clock.Now()), Next::kClose);
  EXPECT_EQ(fixture.stats.Count(Drop::kHandshakeTimeout), 1);
  EXPECT_EQ(fixture.wire.out, "");
}

TEST(Connection, ClientThatNeverReadsIsCutAndStopsBeingReadFrom) {
  Fixture fixture;
  fixture.wire.out_room = 10;
  fixture.wire.in = {Post("{}"), Post("{}"), Post("{}")};
  EXPECT_EQ(fixture.Settle(), Next::kWait);
  EXPECT_EQ(fixture.wire.in.size(), 2) << "later requests wait until the first answer is out";
  EXPECT_EQ(fixture.connection->phase(), Phase::kWriting);
  fixture.clock.Advance(10s);
  EXPECT_EQ(fixture.connection->OnDeadline(fixture.clock.Now()), Next::kClose);
  EXPECT_EQ(fixture.stats.Count(Drop::kWriteTimeout), 1);
}

TEST(Connection, AnswerThatComesTooLateIsDropped) {
  Fixture fixture;
  fixture.wire.in = {Post("{}")};
  ASSERT_EQ(fixture.connection->Drive(fixture.clock.Now()), Next::kDispatch);
  fixture.connection->TakeRequest();
  fixture.clock.Advance(10s);
  EXPECT_EQ(fixture.connection->OnDeadline(fixture.clock.Now()), Next::kWait);
  EXPECT_EQ(fixture.connection->OnAnswer(1, PlainText(200, "late"), fixture.clock.Now()),
            Next::kWait);
  EXPECT_EQ(fixture.wire.out, RefusalAnswer(Refusal::kTooLate, true));
}

TEST(Connection, AnswerToAnEarlierRequestIsDropped) {
  Fixture fixture;
  fixture.wire.in = {Post("{}"), Post("[]")};
  ASSERT_EQ(fixture.connection->Drive(fixture.clock.Now()), Next::kDispatch);
  fixture.connection->TakeRequest();
  ASSERT_EQ(fixture.connection->OnAnswer(1, PlainText(200, "1"), fixture.clock.Now()),
            Next::kDispatch);
  fixture.connection->TakeRequest();
  EXPECT_EQ(fixture.connection->OnAnswer(1, PlainText(200, "1 again"), fixture.clock.Now()),
            Next::kWait);
  EXPECT_EQ(fixture.connection->OnAnswer(2, PlainText(200, "2"), fixture.clock.Now()), Next::kWait);
  EXPECT_EQ(fixture.wire.out, Answered("1") + Answered("2"));
}

TEST(Connection, RefusedBodyIsReadAndDroppedSoThatTheAnswerIsNotReset) {
  Fixture fixture;
  fixture.wire.in = {Head({"POST /mutate HTTP/1.1", "Host: a", "Content-Type: application/json",
                           "Content-Length: 7340033"})};
  fixture.Settle();
  EXPECT_EQ(fixture.wire.out, RefusalAnswer(Refusal::kBodyTooLarge, true));
  EXPECT_TRUE(fixture.wire.ended);
  const size_t used = fixture.budget.used();
  for (int i = 0; i < 448; ++i) fixture.wire.in.emplace_back(16 * 1024, ' ');
  EXPECT_EQ(fixture.Settle(), Next::kWait);
  EXPECT_TRUE(fixture.wire.in.empty());
  EXPECT_EQ(fixture.budget.used(), used);
  // Not forever.
  for (int i = 0; i < 1024; ++i) fixture.wire.in.emplace_back(16 * 1024, ' ');
  EXPECT_EQ(fixture.Settle(), Next::kClose);
  EXPECT_FALSE(fixture.wire.in.empty());
}

TEST(Connection, AnAnswerGoesOutInOneWrite) {
  Fixture fixture;
  fixture.wire.in = {Post("{}")};
  fixture.Settle();
  EXPECT_EQ(fixture.wire.writes, 1) << "a head and a body written apart meet Nagle and cost 40 ms";
}

TEST(Connection, NothingOfARequestOrItsAnswerIsKeptBetweenRequests) {
  Fixture fixture;
  const std::string body(1024 * 1024, ' ');
  fixture.wire.in = {Post(body)};
  EXPECT_EQ(fixture.Settle(), Next::kWait);
  EXPECT_EQ(fixture.wire.out, Answered("POST /mutate?timeout=5s|" + body));
  EXPECT_EQ(fixture.connection->phase(), Phase::kIdle);
  EXPECT_LE(fixture.budget.used(), kBare);
}

TEST(Connection, CloseAfterAnAnswerDropsWhatFollows) {
  Fixture fixture;
  fixture.wire.in = {Post("{}") + Post("[]")};
  EXPECT_EQ(fixture.Settle(/*close=*/true), Next::kWait);
  EXPECT_EQ(fixture.wire.out, Answered("POST /mutate?timeout=5s|{}", /*close=*/true));
  EXPECT_TRUE(fixture.wire.ended);
}

TEST(Connection, ClosesAfterTheAnswerToThoseWhoAskForIt) {
  Fixture fixture;
  fixture.wire.in = {Post("{}", "Connection: close\r\n") + Post("[]")};
  EXPECT_EQ(fixture.Settle(), Next::kWait);
  EXPECT_EQ(fixture.wire.out, Answered("POST /mutate?timeout=5s|{}", /*close=*/true));
  EXPECT_TRUE(fixture.wire.ended);
}

TEST(Connection, PeerThatEndsItsSideEndsTheConnection) {
  Fixture fixture;
  fixture.wire.at_end = IoStatus::kClosed;
  fixture.wire.in = {Post("{}")};
  EXPECT_EQ(fixture.Settle(), Next::kClose);
  EXPECT_EQ(fixture.wire.out, Answered("POST /mutate?timeout=5s|{}"))
      << "a half-closed sender gets its answer";
}

TEST(Connection, OneSenderCannotTakeAllTurns) {
  Fixture fixture;
  fixture.wire.in = {Head({"POST /mutate HTTP/1.1", "Host: a", "Content-Type: application/json",
                           "Content-Length: 7340032"})};
  for (int i = 0; i < 448; ++i) fixture.wire.in.emplace_back(16 * 1024, ' ');
  EXPECT_EQ(fixture.connection->Drive(fixture.clock.Now()), Next::kAgain);
  EXPECT_GT(fixture.wire.in.size(), 400);
}

TEST(Connection, HugeBodiesLeaveTheLastQuarterOfTheBudgetToOthers) {
  Fixture huge(Port::kPosts, 4 * 1024 * 1024);
  huge.wire.in = {Head({"POST /mutate HTTP/1.1", "Host: a", "Content-Type: application/json",
                        "Content-Length: 4000000"})};
  for (int i = 0; i < 240; ++i) huge.wire.in.emplace_back(16 * 1024, ' ');
  huge.Settle();
  EXPECT_EQ(huge.wire.out, RefusalAnswer(Refusal::kNoMemory, true));
  EXPECT_LE(huge.budget.used(), kBare)
      << "what came of it is not kept while the connection lingers";

  ByteBudget budget(4 * 1024 * 1024);
  ASSERT_TRUE(budget.Resize(0, 3 * 1024 * 1024));
  EXPECT_FALSE(budget.Resize(0, ByteBudget::kLarge + 1));
  EXPECT_EQ(budget.used(), 3 * 1024 * 1024);
  EXPECT_TRUE(budget.Resize(0, 60 * 1024));
  EXPECT_TRUE(budget.Resize(3 * 1024 * 1024, 0));
  EXPECT_EQ(budget.used(), 60 * 1024);
}

TEST(ByteBudget, AnswersGetAQuarter) {
  ByteBudget budget(4 * 1024 * 1024);
  EXPECT_TRUE(budget.ResizeAnswer(0, 1024 * 1024));
  EXPECT_FALSE(budget.ResizeAnswer(0, 1));
  EXPECT_EQ(budget.used(), 1024 * 1024);
  EXPECT_TRUE(budget.Resize(0, 2 * 1024 * 1024)) << "requests have the rest";
  EXPECT_TRUE(budget.ResizeAnswer(1024 * 1024, 1));
  EXPECT_TRUE(budget.ResizeAnswer(0, 1024));
  EXPECT_EQ(budget.used(), 2 * 1024 * 1024 + 1025);
}

TEST(Connection, ALargeAnswerBeyondTheBudgetIsRefused) {
  Fixture fixture(Port::kPosts, 64 * 1024);
  fixture.wire.in.push_back(Post("{}"));
  ASSERT_EQ(fixture.connection->Drive(fixture.clock.Now()), Connection::Next::kDispatch);
  fixture.connection->TakeRequest();
  fixture.connection->OnAnswer(1, PlainText(200, std::string(20 * 1024, 'x')), fixture.clock.Now());
  EXPECT_EQ(fixture.wire.out, RefusalAnswer(Refusal::kNoMemory, false));
  EXPECT_EQ(fixture.stats.Count(Refusal::kNoMemory), 1);
  EXPECT_EQ(fixture.connection->phase(), Phase::kIdle) << "the connection stays";
}

}  // namespace
}  // namespace mindgate::http
