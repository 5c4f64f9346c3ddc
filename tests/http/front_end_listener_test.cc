#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "http/client.h"
#include "http/front_end.h"

namespace mindgate::http {
namespace {

using testing::Client;
using ::testing::StartsWith;

TEST(Listener, AcceptsWithoutDelayAndBindsAlone) {
  auto listener = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(listener);
  Client client(listener->port());
  auto accepted = listener->Accept();
  ASSERT_EQ(accepted.status, Listener::Status::kAccepted);
  int nodelay = 0;
  socklen_t size = sizeof nodelay;
  ::getsockopt(accepted.socket.get(), IPPROTO_TCP, TCP_NODELAY, &nodelay, &size);
  EXPECT_EQ(nodelay, 1);
  EXPECT_EQ(listener->Accept().status, Listener::Status::kNothing);

  const auto second = Listener::Open("127.0.0.1:" + std::to_string(listener->port()));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), StartsWith("cannot bind \"127.0.0.1:"));
}

TEST(Listener, BurstOfConnectsFitsTheBacklog) {
  const auto listener = Listener::Open("127.0.0.1:0");
  ASSERT_TRUE(listener);
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 250; ++i) {
    clients.push_back(std::make_unique<Client>(listener->port()));
    ASSERT_TRUE(clients.back()->Connected()) << i;
  }
  // With a backlog too small the kernel drops the last SYNs, and those clients stay in SYN_SENT or
  // wait for a second.
  tcp_info info{};
  socklen_t size = sizeof info;
  ::getsockopt(listener->fd(), IPPROTO_TCP, TCP_INFO, &info, &size);
  EXPECT_EQ(info.tcpi_unacked, 250) << "connections waiting to be accepted";
  EXPECT_GE(info.tcpi_sacked, 1024) << "the backlog";
}

TEST(Listener, Addresses) {
  EXPECT_TRUE(Listener::Open(":0"));
  EXPECT_TRUE(Listener::Open("0.0.0.0:0"));
  for (const char* bad :
       {"", "9443", "localhost", ":", ":x", ":-1", ":65536", "a.b:1", "[::1:1", "::1:1", "[]:1"}) {
    const auto listener = Listener::Open(bad);
    ASSERT_FALSE(listener) << bad;
    EXPECT_EQ(listener.error().code(), ErrorCode::kInvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace mindgate::http
