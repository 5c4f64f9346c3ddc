#pragma once

#include <string>

#include "base/time.h"

namespace mindgate::kube {

// A time as Kubernetes' MicroTime, whose parser wants all six digits (k8s.io/apimachinery
// pkg/apis/meta/v1/micro_time.go): "2026-12-31T12:00:00.000000Z".
inline std::string FormatMicroTime(Time time) {
  std::string text = FormatTime(time);
  text.insert(text.size() - 1, ".000000");
  return text;
}

}  // namespace mindgate::kube
