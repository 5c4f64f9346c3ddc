#include "kube/config.h"

#include <gtest/gtest.h>

namespace mindgate::kube {
namespace {

TEST(ServerUrl, IsKeptWithoutItsLastSlash) {
  const std::pair<const char*, const char*> cases[] = {
      {"https://10.0.0.1:6443", "https://10.0.0.1:6443"},
      {"HTTPS://Api.Example:6443/", "https://Api.Example:6443"},
      {"https://api", "https://api"},
      {"https://[fd00::1]", "https://[fd00::1]"},
      {"https://[fd00::1]:6443/", "https://[fd00::1]:6443"},
      {"https://rancher.example/k8s/clusters/c-1//", "https://rancher.example/k8s/clusters/c-1"},
      {"http://127.0.0.1:8001", "http://127.0.0.1:8001"},
  };
  for (const auto& [text, want] : cases) {
    EXPECT_EQ(ReadServerUrl(text).text, want);
    EXPECT_EQ(ReadServerUrl(text).fault, "") << text;
  }
}

TEST(ServerUrl, FaultsNameWhatToWrite) {
  for (const char* text : {"10.0.0.1:6443", "ftp://a", "localhost:8080", "", "https:/a"}) {
    EXPECT_EQ(ReadServerUrl(text).text, "");
    EXPECT_EQ(ReadServerUrl(text).fault,
              "\"" + std::string(text) + "\" does not begin with https:// or http://");
    EXPECT_EQ(ReadServerUrl(text).fix, "write https://ADDRESS:PORT");
  }
  for (const char* text :
       {"https://", "https:///a", "https://:6443", "https://a:", "https://a:0", "https://a:65536",
        "https://a:+1", "https://a:b", "https://[]:1", "https://[fd00::1", "https://[fd00::1]6443",
        "https://fd00::1", "https://a b", "https://a?b", "https://a/#b"}) {
    EXPECT_EQ(ReadServerUrl(text).text, "");
    EXPECT_EQ(ReadServerUrl(text).fault,
              "\"" + std::string(text) + "\" is not the URL of an API server");
  }
}

TEST(ServerUrl, AFaultNeverShowsAPassword) {
  const ServerUrl url = ReadServerUrl("https://admin:hunter2@10.0.0.1:6443");
  EXPECT_EQ(url.text, "");
  EXPECT_EQ(url.fault, "the server's URL holds a user name or an @");
  EXPECT_EQ(url.fix, "write https://ADDRESS:PORT; credentials belong to a user");
}

TEST(ServerUrl, Proxies) {
  for (const char* text : {"http://proxy:3128", "https://proxy", "socks5://127.0.0.1:1080",
                           "HTTP://user:password@proxy:3128"}) {
    EXPECT_TRUE(IsProxyUrl(text)) << text;
  }
  for (const char* text : {"", "proxy:3128", "http://", "http:///", "socks4://a", "ftp://a"}) {
    EXPECT_FALSE(IsProxyUrl(text)) << text;
  }
}

TEST(ServerUrl, OfHostAndPort) {
  EXPECT_EQ(UrlOf("10.96.0.1", "443"), "https://10.96.0.1:443");
  EXPECT_EQ(UrlOf("fd00:10:96::1", "443"), "https://[fd00:10:96::1]:443");
  EXPECT_EQ(UrlOf("[fd00:10:96::1]", "443"), "https://[fd00:10:96::1]:443");
}

}  // namespace
}  // namespace mindgate::kube
