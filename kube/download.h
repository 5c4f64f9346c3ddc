#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace mindgate::kube {

struct DownloadLimits {
  size_t bytes = 64 * 1024 * 1024;
  std::chrono::milliseconds timeout{60'000};  // of the whole download
  int redirects = 5;
  std::string authority{};  // PEM that is trusted instead of the system's
};

// What stands at an http or https address. From https a redirect leads to https only. A proxy of
// the environment (https_proxy) is used. The message says what failed, without the address.
Result<std::string> Download(const std::string& url, const std::string& user_agent,
                             const DownloadLimits& limits = {});

}  // namespace mindgate::kube
