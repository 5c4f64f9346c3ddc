#include <gtest/gtest.h>

#include "cel/evaluating.h"
#include "cel/library/libraries.h"

namespace mindgate {
namespace {

TEST(CelSemver, IsReadAndCompared) {
  testing::ExpectValues({
      {"[semver('1.2.3').major(), semver('1.2.3').minor(), semver('1.2.3-a.1+b').patch()]",
       "[1, 2, 3]"},
      {"['1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta', '1.0.0-beta.2', "
       "'1.0.0-beta.11', '1.0.0-rc.1', '1.0.0', '1.0.1', '1.1.0', '2.0.0']"
       ".map(v, semver(v).compareTo(semver('1.0.0-beta.2')))",
       "[-1, -1, -1, -1, 0, 1, 1, 1, 1, 1, 1]"},
      {"semver('1.0.0+a') == semver('1.0.0+b')", "true"},
      {"semver('1.10.0').isGreaterThan(semver('1.9.0')) && "
       "semver('1.0.0').isLessThan(semver('1.0.1'))",
       "true"},
      {"['1.0.0', '0.1.0-alpha.1', '1.0.0+build.01'].all(v, isSemver(v))", "true"},
      {"['1.0', 'v1.0.0', '01.0.0', '1.0.0-01', '1.0.0-', '1.0.0+', '1.0.0-a..b', '', '1.0.0.0', "
       "'-1.0.0', '99999999999999999999.0.0'].exists(v, isSemver(v))",
       "false"},
      {"['v1', '1.0', '01.02.03', 'v1.2.3-a'].all(v, isSemver(v, true))", "true"},
      {"isSemver('1.0-a', true)", "false"},
      {"semver('v01.2', true).minor()", "2"},
  });
  testing::ExpectFailures({{"semver('1.0')", "'1.0' is not a semantic version, such as 1.2.3"}});
}

}  // namespace
}  // namespace mindgate
