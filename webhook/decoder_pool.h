#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "json/decode.h"

namespace mindgate::webhook {

// Decoders that threads borrow, so that each request finds buffers that were used before. There are
// never more than were borrowed at once. Safe from many threads.
class DecoderPool {
 public:
  explicit DecoderPool(std::string_view left_out) : left_out_(left_out) {}

  using Borrowed = std::unique_ptr<json::Decoder, std::function<void(json::Decoder*)>>;

  // Goes back when the caller lets go; the pool outlives that.
  Borrowed Borrow() {
    const auto give_back = [this](json::Decoder* decoder) {
      decoder->Release();
      const MutexLock lock(mutex_);
      idle_.emplace_back(decoder);
    };
    const MutexLock lock(mutex_);
    if (idle_.empty()) return {new json::Decoder({}, left_out_), give_back};
    std::unique_ptr<json::Decoder> decoder = std::move(idle_.back());
    idle_.pop_back();
    return {decoder.release(), give_back};
  }

 private:
  const std::string_view left_out_;
  Mutex mutex_;
  std::vector<std::unique_ptr<json::Decoder>> idle_ GUARDED_BY(mutex_);
};

}  // namespace mindgate::webhook
