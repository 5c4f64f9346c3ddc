#include "http/front_end.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <mutex>

#include "http/client.h"
#include "http/echo_server.h"
#include "http/raw_requests.h"
#include "support/eventually.h"

namespace mindgate::http {
namespace {

using namespace std::chrono_literals;
using mindgate::testing::Eventually;
using testing::BodyOf;
using testing::Client;
using testing::EchoServer;
using testing::Formatted;
using testing::Head;
using testing::Post;
using testing::RawRequest;
using testing::RawRequests;
using testing::RefusalAnswer;
using testing::StatusOf;

// What the client reads for RawRequest::want.
std::vector<std::string> Wanted(const std::string& want) {
  std::vector<std::string> words;
  for (size_t at = 0; at < want.size();) {
    const size_t end = std::min(want.find(", ", at), want.size());
    words.push_back(want.substr(at, end - at));
    at = end + 2;
  }
  return words;
}

void ExpectAnswers(Client& client, const RawRequest& raw) {
  for (const std::string& word : Wanted(raw.want)) {
    if (word == "...") return;
    const bool head_only = word.starts_with("HEAD ");
    std::string answer = client.ReadAnswer(head_only);
    if (StatusOf(answer) == 100) answer = client.ReadAnswer();
    if (word.front() != '!') {
      EXPECT_EQ(answer, Formatted(PlainText(200, word), head_only)) << raw.name;
      continue;
    }
    bool known = false;
    for (size_t i = 0; i < kRefusalCount; ++i) {
      if (InfoOf(static_cast<Refusal>(i)).name != word.substr(1)) continue;
      known = true;
      EXPECT_EQ(answer, RefusalAnswer(static_cast<Refusal>(i), true)) << raw.name;
      EXPECT_EQ(client.ReadToEnd(), "") << raw.name;
    }
    EXPECT_TRUE(known) << raw.name << ": " << word;
  }
}

class RawOverTls : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(, RawOverTls, ::testing::Bool(),
                         [](const auto& test) { return test.param ? "ByteByByte" : "Whole"; });

TEST_P(RawOverTls, EachIsAnsweredExactlyAndOthersDoNotNotice) {
  EchoServer admission;
  EchoServer probe({.port = Port::kGets, .tls = false});
  Client bystander(admission.port(), Client::Tls{});
  for (const RawRequest& raw : RawRequests()) {
    const bool plain = raw.port == Port::kGets;
    Client client(plain ? probe.port() : admission.port());
    if (!plain) {
      ASSERT_TRUE(client.Handshake({})) << raw.name;
    }
    // The heads of 16 KiB in pieces of 64: their every byte was tried without sockets.
    const size_t piece = !GetParam() ? raw.bytes.size() + 1 : raw.bytes.size() > 4096 ? 64 : 1;
    for (size_t at = 0; at < raw.bytes.size(); at += piece) {
      if (!client.Send(std::string_view(raw.bytes).substr(at, piece))) break;  // refused early
    }
    ExpectAnswers(client, raw);
    ASSERT_TRUE(bystander.Send(Post("{}")));
    ASSERT_EQ(BodyOf(bystander.ReadAnswer()), "POST /mutate?timeout=5s|{}") << raw.name;
  }
}

TEST(FrontEnd, TwoRequestsInOneTlsRecord) {
  EchoServer server;
  Client client(server.port(), Client::Tls{});
  ASSERT_TRUE(client.Send(Post("1") + Post("2") + Post("3")));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|1");
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|2");
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|3");
}

// The first handler holds the loop until the other requests have come.
TEST(FrontEnd, HandlersLearnWhoWaitsAndForHowLong) {
  std::mutex mutex;
  std::vector<Arrival> arrivals;
  std::atomic<bool> entered{false};
  std::atomic<bool> open{false};
  EchoServer server(
      {.tls = false, .loops = 1, .on_request = [&](EchoServer& self, const Arrival& arrival) {
         if (!entered.exchange(true)) {
           entered.notify_all();
           open.wait(false);
         }
         self.clock.Advance(3ms);
         const std::lock_guard lock(mutex);
         arrivals.push_back(arrival);
       }});
  Client first(server.port());
  Client second(server.port());
  Client third(server.port());
  // Each has an event at first, since it can be written to. All have been handled when one that
  // came after them is closed.
  {
    const Client last(server.port());
    ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kIdle) == 4; }));
  }
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kIdle) == 3; }));
  const auto start = server.clock.Now();
  first.Send(Post("1"));
  entered.wait(false);
  second.Send(Post("2") + Post("2 again"));
  third.Send(Post("3"));
  open = true;
  open.notify_all();
  EXPECT_EQ(BodyOf(first.ReadAnswer()), "POST /mutate?timeout=5s|1");
  EXPECT_EQ(BodyOf(second.ReadAnswer()), "POST /mutate?timeout=5s|2");
  EXPECT_EQ(BodyOf(second.ReadAnswer()), "POST /mutate?timeout=5s|2 again");
  EXPECT_EQ(BodyOf(third.ReadAnswer()), "POST /mutate?timeout=5s|3");
  // The first alone; then one of the two others; then the other, with the second's next behind it;
  // and that one.
  const std::lock_guard lock(mutex);
  ASSERT_EQ(arrivals.size(), 4);
  const struct {
    bool others_wait;
    std::chrono::milliseconds busy;
    std::chrono::milliseconds at;
  } want[] = {{false, 0ms, 0ms}, {true, 0ms, 3ms}, {true, 3ms, 3ms}, {false, 6ms, 3ms}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(arrivals[i].others_wait, want[i].others_wait) << i;
    EXPECT_EQ(arrivals[i].busy, want[i].busy) << i;
    EXPECT_EQ(arrivals[i].at - start, want[i].at) << i;
  }
}

