#include <gtest/gtest.h>

#include "cel/evaluating.h"
#include "cel/library/libraries.h"

namespace mindgate {
namespace {

TEST(CelUrl, HasParts) {
  testing::ExpectValues({
      {"url('HTTPS://user:pass@example.com:80/path?query=val#fragment').getScheme()", "\"https\""},
      {"url('https://example.com:80/').getHost()", "\"example.com:80\""},
      {"url('https://[::1]:80/').getHost()", "\"[::1]:80\""},
      {"url('https://user@[::1]:80/').getHostname()", "\"::1\""},
      {"url('https://example.com:80/').getPort() + url('/a').getPort()", "\"80\""},
      {"url('https://example.com/path with spaces/').getEscapedPath()",
       "\"/path%20with%20spaces/\""},
      {"url('https://example.com').getEscapedPath() + url('/path').getHost()", "\"\""},
      {"url('https://example.com/p?k1=a&k2=b&k2=c%20d&k+3').getQuery()",
       "{\"k 3\": [\"\"], \"k1\": [\"a\"], \"k2\": [\"b\", \"c d\"]}"},
      {"url('https://example.com/path?').getQuery()", "{}"},
      {"url('/absolute-path').getScheme()", "\"\""},
      {"['https://a:80/', '/a', 'mailto:a@b', 'https://a?b#c'].all(u, isURL(u))", "true"},
      {"['https://a:b:c/', '../relative', 'relative', '', 'https://a b/', 'https://a/%zz', "
       "'https://a\\nb', '://a', '1a://b', 'https://[::1/'].exists(u, isURL(u))",
       "false"},
      {"url('https://a/') == url('https://a/')", "true"},
  });
  testing::ExpectFailures(
      {{"url('../a')", "'../a' is neither an absolute URI nor an absolute path"}});
}

}  // namespace
}  // namespace mindgate
