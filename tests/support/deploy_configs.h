#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

// Small configurations of `mindgate deploy`, for tests to change.
namespace mindgate::testing {

inline constexpr std::string_view kOmeConfig = R"(app_name: chat
app_namespace: llm
inference_service:
  model_name: m1
  runtime_name: rt1
  engine:
    image: r/s:1
    npu_num: 8
    tp_size: 8
  decoder:
    npu_num: 8
    tp_size: 8
  router:
    image: r/s:1
mf_store:
  image: r/store:1
)";

inline constexpr std::string_view kAibrixConfig = R"(app_name: q
app_namespace: llm
storm_service:
  model_name: qwen
  model_path: /mnt/models/qwen
  prefill:
    dp_size: 2
    tp_size: 4
    npu_num: 8
    image: vllm-ascend:1
  decode:
    podGroupSize: 2
    dp_size: 4
    tp_size: 4
    npu_num: 8
    image: vllm-ascend:1
  routing:
    image: vllm-ascend:1
)";

inline constexpr std::string_view kMindieConfig = R"(app_name: motor
app_namespace: mindie
mindie_service:
  image: mindie:1.0.0
  model_path: /data/models/qwen
  prefill:
    instances: 2
    pod_num: 2
  decode:
    pod_num: 2
)";

// The text with the one `from` in it replaced.
inline std::string With(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  const size_t at = changed.find(from);
  if (at == std::string::npos || changed.find(from, at + 1) != std::string::npos) {
    ADD_FAILURE() << "not once in the text: " << from;
    return changed;
  }
  return changed.replace(at, from.size(), to);
}

}  // namespace mindgate::testing