TEST(FrontEnd, TenThousandRequestsOnOneConnection) {
  EchoServer server;
  Client client(server.port(), Client::Tls{});
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_TRUE(client.Send(Post("{}")));
    ASSERT_EQ(StatusOf(client.ReadAnswer()), 200) << i;
  }
  EXPECT_EQ(server.stats().accepted, 1);
}

TEST(FrontEnd, BodyOfSevenMebibytes) {
  EchoServer server;
  Client client(server.port(), Client::Tls{});
  const std::string body(7 * 1024 * 1024, 'x');
  ASSERT_TRUE(client.Send(Post(body)));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|" + body);
  ASSERT_TRUE(client.Send(Post("{}")));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|{}");
}

TEST(FrontEnd, OneByteMoreIsRefusedWhileItIsBeingSent) {
  EchoServer server;
  Client client(server.port(), Client::Tls{});
  client.Send(Post(std::string(7 * 1024 * 1024 + 1, 'x')));
  EXPECT_EQ(client.ReadAnswer(), RefusalAnswer(Refusal::kBodyTooLarge, true));
  EXPECT_LT(server.budget.used(), 64 * 1024);
}

TEST(FrontEnd, ContinueIsAnsweredBeforeTheBody) {
  EchoServer server;
  Client client(server.port(), Client::Tls{});
  client.Send(Head({"POST /mutate HTTP/1.1", "Host: a", "Content-Type: application/json",
                    "Content-Length: 2", "Expect: 100-continue"}));
  EXPECT_EQ(client.ReadAnswer(), "HTTP/1.1 100 Continue\r\n\r\n");
  client.Send("{}");
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate|{}");
}

TEST(FrontEnd, SlowlorisIsCutAndOthersAreServed) {
  EchoServer server;
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 50; ++i) {
    slow.push_back(std::make_unique<Client>(server.port(), Client::Tls{}));
    slow.back()->Send("POST /mutate HTTP/1.1\r\n");
  }
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kReading) == 50; }));
  // One more header line just before the deadline does not put it off.
  server.Advance(9s);
  for (const auto& client : slow) client->Send("X: 1\r\n");
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200);
  server.Advance(1s);
  for (const auto& client : slow) {
    EXPECT_EQ(client->ReadAnswer(), RefusalAnswer(Refusal::kTimeout, true));
  }
}

TEST(FrontEnd, SilentTcpClientsAndHalfHandshakesAreCut) {
  EchoServer server;
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<Client>(server.port()));
    // Half of them begin a TLS record that they never finish.
    if (i % 2 == 0) clients.back()->SendRaw(std::string_view("\x16\x03\x01\x02\x00\x01", 6));
  }
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kHandshake) == 40; }));
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200) << "nobody waits for them";
  server.Advance(10s);
  for (const auto& client : clients) EXPECT_EQ(client->ReadToEnd(), "");
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 1; }));
  EXPECT_EQ(server.stats().Count(Drop::kHandshakeTimeout), 40);
}

