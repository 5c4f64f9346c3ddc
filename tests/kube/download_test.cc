#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/time.h"
#include "kube/http_server.h"
#include "kube/transport.h"
#include "support/certificates.h"

namespace mindgate::kube {
namespace {

using ::testing::HasSubstr;
using testing::HttpRequest;
using testing::HttpResponse;
using testing::HttpServer;
using ::testing::StartsWith;

// "/hops/3" redirects to "/hops/2" and so on; "/hops/0" is a text.
HttpResponse Respond(const HttpRequest& request) {
  if (request.path == "/text") return {.body = "kind: Pod\n"};
  if (request.path == "/away") return {.status = 302, .headers = {{"Location", "ftp://x/y"}}};
  if (request.path == "/file")
    return {.status = 302, .headers = {{"Location", "file:///etc/hosts"}}};
  if (request.path == "/silent") return {.raw = [](testing::HttpStream&) {}};
  if (request.path.starts_with("/hops/")) {
    const int left = std::stoi(request.path.substr(6));
    if (left == 0) return {.body = "arrived"};
    return {.status = 302, .headers = {{"Location", "/hops/" + std::to_string(left - 1)}}};
  }
  return {.status = 404, .body = "nothing here"};
}

std::string Fetched(const std::string& url, const DownloadLimits& limits = {}) {
  const auto text = Download(url, "mindgate/test", limits);
  return text ? *text : "! " + text.error().message();
}

TEST(Download, TextsRedirectsAndLimits) {
  HttpServer server({}, Respond);
  const std::string at = "http://127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(Fetched(at + "/text"), "kind: Pod\n");
  EXPECT_EQ(Fetched(at + "/text", {.bytes = 10}), "kind: Pod\n");
  EXPECT_EQ(Fetched(at + "/text", {.bytes = 9}), "! is larger than 9 bytes, the most that is read");
  EXPECT_EQ(Fetched(at + "/gone"), "! the server answered with status 404, not 200");
  EXPECT_EQ(Fetched(at + "/hops/5"), "arrived");
  EXPECT_EQ(Fetched(at + "/hops/6"), "! redirects more than 5 times");
  EXPECT_THAT(Fetched(at + "/away"), StartsWith("! redirects to an address that is not https"));
  EXPECT_THAT(Fetched(at + "/file"), StartsWith("! redirects to an address that is not https"));
  EXPECT_THAT(Fetched(at + "/silent"), StartsWith("! cannot be fetched: "));
  EXPECT_THAT(Fetched("ftp://127.0.0.1/x"), StartsWith("! "));
  server.Stop();
  EXPECT_THAT(Fetched(at + "/text"), StartsWith("! cannot be fetched: "));
}

TEST(Download, FromHttpsOnlyToHttps) {
  HttpServer plain({}, Respond);
  // Certificates of now: TLS has no clock that a test could move.
  const Time now = SystemClock().WallNow();
  const certs::Identity authority = mindgate::testing::NewAuthority(now);
  const certs::Identity leaf =
      mindgate::testing::NewLeaf(authority, [now](certs::LeafRequest& request) {
        request.now = now;
        request.ip_addresses = {"127.0.0.1"};
      });
  const std::string trusted = mindgate::testing::Pem(authority);
  HttpServer secure(
      {.certificate = mindgate::testing::Pem(leaf), .key = mindgate::testing::KeyPem(leaf)},
      [&plain](const HttpRequest& request) -> HttpResponse {
        if (request.path == "/text") return {.body = "over TLS"};
        return {.status = 302,
                .headers = {
                    {"Location", "http://127.0.0.1:" + std::to_string(plain.port()) + "/text"}}};
      });
  const std::string at = "https://127.0.0.1:" + std::to_string(secure.port());
  EXPECT_EQ(Fetched(at + "/text", {.authority = trusted}), "over TLS");
  EXPECT_THAT(Fetched(at + "/down", {.authority = trusted}),
              StartsWith("! redirects to an address that is not https"));
  EXPECT_THAT(Fetched(at + "/text"), HasSubstr("certificate"))
      << "of nobody that the system trusts";
}

}  // namespace
}  // namespace mindgate::kube
