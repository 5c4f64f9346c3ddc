#include "base/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "support/fake_clock.h"

namespace mindgate {
namespace {

using ::testing::ElementsAre;
using testing::FakeClock;

// Loads numbers from a text that tests write to.
struct Numbers {
  FakeClock clock;
  Result<std::string> text = "1";
  std::string refused;  // a text that is not taken, as long as it is here
  int made = 0;
  std::vector<std::string> reports;
  Snapshot<int> target;
  Reloader<int, std::string> reloader{
      clock, target, [this] { return text; },
      [this](const std::string& source) -> Result<std::shared_ptr<const int>> {
        ++made;
        if (source == refused) return Fail(ErrorCode::kInvalidArgument, source + " is refused");
        return std::make_shared<const int>(std::stoi(source));
      },
      [this](const ReloadStatus& status) {
        reports.push_back(status.error.empty() ? "swap " + std::to_string(status.swaps)
                                               : status.error);
      }};

  int Value() const { return target.Get() == nullptr ? -1 : *target.Get(); }
};

TEST(Reloader, TakesUpWhatIsNewAndOnlyThat) {
  Numbers numbers;
  EXPECT_TRUE(numbers.reloader.Reload());
  EXPECT_FALSE(numbers.reloader.Reload());
  EXPECT_EQ(numbers.made, 1);
  numbers.clock.Advance(std::chrono::seconds(5));
  numbers.text = "2";
  EXPECT_TRUE(numbers.reloader.Reload());
  EXPECT_EQ(numbers.Value(), 2);
  const ReloadStatus status = numbers.reloader.status();
  EXPECT_EQ(status.swaps, 2u);
  EXPECT_EQ(status.failures, 0u);
  EXPECT_EQ(status.error, "");
  EXPECT_EQ(FormatTime(status.swapped), "2026-01-01T00:00:05Z");
  EXPECT_THAT(numbers.reports, ElementsAre("swap 1", "swap 2"));
}

TEST(Reloader, KeepsTheLastGoodAndReportsWhy) {
  Numbers numbers;
  numbers.reloader.Reload();
  numbers.text = "2";
  numbers.refused = "2";
  EXPECT_FALSE(numbers.reloader.Reload());
  EXPECT_FALSE(numbers.reloader.Reload());
  numbers.text = Fail(ErrorCode::kNotFound, "no such file");
  EXPECT_FALSE(numbers.reloader.Reload());
  EXPECT_EQ(numbers.Value(), 1);
  EXPECT_EQ(numbers.reloader.status().failures, 3u);
  EXPECT_EQ(numbers.reloader.status().error, "no such file");
  EXPECT_THAT(numbers.reports, ElementsAre("swap 1", "2 is refused", "no such file"))
      << "a failure that repeats is reported once";
}

TEST(Reloader, IsFineAgainWhenABadChangeIsTakenBack) {
  Numbers numbers;
  numbers.reloader.Reload();
  numbers.text = "2";
  numbers.refused = "2";
  numbers.reloader.Reload();
  numbers.text = "1";
  EXPECT_FALSE(numbers.reloader.Reload());
  EXPECT_EQ(numbers.reloader.status().error, "");
  EXPECT_EQ(numbers.reloader.status().swaps, 1u);
}

// A certificate that is not yet valid becomes so without any change of its file.
TEST(Reloader, TriesARefusedSourceAgain) {
  Numbers numbers;
  numbers.refused = "1";
  EXPECT_FALSE(numbers.reloader.Reload());
  EXPECT_EQ(numbers.Value(), -1);
  numbers.refused.clear();
  EXPECT_TRUE(numbers.reloader.Reload());
  EXPECT_EQ(numbers.Value(), 1);
}

}  // namespace
}  // namespace mindgate
