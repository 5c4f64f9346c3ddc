// The sets of cel/library/libraries.h.
#include <gtest/gtest.h>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

TEST(CelSets, Compare) {
  testing::ExpectValues({
      {"sets.contains([1, 2, 3], [3, 1])", "true"},
      {"sets.contains([1], [])", "true"},
      {"sets.contains([1], [2])", "false"},
      {"sets.equivalent([1, 2, 2], [2, 1])", "true"},
      {"sets.equivalent([1, 2], [1])", "false"},
      {"sets.intersects([1, 2], [2, 3])", "true"},
      {"sets.intersects([1], [])", "false"},
      {"sets.contains(dyn([1]), [1.0])", "true"},
  });
}

}  // namespace
}  // namespace mindgate
