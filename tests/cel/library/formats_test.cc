// The named formats of cel/library/libraries.h.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cel/evaluating.h"

namespace mindgate {
namespace {

TEST(CelFormats, Validate) {
  const struct {
    std::string_view format;
    std::string_view good;  // texts of a list
    std::string_view bad;
  } rows[] = {
      {"dns1123Label", "'a', 'my-name', '1a'", "'', 'A', '-a', 'a-', 'a.b', 'a_b'"},
      {"dns1123Subdomain", "'a', 'a.b-c.d'", "'', 'a..b', '.a', 'a.', 'A'"},
      {"dns1035Label", "'a', 'a-1'", "'', '1a', 'a-', 'a.b'"},
      {"qualifiedName", "'a', 'A_b.c', 'x.y/a'", "'', '/a', 'a/', 'a/b/c', 'X/a', '-a'"},
      {"dns1123LabelPrefix", "'a', 'a-'", "'', '-', 'A-', 'a_'"},
      {"dns1123SubdomainPrefix", "'a.b-', 'a'", "'', 'a..b', '-'"},
      {"dns1035LabelPrefix", "'a-', 'a'", "'1a', ''"},
      {"labelValue", "'', 'a', 'A.b_c-1'", "'-a', 'a/b', 'a '"},
      {"uri", "'https://a/b', '/a'", "'a', ''"},
      {"uuid", "'123e4567-e89b-12d3-a456-426614174000', '123E4567E89B12D3A456426614174000'",
       "'', '123e4567', 'g23e4567-e89b-12d3-a456-426614174000', "
       "'123e4567-e89b-12d3-a456-4266141740000'"},
      {"byte", "'', 'YQ=='", "'YQ', '*'"},
      {"date", "'2026-02-28'", "'2026-02-29', '2026-2-1', ''"},
      {"datetime", "'2026-01-02T03:04:05Z', '2026-01-02T03:04:05.5+02:00'",
       "'2026-01-02', '2026-01-02T25:00:00Z', ''"},
  };
  for (const auto& row : rows) {
    const std::string format = "format." + std::string(row.format) + "()";
    EXPECT_EQ(testing::Evaluated("[" + std::string(row.good) + "].filter(t, " + format +
                                 ".validate(t).hasValue())"),
              "[]")
        << row.format;
    EXPECT_EQ(testing::Evaluated("[" + std::string(row.bad) + "].filter(t, !" + format +
                                 ".validate(t).hasValue())"),
              "[]")
        << row.format;
    EXPECT_EQ(
        testing::Evaluated("format.named('" + std::string(row.format) + "').value() == " + format),
        "true");
  }
}

TEST(CelFormats, ReportWhatIsWrong) {
  EXPECT_EQ(testing::Evaluated("format.dns1123Label().validate('" + std::string(64, 'a') +
                               "').value()[0]"),
            "\"it is longer than 63 characters\"");
  testing::ExpectValues({
      {"format.dns1035Label().validate('1a')",
       "some [\"a label of RFC 1035 has lower-case letters, digits and '-', begins with a letter"
       "...\"]"},
      {"format.named('unknown')", "none"},
      {"format.date().validate('x').value()", "[\"it is not a date, such as 2026-01-02\"]"},
  });
}

}  // namespace
}  // namespace mindgate