TEST(FrontEnd, ClientThatNeverReadsHoldsNothingForLong) {
  EchoServer server;
  Client client(server.port(), Client::Tls{});
  // Answers as large as the bodies: they fill the socket's buffers, then the answer stands.
  const std::string body(4 * 1024 * 1024, 'x');
  ASSERT_TRUE(client.Send(Post(body)));
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kWriting) == 1; }));
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200);
  server.Advance(10s);
  EXPECT_TRUE(Eventually([&] { return server.stats().Count(Drop::kWriteTimeout) == 1; }));
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 1; }));
  EXPECT_LT(server.budget.used(), 4096);
}

// As many file descriptors as the test may have, or 0 when it cannot have that many.
bool RaiseDescriptors(rlim_t wanted) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= wanted) return true;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur >= wanted;
}

TEST(FrontEnd, FiveThousandIdleConnections) {
  size_t count = 5000;
#ifdef MINDGATE_SANITIZED
  count = 1000;
  std::printf("only 1000 connections: a handshake takes ten times as long under a sanitizer\n");
#endif
  if (!RaiseDescriptors(2 * count + 200)) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    count = (limit.rlim_cur - 200) / 2;
    std::printf("only %zu connections: at most %zu file descriptors here\n", count,
                size_t{limit.rlim_cur});
  }
  EchoServer server;
  std::vector<std::unique_ptr<Client>> idle;
  idle.push_back(std::make_unique<Client>(server.port(), Client::Tls{}));
  for (size_t i = 1; i < count; ++i) {
    idle.push_back(std::make_unique<Client>(server.port(), Client::Tls{.like = idle[0].get()}));
    ASSERT_TRUE(idle.back()->ok()) << i;
  }
  ASSERT_TRUE(
      Eventually([&] { return server.stats().In(Phase::kIdle) == static_cast<int64_t>(count); }));
  EXPECT_LT(server.budget.used(), count * 64) << "an idle connection holds no buffers";
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200);
  // Every one of them still works.
  for (size_t i = 0; i < count; i += 97) {
    ASSERT_TRUE(idle[i]->Send(Post("{}")));
    ASSERT_EQ(StatusOf(idle[i]->ReadAnswer()), 200);
  }
  server.Advance(120s);
  for (size_t i = 0; i < count; i += 97) EXPECT_EQ(idle[i]->ReadToEnd(), "");
}

TEST(FrontEnd, OverTheCapTheOldestThatBroughtNothingGoesFirst) {
  EchoServer server({.tls = false, .loops = 1, .max_connections = 3});
  Client used(server.port());
  used.Send(Post("{}"));
  ASSERT_EQ(StatusOf(used.ReadAnswer()), 200);
  Client silent(server.port());
  ASSERT_TRUE(Eventually([&] { return server.stats().Open() == 2; }));
  server.Advance(1s);
  Client silent_too(server.port());
  ASSERT_TRUE(Eventually([&] { return server.stats().Open() == 3; }));

  Client fresh(server.port());
  EXPECT_EQ(silent.ReadToEnd(), "") << "evicted";
  fresh.Send(Post("{}"));
  EXPECT_EQ(StatusOf(fresh.ReadAnswer()), 200);
  used.Send(Post("{}"));
  EXPECT_EQ(StatusOf(used.ReadAnswer()), 200)
      << "it brought a request and stays, though it is the oldest";
  EXPECT_EQ(server.stats().Count(Drop::kEvicted), 1);
}

// A peer that fills the house with connections that were served once must not make every newcomer
// the next to go.
TEST(FrontEnd, OverTheCapAHandshakeUnderWayIsSpared) {
  EchoServer server({.loops = 1, .max_connections = 4});
  std::vector<std::unique_ptr<Client>> served;
  for (int i = 0; i < 4; ++i) {
    served.push_back(std::make_unique<Client>(server.port(), Client::Tls{}));
    served.back()->Send(Post("{}"));
    ASSERT_EQ(StatusOf(served.back()->ReadAnswer()), 200);
    server.Advance(1ms);
  }
  Client newcomer(server.port());
  newcomer.SendRaw(testing::ClientHello());
  ASSERT_NE(newcomer.ReadSome(), "");
  EXPECT_EQ(served[0]->ReadToEnd(), "");
  // Whoever connects and says nothing comes and goes.
  for (int i = 0; i < 20; ++i) Client(server.port());
  Client another(server.port(), Client::Tls{});
  another.Send(Post("{}"));
  EXPECT_EQ(StatusOf(another.ReadAnswer()), 200);
  EXPECT_EQ(server.stats().In(Phase::kHandshake), 1) << "the newcomer is still there";
  EXPECT_EQ(server.stats().Count(Drop::kOverCap), 0);
}

