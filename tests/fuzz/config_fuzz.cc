// mindgate.yaml from any bytes: no crash, every fault inside the text, and a Config that was loaded
// is the same when it is loaded again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "admission/config_files.h"
#include "schemas/config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto& known = mindgate::admission::KnownNames();
  const auto config = mindgate::schemas::LoadConfig(text, known);
  if (config) {
    const auto again = mindgate::schemas::LoadConfig(text, known);
    if (!again || *again != *config) std::abort();
    return 0;
  }
  if (config.error().empty()) std::abort();
  for (const auto& issue : config.error().items()) {
    if (issue.message.empty() || issue.at.line < 0) std::abort();
  }
  (void)mindgate::json::Render(config.error(), "mindgate.yaml", text);
  return 0;
}
