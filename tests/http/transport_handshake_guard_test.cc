#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "http/transport.h"

namespace mindgate::http {
namespace {

std::string Bytes(std::initializer_list<int> values) {
  std::string bytes;
  for (const int value : values) bytes += static_cast<char>(value);
  return bytes;
}

std::string Record(int type, const std::string& content) {
  return Bytes({type, 3, 3, static_cast<int>(content.size() >> 8),
                static_cast<int>(content.size() & 0xff)}) +
         content;
}

// A handshake message that claims `length` and brings `body`.
std::string Message(int type, int length, const std::string& body) {
  return Bytes({type, length >> 16, length >> 8 & 0xff, length & 0xff}) + body;
}

std::string Whole(int type, size_t length) {
  return Message(type, static_cast<int>(length), std::string(length, 'b'));
}

constexpr int kHello = 1;
constexpr int kCertificate = 11;
constexpr int kKeyExchange = 16;
constexpr int kCipherRecord = 20;
constexpr int kAlertRecord = 21;
constexpr int kMessages = 22;
constexpr int kDataRecord = 23;

bool TakesIn(const std::string& bytes, size_t piece) {
  HandshakeGuard guard;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (!guard.Take(std::string_view(bytes).substr(at, piece))) return false;
  }
  return true;
}

TEST(HandshakeGuard, NoMessageClaimsMoreThanItMay) {
  const std::string claim = Message(kHello, 0x20144, "");
  const std::string cipher = Record(kCipherRecord, Bytes({1}));
  const std::string encrypted = Record(kMessages, Bytes({1, 0xff, 0xff, 0xff, 0, 0}));
  // As much as one record holds, and the rest in another.
  const auto large = [](size_t length) {
    const std::string message = Whole(kHello, length);
    return Record(kMessages, message.substr(0, 16'384)) + Record(kMessages, message.substr(16'384));
  };
  const struct {
    std::string name;
    std::string bytes;
    bool want;
  } cases[] = {
      {"nothing", "", true},
      {"a hello", Record(kMessages, Whole(kHello, 512)), true},
      {"nine bytes that claim 128 KiB", Record(kMessages, claim), false},
      {"the same in records of one byte",
       Record(kMessages, claim.substr(0, 1)) + Record(kMessages, claim.substr(1, 1)) +
           Record(kMessages, claim.substr(2, 1)) + Record(kMessages, claim.substr(3)),
       false},
      {"16 KiB", large(16 * 1024), true},
      {"a byte more", large(16 * 1024 + 1), false},
      {"two messages in a record", Record(kMessages, Whole(kHello, 9) + Whole(kCertificate, 9)),
       true},
      {"the second of them", Record(kMessages, Whole(kHello, 9) + claim), false},
      {"the hello after a HelloRetryRequest",
       Record(kMessages, Whole(kHello, 9)) + cipher + Record(kMessages, claim), false},
      {"the same after early data",
       Record(kMessages, Whole(kHello, 9)) + Record(kDataRecord, "data") + Record(kMessages, claim),
       false},
      {"a chain of client certificates", Record(kMessages, Message(kCertificate, 0x20000, "")),
       false},
      {"TLS 1.2: what is encrypted is not read",
       Record(kMessages, Whole(kHello, 9)) + Record(kMessages, Whole(kKeyExchange, 9)) + cipher +
           encrypted,
       true},
      {"TLS 1.3: it has no key exchange", Record(kMessages, Whole(kHello, 9)) + cipher + encrypted,
       false},
      {"other records are not messages",
       Record(kAlertRecord, Bytes({1, 0xff, 0xff, 0xff})) + Record(kDataRecord, claim), true},
      {"an empty record", Record(kMessages, "") + Record(kMessages, Whole(kHello, 9)), true},
  };
  for (const auto& c : cases) {
    for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{7}, size_t{65'536}}) {
      EXPECT_EQ(TakesIn(c.bytes, piece), c.want) << c.name << ", in pieces of " << piece;
    }
  }
}

}  // namespace
}  // namespace mindgate::http