TEST(FrontEnd, HandshakesUnderWayAreBounded) {
  EchoServer server({.loops = 1, .max_handshakes = 2});
  const std::string hello = testing::ClientHello();
  std::vector<std::unique_ptr<Client>> stalled;
  const auto stall = [&] {
    stalled.push_back(std::make_unique<Client>(server.port()));
    stalled.back()->SendRaw(hello);
  };
  stall();
  ASSERT_NE(stalled[0]->ReadSome(), "");
  stall();
  ASSERT_NE(stalled[1]->ReadSome(), "");
  stall();
  ASSERT_NE(stalled[2]->ReadSome(), "");
  EXPECT_EQ(stalled[0]->ReadToEnd(), "") << "the oldest made room";
  EXPECT_EQ(server.stats().Count(Drop::kHandshakeCap), 1);
  EXPECT_EQ(server.budget.used(), 0) << "they take nothing from requests";
  Client honest(server.port(), Client::Tls{});
  honest.Send(Post("{}"));
  EXPECT_EQ(StatusOf(honest.ReadAnswer()), 200);
  EXPECT_EQ(stalled[1]->ReadToEnd(), "");
}

// A handshake that makes room for others is never the one that has just begun, be it of the address
// with the most connections or refused at once.
TEST(FrontEnd, AHandshakeThatBeginsIsNotTheOneThatMakesRoom) {
  EchoServer server({.loops = 1, .max_handshakes = 2});
  std::vector<std::unique_ptr<Client>> stalled;
  for (int i = 0; i < 2; ++i) {
    stalled.push_back(std::make_unique<Client>(server.port(), "127.0.0.2"));
    stalled.back()->SendRaw(testing::ClientHello());
    ASSERT_NE(stalled.back()->ReadSome(), "");
  }
  std::vector<std::unique_ptr<Client>> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(std::make_unique<Client>(server.port()));
  ASSERT_TRUE(Eventually([&] { return server.stats().Open() == 6; }));

  EXPECT_FALSE(Client(server.port(),
                      Client::Tls{.min_version = TLS1_1_VERSION, .max_version = TLS1_1_VERSION})
                   .ok());
  EXPECT_EQ(stalled[0]->ReadToEnd(), "") << "it made room";
  Client honest(server.port(), Client::Tls{});
  honest.Send(Post("{}"));
  EXPECT_EQ(StatusOf(honest.ReadAnswer()), 200);
  EXPECT_EQ(server.stats().In(Phase::kHandshake), 5) << "one stalled, four silent";
}

TEST(FrontEnd, OverTheCapWithAllBusyTheNewOneIsRefused) {
  EchoServer server({.tls = false, .loops = 1, .max_connections = 2, .hold = true});
  Client first(server.port());
  Client second(server.port());
  first.Send(Post("{}"));
  second.Send(Post("{}"));
  ASSERT_TRUE(Eventually([&] { return server.Held() == 2; }));
  Client third(server.port());
  EXPECT_EQ(third.ReadToEnd(), "");
  EXPECT_EQ(server.stats().Count(Drop::kOverCap), 1);
  server.AnswerAll();
  EXPECT_EQ(StatusOf(first.ReadAnswer()), 200);
  EXPECT_EQ(StatusOf(second.ReadAnswer()), 200);
}

TEST(FrontEnd, PeerThatResetsWhileItsAnswerIsMadeIsForgotten) {
  EchoServer server({.loops = 1, .hold = true});
  Client client(server.port(), Client::Tls{});
  const std::string body(1024 * 1024, 'x');
  client.Send(Post(body));
  ASSERT_TRUE(Eventually([&] { return server.Held() == 1; }));
  client.Reset();
  EXPECT_TRUE(Eventually([&] { return server.stats().Open() == 0; }));
  EXPECT_GE(server.budget.used(), body.size()) << "it is gone, but its body is still in the queue";
  server.AnswerAll();
  EXPECT_EQ(server.budget.used(), 0);
  Client next(server.port(), Client::Tls{});
  EXPECT_TRUE(next.ok());
}

