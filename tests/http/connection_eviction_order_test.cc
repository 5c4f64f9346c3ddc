#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/connection.h"
#include "support/fake_clock.h"

namespace mindgate::http {
namespace {

using namespace std::chrono_literals;

PeerAddress Host(uint8_t last) {
  PeerAddress address{};
  address.back() = last;
  return address;
}

struct Orders : ::testing::Test {
  mindgate::testing::FakeClock clock;
  EvictionOrder order;

  void Add(uint64_t id, uint8_t host, Stage stage) {
    order.Add(id, Host(host), clock.Now());
    order.Set(id, stage, clock.Now());
  }
  // Evicts until all are spared.
  std::vector<uint64_t> All() {
    std::vector<uint64_t> ids;
    while (const auto id = order.Next(clock.Now())) {
      ids.push_back(*id);
      order.Remove(*id);
    }
    return ids;
  }
};

TEST_F(Orders, TheLeastLossFirst) {
  Add(1, 1, Stage::kIdle);
  Add(2, 1, Stage::kBusy);
  Add(3, 1, Stage::kReading);
  Add(4, 1, Stage::kHandshaken);
  Add(5, 1, Stage::kHandshake);
  Add(6, 1, Stage::kSilent);
  Add(7, 1, Stage::kLingering);
  clock.Advance(2s);
  EXPECT_EQ(All(), (std::vector<uint64_t>{7, 6, 5, 4, 3, 1}));
}

TEST_F(Orders, AHandshakeYoungerThanTwoSecondsGoesLast) {
  Add(1, 1, Stage::kHandshake);
  Add(2, 1, Stage::kHandshaken);
  Add(3, 1, Stage::kIdle);
  clock.Advance(2s - 1ms);
  EXPECT_EQ(order.Next(clock.Now()), 3);
  clock.Advance(1ms);
  EXPECT_EQ(order.Next(clock.Now()), 1);
  Add(4, 1, Stage::kHandshake);
  EXPECT_EQ(order.NextHandshake(), 1);
  EXPECT_EQ(All(), (std::vector<uint64_t>{1, 2, 3, 4}));
}

TEST_F(Orders, WhoHasJustConnectedIsSparedForAMoment) {
  Add(1, 1, Stage::kSilent);
  Add(2, 2, Stage::kIdle);
  EXPECT_EQ(order.Next(clock.Now()), 2);
  clock.Advance(100ms);
  EXPECT_EQ(order.Next(clock.Now()), 1);
}

TEST_F(Orders, ARequestUnderWayIsSpared) {
  Add(1, 1, Stage::kBusy);
  clock.Advance(1h);
  Add(2, 1, Stage::kReading);
  clock.Advance(2s - 1ms);
  EXPECT_EQ(order.Next(clock.Now()), std::nullopt);
  clock.Advance(1ms);
  EXPECT_EQ(All(), std::vector<uint64_t>{2});
}

TEST_F(Orders, TheOldestInEachStage) {
  Add(1, 1, Stage::kIdle);
  clock.Advance(1s);
  Add(2, 1, Stage::kIdle);
  clock.Advance(1s);
  // It has been idle for less than the other now.
  order.Set(1, Stage::kBusy, clock.Now());
  order.Set(1, Stage::kIdle, clock.Now());
  order.Set(2, Stage::kIdle, clock.Now());  // as it stood already
  EXPECT_EQ(All(), (std::vector<uint64_t>{2, 1}));
}

TEST_F(Orders, WhoHoldsTheMostGivesTheMost) {
  Add(1, 7, Stage::kIdle);  // the oldest, and the only one of its address
  clock.Advance(1s);
  for (uint64_t id = 2; id <= 4; ++id) Add(id, 8, Stage::kIdle);
  Add(5, 9, Stage::kIdle);
  for (uint64_t id = 6; id <= 9; ++id) Add(id, 9, Stage::kBusy);
  EXPECT_EQ(order.Next(clock.Now()), 5) << "the one idle connection of the largest";
  order.Remove(5);
  EXPECT_EQ(order.Next(clock.Now()), 2);
  order.Remove(2);
  order.Remove(3);
  EXPECT_EQ(order.Next(clock.Now()), 1) << "of equals the lower address";
  EXPECT_EQ(All(), (std::vector<uint64_t>{1, 4}));
}

// Whoever floods the port with handshakes loses its own.
TEST_F(Orders, AHandshakeOfTheAddressThatHasMostGoesFirst) {
  Add(1, 7, Stage::kHandshake);
  for (uint64_t id = 2; id <= 4; ++id) Add(id, 8, Stage::kHandshake);
  EXPECT_EQ(order.NextHandshake(), 2);
  EXPECT_EQ(order.Next(clock.Now()), 2);
  // An API server may have many connections, and hold only one handshake.
  for (uint64_t id = 5; id <= 9; ++id) Add(id, 7, Stage::kIdle);
  EXPECT_EQ(order.NextHandshake(), 2);
}

TEST_F(Orders, OfAddressesWithAsManyHandshakesTheOldestGoesFirst) {
  EXPECT_EQ(order.NextHandshake(), std::nullopt);
  Add(1, 9, Stage::kHandshake);
  clock.Advance(1s);
  Add(2, 7, Stage::kHandshake);
  Add(3, 8, Stage::kHandshake);
  EXPECT_EQ(order.NextHandshake(), 1);
}

TEST_F(Orders, CountsHandshakes) {
  Add(1, 1, Stage::kHandshake);
  Add(2, 1, Stage::kSilent);
  EXPECT_EQ(order.handshakes(), 1);
  order.Set(2, Stage::kHandshake, clock.Now());
  EXPECT_EQ(order.handshakes(), 2);
  order.Remove(1);
  order.Set(2, Stage::kHandshaken, clock.Now());
  EXPECT_EQ(order.handshakes(), 0);
}

}  // namespace
}  // namespace mindgate::http
