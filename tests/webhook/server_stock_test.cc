// Why there is a connection layer: the packaged cpp-httplib, listening by itself, takes each of
// these and ours does not. Should a row's first half fail one day, the package was fixed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <zlib.h>

#include <thread>

#include "webhook/server_fixture.h"

namespace mindgate::webhook {
namespace {

using http::testing::BodyOf;
using http::testing::Client;
using http::testing::HeaderOf;
using http::testing::Post;
using http::testing::StatusOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::ReviewText;
using testing::ServerFixture;

// Says how much body it was given; takes 4 KiB at most, or believes so.
class StockServer {
 public:
  StockServer() {
    server_.set_payload_max_length(4096);
    server_.set_tcp_nodelay(true);
    server_.Post("/mutate", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(std::to_string(request.body.size()), "application/octet-stream");
    });
    server_.Post("/headers", [](const httplib::Request& request, httplib::Response& response) {
      response.set_content(
          request.get_header_value("REMOTE_ADDR") + "|" + request.get_header_value("X-Note"),
          "application/json; charset=utf-8");
    });
    server_.Post("/json", [](const httplib::Request&, httplib::Response& response) {
      response.set_content(std::string(2000, ' '), "application/json");
    });
    server_.Post("/throw", [](const httplib::Request&, httplib::Response&) {
      throw std::runtime_error("secret detail");
    });
    port_ = static_cast<uint16_t>(server_.bind_to_any_port("127.0.0.1"));
    thread_ = std::jthread([this] { server_.listen_after_bind(); });
  }
  ~StockServer() { server_.stop(); }

  std::string Ask(std::string_view bytes) const {
    Client client(port_);
    client.Send(bytes);
    return client.ReadAnswer();
  }
  uint16_t port() const { return port_; }

 private:
  httplib::Server server_;
  uint16_t port_ = 0;
  std::jthread thread_;
};

std::string Gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 32, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Chunked(const std::string& chunk) {
  char size[16];
  std::snprintf(size, sizeof size, "%zx", chunk.size());
  return "POST /mutate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
         "Transfer-Encoding: chunked\r\n\r\n" +
         std::string(size) + "\r\n" + chunk + "\r\n0\r\n\r\n";
}

TEST(StockServer, TakesWhatOursRefuses) {
  std::string headers;
  for (int i = 0; i < 1000; ++i) headers += "X-" + std::to_string(i) + ": a\r\n";
  struct Case {
    const char* name;
    std::string bytes;
    std::string stock;  // of its answer's body
    int ours;           // status
  };
  const std::vector<Case> cases = {
      {"duplicate Content-Length: the rest of the body becomes the next request",
       Post("{}", "Content-Length: 30\r\n"), "2", 400},
      {"CVE-2026-34441: Content-Length beside Transfer-Encoding",
       Chunked("{}").replace(23, 0, "Content-Length: 2\r\n"), "2", 400},
      {"CVE-2025-46728, CVE-2025-53629: chunks past the limit of a body",
       Chunked(std::string(64 * 1024, ' ')), "65536", 501},
      {"CVE-2025-52887: any number of headers", Post("{}", headers), "2", 431},
      {"CVE-2026-22776, CVE-2026-28435: a body that unpacks past the limit",
       Post(Gzip(std::string(1024 * 1024, ' ')), "Content-Encoding: gzip\r\n"), "1048576", 415},
  };
  const StockServer stock;
  ServerFixture ours;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(BodyOf(stock.Ask(c.bytes)), c.stock);
    Client client(ours.server->port(), Client::Tls{});
    client.Send(c.bytes);
    EXPECT_EQ(StatusOf(client.ReadAnswer()), c.ours);
  }
}

// What comes through to ours has no header that a client chose
// (Framing.HandlersGetNothingElseOfTheHead); here, what a handler of the stock server sees.
TEST(StockServer, BelievesAndRevealsTooMuch) {
  const StockServer stock;
  ServerFixture ours;
  EXPECT_EQ(BodyOf(stock.Ask(Post("{}", "REMOTE_ADDR: 6.6.6.6\r\n", "/headers"))), "6.6.6.6|")
      << "CVE-2025-66570";
  EXPECT_EQ(BodyOf(stock.Ask(Post("{}", "X-Note: a%0D%0AEvil: b\r\n", "/headers"))),
            "127.0.0.1|a\r\nEvil: b")
      << "CVE-2026-45372";
  EXPECT_THAT(stock.Ask(Post("{}", "", "/throw")), HasSubstr("EXCEPTION_WHAT: secret detail"))
      << "CVE-2026-28434; ours: Router.ExceptionsStayInside";
  EXPECT_EQ(HeaderOf(stock.Ask(Post("{}", "", "/json")), "Content-Encoding"), "gzip")
      << "Go offers gzip with every request";
  EXPECT_EQ(HeaderOf(ours.Ask(ReviewText()), "Content-Encoding"), std::nullopt);
}

TEST(StockServer, EndsConnectionsThatOursKeeps) {
  const StockServer stock;
  Client client(stock.port());
  int answers = 0;
  for (int i = 0; i < 10 && client.Send(Post("{}")) && !client.ReadAnswer().empty(); ++i) ++answers;
  EXPECT_EQ(answers, 5);

  ServerFixture fixture;
  Client kept(fixture.server->port(), Client::Tls{});
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(kept.Send(Post(ReviewText())));
    ASSERT_EQ(StatusOf(kept.ReadAnswer()), 200);
  }
}

}  // namespace
}  // namespace mindgate::webhook