TEST(FrontEnd, SendersOfHugeBodiesShareABudgetAndOthersAreServed) {
  EchoServer server({.bytes = 8 * 1024 * 1024, .hold = true});
  const std::string body(4 * 1024 * 1024, 'x');
  Client first(server.port(), Client::Tls{});
  first.Send(Post(body));
  ASSERT_TRUE(Eventually([&] { return server.Held() == 1; }));
  // Three quarters are 6 MiB, and of those two are left.
  Client second(server.port(), Client::Tls{});
  second.Send(Post(body));
  EXPECT_EQ(second.ReadAnswer(), RefusalAnswer(Refusal::kNoMemory, true));
  EXPECT_LE(server.budget.used(), 8 * 1024 * 1024);
  Client other(server.port(), Client::Tls{});
  other.Send(Post("{}"));
  ASSERT_TRUE(Eventually([&] { return server.Held() == 2; }));
  server.AnswerAll();
  EXPECT_EQ(StatusOf(other.ReadAnswer()), 200);
  EXPECT_EQ(StatusOf(first.ReadAnswer()), 200);
  Client third(server.port(), Client::Tls{});
  third.Send(Post(body));
  EXPECT_TRUE(Eventually([&] { return server.Held() == 1; })) << "there is room again";
}

// 48 KB of gzip are 50 MB of JSON: refused for its encoding before the body is read, and never
// unpacked when it says nothing about it.
TEST(FrontEnd, GzipBombsAreNeverUnpacked) {
  EchoServer server;
  const std::string bomb = "\x1f\x8b" + std::string(48 * 1024, '\0');
  for (const char* encoding : {"gzip", "br", "deflate", "identity, gzip", "x-unknown"}) {
    Client client(server.port(), Client::Tls{});
    client.Send(Post(bomb, "Content-Encoding: " + std::string(encoding) + "\r\n"));
    EXPECT_EQ(client.ReadAnswer(), RefusalAnswer(Refusal::kContentEncoding, true)) << encoding;
  }
  Client client(server.port(), Client::Tls{});
  client.Send(Post(bomb));
  EXPECT_EQ(BodyOf(client.ReadAnswer()), "POST /mutate?timeout=5s|" + bomb) << "as it came";
}

TEST(FrontEnd, WithoutDescriptorsNewConnectionsAreRefusedAndOldOnesServed) {
  EchoServer server;
  Client served(server.port(), Client::Tls{});
  served.Send(Post("{}"));
  ASSERT_EQ(StatusOf(served.ReadAnswer()), 200);
  // Busy, so that nobody can be evicted in its place.
  served.Send("POST /mutate HTTP/1.1\r\n");
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kReading) == 1; }));

  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  std::vector<FileDescriptor> ballast;
  {
    // Sockets of the client's side are made first: the limit is the whole process's.
    std::vector<FileDescriptor> sockets;
    for (int i = 0; i < 3; ++i)
      sockets.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const rlimit tight{static_cast<rlim_t>(sockets.back().get()) + 1, before.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &tight);
    while (true) {  // gaps below the limit
      FileDescriptor filler(::open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!filler.valid()) break;
      ballast.push_back(std::move(filler));
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(server.port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (const FileDescriptor& socket : sockets) {
      ASSERT_EQ(
          ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
      char byte = 0;
      EXPECT_LE(::recv(socket.get(), &byte, 1, 0), 0) << "closed at once, not left waiting";
    }
  }
  EXPECT_GE(server.stats().Count(Drop::kNoDescriptor), 3);
  served.Send("Host: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(StatusOf(served.ReadAnswer()), 200);
  ballast.clear();
  ::setrlimit(RLIMIT_NOFILE, &before);
  Client later(server.port(), Client::Tls{});
  EXPECT_TRUE(later.ok());
}

TEST(FrontEnd, StopAcceptingTakesThoseWhoWait) {
  EchoServer server;
  Client before(server.port());
  ASSERT_TRUE(before.Connected());
  server.layer->StopAccepting();
  EXPECT_TRUE(before.Handshake({}));
  EXPECT_TRUE(Eventually([&] { return !Client(server.port()).Connected(); }));
  before.Send(Post("{}"));
  EXPECT_EQ(StatusOf(before.ReadAnswer()), 200);
}

TEST(FrontEnd, CloseIdleSparesTheRecentlyUsed) {
  EchoServer server;
  Client old(server.port(), Client::Tls{});
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kIdle) == 1; }));
  server.Advance(5s);
  Client recent(server.port(), Client::Tls{});
  ASSERT_TRUE(Eventually([&] { return server.stats().In(Phase::kIdle) == 2; }));
  server.layer->CloseIdle(1s);
  EXPECT_EQ(old.ReadToEnd(), "");
  recent.Send(Post("{}"));
  EXPECT_EQ(StatusOf(recent.ReadAnswer()), 200);
  server.layer->CloseIdle(0s);
  EXPECT_EQ(recent.ReadToEnd(), "");
  old.Close();
  recent.Close();
  EXPECT_TRUE(Eventually([&] { return server.layer->Empty(); }));
}
}  // namespace
}  // namespace mindgate::http
