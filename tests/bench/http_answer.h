#pragma once

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

namespace mindgate::bench {

// One HTTP/1.1 response as it arrives: with a Content-Length, or in chunks, as Go's server sends
// what is longer than 2 KB.
class HttpAnswer {
 public:
  void Clear() { *this = HttpAnswer(); }

  // True once the response is complete.
  bool Add(std::string_view bytes) {
    text_.append(bytes);
    if (body_at_ == 0 && !ReadHead()) return false;
    while (chunked_ && !last_chunk_ && ReadChunk()) continue;
    return chunked_ ? last_chunk_ : text_.size() >= next_;
  }

  // 0: none yet.
  int status() const {
    constexpr std::string_view kVersion = "HTTP/1.1 ";
    return text_.starts_with(kVersion) ? std::atoi(text_.c_str() + kVersion.size()) : 0;
  }

  // Of a complete response.
  std::string Body() const {
    if (!chunked_) return text_.substr(body_at_);
    return chunks_;
  }

 private:
  bool ReadHead() {
    const size_t end = text_.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    body_at_ = end + 4;
    std::string head = text_.substr(0, end);
    std::transform(head.begin(), head.end(), head.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    chunked_ = head.find("\r\ntransfer-encoding: chunked") != std::string::npos;
    next_ = body_at_;
    constexpr std::string_view kLength = "\r\ncontent-length: ";
    const size_t length = head.find(kLength);
    if (!chunked_ && length != std::string::npos) {
      next_ += std::strtoul(head.c_str() + length + kLength.size(), nullptr, 10);
    }
    return true;
  }

  // False while the next chunk is not complete.
  bool ReadChunk() {
    const size_t line = text_.find("\r\n", next_);
    if (line == std::string::npos) return false;
    const size_t size = std::strtoul(text_.c_str() + next_, nullptr, 16);
    if (text_.size() < line + 2 + size + 2) return false;
    chunks_.append(text_, line + 2, size);
    next_ = line + 2 + size + 2;
    last_chunk_ = size == 0;
    return true;
  }

  std::string text_;
  std::string chunks_;
  size_t body_at_ = 0;  // 0: the head is not complete
  size_t next_ = 0;     // the end of a body with a length, or where the next chunk begins
  bool chunked_ = false;
  bool last_chunk_ = false;
};

}  // namespace mindgate::bench
