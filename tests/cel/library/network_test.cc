#include <gtest/gtest.h>

#include <string>

#include "cel/evaluating.h"
#include "cel/library/libraries.h"

namespace mindgate {
namespace {

TEST(CelNetwork, WritesAddressesInTheirCanonicalForm) {
  const struct {
    std::string_view text;
    std::string_view want;
  } rows[] = {
      {"127.0.0.1", "127.0.0.1"},
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"2001:DB8:0:0:0:0:0:1", "2001:db8::1"},
      {"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
      {"1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"},
      {"0:0:1::", "0:0:1::"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
      {"127.0.0", "none"},
      {"127.0.0.256", "none"},
      {"127.0.0.01", "none"},
      {"127.0.0.1.", "none"},
      {"1.2.3.4.5", "none"},
      {":::1", "none"},
      {"1::2::3", "none"},
      {"1:2:3:4:5:6:7", "none"},
      {"1:2:3:4:5:6:7:8:9", "none"},
      {"1:2:3:4:5:6:7:8::", "none"},
      {"12345::", "none"},
      {"g::", "none"},
      {"1:", "none"},
      {"", "none"},
      {"fe80::1%eth0", "none"},
  };
  for (const auto& row : rows) {
    const auto ip = cel::ParseIp(row.text);
    EXPECT_EQ(ip ? std::string(cel::TextOfIp(*ip).text()) : "none", row.want) << row.text;
  }
}

TEST(CelNetwork, ClassifiesAddresses) {
  testing::ExpectValues({
      {"[ip('0.0.0.0').isUnspecified(), ip('127.1.2.3').isLoopback(), "
       "ip('224.0.0.9').isLinkLocalMulticast(), ip('169.254.1.1').isLinkLocalUnicast(), "
       "ip('10.0.0.1').isGlobalUnicast(), !ip('255.255.255.255').isGlobalUnicast(), "
       "ip('fe80::1').isLinkLocalUnicast(), ip('ff02::1').isLinkLocalMulticast()].all(x, x)",
       "true"},
      {"ip('10.0.0.1').family() + ip('::1').family()", "10"},
      {"ip.isCanonical('2001:DB8::1')", "false"},
      {"isIP('::1') && !isIP('1.2.3')", "true"},
      {"cidr('10.1.2.3/8').masked()", "cidr 10.0.0.0/8"},
      {"cidr('2001:db8::1/32').ip()", "ip 2001:db8::1"},
      {"cidr('10.0.0.0/8').containsIP('10.255.0.1') && "
       "!cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))",
       "true"},
      {"cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && "
       "!cidr('10.0.0.0/16').containsCIDR('10.0.0.0/8')",
       "true"},
      {"cidr('0.0.0.0/0').containsIP('1.2.3.4') && !cidr('::/0').containsIP('1.2.3.4')", "true"},
      {"['10.0.0.0/33', '10.0.0.0', '10.0.0.0/', '10.0.0.0/08', '::/129', '/8', '1.2/8']"
       ".exists(c, isCIDR(c))",
       "false"},
      {"string(cidr('10.0.0.1/8')) + string(ip('::1'))", "\"10.0.0.1/8::1\""},
  });
  testing::ExpectFailures({
      {"ip('1.2.3')", "'1.2.3' is not an IP address"},
      {"ip('fe80::1%en0')", "an IP address must not have a zone: 'fe80::1%en0'"},
      {"ip('::ffff:1.2.3.4')",
       "an IPv4 address must not stand in an IPv6 address: '::ffff:1.2.3.4'"},
      {"cidr('10.0.0.0/33')", "'10.0.0.0/33' is not a CIDR, such as 10.0.0.0/8"},
      {"cidr('10.0.0.0/8').containsIP('x')", "'x' is not an IP address"},
  });
}

}  // namespace
}  // namespace mindgate
