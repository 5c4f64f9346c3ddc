#include <gtest/gtest.h>

#include <vector>

#include "webhook/server.h"

namespace mindgate::webhook {
namespace {

using namespace std::chrono_literals;

TEST(Executor, OfAReview) {
  struct Case {
    const char* name;
    size_t body_bytes;
    bool others_wait;
    std::chrono::nanoseconds busy;
    size_t max_inline_bytes;
    Executor want;
  };
  const std::vector<Case> cases = {
      {"small and alone", 10'000, false, 0us, 32'768, Executor::kLoop},
      {"empty", 0, false, 0us, 32'768, Executor::kLoop},
      {"as large as may be", 32'768, false, 0us, 32'768, Executor::kLoop},
      {"a byte more", 32'769, false, 0us, 32'768, Executor::kPool},
      {"others wait, not for long", 10'000, true, 999us, 32'768, Executor::kLoop},
      {"others have waited for long enough", 10'000, true, 1ms, 32'768, Executor::kPool},
      {"nobody else waits", 10'000, false, 5ms, 32'768, Executor::kLoop},
      {"large while nobody waits", 7'000'000, false, 0us, 32'768, Executor::kPool},
      {"none may", 10'000, false, 0us, 0, Executor::kPool},
      {"none may, empty", 0, false, 0us, 0, Executor::kPool},
  };
  for (const Case& c : cases) {
    http::Arrival arrival;
    arrival.others_wait = c.others_wait;
    arrival.busy = c.busy;
    EXPECT_EQ(ExecutorOf(c.body_bytes, arrival, c.max_inline_bytes), c.want) << c.name;
  }
}

}  // namespace
}  // namespace mindgate::webhook
