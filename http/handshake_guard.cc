#include "http/handshake_guard.h"

#include <algorithm>

namespace mindgate::http {
namespace {

// RFC 8446, 5.1 and 4; RFC 5246, 7.4.
constexpr uint8_t kChangeCipherSpecRecord = 20;
constexpr uint8_t kClientKeyExchange = 16;  // TLS 1.2 only

// Moves bytes from `from` to the end of a header; true when it is whole.
template <size_t N>
bool Fill(std::array<uint8_t, N>& header, size_t& have, std::string_view& from) {
  const size_t count = std::min(N - have, from.size());
  std::copy_n(from.begin(), count, header.begin() + have);
  have += count;
  from.remove_prefix(count);
  return have == N;
}

}  // namespace

bool HandshakeGuard::Take(std::string_view bytes) {
  while (!bytes.empty() && !encrypted_) {
    if (record_left_ == 0) {
      if (!Fill(record_, record_have_, bytes)) return true;
      record_have_ = 0;
      record_left_ = size_t{record_[3]} << 8 | record_[4];
      // In TLS 1.2 it says that what follows is encrypted; in TLS 1.3 it says nothing.
      encrypted_ = record_[0] == kChangeCipherSpecRecord && key_exchange_seen_;
      continue;
    }
    const std::string_view part = bytes.substr(0, record_left_);
    bytes.remove_prefix(part.size());
    record_left_ -= part.size();
    if (record_[0] == kHandshakeRecord && !TakeHandshake(part)) return false;
  }
  return true;
}

bool HandshakeGuard::TakeHandshake(std::string_view bytes) {
  while (!bytes.empty()) {
    if (message_left_ > 0) {
      const size_t count = std::min(message_left_, bytes.size());
      bytes.remove_prefix(count);
      message_left_ -= count;
      continue;
    }
    if (!Fill(message_, message_have_, bytes)) return true;
    message_have_ = 0;
    message_left_ = size_t{message_[1]} << 16 | size_t{message_[2]} << 8 | message_[3];
    if (message_left_ > kMaxMessage) return false;
    if (message_[0] == kClientKeyExchange) key_exchange_seen_ = true;
  }
  return true;
}

}  // namespace mindgate::http
